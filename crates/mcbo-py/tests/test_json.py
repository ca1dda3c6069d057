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


def test_effects_are_those_where_a_context_is_known(tmp_path: Path, command: Path) -> None:
    nodes = {"quality": {"context": True}, "y": {"parents": ["quality"], "actions": ["a"], "noise": {"gaussian": 0.01}}}
    problem = mcbo.Problem(nodes=nodes, actions={"a": (0, 1)}, maximize="y")
    storage = f"sqlite://{tmp_path}/s.sqlite"
    study = mcbo.create_study(problem, "s", storage)
    rows = [{"a": a / 5, "quality": q / 4, "y": a / 5 * q / 4} for a in range(6) for q in range(5)]
    study.add_trials(rows)
    # y is the product: what the action does is what the quality is.
    for quality in (0.2, 0.9):
        given = {"quality": quality}
        effects = study.effects(given=given)
        effect = effects.actions["a"]
        assert effect.lower - 0.02 < quality < effect.upper + 0.02
        assert abs(effect.effect - quality) < 0.05
        line = [str(command), "effects", "s", "--json", "--given", f"quality={quality}", "--storage", storage]
        said = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
        contains(said, effects.to_dict())
    assert study.effects() != study.effects(given={"quality": 0.9})
    with pytest.raises(mcbo.McboError, match="quality"):
        study.effects(given={"qualty": 0.9})
    with pytest.raises(mcbo.McboError, match="context"):
        study.effects(given={"y": 0.9})


def test_everything_has_one(stored: tuple[mcbo.Study, str]) -> None:
    study, _ = stored
    for result in (
        study.why(study.trials[-1]),
        *study.model.nodes.values(),
        mcbo.bench.run("dropwave", "random", rounds=1),
    ):
        assert json.loads(result.to_json())
