"""What is done in a trial."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Union

from mcbo._errors import DataError
from mcbo._frozen import Vector, frozen
from mcbo._json import AsJson, plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A node's value: a number, a name where its values are names, or one number per component of a vector node.
Value = Union[float, str, Vector[float]]
#: Anything that is read as a node's value.
ValueLike = Union[float, str, Sequence[Union[float, None]], "NDArray[np.floating[Any]]"]

_DO = re.compile(r"do\((.*)\)", re.DOTALL)
_COMPONENT = re.compile(r"(.*)\[(\d+)\]", re.DOTALL)


@dataclass(frozen=True)
class Intervention(AsJson):
    """What is done: the values of actions, and the nodes that are set by force.

    >>> Intervention(actions={"dose": 30.0}, values={"ph": 6.5}).flat()
    {'dose': 30.0, 'do(ph)': 6.5}
    """

    #: The values of the actions, of choices their names; those not named are neutral.
    actions: Mapping[str, float | str] = field(default_factory=dict)
    #: The nodes that are set, with their values.
    values: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.actions, Mapping) and isinstance(self.values, Mapping):
            object.__setattr__(self, "actions", frozen(self.actions))
            object.__setattr__(self, "values", frozen(self.values))

    @property
    def targets(self) -> list[str]:
        """The nodes that are set."""
        return list(self.values)

    def flat(self) -> dict[str, float | str]:
        """Everything by one name each: actions by theirs, set nodes as ``do(node)``."""
        out: dict[str, float | str] = {
            name: value if isinstance(value, str) else float(value) for name, value in self.actions.items()
        }
        for name, value in self.values.items():
            if isinstance(value, str):
                out[f"do({name})"] = value
            elif isinstance(value, (int, float)):
                out[f"do({name})"] = float(value)
            else:
                out.update({f"do({name}[{at}])": float(number) for at, number in enumerate(value)})
        return out

    def to_dict(self) -> dict[str, Any]:
        """What is done as the command line's JSON has it."""
        return {"targets": self.targets, "values": plain(self.values), "actions": plain(self.actions)}


class HasIntervention(Protocol):
    """Anything that carries an intervention: a trial, a recommendation."""

    @property
    def intervention(self) -> Intervention:
        """What is done."""
        ...


#: Anything that is read as an intervention: one, a trial, or a mapping by names.
InterventionLike = Union[Intervention, HasIntervention, Mapping[str, Any], None]

#: An intervention as the library takes it: actions, and values of set nodes.
Parts = tuple[Mapping[str, Any], Mapping[str, Any]]


def parts(given: InterventionLike, actions: Sequence[str]) -> Parts:
    """The two parts of an intervention, whatever it is given as; ``actions`` are the names of the problem's."""
    if given is None:
        return {}, {}
    if isinstance(given, Intervention):
        return given.actions, given.values
    if isinstance(given, Mapping):
        if given and set(given) <= {"actions", "values", "targets"} and not set(given) & set(actions):
            actions_given, values = given.get("actions"), given.get("values")
            return {} if actions_given is None else actions_given, {} if values is None else values
        by_action = {name: value for name, value in given.items() if name in actions}
        rest = {name: value for name, value in given.items() if name not in by_action}
        return by_action, _joined({_inside(name): value for name, value in rest.items()})
    inner = getattr(given, "intervention", None)
    if isinstance(inner, Intervention):
        return inner.actions, inner.values
    raise DataError(
        f"an object of type {type(given).__name__} is no intervention; "
        'hint: give a dictionary such as {"dose": 30.0}, an Intervention or a Trial'
    )


def row_parts(row: Mapping[str, Any], actions: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Actions, set nodes and measured nodes of a row by names; ``do(node)`` is a node that was set."""
    if not isinstance(row, Mapping):
        raise DataError(f"a row is of type {type(row).__name__}; hint: rows are dictionaries by name")
    by_action = {name: value for name, value in row.items() if name in actions}
    rest = {name: value for name, value in row.items() if name not in by_action}
    was_set = {name: value for name, value in rest.items() if isinstance(name, str) and _DO.fullmatch(name)}
    measured = {name: value for name, value in rest.items() if name not in was_set}
    return (
        by_action,
        _joined({_inside(name): value for name, value in was_set.items()}),
        _joined(measured, in_parts=True),
    )


def _inside(name: str) -> str:
    """The node of ``do(node)``."""
    found = _DO.fullmatch(name) if isinstance(name, str) else None
    return found.group(1) if found else name


def _joined(values: Mapping[str, Any], in_parts: bool = False) -> dict[str, Any]:
    """Components such as ``x[0]`` and ``x[1]`` put together, or left as they are where some may be missing."""
    out: dict[str, Any] = {}
    several: dict[str, dict[int, Any]] = {}
    for name, value in values.items():
        found = _COMPONENT.fullmatch(name) if isinstance(name, str) else None
        if found and len(found.group(2)) < 6:
            several.setdefault(found.group(1), {})[int(found.group(2))] = value
        else:
            out[name] = value
    for name, components in several.items():
        whole = sorted(components) == list(range(len(components)))
        if name in out or not (whole or in_parts):
            raise DataError(f"{name} has components {sorted(components)}; hint: give all of them, from 0, once")
        if in_parts:
            out.update({f"{name}[{at}]": value for at, value in components.items()})
        else:
            out[name] = [components[at] for at in range(len(components))]
    return out
