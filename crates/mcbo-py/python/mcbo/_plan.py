"""What an optimisation is asked for, checked before anything is begun."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcbo._errors import DataError

if TYPE_CHECKING:
    from mcbo._study import Callback


@dataclass
class Plan:
    """How long to go on, and how."""

    n_trials: int | None
    timeout: float | None
    trial_timeout: float | None
    callbacks: tuple[Callback, ...]
    show_progress_bar: bool
    catch: tuple[type[Exception], ...]
    executor: Executor | None
    n_jobs: int | None
    until_gap: float | None
    budget: float | None
    worker: str | None
    lease: float | None
    retries: int

    def check(self) -> None:
        """Refuses what makes no sense before anything is begun."""
        ends = (self.n_trials, self.timeout, self.until_gap, self.budget)
        if all(end is None for end in ends):
            raise DataError("nothing would end this; hint: give n_trials, timeout, until_gap or budget")
        self.n_trials = whole("n_trials", self.n_trials, 0)
        if self.n_jobs == -1:
            self.n_jobs = os.cpu_count() or 1
        self.n_jobs = whole("n_jobs", self.n_jobs, 1, " or -1 for one per core")
        self.retries = whole("retries", self.retries, 0) or 0
        for name in ("timeout", "trial_timeout", "until_gap", "budget", "lease"):
            given = getattr(self, name)
            if given is None:
                continue
            try:
                number = float(given) if isinstance(given, (int, float)) or hasattr(given, "dtype") else -1.0
            except (TypeError, ValueError, OverflowError):
                number = -1.0
            if isinstance(given, bool) or not number >= 0 or (number == 0 and name in ("lease", "trial_timeout")):
                raise DataError(f"{name} is {shown(given)}; hint: a number, at least 0")
            setattr(self, name, number)
        if not all(callable(callback) for callback in self.callbacks):
            raise DataError("a callback cannot be called; hint: callbacks take the study and the trial")
        if self.executor is not None and not hasattr(self.executor, "submit"):
            raise DataError("the executor has no submit; hint: one of concurrent.futures, or get_executor() of Dask")
        if self.worker is not None and not isinstance(self.worker, str):
            raise DataError(f"the worker is of type {type(self.worker).__name__}; hint: a text")

    def width(self) -> int:
        """How many trials are under way at once."""
        if self.n_jobs is not None:
            return self.n_jobs
        return 1 if self.executor is None else _places(self.executor)


def shown(given: object) -> str:
    """An object in a message, whatever it says of itself."""
    try:
        text = repr(given)
    except Exception:
        text = f"an object of type {type(given).__name__}"
    return text if len(text) < 100 else text[:97] + "..."


def whole(name: str, given: Any, least: int, more: str = "") -> int | None:
    """A whole number, of Python or of numpy."""
    if given is None:
        return None
    try:
        number = operator.index(given)
    except Exception:
        number = None
    if number is None or isinstance(given, bool) or number < least:
        raise DataError(f"{name} is {shown(given)}; hint: a whole number, at least {least}{more}")
    return number


def classes(catch: Any) -> tuple[type[Exception], ...]:
    """The classes of exceptions that are caught: one, or several."""
    try:
        several = (catch,) if isinstance(catch, type) else tuple(catch)
    except Exception:
        several = (catch,)
    if not all(isinstance(one, type) and issubclass(one, Exception) for one in several):
        raise DataError(f"catch is {shown(catch)}; hint: a class of exceptions, or several: catch=[ValueError]")
    return several


def calls(callbacks: Any) -> tuple[Callback, ...]:
    """What is called after every trial."""
    if callbacks is None:
        return ()
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise DataError("callbacks are given one by one; hint: callbacks=[...]")
    return tuple(callbacks)


def _places(executor: Executor) -> int:
    """How many workers an executor has, as far as it tells."""
    known = getattr(executor, "_max_workers", None)
    if isinstance(known, int) and known > 0:
        return known
    client = getattr(executor, "_client", None)
    threads = getattr(client, "nthreads", None)
    if callable(threads):
        counts: Any = threads()
        return max(1, sum(int(count) for count in counts.values()))
    return os.cpu_count() or 1
