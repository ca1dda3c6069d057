"""The fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcbo import _html, _mcbo
from mcbo._errors import DataError
from mcbo._intervention import InterventionLike
from mcbo._picture import Picture
from mcbo._problem import Problem
from mcbo._table import floats
from mcbo._trial import NodeForecast, node_forecasts


@dataclass(frozen=True)
class NodeSummary:
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

    def __init__(self, raw: _mcbo.Model, problem: Problem) -> None:
        self._raw = raw
        self._problem = problem

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

    def predict(self, node: str, inputs: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of a node's mechanism, without its noise.

        ``inputs`` has a row per place and a column per input in the order of :meth:`inputs`. The answers have one
        entry per row; of a vector node one row of components each.
        """
        rows = floats(inputs, f"the array of inputs of {node}")
        if rows.ndim == 1 and len(self.inputs(node)) == 1:
            rows = rows[:, np.newaxis]
        if rows.ndim != 2:
            raise DataError(f"the inputs of {node} have {rows.ndim} dimensions; hint: a row per place")
        mean, deviation = self._raw.predict(node, rows)
        if self._problem.nodes[node].dim == 1:
            return mean[:, 0], deviation[:, 0]
        return mean, deviation

    def forecast(self, intervention: InterventionLike = None, *, seed: int = 0) -> dict[str, NodeForecast]:
        """What is expected of every node under an intervention, with bounds of 90 % credibility."""
        return node_forecasts(self._raw.forecast(*self._problem._parts(intervention), seed))

    def sample(
        self, intervention: InterventionLike = None, n: int = 1000, *, noise: bool = True, seed: int = 0
    ) -> dict[str, NDArray[np.float64]]:
        """Draws of all nodes under an intervention: ``n`` numbers per node, or ``n`` rows of components.

        Every draw has mechanisms drawn from what they may be, and with ``noise`` also what chance adds. Nodes without a
        path to the reward are not learned and are left out.
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

    def _repr_html_(self) -> str:
        return _html.model(self)
