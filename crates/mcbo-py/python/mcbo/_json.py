"""Results as JSON, in the words of the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from math import isfinite
from typing import Any

from mcbo._frozen import Names


class AsJson:
    """What has a form in JSON, that of the command line where it prints the same."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dictionaries, lists, numbers and texts."""
        raise NotImplementedError

    def to_json(self, indent: int | None = None) -> str:
        """The result as a text in JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


def plain(value: Any) -> Any:
    """A value as JSON has it: what has fields by their names, moments as texts, numbers that are not finite as null."""
    if isinstance(value, AsJson):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        return {name: plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, Names):
        return {"names": {name: plain(inner) for name, inner in value.items()}}
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, datetime):
        text = value.astimezone(timezone.utc).isoformat(timespec="microseconds")[:-6]
        return text.rstrip("0").rstrip(".") + "Z"
    return value
