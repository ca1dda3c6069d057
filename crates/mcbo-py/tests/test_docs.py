"""Every example in the documentation runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import mcbo
import pytest
from conftest import ROOT

MODULES = ["mcbo", *(f"mcbo.{found.name}" for found in pkgutil.iter_modules(mcbo.__path__) if found.name != "_mcbo")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    outcome = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0


def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of docs/python.md, one after the other, as one program."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) > 5
    program = tmp_path / "guide.py"
    program.write_text("import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(blocks))
    runpy.run_path(str(program))


@pytest.mark.parametrize("example", sorted((ROOT / "crates/mcbo-py/examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")


def test_the_package_is_typed() -> None:
    assert (Path(mcbo.__file__).parent / "py.typed").exists()
