"""JSON of results: the words and the numbers of the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import mcbo
import pytest
from conftest import ROOT


@pytest.fixture
def stored(tmp_path: Path) -> tuple[mcbo.Study, str]:
    problem = mcbo.Problem.from_file(ROOT / "examples" / "nitrogen.toml")
    storage = f"sqlite://{tmp_path}/s.sqlite"
    study = mcbo.create_study(problem, "s", storage, seed=3)
    study.optimize(problem.simulate, n_trials=7)
    study.tell(study.ask(), state="failed", reason="the pump broke")
    study.ask()
    return study, storage


def contains(whole: Any, part: Any, where: str = "") -> None:
    """Whether all that Python says stands in what the command says."""
    if isinstance(part, dict):
        assert isinstance(whole, dict), where
        for key, value in part.items():
            assert key in whole, f"{where}.{key}"
            contains(whole[key], value, f"{where}.{key}")
    elif isinstance(part, list):
        assert len(whole) == len(part), where
        for at, (one, other) in enumerate(zip(whole, part, strict=True)):
            contains(one, other, f"{where}[{at}]")
    else:
        assert whole == part, where


def test_it_is_that_of_the_command_line(stored: tuple[mcbo.Study, str], command: Path) -> None:
    study, storage = stored

    def said(*arguments: str) -> Any:
        line = [str(command), *arguments, "--storage", storage]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    exported = said("export", "s", "--format", "json")
    contains(exported["trials"], [trial.to_dict() for trial in study.trials])
    contains(said("best", "s", "--json"), json.loads(study.best().to_json()))
    contains(said("status", "s", "--json"), study.status.to_dict())
    contains(said("effects", "s", "--json"), study.effects().to_dict())
    contains(said("studies", "--json"), [json.loads(one.to_json()) for one in mcbo.studies(storage)])


def test_everything_has_one(stored: tuple[mcbo.Study, str]) -> None:
    study, _ = stored
    for result in (
        study.why(study.trials[-1]),
        *study.model.nodes.values(),
        mcbo.bench.run("dropwave", "random", rounds=1),
    ):
        assert json.loads(result.to_json())
