"""Mappings and vectors that cannot be changed, that can be hashed, and that pickle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Vector(tuple[V, ...]):
    """The components of a vector node. It equals a list of the same numbers."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other)) if isinstance(other, (list, tuple)) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other if isinstance(other, (list, tuple)) else NotImplemented

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __repr__(self) -> str:
        return repr(list(self))


class FrozenDict(dict[K, V]):
    """A dictionary that stays as it was made: it can be read, compared, hashed, copied and pickled."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this belongs to a result and cannot be changed; hint: dict(...) makes a copy that can")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = _refuse
    setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict[K, V]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self),))


class Names(FrozenDict[str, V]):
    """What is said of each name of a node whose name has causes."""

    __slots__ = ()


def frozen(given: Any) -> Any:
    """The same that cannot be changed: dictionaries and lists, and those inside them."""
    if isinstance(given, FrozenDict):
        return given
    if isinstance(given, Mapping):
        return FrozenDict({name: frozen(value) for name, value in given.items()})
    if isinstance(given, list):
        return Vector(frozen(value) for value in given)
    return given
