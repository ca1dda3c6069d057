"""The fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcbo import _html, _mcbo
from mcbo._errors import DataError
from mcbo._frozen import Names
from mcbo._intervention import InterventionLike
from mcbo._json import AsJson, plain
from mcbo._picture import Picture
from mcbo._problem import Problem
from mcbo._table import Interventions, choices, interventions
from mcbo._table import inputs as inputs_of
from mcbo._trial import NodeForecast, node_forecasts

if TYPE_CHECKING:
    import pandas as pd

    from mcbo._study import Study

#: Draws that the bounds of one forecast, or of few, are made of.
DRAWS = 1024
#: More interventions than this are many.
FEW = 16


@dataclass(frozen=True)
class NodeSummary(AsJson):
    """How well one component of a node is known."""

    name: str
    #: Rows it learned from.
    rows: int
    #: The mechanism's standard deviation, averaged over the inputs seen.
    uncertainty: float
    #: The share of the variation of trials it has not seen that the mechanism foretells, each trial by all others: 0 to
    #: 1, about 0 for pure noise. ``None`` with fewer than three rows, or where all values are the same.
    explained: float | None
    #: The noise's standard deviation.
    noise: float
    #: The form of the mechanism.
    form: str

    def to_dict(self) -> dict[str, Any]:
        """The line as ``mcbo best --json`` has it."""
        names = ("name", "rows", "explained", "uncertainty", "noise", "form")
        return {name: plain(getattr(self, name)) for name in names}


class Model:
    """One Gaussian process per node, fitted to a study's data: ``study.model``.

    >>> import mcbo
    >>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"], "noise": "none"}}, actions={"a": (0, 1)}, maximize="y")
    >>> study = mcbo.create_study(problem)
    >>> study.add_trials([{"a": a / 4, "y": 1 - (a / 4 - 0.5) ** 2} for a in range(5)])
    >>> mean, sd = study.model.predict("y", [[0.5], [0.6]])
    >>> mean.round(2).tolist(), sd.shape
    ([1.0, 0.97], (2,))
    """

    def __init__(self, raw: _mcbo.Model, problem: Problem, origin: tuple[Study, Any] | None = None) -> None:
        self._raw = raw
        self._problem = problem
        #: The study it was fitted to, what was given, and how many events there were; ``None`` of what strategies are
        #: shown.
        self._origin = None if origin is None else (*origin, origin[0]._raw.counts()[-1])

    @property
    def nodes(self) -> dict[str, NodeSummary]:
        """How well every component of every node is known."""
        return {row[0]: NodeSummary(*row) for row in self._raw.nodes()}

    def pictures(self) -> dict[str, Picture]:
        """Pictures by name.

        ``graph``, with how well each node is known, and ``mechanism-NODE``, what was learned of a node.
        """
        return {name: Picture(name, title, svg) for name, title, svg in self._raw.pictures()}

    @property
    def warnings(self) -> list[str]:
        """What should be known about the fit."""
        return self._raw.warnings()

    def inputs(self, node: str) -> list[str]:
        """The names of a node's inputs: its parents' components, then its actions."""
        return self._raw.inputs(node)

    def predict(
        self, node: str, inputs: ArrayLike | pd.DataFrame | Mapping[str, float]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of a node's mechanism, without its noise.

        ``inputs`` has a row per place and a column per input. Of a data frame, a structured array or dictionaries the
        columns are taken by name, whatever their order; a plain array has them in the order of :meth:`inputs`. The
        answers have one entry per row; of a vector node one row of components each, and where its name has causes one
        row of how probable each name is.
        """
        names = self.inputs(node)
        rows = inputs_of(inputs, names, f"inputs of {node}", choices(self._problem._raw))
        if rows.ndim == 1 and len(names) == 1:
            rows = rows[:, np.newaxis]
        if rows.ndim != 2:
            raise DataError(f"the inputs of {node} have {rows.ndim} dimensions; hint: a row per place")
        mean, deviation = self._raw.predict(node, rows)
        if mean.shape[1] == 1:
            return mean[:, 0], deviation[:, 0]
        return mean, deviation

    @overload
    def forecast(
        self,
        intervention: InterventionLike = None,
        *,
        n: int | None = None,
        seed: int = 0,
        output: Literal["dict"] = "dict",
    ) -> dict[str, NodeForecast]: ...
    @overload
    def forecast(
        self, intervention: Interventions, *, n: int | None = None, seed: int = 0, output: Literal["dict"] = "dict"
    ) -> list[dict[str, NodeForecast]]: ...
    @overload
    def forecast(
        self, intervention: Interventions, *, n: int | None = None, seed: int = 0, output: Literal["array"]
    ) -> dict[str, NDArray[np.float64]]: ...
    @overload
    def forecast(
        self, intervention: Interventions, *, n: int | None = None, seed: int = 0, output: Literal["frame"]
    ) -> pd.DataFrame: ...
    def forecast(
        self,
        intervention: InterventionLike | Interventions = None,
        *,
        n: int | None = None,
        seed: int = 0,
        output: Literal["dict", "array", "frame"] = "dict",
    ) -> dict[str, NodeForecast] | list[dict[str, NodeForecast]] | dict[str, NDArray[np.float64]] | pd.DataFrame:
        """What is expected of every node under an intervention, with bounds of 90 % credibility.

        A node that is set is what it is set to. Of many interventions, a list or a data frame of them, there is one
        answer each: dictionaries, or with ``output="array"`` one array per node with the columns mean, lower and upper
        (of a vector node one such row per component, and of a name that has causes an array ``kind=crack`` for each),
        or with ``output="frame"`` a data frame with the columns ``node``, ``node.lower`` and ``node.upper``.

        Bounds are made of ``n`` draws of the mechanisms, 1024 unless said otherwise: another ``seed`` moves them by
        about a hundredth of their width. Of more than 16 interventions, without ``n``, they are those of normal
        distributions, and hundreds take milliseconds: :meth:`Study.predict` says how exact that is.
        ``study.predict`` says what ``study.best`` says.

        >>> import mcbo
        >>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
        >>> study = mcbo.create_study(problem)
        >>> study.add_trials([{"a": a / 4, "y": a / 2} for a in range(5)])
        >>> study.model.forecast([{"a": 0.2}, {"a": 0.4}, {"a": 0.6}], output="array")["y"].shape
        (3, 3)
        """
        many = interventions(intervention, self._problem._raw)
        one = [cast(InterventionLike, intervention)] if many is None else many
        draws = DRAWS if n is None and len(one) <= FEW else n
        parts = [self._problem._parts(each) for each in one]
        found = [node_forecasts(raw) for raw in self._raw.forecasts(parts, draws, seed)]
        if output == "dict":
            return found[0] if many is None else found
        if output not in ("array", "frame"):
            raise DataError(f"{output!r} is no form of output; hint: dict, array or frame")
        everywhere = [name for name in self._problem.nodes if all(name in each for each in found)]
        arrays: dict[str, NDArray[np.float64]] = {}
        for name in everywhere:
            column = [each[name] for each in found]
            named = [each for each in column if isinstance(each, Names)]
            if not named:
                arrays[name] = np.array(column, dtype=np.float64)
            for choice in named[0] if named else ():
                arrays[f"{name}={choice}"] = np.array([each[choice] for each in named], dtype=np.float64)
        return arrays if output == "array" else _frame(arrays)

    def sample(
        self, intervention: InterventionLike = None, n: int = 1000, *, noise: bool = True, seed: int = 0
    ) -> dict[str, NDArray[np.float64]]:
        """Draws of all nodes under an intervention: ``n`` numbers per node, or ``n`` rows of components.

        Every draw has mechanisms drawn from what they may be, and with ``noise`` also what chance adds. Nodes without a
        path to the reward are not learned and are left out.

        Without noise these are outcomes of a world in which nothing happens by chance, not expected values: where a
        mechanism is curved, chance moves the mean of what follows from it. :meth:`forecast` and :meth:`expected_reward`
        average the noise out.
        """
        drawn = self._raw.sample(*self._problem._parts(intervention), n, seed, noise)
        out: dict[str, NDArray[np.float64]] = {}
        at = 0
        for node in self._problem.nodes.values():
            columns: NDArray[Any] = drawn[:, at : at + node.dim]
            at += node.dim
            if not np.isnan(columns).any():
                out[node.name] = columns[:, 0] if node.dim == 1 else columns
        return out

    def expected_reward(
        self, intervention: InterventionLike = None, n: int = 64, *, seed: int = 0
    ) -> NDArray[np.float64]:
        """Draws of the expected reward under an intervention, noise averaged out, in the direction of improvement."""
        return self._raw.reward_draws(*self._problem._parts(intervention), n, seed)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is None:
            raise TypeError("the model in a strategy's context stays there; hint: study.model can be pickled")
        study, given, version = self._origin
        # The log only grows: what is new in it came after the fit.
        return (_refitted, (study._name, study._raw.entries()[:version], given))

    def __deepcopy__(self, memo: object) -> Model:
        # Nothing in it can be changed.
        return self

    def _repr_html_(self) -> str:
        return _html.model(self)


def _refitted(name: str | None, entries: list[tuple[int, int, str, str]], given: Any) -> Model:
    """The model of a study as it was: fitted once more, to the same."""
    from mcbo._study import _restored

    return _restored(name, entries, None)._model(given)


def _frame(arrays: Mapping[str, NDArray[np.float64]]) -> pd.DataFrame:
    """A column for every mean and every bound."""
    import pandas as pd

    columns: dict[str, NDArray[np.float64]] = {}
    for name, array in arrays.items():
        parts = {name: array} if array.ndim == 2 else {f"{name}[{at}]": array[:, at] for at in range(array.shape[1])}
        for label, numbers in parts.items():
            columns.update({label: numbers[:, 0], f"{label}.lower": numbers[:, 1], f"{label}.upper": numbers[:, 2]})
    return pd.DataFrame(columns)
