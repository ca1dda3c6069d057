from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import mcbo
import pytest
from conftest import grow

Make = Callable[..., mcbo.Study]


def test_callbacks_and_progress(make: Make, greenhouse: mcbo.Problem, capsys: pytest.CaptureFixture[str]) -> None:
    study = make(greenhouse)
    seen: list[int] = []
    study.optimize(grow, n_trials=4, callbacks=[lambda study, trial: seen.append(trial.number)], show_progress_bar=True)
    assert seen == [1, 2, 3, 4]
    assert "4/4" in capsys.readouterr().err


def test_stop(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)
    study.optimize(grow, n_trials=9, callbacks=[lambda study, trial: study.stop() if trial.number == 3 else None])
    assert len(study.trials) == 3
    study.optimize(grow, n_trials=1)
    assert len(study.trials) == 4


def test_exceptions_are_failures(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)

    def breaks(trial: mcbo.Trial) -> Mapping[str, float]:
        if trial.number == 2:
            raise ZeroDivisionError("no water")
        if trial.number == 3:
            raise mcbo.TrialFailed("no light")
        return grow(trial)

    study.optimize(breaks, n_trials=4, catch=(ZeroDivisionError,))
    assert [trial.state for trial in study.trials] == ["complete", "failed", "failed", "complete"]
    assert study.trial(2).reason == "ZeroDivisionError: no water"
    with pytest.raises(RuntimeError, match="pump"):
        study.optimize(lambda trial: (_ for _ in ()).throw(RuntimeError("pump")), n_trials=1)
    assert study.trial(5).state == "failed"
    with pytest.raises(mcbo.DataError):
        study.optimize(lambda trial: {"growth": "a lot"}, n_trials=1)  # type: ignore[dict-item,return-value]
    assert study.trial(6).state == "failed"


def test_interrupts_leave_the_trial_pending(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)

    def interrupted(trial: mcbo.Trial) -> Mapping[str, float]:
        if trial.number == 3:
            raise KeyboardInterrupt
        return grow(trial)

    with pytest.raises(KeyboardInterrupt):
        study.optimize(interrupted, n_trials=5)
    assert [trial.state for trial in study.trials] == ["complete", "complete", "pending"]
    study.optimize(grow, n_trials=1)
    assert [trial.state for trial in study.trials] == ["complete"] * 3


def test_ctrl_c_reaches_python(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        study.optimize(grow, n_trials=100_000)
    assert time.monotonic() - start < 60.0
    assert study.status.trials > 3


def test_ctrl_c_ends_a_run() -> None:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        mcbo.bench.run("alpine2", "mcbo", seed=0, rounds=50_000)
    assert time.monotonic() - start < 60.0


def test_ctrl_c_ends_a_sweep() -> None:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        mcbo.bench.sweep(["alpine2"], ["mcbo"], range(4), rounds=50_000)
    assert time.monotonic() - start < 60.0


def test_other_threads_go_on(greenhouse: mcbo.Problem) -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    mcbo.bench.run("dropwave", "mcbo", seed=0, rounds=20)
    took = time.monotonic() - start
    done.set()
    thread.join()
    assert ticks > 50 * took, f"{ticks} ticks in {took:.2f} s"


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors(make: Make, greenhouse: mcbo.Problem, pool: type[ThreadPoolExecutor]) -> None:
    study = make(greenhouse, seed=4)
    with pool(max_workers=2) as executor:
        study.optimize(grow, n_trials=12, executor=executor)
    assert sorted(trial.number for trial in study.trials) == list(range(1, 13))
    assert study.status.complete == 12
    assert abs(study.best(width=None).actions["water"] - 6.0) < 0.5


def test_executors_have_several_under_way(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse)
    together = threading.Barrier(3, timeout=20)

    def meet(trial: mcbo.Trial) -> Mapping[str, float]:
        together.wait()
        return grow(trial)

    with ThreadPoolExecutor(max_workers=3) as executor:
        study.optimize(meet, n_trials=6, executor=executor)
    assert study.status.complete == 6


def test_a_fork_makes_threads_of_its_own(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    study = mcbo.create_study(greenhouse, storage=f"sqlite://{tmp_path}/s.sqlite")
    study.optimize(grow, n_trials=6)
    expected = mcbo.bench.run("dropwave", "mcbo", seed=1, rounds=3)
    child = os.fork()
    if child == 0:
        # The child has none of the parent's threads and connections.
        code = 1
        try:
            study.optimize(grow, n_trials=2)
            code = 0 if mcbo.bench.run("dropwave", "mcbo", seed=1, rounds=3) == expected else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    status = 0
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 0
    assert study.status.complete == 8


def test_until_gap(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse, seed=1)
    study.optimize(grow, n_trials=60, until_gap=0.05)
    assert study.status.trials < 60
    certificate = study.best().certificate
    assert certificate is not None
    assert certificate.gap <= 0.05


def test_what_makes_no_sense_is_refused(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse)
    for options in ({}, {"n_trials": -1}, {"n_trials": 1.5}, {"timeout": -1}, {"n_trials": 1, "n_jobs": 0}):
        with pytest.raises(mcbo.DataError, match="hint"):
            study.optimize(grow, **options)  # type: ignore[arg-type]
    with pytest.raises(mcbo.DataError):
        study.optimize(None, n_trials=1)  # type: ignore[arg-type]
    assert study.trials == []
