"""The closed loop: ask, measure, tell, one at a time or many at once."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcbo._errors import DataError, TrialFailed
from mcbo._trial import Trial

if TYPE_CHECKING:
    from mcbo._study import Callback, Objective, Study


@dataclass(frozen=True)
class Plan:
    """How long to go on, and how."""

    n_trials: int | None
    timeout: float | None
    callbacks: tuple[Callback, ...]
    show_progress_bar: bool
    catch: type[Exception] | tuple[type[Exception], ...]
    executor: Executor | None
    n_jobs: int | None
    until_gap: float | None
    budget: float | None
    worker: str | None

    def check(self) -> None:
        """Refuses what makes no sense before anything is begun."""
        if self.n_trials is None and self.timeout is None and self.until_gap is None and self.budget is None:
            raise DataError("nothing would end this; hint: give n_trials, timeout, until_gap or budget")
        for name, least in (("n_trials", 0), ("n_jobs", 1)):
            given = getattr(self, name)
            if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < least):
                raise DataError(f"{name} is {given!r}; hint: a whole number, at least {least}")
        for name in ("timeout", "until_gap", "budget"):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, (int, float)) and given >= 0):
                raise DataError(f"{name} is {given!r}; hint: a number, at least 0")
        if not all(callable(callback) for callback in self.callbacks):
            raise DataError("a callback cannot be called; hint: callbacks take the study and the trial")
        if self.executor is not None and not hasattr(self.executor, "submit"):
            raise DataError("the executor has no submit; hint: one of concurrent.futures, or get_executor() of Dask")

    def width(self) -> int:
        """How many trials are under way at once."""
        if self.executor is None:
            return 1
        return self.n_jobs if self.n_jobs is not None else _workers(self.executor)


def _workers(executor: Executor) -> int:
    """How many workers an executor has, as far as it tells."""
    known = getattr(executor, "_max_workers", None)
    if isinstance(known, int) and known > 0:
        return known
    client = getattr(executor, "_client", None)
    threads = getattr(client, "nthreads", None)
    if callable(threads):
        return max(1, sum(int(count) for count in threads().values()))
    return os.cpu_count() or 1


def _measure(func: Callable[[Trial], Any], trial: Trial) -> Any:
    """Calls the objective; what an executor is given."""
    return func(trial)


def optimize(study: Study, func: Objective, plan: Plan) -> None:
    """Runs the loop of a plan."""
    plan.check()
    if plan.budget is not None and study.status.spent is None:
        raise DataError("there is a budget, but nothing in the problem has a cost; hint: cost={'fixed': 3}")
    if not callable(func):
        raise DataError(f"an object of type {type(func).__name__} cannot be called; hint: give a function")
    study._stopped = False
    with _progress(plan) as advance:
        _Loop(study, func, plan, advance).run()


class _Loop:
    def __init__(self, study: Study, func: Objective, plan: Plan, advance: Callable[[Trial], None]) -> None:
        self.study = study
        self.func = func
        self.plan = plan
        self.advance = advance
        self.begun = 0
        #: What trials cost that are under way here.
        self.open: dict[int, float] = {}
        self.stop = False
        self.deadline = None if plan.timeout is None else time.monotonic() + plan.timeout
        base = plan.worker or f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident():x}"
        # A worker that asks again gets what it has: every place has a name of its own.
        self.names = [base] if plan.width() == 1 else [f"{base}-{at}" for at in range(plan.width())]

    def wanted(self) -> bool:
        """Whether one more trial is to be begun."""
        if self.stop or self.study._stopped or (self.deadline is not None and time.monotonic() >= self.deadline):
            return False
        return self.plan.n_trials is None or self.begun < self.plan.n_trials

    def ask(self, name: str) -> Trial | None:
        """The next trial; ``None`` if it costs more than what is left."""
        trial = self.study.ask(worker=name)
        if self.plan.budget is not None:
            under_way = sum(cost for number, cost in self.open.items() if number != trial.number)
            left = self.plan.budget - (self.study.status.spent or 0.0) - under_way
            if (trial.cost or 0.0) > left:
                self.stop = True
                return None
            self.open[trial.number] = trial.cost or 0.0
        self.begun += 1
        return trial

    def run(self) -> None:
        if self.plan.executor is None:
            while self.wanted():
                trial = self.ask(self.names[0])
                if trial is None:
                    break
                self.settle(trial, lambda trial=trial: self.func(trial), self.names[0])  # type: ignore[misc]
        else:
            self.run_on(self.plan.executor)

    def run_on(self, executor: Executor) -> None:
        running: dict[Future[Any], tuple[Trial, str]] = {}
        free = list(reversed(self.names))
        try:
            while True:
                while free and self.wanted():
                    name = free.pop()
                    trial = self.ask(name)
                    if trial is None:
                        break
                    running[executor.submit(_measure, self.func, trial)] = (trial, name)
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                # In the order of their numbers: what finished together is told in one order.
                for future in sorted(done, key=lambda future: running[future][0].number):
                    trial, name = running.pop(future)
                    free.append(name)
                    self.settle(trial, future.result, name)
        finally:
            for future in running:
                future.cancel()

    def settle(self, trial: Trial, measure: Callable[[], Mapping[str, Any]], name: str) -> None:
        """Tells what a trial gave, or that it failed."""
        self.open.pop(trial.number, None)
        try:
            self.study.tell(trial, measure(), worker=name)
        except BrokenExecutor:
            # The trial did not fail, its worker did: it stays pending.
            raise
        except Exception as error:
            self.study.tell(trial, state="failed", reason=f"{type(error).__name__}: {error}")
            if not isinstance(error, (TrialFailed, *_classes(self.plan.catch))):
                raise
        if self.plan.callbacks or self.plan.show_progress_bar:
            told = self.study.trial(trial.number)
            for callback in self.plan.callbacks:
                callback(self.study, told)
            self.advance(told)
        gap = self.plan.until_gap
        if gap is not None:
            status = self.study.status
            if status.complete >= max(status.initial, 1):
                certificate = self.study.best().certificate
                self.stop = certificate is not None and certificate.gap <= gap


def _classes(catch: type[Exception] | tuple[type[Exception], ...]) -> tuple[type[Exception], ...]:
    return catch if isinstance(catch, tuple) else (catch,)


@contextmanager
def _progress(plan: Plan) -> Iterator[Callable[[Trial], None]]:
    """A progress bar: of tqdm if it is there, else a line on stderr."""
    if not plan.show_progress_bar:
        yield lambda trial: None
        return
    best: list[float] = []

    def remember(trial: Trial) -> str:
        if trial.reward is not None:
            best[:] = [max([trial.reward, *best])]
        return f"best {best[0]:.4g}" if best else "nothing measured"

    try:
        from tqdm.auto import tqdm
    except ImportError:
        count = 0

        def line(trial: Trial) -> None:
            nonlocal count
            count += 1
            print(
                f"\r{count}/{plan.n_trials or '?'} trials, {remember(trial)}",
                end="",
                file=sys.stderr,
                flush=True,
            )

        yield line
        print(file=sys.stderr)
        return
    with tqdm(total=plan.n_trials, unit="trial") as bar:

        def step(trial: Trial) -> None:
            bar.set_postfix_str(remember(trial), refresh=False)
            bar.update()

        yield step
