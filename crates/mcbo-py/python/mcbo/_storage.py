"""Stores of studies: their addresses, and what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mcbo import _mcbo
from mcbo._errors import DataError, StorageError, StudyNotFoundError
from mcbo._json import AsJson, plain
from mcbo._trial import moment


@dataclass(frozen=True)
class StudySummary(AsJson):
    """A line of the list of studies."""

    name: str
    #: When it was made.
    created: datetime
    #: When anything happened to it last.
    changed: datetime
    #: Its trials, rows that were added among them.
    trials: int
    #: Those under way.
    pending: int
    #: Those with measurements.
    complete: int
    #: Those that could not be run.
    failed: int

    def to_dict(self) -> dict[str, Any]:
        """The line as ``mcbo studies --json`` has it."""
        names = ("trials", "complete", "pending", "failed", "created", "changed")
        return {"study": self.name, **{name: plain(getattr(self, name)) for name in names}}


def _file(storage: object) -> Path | None:
    """The file of an SQLite address; ``None`` for other addresses."""
    if not isinstance(storage, str):
        raise DataError(
            f"the storage is of type {type(storage).__name__}; hint: an address such as sqlite://studies.sqlite"
        )
    path, _, query = storage.removeprefix("sqlite://").partition("?")
    if not storage.startswith("sqlite://") or not path or "mode=memory" in query:
        return None
    try:
        file = Path(unquote(path))
        file.exists()
    except (OSError, ValueError):
        return None
    return file


def check_new(storage: object) -> None:
    """Refuses an address that most probably means another place than it names."""
    file = _file(storage)
    if file is None or file.exists():
        return
    text = str(storage)
    if text.startswith("sqlite:///") and not text.startswith("sqlite:////"):
        relative = text.removeprefix("sqlite:///")
        in_root, no_folder = file.parent == Path(file.anchor), not file.parent.exists()
        if in_root or no_folder:
            place = f"the root folder ({file})" if in_root else f"{file.parent}, which does not exist"
            raise StorageError(
                f"{text} names a file in {place}; hint: sqlite://{relative} is in the working folder, "
                f"sqlite:////{relative} says that the root is meant"
            )


def check_there(storage: object) -> None:
    """Refuses the address of a file that is not there: reading makes none."""
    file = _file(storage)
    if file is not None and not file.exists():
        raise StudyNotFoundError(
            f"there are no studies at {storage}; hint: check the address (two slashes and a path from the working "
            "folder, or three and one from the root); mcbo.create_study makes the first study"
        )


def studies(storage: str) -> list[StudySummary]:
    """All studies of a store, by name.

    >>> import mcbo, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> storage = f"sqlite://{folder.name}/studies.sqlite"
    >>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
    >>> _ = mcbo.create_study(problem, "first", storage)
    >>> mcbo.copy_study("first", "second", storage)
    >>> [study.name for study in mcbo.studies(storage)]
    ['first', 'second']
    >>> mcbo.delete_study("first", storage)
    >>> mcbo.rename_study("second", "only", storage)
    >>> [study.name for study in mcbo.studies(storage)]
    ['only']
    """
    check_there(storage)
    return [
        StudySummary(name, moment(created), moment(changed), trials, pending, complete, failed)
        for name, created, changed, trials, pending, complete, failed in _mcbo.studies(storage)
    ]


def delete_study(name: str, storage: str) -> None:
    """Deletes a study with all that ever happened to it."""
    check_there(storage)
    _mcbo.delete_study(storage, name)


def copy_study(name: str, new: str, storage: str) -> None:
    """Makes a study that is the same as another one; from then on they go their own ways."""
    check_there(storage)
    _mcbo.copy_study(storage, name, new)


def rename_study(name: str, new: str, storage: str) -> None:
    """Gives a study another name. Whoever works with it goes on working with it."""
    check_there(storage)
    _mcbo.rename_study(storage, name, new)


def differences(asked: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """What is otherwise in a study than it was asked for, in words."""
    return [f"{name} is {found[name]!r} there and not {asked[name]!r}" for name in asked if asked[name] != found[name]]
