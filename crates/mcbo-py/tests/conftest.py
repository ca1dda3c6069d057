"""What the tests share. They run against the installed package, never against the sources beside them."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import mcbo
import pytest

ROOT = Path(__file__).resolve().parents[3]

GREENHOUSE = """
name = "greenhouse"
maximize = "growth"

[nodes.moisture]
actions = ["water"]
noise = "none"

[nodes.growth]
parents = ["moisture"]
noise = "none"

[actions.water]
range = [0.0, 10.0]

[simulator]
moisture = "0.3 + 0.05 * water"
growth = "1 - (moisture - 0.6)^2"
"""


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """A shell has what it runs in the background ignore Ctrl-C, which some tests press."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_figures_left() -> Iterator[None]:
    """Figures of matplotlib stay open until they are closed, and it warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def grow(trial: mcbo.Trial) -> Mapping[str, float]:
    """The greenhouse: the best water is 6."""
    moisture = 0.3 + 0.05 * trial.actions["water"]
    return {"moisture": moisture, "growth": 1 - (moisture - 0.6) ** 2}


@pytest.fixture
def greenhouse() -> mcbo.Problem:
    return mcbo.Problem.from_toml(GREENHOUSE)


@pytest.fixture
def clinic() -> mcbo.Problem:
    return mcbo.Problem.from_file(ROOT / "examples" / "clinic.toml")


@pytest.fixture
def vector() -> mcbo.Problem:
    return mcbo.Problem.from_file(ROOT / "examples" / "vector.toml")


@pytest.fixture
def told(greenhouse: mcbo.Problem) -> mcbo.Study:
    study = mcbo.create_study(greenhouse, seed=1)
    study.optimize(grow, n_trials=6)
    return study


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., mcbo.Study]:
    """Makes studies, in memory and in a store: both must behave the same."""

    count = 0

    def made(problem: mcbo.Problem, **options: object) -> mcbo.Study:
        nonlocal count
        count += 1
        name = "s" if count == 1 else f"s{count}"
        storage = None if request.param == "memory" else f"sqlite://{tmp_path}/studies.sqlite"
        return mcbo.create_study(problem, name=name, storage=storage, **options)  # type: ignore[arg-type]

    return made


@pytest.fixture(scope="session")
def command() -> Path:
    """The command line tool, built from the same sources."""
    given = os.environ.get("MCBO_COMMAND") or shutil.which("mcbo")
    if given is None:
        pytest.skip("MCBO_COMMAND names no mcbo")
    assert Path(given).exists(), f"there is no {given}"
    return Path(given)
