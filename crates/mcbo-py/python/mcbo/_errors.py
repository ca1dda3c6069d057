"""What can go wrong. Messages say what, where and how to mend it, in the words of the command line."""

from __future__ import annotations

__all__ = [
    "DataError",
    "InternalError",
    "McboError",
    "NoPredictionError",
    "ProblemError",
    "StorageError",
    "StrategyError",
    "StudyExistsError",
    "StudyNotFoundError",
    "TaskError",
    "TrialError",
    "TrialFailed",
]


class McboError(Exception):
    """Anything that this package refuses or fails at."""


class ProblemError(McboError, ValueError):
    """A problem has mistakes; the message names all of them, each with its line."""


class DataError(McboError, ValueError):
    """Values, interventions or settings that do not fit. Nothing was stored."""


class NoPredictionError(DataError, KeyError):
    """Nothing was predicted of a trial: no model was asked when it was proposed."""

    def __str__(self) -> str:
        # That of a KeyError would be in quotation marks.
        return Exception.__str__(self)


class TrialError(McboError):
    """There is no such trial, or it is in another state."""


class StrategyError(McboError):
    """A strategy is unknown, gave no suggestion, or one that the problem does not allow."""


class StorageError(McboError):
    """A store cannot be reached, read or written."""


class StudyNotFoundError(StorageError, LookupError):
    """A store has no study of that name."""


class StudyExistsError(StorageError):
    """A store has a study of that name already."""


class TaskError(McboError, ValueError):
    """There is no such benchmark task, or it cannot be run."""


class InternalError(McboError):
    """A mistake in this package."""


class TrialFailed(McboError):  # noqa: N818
    """Raised by an objective: the trial could not be run. ``optimize`` notes it and goes on."""
