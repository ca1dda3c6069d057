"""What runs where an experiment is made: on this thread, another one, or another machine."""

from __future__ import annotations

import os
import pickle
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from mcbo._errors import DataError
from mcbo._trial import Trial


@dataclass
class Outcome:
    """What an objective gave: values, or what it raised; and what it wrote beside the trial."""

    values: Any = None
    error: Exception | None = None
    user_attrs: dict[str, Any] = field(default_factory=dict)


class RemoteError(Exception):
    """Where an exception comes from that was raised in another process."""

    def __init__(self, trace: str) -> None:
        super().__init__(trace)
        self.trace = trace

    def __str__(self) -> str:
        return f"\n\n{self.trace}"


def measure(func: Callable[[Trial], Any], trial: Trial, home: int) -> Outcome:
    """Calls an objective: what executors are given. What it raises is an answer; all else is their own fault."""
    try:
        return Outcome(values=func(trial), user_attrs=dict(trial.user_attrs))
    except Exception as error:
        if os.getpid() != home:
            error = _portable(error)
        return Outcome(error=error, user_attrs=dict(trial.user_attrs))


def _portable(error: Exception) -> Exception:
    """An exception that reaches another process, with where it was raised."""
    trace = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))
        sent = error
    except Exception:
        sent = RuntimeError(f"{type(error).__name__}: {error}")
    return _Sent(sent, trace)


class _Sent(Exception):  # noqa: N818
    """An exception on its way: it arrives as itself, caused by where it was raised."""

    def __init__(self, error: Exception, trace: str) -> None:
        super().__init__()
        self.error, self.trace = error, trace

    def __reduce__(self) -> tuple[Any, ...]:
        return (_arrived, (self.error, self.trace))


def _arrived(error: Exception, trace: str) -> Exception:
    error.__cause__ = RemoteError(trace)
    return error


def unpicklable(error: BaseException) -> BaseException:
    """The same error; if it says that something cannot be pickled, one that says what to do."""
    words = str(error).lower()
    if not isinstance(error, pickle.PickleError) and not (
        isinstance(error, (TypeError, AttributeError)) and ("pickle" in words or "serialize" in words)
    ):
        return error
    made = DataError(
        f"the function or what it returns cannot be sent to another process: {error}; hint: a function of a module, "
        "numbers by name; or n_jobs=... for threads"
    )
    made.__cause__ = error
    return made


class Threads(Executor):
    """A thread for every trial. They end with the program, however long their experiment would take."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begins at once."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()

        def work() -> None:
            try:
                found = fn(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(found)

        threading.Thread(target=work, name="mcbo-trial", daemon=True).start()
        return future


def attributes(trial: Trial, known: Mapping[str, Any]) -> dict[str, Any]:
    """What was written beside a trial and is not stored yet."""
    return {name: value for name, value in trial.user_attrs.items() if known.get(name) != value or name not in known}
