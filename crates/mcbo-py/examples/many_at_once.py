"""Several experiments at once, from several programs, on one study."""

import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor

import mcbo


def measure(trial: mcbo.Trial) -> Mapping[str, float]:
    """Runs in another process: all it gets is the trial."""
    moisture = 0.3 + 0.05 * trial.actions["water"]
    return {"moisture": moisture, "growth": 1 - (moisture - 0.6) ** 2}


def main() -> None:
    """Evaluates two trials at a time; the study lasts."""
    problem = mcbo.Problem(
        nodes={"moisture": {"actions": ["water"]}, "growth": ["moisture"]},
        actions={"water": (0.0, 10.0)},
        maximize="growth",
        name="greenhouse",
    )
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite://{folder}/studies.sqlite"
        study = mcbo.create_study(problem, storage=storage, load_if_exists=True)
        with ProcessPoolExecutor(max_workers=2) as executor:
            study.optimize(measure, n_trials=10, executor=executor)
        print(mcbo.load_study("greenhouse", storage).best())


if __name__ == "__main__":
    main()
