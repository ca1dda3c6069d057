"""What is known before the first experiment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from mcbo import _html, _mcbo, _toml
from mcbo._errors import ProblemError
from mcbo._frozen import frozen
from mcbo._intervention import Intervention, InterventionLike, Value, parts

if TYPE_CHECKING:
    import networkx as nx

#: A range of values.
Range = tuple[float, float]
#: A noise as the problem file writes it.
NoiseSpec = Union[str, Mapping[str, Any]]

_FIELDS = (
    "parents",
    "actions",
    "dim",
    "noise",
    "do",
    "step",
    "choices",
    "retired",
    "range",
    "formula",
    "kernel",
    "components",
    "unit",
    "context",
    "limit",
    "cost",
)

#: What programs that draw graphs write beside nodes: no fields, and no mistakes.
_DRAWING = frozenset(
    (
        "label",
        "pos",
        "x",
        "y",
        "color",
        "colour",
        "fillcolor",
        "shape",
        "style",
        "size",
        "width",
        "height",
        "layer",
        "subset",
    )
)


@dataclass(frozen=True)
class Node:
    """A variable of the system."""

    name: str
    #: The nodes it reads.
    parents: tuple[str, ...]
    #: The actions it reads.
    actions: tuple[str, ...]
    #: The number of its components.
    dim: int
    #: ``"none"``, ``"learn"``, ``{"gaussian": std}`` or ``{"uniform": (low, high)}``.
    noise: NoiseSpec
    #: Where it may be set, one range per component, if it is a target of hard interventions.
    do: tuple[Range, ...] | None
    #: Its mechanism, one formula per component, if it is known.
    formula: tuple[str, ...] | None
    #: The values that are usual for every component, if they were declared.
    range: Range | None
    #: The unit of its values.
    unit: str | None = None
    #: Whether it is known before anything is decided.
    context: bool = False
    #: ``{"below": level, "probability": p}``, with ``"above"`` or with both: what a single outcome is to keep.
    limit: Mapping[str, float] | None = None
    #: ``{"fixed": cost}`` of setting it.
    cost: Mapping[str, float] | None = None
    #: The distance between the values it can be set to, if it is set in steps.
    step: float | None = None
    #: The names of its values, if they are names; ``do`` then has the places of the first and the last.
    choices: tuple[str, ...] = ()
    #: The only values it can be set to, if they are listed.
    values: tuple[float, ...] | None = None
    #: Those of its names that it is no longer set to.
    retired: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("noise", "limit", "cost"):
            object.__setattr__(self, name, frozen(getattr(self, name)))


@dataclass(frozen=True)
class Action:
    """Something that can be chosen in every trial and that feeds nodes."""

    name: str
    #: The values it can take; of a choice the places of its names.
    range: Range
    #: The value that means not acting; of a choice its name.
    neutral: float | str
    #: The distance between its values, if it goes in steps.
    step: float | None = None
    #: The names of its values, if it is a choice.
    choices: tuple[str, ...] = ()
    #: The unit of its values.
    unit: str | None = None
    #: ``{"fixed": cost, "per_unit": cost}`` of using it.
    cost: Mapping[str, float] | None = None
    #: The only values it can take, if they are listed.
    values: tuple[float, ...] | None = None
    #: Those of its choices that are no longer proposed.
    retired: tuple[str, ...] = ()
    #: ``"linear"`` where differences of its values count, ``"log"`` where ratios do.
    scale: str = "linear"

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", frozen(self.cost))


class Problem:
    """The causal graph, what can be done, and what is to be optimised.

    Nodes and actions have the fields of the problem file; an action may be just its range or the list of its choices,
    a node just its parents.

    >>> problem = Problem(
    ...     nodes={"moisture": {"actions": ["water"]}, "growth": ["moisture"]},
    ...     actions={"water": (0.0, 10.0)},
    ...     maximize="growth",
    ... )
    >>> problem.nodes["growth"].parents
    ('moisture',)
    >>> problem.actions["water"].range
    (0.0, 10.0)

    A ``networkx.DiGraph`` can give the arrows; its nodes' attributes are fields of the nodes.

    >>> import networkx as nx
    >>> graph = nx.DiGraph([("moisture", "growth")])
    >>> graph.nodes["moisture"]["actions"] = ["water"]
    >>> Problem(graph=graph, actions={"water": (0.0, 10.0)}, maximize="growth") == problem
    True
    """

    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Any] | Sequence[str]] | None = None,
        actions: Mapping[str, Mapping[str, Any] | Range | Sequence[str]] | None = None,
        *,
        graph: nx.DiGraph[Any] | None = None,
        maximize: str | None = None,
        minimize: str | None = None,
        aim: str | None = None,
        name: str | None = None,
        constraints: Mapping[str, Any] | None = None,
        simulator: Mapping[str, Any] | None = None,
    ) -> None:
        shape: dict[str, Any] = {
            "name": name,
            "maximize": maximize,
            "minimize": minimize,
            "aim": aim,
            "nodes": _nodes(nodes, graph),
            "actions": {key: _action(value) for key, value in _mapping(actions, "actions").items()},
            "constraints": constraints,
            "simulator": simulator,
        }
        if graph is not None:
            _fill(shape, graph)
        self._raw = _mcbo.Problem(_toml.write({k: v for k, v in shape.items() if v or k == "nodes"}), "problem")

    @classmethod
    def _of(cls, raw: _mcbo.Problem) -> Problem:
        problem = cls.__new__(cls)
        problem._raw = raw
        return problem

    @classmethod
    def from_toml(cls, text: str) -> Problem:
        """A problem from the text of a problem file."""
        return cls._of(_mcbo.Problem(text, "problem"))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Problem:
        """A problem from a problem file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise ProblemError(f"{path} cannot be read: {error}") from error
        return cls._of(_mcbo.Problem(text, str(path)))

    @classmethod
    def from_dict(cls, shape: Mapping[str, Any]) -> Problem:
        """A problem from a dictionary with the shape of the problem file.

        >>> shape = {"maximize": "y", "nodes": {"y": {"actions": ["a"]}}, "actions": {"a": {"range": [0, 1]}}}
        >>> Problem.from_dict(shape).reward
        'y'
        """
        return cls._of(_mcbo.Problem(_toml.write(shape), "problem"))

    def to_toml(self) -> str:
        """The text of the problem file: the one it was read from, or else one that says the same."""
        return self._raw.text if self._raw.text is not None else _toml.write(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The problem as a dictionary with the shape of the problem file."""
        simulator, marks = self._raw.simulator(), self._raw.marks()
        shape: dict[str, Any] = {
            "name": self.name,
            "maximize" if self.maximize else "minimize": self.reward,
            "aim": None if self.aim == "earn" else self.aim,
            "nodes": {
                fields["name"]: {**_fields(fields), **marks.get(fields["name"], {})} for fields in self._raw.nodes()
            },
            "actions": {action.name: _action_fields(action) for action in self.actions.values()},
            "constraints": self._raw.constraints(),
            "simulator": simulator and {name: _single(formulas) for name, formulas in simulator.items()},
        }
        return {key: value for key, value in shape.items() if value or key == "nodes"}

    @property
    def name(self) -> str:
        """The problem's name."""
        return self._raw.name

    @property
    def nodes(self) -> dict[str, Node]:
        """All nodes by name, in the order they were declared."""
        marks = self._raw.marks()
        return {fields["name"]: _node(fields, marks.get(fields["name"], {})) for fields in self._raw.nodes()}

    @property
    def actions(self) -> dict[str, Action]:
        """All actions by name, in the order they were declared."""
        marks = self._raw.marks()
        return {
            name: Action(
                name,
                span,
                neutral,
                step,
                tuple(choices),
                values=None if values is None else tuple(values),
                **marks.get(name, {}),
            )
            for name, span, neutral, step, values, choices in self._raw.actions()
        }

    @property
    def require(self) -> list[str]:
        """What the values of actions must keep to."""
        return list(self._raw.constraints().get("require", []))

    @property
    def reward(self) -> str:
        """The node that is optimised."""
        return self._raw.reward

    @property
    def maximize(self) -> bool:
        """Whether large rewards are good."""
        return self._raw.maximize

    @property
    def aim(self) -> str:
        """What the trials are for: to ``"earn"`` (every trial counts) or to ``"find"`` (only the recommendation)."""
        return self._raw.aim

    @property
    def slots(self) -> list[str]:
        """The names of all components of all nodes: the columns of arrays."""
        return self._raw.slots

    @property
    def max_interventions(self) -> int | None:
        """How many interventions one trial may have at most."""
        limit: int | None = self._raw.constraints().get("max_interventions")
        return limit

    @property
    def warnings(self) -> list[str]:
        """What is odd without being wrong."""
        return self._raw.warnings

    @property
    def has_simulator(self) -> bool:
        """Whether the problem can answer for itself."""
        return self._raw.has_simulator

    def target_sets(self) -> list[tuple[str, ...]] | None:
        """The sets of nodes worth setting; ``None`` where they are too many to list."""
        sets = self._raw.target_sets()
        return None if sets is None else [tuple(members) for members in sets]

    def intervention(self, given: InterventionLike = None) -> Intervention:
        """Checks an intervention and completes it: actions that are not named are neutral.

        >>> problem = Problem(nodes={"y": {"actions": ["a", "b"]}}, actions={"a": (0, 1), "b": (0, 1)}, maximize="y")
        >>> problem.intervention({"a": 0.5})
        Intervention(actions={'a': 0.5, 'b': 0.0}, values={})
        """
        return Intervention(*self._raw.intervention(*self._parts(given)))

    def simulate(self, given: InterventionLike = None, *, seed: int = 0, number: int | None = None) -> dict[str, Value]:
        """What the problem's own simulator answers.

        A trial of the same number and seed is answered as by ``mcbo run``.
        """
        trial = getattr(given, "number", 0) if number is None else number
        known = getattr(given, "given", None)
        answer = self._raw.simulate(*self._parts(given), known, seed, trial if isinstance(trial, int) else 0)
        return {name: value for name, value in answer.items() if value is not None}

    def simulate_contexts(self, *, seed: int = 0, number: int = 0) -> dict[str, Value]:
        """What the problem's own simulator has for the contexts of a trial, before it is chosen.

        Those of a trial of the same number and seed in ``mcbo run``.
        """
        return self._raw.simulate_contexts(seed, number)

    def to_networkx(self) -> nx.DiGraph[str]:
        """The causal graph, with the fields of nodes as their attributes and all else as the graph's own.

        ``Problem(graph=problem.to_networkx())`` is the same problem.
        """
        import networkx as nx

        shape = self.to_dict()
        nodes = shape.pop("nodes")
        graph: nx.DiGraph[str] = nx.DiGraph(**shape)
        for name, fields in nodes.items():
            graph.add_node(name, **{key: value for key, value in fields.items() if key != "parents"})
        graph.add_edges_from((parent, node.name) for node in self.nodes.values() for parent in node.parents)
        return graph

    def _parts(self, given: InterventionLike) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return parts(given, [name for name, *_ in self._raw.actions()])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        return self._shape() == other._shape()

    def __hash__(self) -> int:
        return hash((self.name, self.reward, self.maximize))

    def _differences(self, other: Problem) -> list[str]:
        """In what this problem differs from another one, in words."""
        here, there = self.to_dict(), other.to_dict()
        found = []
        for part, one in (("nodes", "node"), ("actions", "action")):
            mine, theirs = here.pop(part, {}), there.pop(part, {})
            for name in dict.fromkeys([*mine, *theirs]):
                if name not in theirs:
                    found.append(f"it has no {one} {name!r}")
                elif name not in mine:
                    found.append(f"it has {'an' if one == 'action' else 'a'} {one} {name!r} more")
                else:
                    keys = dict.fromkeys([*mine[name], *theirs[name]])
                    other_keys = [key for key in keys if mine[name].get(key) != theirs[name].get(key)]
                    found.extend(
                        f"{key} of {name!r} is {theirs[name].get(key)!r} there and not {mine[name].get(key)!r}"
                        for key in other_keys
                    )
        here.pop("simulator", None)
        there.pop("simulator", None)
        for key in dict.fromkeys([*here, *there]):
            if here.get(key) != there.get(key):
                found.append(f"{key} is {there.get(key)!r} there and not {here.get(key)!r}")
        return found or ["its problem is another one"]

    def _shape(self) -> tuple[object, ...]:
        nodes = sorted(self._raw.nodes(), key=lambda node: str(node["name"]))
        return (
            self.name,
            self.reward,
            self.maximize,
            self.aim,
            nodes,
            sorted(self._raw.actions(), key=lambda action: action[0]),
            self._raw.marks(),
            self._raw.constraints(),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Problem.from_toml, (self.to_toml(),))

    def __repr__(self) -> str:
        goal = "maximize" if self.maximize else "minimize"
        name = f"{self.name!r}, " if self.name else ""
        return f"Problem({name}{goal} {self.reward!r}, {len(self.nodes)} nodes, {len(self.actions)} actions)"

    def _repr_html_(self) -> str:
        return _html.problem(self)


def _mapping(given: object, what: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ProblemError(f"the {what} are of type {type(given).__name__}; hint: give them in a dictionary by name")
    return given


def _nodes(given: object, graph: nx.DiGraph[Any] | None) -> dict[str, dict[str, Any]]:
    nodes: dict[str, dict[str, Any]] = {}
    if graph is not None:
        try:
            for name, attributes in graph.nodes(data=True):
                unknown = [key for key in attributes if key not in _FIELDS and key not in _DRAWING]
                if unknown:
                    raise ProblemError(_no_field(unknown[0], f"node {name!r} of the graph", _FIELDS))
                fields = {key: value for key, value in attributes.items() if key in _FIELDS}
                nodes[name] = {"parents": list(graph.predecessors(name)), **fields}
        except (AttributeError, TypeError) as error:
            raise ProblemError(f"the graph is no networkx.DiGraph: {error}") from error
    for name, fields in _mapping(given, "nodes").items():
        named = fields if isinstance(fields, Mapping) else {"parents": fields}
        nodes.setdefault(name, {}).update(named)
    return nodes


def _no_field(name: object, where: str, known: Sequence[str]) -> str:
    """That something has no such field, and which it may mean."""
    near = get_close_matches(str(name), known, n=1)
    meant = f"{near[0]!r} is one" if near else f"the fields are {', '.join(known)}"
    return f"{where} has an attribute {name!r}, which is no field; hint: {meant}; delete others from the graph"


def _fill(shape: dict[str, Any], graph: nx.DiGraph[Any]) -> None:
    """Adds what a graph says of the problem as a whole, where nothing else is said."""
    known = tuple(key for key in shape if key != "nodes")
    for key, value in graph.graph.items():
        if key not in known:
            # What other programs write there means nothing here, unless it is a slip of the pen.
            if get_close_matches(str(key), known, n=1, cutoff=0.8):
                raise ProblemError(_no_field(key, "the graph", known))
            continue
        other = {"maximize": "minimize", "minimize": "maximize"}.get(key)
        if not shape[key] and not (other and shape[other]):
            shape[key] = value


def _action(given: object) -> object:
    if isinstance(given, Mapping):
        return given
    names = isinstance(given, (list, tuple)) and bool(given) and all(isinstance(one, str) for one in given)
    return {"choices" if names else "range": given}


def _action_fields(action: Action) -> dict[str, Any]:
    """The fields of an action as the problem file writes them."""
    if action.choices:
        values: dict[str, Any] = {"choices": list(action.choices)}
    elif action.values:
        values = {"values": list(action.values)}
    else:
        values = {"range": action.range, "step": action.step}
    fields = {**values, "neutral": action.neutral, "unit": action.unit, "cost": action.cost}
    fields["retired"] = list(action.retired) or None
    fields["scale"] = None if action.scale == "linear" else action.scale
    return {key: value for key, value in fields.items() if value is not None}


def _single(several: Sequence[Any]) -> Any:
    """One by itself, several as a list."""
    return several[0] if len(several) == 1 else list(several)


def _fields(node: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a node as the problem file writes them, those of no interest left out."""
    fields = {key: node[key] for key in ("parents", "actions", "noise", "step", "range", "kernel")}
    fields["dim"] = node["dim"] if node["dim"] > 1 else None
    fields["do"] = True if node["do"] and node["choices"] else node["do"] and _single(node["do"])
    if node["values"]:
        fields["do"] = {"values": list(node["values"])}
    fields["choices"] = node["choices"]
    fields["formula"] = node["formula"] and _single(node["formula"])
    fields["components"] = "coregionalised" if node["coregionalised"] else None
    return {key: value for key, value in fields.items() if value not in (None, [], "learn")}


def _node(fields: Mapping[str, Any], marks: Mapping[str, Any]) -> Node:
    return Node(
        name=fields["name"],
        parents=tuple(fields["parents"]),
        actions=tuple(fields["actions"]),
        dim=fields["dim"],
        noise=fields["noise"],
        do=None if fields["do"] is None else tuple(fields["do"]),
        formula=None if fields["formula"] is None else tuple(fields["formula"]),
        range=fields["range"],
        step=fields["step"],
        choices=tuple(fields["choices"]),
        values=None if fields["values"] is None else tuple(fields["values"]),
        **marks,
    )
