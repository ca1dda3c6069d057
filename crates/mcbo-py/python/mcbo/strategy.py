"""Strategies of one's own, beside those that are there by name.

>>> import mcbo
>>> class Middle:
...     name = "middle"
...     def suggest(self, context):
...         low, high = context.problem.actions["a"].range
...         return {"a": (low + high) / 2 + 0.1 * context.rng.standard_normal()}
>>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 10)}, maximize="y")
>>> study = mcbo.create_study(problem, strategy=Middle(), initial=0)
>>> abs(study.ask().actions["a"] - 5) < 1
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mcbo import _mcbo
from mcbo._errors import DataError, StrategyError
from mcbo._frozen import frozen
from mcbo._intervention import Intervention, InterventionLike, Value, parts
from mcbo._problem import Problem

if TYPE_CHECKING:
    from mcbo._model import Model

__all__ = ["Context", "Data", "NAMES", "Strategy"]

#: The strategies that are there by name.
NAMES: tuple[str, ...] = _mcbo.STRATEGIES


@dataclass(frozen=True)
class Data:
    """What was measured: a row per trial, NaN where there is nothing."""

    #: A column per action, in the problem's order.
    actions: NDArray[np.float64]
    #: A column per component (``problem.slots``): the value it was set to.
    targets: NDArray[np.float64]
    #: A column per component (``problem.slots``): the value it had.
    values: NDArray[np.float64]
    #: The reward of every trial, in the direction of improvement.
    rewards: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def _of(cls, raw: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], problem: Problem) -> Data:
        actions, targets, values = raw
        sign = 1.0 if problem.maximize else -1.0
        return cls(actions, targets, values, sign * values[:, problem.slots.index(problem.reward)])


@dataclass(frozen=True)
class Context:
    """Everything a strategy may look at."""

    #: The problem. An action that the user has fixed for this trial has a range of one value.
    problem: Problem
    data: Data
    #: Trials that are under way: they should not be proposed again.
    pending: Sequence[Intervention]
    #: Trials that could not be run: they should not be proposed again.
    failed: Sequence[Intervention]
    #: Random numbers that depend on the study's seed and the trial alone.
    rng: np.random.Generator
    #: What is known of the contexts.
    given: Mapping[str, Value] = field(default_factory=dict)
    _fit: _mcbo.Fit | None = field(default=None, repr=False, compare=False)

    @cached_property
    def model(self) -> Model:
        """The model that MCBO would go by, fitted when it is first looked at.

        Trials under way are taken to come out as it predicts. It has ``predict``, ``forecast``, ``sample``,
        ``expected_reward`` and ``nodes``.
        """
        from mcbo._model import Model

        if self._fit is None:
            raise DataError("this context has no model; hint: a study makes contexts that have one")
        return Model(self._fit.model(), self.problem)


@runtime_checkable
class Strategy(Protocol):
    """A way to choose the next intervention: a name, and a method."""

    @property
    def name(self) -> str:
        """A short name, which is stored with the study."""
        ...

    def suggest(self, context: Context) -> InterventionLike:
        """The next intervention. All its random numbers come from ``context.rng``."""
        ...


def _suggest(
    strategy: Strategy,
    problem: _mcbo.Problem,
    data: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    pending: list[tuple[dict[str, Any], dict[str, Any]]],
    failed: list[tuple[dict[str, Any], dict[str, Any]]],
    seed: int,
    fit: _mcbo.Fit,
    given: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Asks a strategy; called by the library."""
    seen = Problem._of(problem)
    context = Context(
        problem=seen,
        data=Data._of(data, seen),
        pending=[Intervention(*one) for one in pending],
        failed=[Intervention(*one) for one in failed],
        rng=np.random.default_rng(seed),
        given=frozen(given),
        _fit=fit,
    )
    chosen = strategy.suggest(context)
    if chosen is None:
        raise StrategyError(
            f"strategy {strategy.name!r} proposes nothing; hint: return an intervention; {{}} is to do nothing and look"
        )
    try:
        actions, values = parts(chosen, list(seen.actions))
    except DataError as error:
        raise StrategyError(f"strategy {strategy.name!r} proposes what cannot be read: {error}") from error
    return dict(actions), dict(values)
