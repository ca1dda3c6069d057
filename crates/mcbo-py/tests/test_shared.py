"""One study, several programs, on PostgreSQL and on SQLite."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import mcbo
import pytest

WORKER = """
import sys
sys.path.insert(0, sys.argv[1])
import mcbo
from conftest import grow
study = mcbo.load_study("shared", sys.argv[2])
study.optimize(grow, n_trials=int(sys.argv[3]), worker=sys.argv[4])
"""


def find() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    folders += [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    programs = find()
    if programs is None:
        assert "MCBO_REQUIRE_POSTGRES" not in os.environ, "PostgreSQL is required and not there"
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp())
    # The server refuses to run as root.
    as_other: list[str] = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        as_other = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        command = [*as_other, str(programs / program), "-D", str(folder / "data"), *arguments]
        # To a file: a server that inherits a pipe would keep it open.
        with tempfile.TemporaryFile() as log:
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", timeout=120)

    try:
        run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-p {port} -h 127.0.0.1 -k '' -c shared_buffers=32MB -c fsync=off"
        run("pg_ctl", "-w", "-t", "60", "-l", str(folder / "log"), "-o", options, "start")
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["postgres", "sqlite"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres"))
    return f"sqlite://{tmp_path}/shared.sqlite"


def start(storage: str, trials: int, name: str) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", WORKER, str(Path(__file__).parent), storage, str(trials), name]
    return subprocess.Popen(arguments)


def test_workers_share_a_study(storage: str, greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse, name="shared", storage=storage, seed=5)
    workers = [start(storage, 6, f"w{at}") for at in range(2)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    status = study.status
    assert (status.complete, status.pending) == (12, 0)
    assert {trial.worker for trial in study.trials} == {"w0", "w1"}
    points = [trial.actions["water"] for trial in study.trials if trial.strategy == "design"]
    assert len(set(points)) == len(points)


def test_a_worker_that_is_killed_goes_on_where_it_was(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    storage = f"sqlite://{tmp_path}/shared.sqlite"
    study = mcbo.create_study(greenhouse, name="shared", storage=storage, seed=5)
    worker = start(storage, 10_000, "w")
    deadline = time.monotonic() + 60
    while study.status.complete < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    worker.send_signal(signal.SIGKILL)
    worker.wait(timeout=30)
    left = study.status
    assert left.complete >= 5
    assert left.pending <= 1
    assert start(storage, 1, "w").wait(timeout=120) == 0
    after = study.status
    assert (after.complete, after.pending) == (left.complete + 1, 0)
