"""Runs on a cluster are those on one machine, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import threading
import time

import mcbo
import pytest
from conftest import grow

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def expected() -> list[mcbo.bench.Run]:
    return mcbo.bench.sweep(["dropwave", "ackley"], ["mcbo", "random"], range(10), rounds=10)


def cluster() -> object:
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
    )


def test_forty_runs_on_dask(expected: list[mcbo.bench.Run]) -> None:
    assert len(expected) == 40
    with cluster() as local, distributed.Client(local) as client:  # type: ignore[attr-defined]
        runs = mcbo.bench.sweep(
            ["dropwave", "ackley"], ["mcbo", "random"], range(10), rounds=10, executor=client.get_executor()
        )
        assert runs == expected
        study = mcbo.create_study(mcbo.bench.Task("dropwave").problem, strategy="random")
        assert study.status.trials == 0


def test_a_worker_that_dies_changes_nothing(expected: list[mcbo.bench.Run]) -> None:
    with cluster() as local, distributed.Client(local) as client:  # type: ignore[attr-defined]
        victim = next(iter(client.run(os.getpid).values()))
        killed: list[float] = []

        def kill() -> None:
            # Once the sweep is well under way.
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                done = sum(client.run_on_scheduler(finished).values())
                if done >= 8:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(done)
                    return
                time.sleep(0.02)

        thread = threading.Thread(target=kill)
        thread.start()
        runs = mcbo.bench.sweep(
            ["dropwave", "ackley"], ["mcbo", "random"], range(10), rounds=10, executor=client.get_executor()
        )
        thread.join()
        assert killed, "nobody was killed"
        assert killed[0] < 40, "the sweep was over"
        assert runs == expected


def finished(dask_scheduler: object) -> dict[str, int]:
    """How many tasks are done, by the scheduler's books."""
    states = [task.state for task in dask_scheduler.tasks.values()]  # type: ignore[attr-defined]
    return {"memory": states.count("memory")}


def test_a_study_on_dask(greenhouse: mcbo.Problem) -> None:
    with cluster() as local, distributed.Client(local) as client:  # type: ignore[attr-defined]
        study = mcbo.create_study(greenhouse, seed=2)
        study.optimize(grow, n_trials=10, executor=client.get_executor())
        assert study.status.complete == 10
