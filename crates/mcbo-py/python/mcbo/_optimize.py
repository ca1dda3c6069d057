"""The closed loop: ask, measure, tell, one at a time or many at once."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcbo import _mcbo, _workers
from mcbo._errors import DataError, McboError, TrialError, TrialFailed
from mcbo._measure import Outcome, Threads, measure, unpicklable
from mcbo._plan import Plan
from mcbo._trial import Trial

if TYPE_CHECKING:
    from mcbo._study import Objective, Study

log = logging.getLogger("mcbo")

#: For how long a trial of a stored study belongs to a process that shows no sign of life, at first and at most.
LEASES = (120.0, 600.0)


def optimize(study: Study, func: Objective, plan: Plan) -> None:
    """Runs the loop of a plan."""
    plan.check()
    if plan.budget is not None and study.status.spent is None:
        raise DataError("there is a budget, but nothing in the problem has a cost; hint: cost={'fixed': 3}")
    if not callable(func):
        raise DataError(f"an object of type {type(func).__name__} cannot be called; hint: give a function")
    study._stopped = False
    with _progress(plan) as advance, _heart(study, plan) as heart:
        _Loop(study, func, plan, advance, heart).run()


@contextmanager
def _heart(study: Study, plan: Plan) -> Iterator[_mcbo.Heart | None]:
    """What keeps the trials of a stored study for this process while it lives."""
    if study.storage is None or study.name is None:
        yield None
        return
    least, most = LEASES if plan.lease is None else (plan.lease, plan.lease)
    heart = _mcbo.Heart(study.storage, study.name, least, most)
    try:
        yield heart
    finally:
        trouble = heart.stop()
        if trouble is not None:
            log.warning("a sign of life could not be written: %s", trouble)


class _Raise(Exception):  # noqa: N818
    """Carries what the caller is to be told once everything under way is settled."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


@dataclass
class _Run:
    """A trial under way."""

    trial: Trial
    name: str
    deadline: float | None
    #: Whether it was given up; what it gives after all is told all the same.
    is_late: bool = False


class _Loop:
    def __init__(
        self,
        study: Study,
        func: Objective,
        plan: Plan,
        advance: Callable[[Trial], None],
        heart: _mcbo.Heart | None,
    ) -> None:
        self.study = study
        self.func = func
        self.plan = plan
        self.advance = advance
        self.heart = heart
        self.begun = 0
        #: What trials cost that are under way here.
        self.open: dict[int, float] = {}
        self.stop = False
        self.deadline = None if plan.timeout is None else time.monotonic() + plan.timeout
        base = plan.worker or _workers.fresh()
        # A worker that asks again gets what it has: every place has a name of its own.
        self.names = [base] if plan.width() == 1 else [f"{base}-{at}" for at in range(plan.width())]

    def wanted(self) -> bool:
        """Whether one more trial is to be begun."""
        if self.stop or self.study._stopped or (self.deadline is not None and time.monotonic() >= self.deadline):
            return False
        return self.plan.n_trials is None or self.begun < self.plan.n_trials

    def ask(self, name: str) -> Trial | None:
        """The next trial; ``None`` if it costs more than what is left."""
        lease = LEASES[0] if self.plan.lease is None else self.plan.lease
        while True:
            if self.heart is not None:
                self._take_from_the_dead()
            trial = self.study.ask(worker=name, lease=lease)
            if trial.lost <= self.plan.retries:
                break
            reason = f"it was lost {trial.lost} times under way; hint: optimize(retries=...) allows more"
            log.warning("trial %d is given up: %s", trial.number, reason)
            self.study.tell(trial, state="failed", reason=reason)
        if self.plan.budget is not None:
            under_way = sum(cost for number, cost in self.open.items() if number != trial.number)
            left = self.plan.budget - (self.study.status.spent or 0.0) - under_way
            if (trial.cost or 0.0) > left:
                self.stop = True
                self.study._raw.release([trial.number], name, "", False)
                return None
            self.open[trial.number] = trial.cost or 0.0
        if self.heart is not None:
            self.heart.hold(trial.number, name)
        self.begun += 1
        log.info("trial %d begins: %s", trial.number, trial.params)
        return trial

    def _take_from_the_dead(self) -> None:
        """Gives back what processes of this machine had that have ended: the next question is answered with it."""
        for number, worker in self.study._raw.pending():
            if _workers.is_gone(worker):
                lost = self.study._raw.release([number], worker, "its process has ended", True)
                if lost:
                    log.warning("trial %d is taken up again: its process has ended", number)

    def run(self) -> None:
        """Goes round until nothing is wanted any more."""
        plan = self.plan
        own = plan.executor is None and (plan.width() > 1 or plan.trial_timeout is not None)
        try:
            if own:
                self.run_on(Threads(), own=True)
            elif plan.executor is not None:
                self.run_on(plan.executor, own=False)
            else:
                self.run_here()
        except _Raise as wrapped:
            raise wrapped.error from wrapped.error.__cause__

    def run_here(self) -> None:
        """One after the other, on this thread."""
        while self.wanted():
            trial = self.ask(self.names[0])
            if trial is None:
                return
            run = _Run(trial, self.names[0], None)
            try:
                outcome = measure(self.func, trial, os.getpid())
            except BaseException:
                self.give_back(run, "", lost=False)
                raise
            self.record(run, outcome)

    def run_on(self, executor: Executor, own: bool) -> None:
        """Many at once. Whatever goes wrong, what is finished is told and what runs is waited for before."""
        running: dict[Future[Outcome], _Run] = {}
        free = list(reversed(self.names))
        wrong: BaseException | None = None
        try:
            while True:
                while wrong is None and free and self.wanted():
                    try:
                        self.begin(executor, running, free)
                    except _Raise as wrapped:
                        wrong = wrapped.error
                    except Exception as error:
                        wrong = error
                waited = [run for run in running.values() if not run.is_late]
                if not waited and (wrong is not None or not running or not self.wanted()):
                    break
                fault = self.settle(running, free, own)
                wrong = wrong or fault
        except BaseException:
            self.abandon(running, own)
            raise
        if wrong is not None:
            raise _Raise(wrong)

    def settle(self, running: dict[Future[Outcome], _Run], free: list[str], own: bool) -> BaseException | None:
        """Waits for the next that are finished and tells what came of them; gives what went wrong first."""
        done, _ = wait(running, self._pause(running), return_when=FIRST_COMPLETED)
        self._give_up_late(running, free, own)
        # In the order of their numbers: what finished together is told in one order.
        finished = sorted(((running.pop(future), future) for future in done), key=lambda pair: pair[0].trial.number)
        # Futures are let go before anything is told: of one that somebody still holds Dask keeps the result where it
        # was made, and makes the experiment once more if that worker dies.
        done.clear()
        wrong: BaseException | None = None
        while finished:
            run, future = finished.pop(0)
            answer = _answer(future)
            del future
            if not (run.is_late and own):
                free.append(run.name)
            try:
                self.record_answer(run, answer)
            except _Raise as wrapped:
                wrong = wrong or wrapped.error
            except Exception as error:
                wrong = wrong or error
        return wrong

    def begin(self, executor: Executor, running: dict[Future[Outcome], _Run], free: list[str]) -> None:
        """Puts one more trial under way."""
        name = free.pop()
        trial = self.ask(name)
        if trial is None:
            return
        late = None if self.plan.trial_timeout is None else time.monotonic() + self.plan.trial_timeout
        run = _Run(trial, name, late)
        try:
            running[executor.submit(measure, self.func, trial, os.getpid())] = run
        except BaseException as error:
            # It was never begun.
            self.give_back(run, "", lost=False)
            told = unpicklable(error)
            if told is error:
                raise
            raise told from error

    def _pause(self, running: dict[Future[Outcome], _Run]) -> float | None:
        deadlines = [run.deadline for run in running.values() if run.deadline is not None and not run.is_late]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _give_up_late(self, running: dict[Future[Outcome], _Run], free: list[str], own: bool) -> None:
        """Notes trials as failed that take longer than they may. A thread of ours is left to itself."""
        now = time.monotonic()
        for future, run in running.items():
            if run.is_late or run.deadline is None or run.deadline > now or future.done():
                continue
            run.is_late = True
            future.cancel()
            self.failed(run, f"no answer in {self.plan.trial_timeout:g} s")
            self._after(run.trial)
            if own:
                # The place is free for the next; the name stays with the trial that has not ended.
                free.append(f"{run.name}+")

    def record_answer(self, run: _Run, outcome: Outcome | BaseException) -> None:
        """Tells what came of a trial that an executor ran. What the executor raises is no fault of the experiment."""
        if isinstance(outcome, BaseException):
            if run.is_late:
                return
            if isinstance(outcome, (KeyboardInterrupt, SystemExit)):
                self.give_back(run, "", lost=False)
                raise _Raise(outcome) from outcome
            self.lost(run, outcome)
            return
        if run.is_late:
            if outcome.error is None:
                with suppress(McboError):
                    self.study.tell(run.trial.number, outcome.values, worker=run.name)
            return
        self.record(run, outcome)

    def lost(self, run: _Run, error: BaseException) -> None:
        """A trial whose executor failed goes back to waiting, so often; then it counts as failed."""
        words = f"{type(error).__name__}: {error}"
        pickling = unpicklable(error)
        if pickling is not error:
            self.give_back(run, "", lost=False)
            raise _Raise(pickling) from error
        if run.trial.lost >= self.plan.retries:
            self.failed(run, f"lost {run.trial.lost + 1} times under way, the last time by {words}")
            self._after(run.trial)
        else:
            log.warning("trial %d was lost and waits again: %s", run.trial.number, words)
            self.give_back(run, words, lost=True)
        if _is_broken(error):
            # Nothing more can be run there.
            raise _Raise(error) from error

    def abandon(self, running: dict[Future[Outcome], _Run], own: bool) -> None:
        """After an interrupt: what is finished is told, the rest is left for the next who asks."""
        waiting = dict(running)
        for future in waiting:
            future.cancel()
        if own:
            # Threads go on in any case: what they give is not thrown away, unless the user insists.
            with suppress(KeyboardInterrupt):
                wait([future for future in waiting if not future.cancelled()])
        for future, run in waiting.items():
            with suppress(Exception):
                if future.done() and not future.cancelled():
                    self.record_answer(run, _answer(future))
                elif not run.is_late:
                    self.give_back(run, "", lost=False)

    def give_back(self, run: _Run, reason: str, lost: bool) -> None:
        """Lets a trial wait for the next who asks."""
        self._close(run)
        # Somebody else may have taken or told it meanwhile.
        with suppress(TrialError):
            self.study._raw.release([run.trial.number], run.name, reason, lost)

    def _close(self, run: _Run) -> None:
        self.open.pop(run.trial.number, None)
        if self.heart is not None:
            self.heart.let_go(run.trial.number)

    def failed(self, run: _Run, reason: str) -> None:
        """Notes a trial as failed."""
        self._close(run)
        log.warning("trial %d failed: %s", run.trial.number, reason)
        with suppress(TrialError):
            self.study.tell(run.trial, state="failed", reason=reason)

    def record(self, run: _Run, outcome: Outcome) -> None:
        """Tells what a trial gave, or that it failed."""
        trial, error = run.trial, outcome.error
        trial.user_attrs.update(outcome.user_attrs)
        if error is None:
            try:
                self.study.tell(trial, outcome.values, worker=run.name)
            except TrialError as conflict:
                self._keep_apart(run, outcome, conflict)
            except DataError as refused:
                error = refused
        if error is not None:
            self.failed(run, f"{type(error).__name__}: {error}")
            if not isinstance(error, (TrialFailed, *self.plan.catch)):
                raise _Raise(error) from error.__cause__
        self._close(run)
        self._after(trial)

    def _keep_apart(self, run: _Run, outcome: Outcome, conflict: TrialError) -> None:
        """Somebody else has told the same trial: what was measured here is a row of its own."""
        log.warning("what trial %d gave is added as a row of its own: %s", run.trial.number, conflict)
        done = run.trial.intervention.flat()
        measured = {name: value for name, value in (outcome.values or {}).items() if value is not None}
        self.study.add_trials([{**done, **measured}])

    def _after(self, trial: Trial) -> None:
        """What follows a trial that was told: the log, callbacks, the bar, and whether it is enough."""
        if self.plan.callbacks or self.plan.show_progress_bar or log.isEnabledFor(logging.INFO):
            told = self.study.trial(trial.number)
            if told.state == "complete":
                log.info("trial %d finished with %s", told.number, told.observed)
            for callback in self.plan.callbacks:
                callback(self.study, told)
            self.advance(told)
        gap = self.plan.until_gap
        if gap is not None:
            status = self.study.status
            if status.complete >= max(status.initial, 1):
                certificate = self.study.best().certificate
                self.stop = certificate is not None and certificate.gap <= gap


def _answer(future: Future[Outcome]) -> Outcome | BaseException:
    """What an executor's future has: an outcome, or what went wrong with the executor."""
    try:
        return future.result()
    except BaseException as error:
        return error


def _is_broken(error: BaseException) -> bool:
    """Whether an executor cannot be used any more."""
    from concurrent.futures import BrokenExecutor

    return isinstance(error, BrokenExecutor)


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
