"""The blocks of docs/recipes.md, each as a program of its own after the first.

MLflow and Ray are heavy: where they are not installed, a stand-in of a few lines answers for them.
"""

from __future__ import annotations

import importlib.util
import re
import runpy
import sys
import types
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import mcbo
import pytest
from conftest import ROOT


def stand_in_for_mlflow(noted: list[Any]) -> types.ModuleType:
    module = types.ModuleType("mlflow")
    calls: dict[str, Any] = {
        "start_run": lambda run_name: nullcontext(noted.append(run_name)),
        "log_params": noted.append,
        "log_metrics": noted.append,
        "set_tag": lambda key, value: noted.append((key, value)),
        "set_tracking_uri": lambda uri: None,
        "set_experiment": lambda name: None,
    }
    vars(module).update(calls)
    return module


def stand_in_for_ray() -> types.ModuleType:
    module = types.ModuleType("ray")

    class Reference:
        def __init__(self, value: Any) -> None:
            self.value = value

    def remote(func: Any) -> Any:
        return types.SimpleNamespace(remote=lambda *given: Reference(func(*given)))

    calls: dict[str, Any] = {
        "init": lambda num_cpus: None,
        "shutdown": lambda: None,
        "remote": remote,
        # The last comes first: answers have no order.
        "wait": lambda all_of_them, num_returns: (all_of_them[-1:], all_of_them[:-1]),
        "get": lambda reference: reference.value,
        "exceptions": types.SimpleNamespace(WorkerCrashedError=RuntimeError),
    }
    vars(module).update(calls)
    return module


def blocks() -> dict[str, str]:
    page = (ROOT / "docs" / "recipes.md").read_text("utf-8")
    parts = re.split(r"^## (\w+)", page, flags=re.MULTILINE)
    code = [re.findall(r"```python\n(.*?)```", part, re.DOTALL) for part in parts[::2]]
    return {name: code[0][0] + "\n" + "\n".join(found) for name, found in zip(parts[1::2], code[1:], strict=True)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(blocks()))
def test_recipes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    noted: list[Any] = []
    stand_ins = {"MLflow": lambda: stand_in_for_mlflow(noted), "Ray": stand_in_for_ray}
    if name in stand_ins and importlib.util.find_spec(name.lower()) is None:
        monkeypatch.setitem(sys.modules, name.lower(), stand_ins[name]())
    program = tmp_path / "recipe.py"
    program.write_text(blocks()[name])
    # As the program that it is: what runs elsewhere is sent there by value.
    found = runpy.run_path(str(program), run_name="__main__")
    study = found["shared" if name == "Slurm" else "study"]
    assert isinstance(study, mcbo.Study)
    assert study.status.pending == 0
    assert study.status.complete == {"MLflow": 3, "Slurm": 3}.get(name, 6)
    if name == "MLflow" and noted:
        assert noted[:4] == [
            "trial 1",
            study.trial(1).params,
            dict(study.trial(1).observed or {}),
            ("state", "complete"),
        ]
    if name == "Slurm":
        # Requeued, it goes on under its name.
        assert study.trial(1).worker == "slurm here-0"
        again = runpy.run_path(str(program))["shared"]
        assert again.status.complete == 6


def test_all_are_there() -> None:
    assert sorted(blocks()) == ["Dask", "MLflow", "Ray", "Slurm"]
