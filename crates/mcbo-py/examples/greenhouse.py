"""The whole loop by hand: ask, measure, tell, settle."""

import mcbo


def measure(water: float) -> dict[str, float]:
    """Stands in for the experiment."""
    moisture = 0.3 + 0.05 * water
    return {"moisture": moisture, "growth": 1 - (moisture - 0.6) ** 2}


def main() -> None:
    """Finds how much water is best."""
    problem = mcbo.Problem(
        nodes={"moisture": {"actions": ["water"]}, "growth": ["moisture"]},
        actions={"water": (0.0, 10.0)},
        maximize="growth",
        name="greenhouse",
    )
    study = mcbo.create_study(problem, seed=1)
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, measure(trial.actions["water"]))
    best = study.best()
    print(best)
    assert abs(best.actions["water"] - 6.0) < 1.0


if __name__ == "__main__":
    main()
