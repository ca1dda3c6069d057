"""Processes, threads and workers of Dask are killed in the middle of `optimize`.

No measurement that a callback saw is lost, and none is made twice by a worker that lives. `MCBO_KILLS=34` kills so
often in each of the three ways; the tests do so a few times.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import mcbo
import pytest
from conftest import GREENHOUSE, grow

KILLS = int(os.environ.get("MCBO_KILLS", "2"))

#: Both are written in one call each, so that lines of several processes do not mix.
LINE = """
import os, sys, time
sys.path.insert(0, {tests!r})
import mcbo
from test_kills import Journal, PROBLEM, Experiment
journal = Journal({journal!r})
study = mcbo.create_study(PROBLEM, storage={storage!r}, strategy="random", load_if_exists=True)
study.optimize(Experiment({journal!r}), timeout=3600, n_jobs={jobs}, callbacks=[journal.told])
"""

PROBLEM = mcbo.Problem.from_toml(GREENHOUSE)


class Journal:
    """What was begun and what was told, by whom: a file that outlives every process."""

    def __init__(self, path: str) -> None:
        self.path = path

    def write(self, *words: object) -> None:
        with open(self.path, "a") as file:
            file.write(" ".join(map(str, (os.getpid(), *words))) + "\n")

    def told(self, study: mcbo.Study, trial: mcbo.Trial) -> None:
        self.write("told", trial.number, trial.value)

    def lines(self) -> list[list[str]]:
        path = Path(self.path)
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


class Experiment:
    """An experiment that takes its time."""

    def __init__(self, journal: str) -> None:
        self.journal = journal

    def __call__(self, trial: mcbo.Trial) -> Mapping[str, float]:
        Journal(self.journal).write("begun", trial.number)
        time.sleep(random.Random(trial.number).uniform(0.02, 0.15))
        return grow(trial)


def check(study: mcbo.Study, journal: Journal, killed: set[int]) -> None:
    """All that was told is there, once; what was begun again was begun by one that was killed."""
    begun: dict[int, list[int]] = {}
    told: dict[int, list[float]] = {}
    for process, what, number, *value in journal.lines():
        if what == "begun":
            begun.setdefault(int(number), []).append(int(process))
        else:
            told.setdefault(int(number), []).append(float(value[0]))
    trials = {trial.number: trial for trial in study.trials}
    assert told
    for number, values in told.items():
        assert len(values) == 1, f"trial {number} was told {len(values)} times"
        assert trials[number].state == "complete"
        assert trials[number].value == values[0]
    for number, processes in begun.items():
        again = set(processes[:-1]) - killed
        assert not again, f"trial {number} was made again although {again} lived: {processes}"
    assert study.status.failed == 0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="whether a process lives is read from /proc")
@pytest.mark.parametrize("jobs", [1, 3], ids=["processes", "threads"])
def test_killed_processes(tmp_path: Path, jobs: int) -> None:
    storage, journal = f"sqlite://{tmp_path}/s.sqlite", Journal(str(tmp_path / "journal"))
    mcbo.create_study(PROBLEM, storage=storage, strategy="random")
    script = LINE.format(tests=str(Path(__file__).parent), journal=journal.path, storage=storage, jobs=jobs)
    rng = random.Random(jobs)

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", script])

    workers = [start(), start()]
    killed: set[int] = set()
    try:
        while len(killed) < KILLS:
            seen = len(journal.lines())
            deadline = time.monotonic() + 60
            while len(journal.lines()) < seen + 6 and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(rng.uniform(0, 0.2))
            victim = workers.pop(rng.randrange(2))
            assert victim.poll() is None, "it ended by itself"
            victim.kill()
            victim.wait()
            killed.add(victim.pid)
            workers.append(start())
        seen = len(journal.lines())
        deadline = time.monotonic() + 60
        while len(journal.lines()) < seen + 6 and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        # What an interrupt ends is given back, and made again as well.
        interrupted = {worker.pid for worker in workers}
        for worker in workers:
            worker.send_signal(signal.SIGINT)
        for worker in workers:
            try:
                worker.wait(timeout=30)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
    study = mcbo.load_study("greenhouse", storage)
    study.optimize(Experiment(journal.path), n_trials=max(1, study.status.pending), callbacks=[journal.told])
    assert study.status.pending == 0
    check(study, journal, killed | interrupted)


def test_killed_workers_of_dask(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    storage, journal = f"sqlite://{tmp_path}/s.sqlite", Journal(str(tmp_path / "journal"))
    study = mcbo.create_study(PROBLEM, storage=storage, strategy="random")
    killed: set[int] = set()
    over = threading.Event()
    rng = random.Random(1)

    def assassin(client: object) -> None:
        while len(killed) < KILLS and not over.is_set():
            begun = [int(line[0]) for line in journal.lines() if line[1] == "begun" and int(line[0]) not in killed]
            if begun:
                victim = rng.choice(begun[-2:])
                try:
                    os.kill(victim, signal.SIGKILL)
                    killed.add(victim)
                except ProcessLookupError:
                    pass
            time.sleep(rng.uniform(0.3, 0.8))
        study.stop()

    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
        "silence_logs": 50,
    }
    # A quarter of a minute after a worker died a local cluster looks whether another one is in its place, and gives the
    # place up for good if that one was killed a moment before: after some thirty kills nobody is left.
    patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with patience, distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        hand = threading.Thread(target=assassin, args=(client,))
        hand.start()
        try:
            executor = client.get_executor()
            study.optimize(
                Experiment(journal.path), timeout=600, executor=executor, n_jobs=2, callbacks=[journal.told], retries=50
            )
        finally:
            over.set()
            hand.join()
    assert len(killed) >= KILLS
    check(study, journal, killed)
