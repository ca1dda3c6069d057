"""The command that comes with the package, and studies that it shares with Python."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import mcbo
import pytest
from conftest import ROOT, grow

EXAMPLE = ROOT / "examples" / "nitrogen.toml"


def run(*arguments: object, code: int = 0) -> str:
    command = [sys.executable, "-m", "mcbo", *map(str, arguments)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert answer.returncode == code, answer.stderr
    return answer.stdout


def test_it_is_the_same_command(command: Path) -> None:
    assert run("--version") == f"mcbo {mcbo.__version__}\n"
    ours = json.loads(run("check", EXAMPLE, "--json"))
    theirs = subprocess.run([command, "check", EXAMPLE, "--json"], capture_output=True, check=True, timeout=60)
    assert ours == json.loads(theirs.stdout)
    assert run("check", "nothing.toml", code=2) == ""
    script = shutil.which("mcbo", path=str(Path(sys.executable).parent))
    assert script is not None
    answer = subprocess.run([script, "--version"], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout == f"mcbo {mcbo.__version__}\n"


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mcbo", "run", str(EXAMPLE), "--rounds", "10000", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        assert b"trial" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        running.stdout.read()
        assert running.wait(timeout=60) == 130


def test_one_study_for_both(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    storage = f"sqlite://{tmp_path}/s.sqlite"
    file = tmp_path / "greenhouse.toml"
    file.write_text(greenhouse.to_toml())
    run("new", "g", "--problem", file, "--seed", 3, "--storage", storage)
    study = mcbo.load_study("g", storage)
    study.optimize(grow, n_trials=7)
    asked = json.loads(run("ask", "g", "--storage", storage, "--json"))
    alone = mcbo.create_study(greenhouse, seed=3)
    alone.optimize(grow, n_trials=7)
    ours = alone.ask()
    assert asked["trial"] == ours.number == 8
    assert asked["intervention"]["actions"] == dict(ours.actions)
    run("tell", "g", 8, "moisture=0.55", "growth=0.99", "--storage", storage)
    assert study.trial(8).observed == {"moisture": 0.55, "growth": 0.99}
    theirs = json.loads(run("best", "g", "--storage", storage, "--json"))
    best = study.best()
    flat = json.dumps(theirs)
    assert best.reward is not None
    assert best.certificate is not None
    for number in (best.actions["water"], best.reward.mean, best.certificate.gap):
        assert repr(number) in flat, f"{number} is not in {flat}"
    with pytest.raises(mcbo.StudyExistsError):
        mcbo.create_study(greenhouse, name="g", storage=storage)
