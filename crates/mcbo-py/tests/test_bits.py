"""Python and the command line propose and recommend the same, to the bit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import mcbo
import pytest
from conftest import ROOT


@pytest.mark.parametrize(
    ("example", "options"),
    [
        ("nitrogen", {}),
        ("clinic", {"preset": "paper"}),
        ("vector", {}),
        ("mixed", {"strategy": "eifn"}),
        ("nitrogen", {"beta": 0.2}),
    ],
)
def test_same_bits_as_the_command_line(command: Path, example: str, options: dict[str, object], tmp_path: Path) -> None:
    file, rounds, seed = ROOT / "examples" / f"{example}.toml", 14, 5
    arguments = [str(word) for key, value in options.items() for word in (f"--{key}", value)]
    answer = subprocess.run(
        [command, "run", file, "--rounds", str(rounds), "--seed", str(seed), "--json", *arguments],
        check=True,
        capture_output=True,
        cwd=tmp_path,
        text=True,
        timeout=300,
    )
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    trials = [line for line in lines if "trial" in line]
    problem = mcbo.Problem.from_file(file)
    study = mcbo.create_study(problem, seed=seed, **options)  # type: ignore[arg-type]
    for theirs in trials:
        ours = study.ask()
        assert ours.number == theirs["trial"]
        assert ours.strategy == theirs["strategy"]
        assert dict(ours.actions) == theirs["intervention"]["actions"]
        assert dict(ours.values) == theirs["intervention"]["values"]
        assert ours.acquisition == theirs["acquisition"]
        assert problem.simulate(ours, seed=seed) == theirs["values"]
        study.tell(ours, theirs["values"])
    assert len(trials) >= rounds
    assert any(trial.strategy != "design" for trial in study.trials)


def test_same_recommendation_as_the_command_line(command: Path, tmp_path: Path) -> None:
    storage = f"sqlite://{tmp_path}/studies.sqlite"
    problem = mcbo.Problem.from_file(ROOT / "examples" / "nitrogen.toml")
    study = mcbo.create_study(problem, name="s", storage=storage, seed=4)
    study.optimize(problem.simulate, n_trials=10)
    answer = subprocess.run(
        [command, "best", "s", "--json", "--storage", storage], check=True, capture_output=True, text=True, timeout=300
    )
    theirs = json.loads(answer.stdout)
    shown, ours = theirs["recommendation"], study.best()
    assert ours.reward is not None
    assert ours.certificate is not None
    assert dict(ours.actions) == shown["intervention"]["actions"]
    assert ours.reward._asdict() == shown["reward"]
    assert ours.certificate.gap == theirs["certificate"]["gap"]
    predicted = {
        name: forecast._asdict() for name, forecast in ours.predicted.items() if isinstance(forecast, mcbo.Forecast)
    }
    assert predicted == shown["predicted"]
    # With as many draws as a recommendation is made of.
    assert study.model.forecast(ours, n=64) == ours.predicted
    assert [vars(node) for node in study.model.nodes.values()] == theirs["nodes"]
    # The same trials in memory, all at once.
    other = mcbo.create_study(problem, seed=4)
    other.add_trials(study.trials_dataframe())
    again = other.best()
    assert (again.intervention, again.reward, again.certificate) == (ours.intervention, ours.reward, ours.certificate)
