"""What is learned of a study: recommendations, predictions, effects, doubts."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from mcbo import _mcbo, _table
from mcbo._errors import DataError
from mcbo._frozen import FrozenDict, Vector, frozen
from mcbo._intervention import Intervention, InterventionLike, ValueLike
from mcbo._model import Model
from mcbo._problem import Problem
from mcbo._trial import (
    Best,
    Certificate,
    Doubt,
    Effect,
    Effects,
    Forecast,
    NodePrediction,
    Suspicion,
    Trial,
    Why,
    keepings,
    node_forecasts,
    node_predictions,
)

if TYPE_CHECKING:
    from mcbo._study import Study

#: What is known of the contexts, by name.
Given = Mapping[str, ValueLike]


def _number(trial: Trial | int) -> int:
    number = trial.number if isinstance(trial, Trial) else trial
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise DataError(f"an object of type {type(trial).__name__} is no trial; hint: give a Trial or its number")
    return int(number)


def _key(given: object) -> Any:
    """What is given, as the key of a dictionary."""
    return None if not given else json.dumps(given, sort_keys=True, default=str)


class Insight(ABC):
    """The part of a study that changes nothing."""

    _raw: _mcbo.Study
    #: What was computed, and the number of the event until which it holds.
    _known: tuple[int, dict[Any, Any]]

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """The problem."""

    @abstractmethod
    def trial(self, number: int) -> Trial:
        """A trial by its number."""

    @overload
    def best(
        self, by: Literal["mean", "lower"] = "mean", width: float | None = 2.0, *, given: Given | None = None
    ) -> Best: ...
    @overload
    def best(
        self, by: Literal["mean", "lower"] = "mean", width: float | None = 2.0, *, given: _table.Contexts
    ) -> list[Best]: ...
    def best(
        self,
        by: Literal["mean", "lower"] = "mean",
        width: float | None = 2.0,
        *,
        given: Given | _table.Contexts | None = None,
    ) -> Best | list[Best]:
        """What to settle for: the intervention with the highest expected reward, or the highest lower bound of it.

        ``width`` is that of the certificate's confidence band in standard deviations; ``None`` leaves it out and is
        faster. ``given`` is what is known of the contexts; with a list of such dictionaries, or a data frame with their
        columns, there is one answer for each: a policy.
        """
        if isinstance(given, (list, tuple)) or hasattr(given, "to_numpy"):
            many = _table.contexts(given, self.problem._raw) or []
            return [self._best(raw, by) for raw in self._raw.best(by, width, many)]
        known = self._remembered()
        key = ("best", by, width, _key(given))
        if key not in known:
            known[key] = self._best(self._raw.best(by, width, [given])[0], by)
        return cast(Best, known[key])

    def _remembered(self) -> dict[Any, Any]:
        """What was computed of the study as it is now."""
        version = self._raw.counts()[-1]
        if self._known[0] != version:
            self._known = (version, {})
        return self._known[1]

    def _best(self, raw: Mapping[str, Any], by: str) -> Best:
        bounds, seen = raw["certificate"], raw["best"]
        certificate = None
        if bounds is not None:
            width, lower, upper, gap, optimistic = bounds
            certificate = Certificate(width, lower, upper, gap, Intervention(*optimistic))
        return Best(
            intervention=Intervention(*raw["intervention"]),
            by=by,
            reward=None if raw["reward"] is None else Forecast(*raw["reward"]),
            predicted=FrozenDict(node_forecasts(raw["predicted"])),
            trial=None if seen is None else self.trial(seen[0]),
            certificate=certificate,
            warnings=tuple(raw["warnings"]),
            given=frozen(raw["given"]),
            limits=keepings(raw["limits"]),
            cost=raw["cost"],
        )

    @overload
    def predict(
        self,
        intervention: InterventionLike = None,
        *,
        given: Given | None = None,
        missing: Literal["neutral"] | None = None,
    ) -> dict[str, NodePrediction]: ...
    @overload
    def predict(
        self,
        intervention: _table.Interventions,
        *,
        given: Given | None = None,
        missing: Literal["neutral"] | None = None,
    ) -> list[dict[str, NodePrediction]]: ...
    def predict(
        self,
        intervention: InterventionLike | _table.Interventions = None,
        *,
        given: Given | None = None,
        missing: Literal["neutral"] | None = None,
    ) -> dict[str, NodePrediction] | list[dict[str, NodePrediction]]:
        """What the model expects of an intervention, or of each of many: a list of them, or a pandas data frame.

        For every node the expected value with its bounds and the range of a single outcome. Actions that are not named
        are neutral; nodes without a path to the reward are not learned and are left out. The model is the one behind
        :meth:`best` and is fitted once for all of them. Of a data frame the columns of actions and ``do(node)``
        count: one from :meth:`trials_dataframe` will do. NaN in them means not set; actions must have values, unless
        ``missing="neutral"`` says what is meant. ``given`` is what is known of the contexts.

        Up to 16 interventions are predicted by 2048 outcomes each: the ends of ``outcome`` are then off by about a
        hundredth of the deviation of an outcome. Of more there are 64 each, all under the same luck: hundreds take
        milliseconds, expected values are off by about a fiftieth of the deviation of what is not known of them, their
        bounds are those of a normal distribution, and the ends of ``outcome`` are off by about a twentieth.

        >>> import mcbo
        >>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
        >>> study = mcbo.create_study(problem)
        >>> study.add_trials([{"a": a / 4, "y": 1 - (a / 4 - 0.5) ** 2} for a in range(5)])
        >>> low, high = study.predict({"a": 0.5})["y"].outcome
        >>> low < 1.0 < high
        True
        >>> len(study.predict([{"a": 0.2}, {"a": 0.4}]))
        2
        """
        many = _table.interventions(intervention, self.problem._raw, _table.neutral(missing))
        all_of_them = [cast(InterventionLike, intervention)] if many is None else many
        parts = [self.problem._parts(one) for one in all_of_them]
        found = [node_predictions(raw) for raw in self._model(given)._raw.outlooks(parts)]
        return found[0] if many is None else found

    def suspicions(self) -> list[Suspicion]:
        """Trials that do not fit: values far off, rows that the rest contradicts, surprises, runs of misses."""
        return [Suspicion(Vector(trials), message) for trials, message in self.model._raw.oddities()]

    def doubts(self) -> list[Doubt]:
        """What the data say against the graph, the formulas and single values, the weightiest first.

        Models with and without an arrow are compared by their evidence. The command is ``mcbo doctor STUDY``.
        """
        return [Doubt(*raw) for raw in self.model._raw.doubts()]

    def why(self, trial: Trial | int) -> Why:
        """All that can be said for a trial.

        What it promises, what is known of it, what it would teach, how it differs from the best known.
        """
        raw = self.model._raw.why(_number(trial))
        expected = None if raw["expected"] is None else Forecast(*raw["expected"])
        told = {"expected": expected, "teaches": FrozenDict(raw["teaches"]), "differs": Vector(raw["differs"])}
        return Why(**{**raw, **told})

    def effects(self, *, given: Given | None = None) -> Effects:
        """What matters to the reward.

        What every action and every arrow does to it about the recommended intervention, and which nodes are to blame
        for what is not known of it. The model is the one behind :meth:`best`; ``given`` is what is known of the
        contexts.

        >>> import mcbo
        >>> nodes = {"y": {"actions": ["a", "b"]}}
        >>> problem = mcbo.Problem(nodes=nodes, actions={"a": (0, 1), "b": (0, 1)}, maximize="y")
        >>> study = mcbo.create_study(problem)
        >>> rows = [{"a": a / 4, "b": b / 4, "y": a / 2} for a in range(5) for b in range(5)]
        >>> study.add_trials(rows)
        >>> list(study.effects().actions)
        ['a', 'b']
        """
        actions, arrows, unknown = self._model(given)._raw.effects()
        return Effects(
            actions=FrozenDict({name: Effect(*numbers) for name, numbers in actions}),
            arrows=FrozenDict({(start, end): Effect(*numbers) for start, end, numbers in arrows}),
            unknown=FrozenDict(unknown),
        )

    @property
    def model(self) -> Model:
        """The model that is fitted to what was measured so far."""
        return self._model(None)

    def _model(self, given: Given | None) -> Model:
        known, key = self._remembered(), ("model", _key(given))
        if key not in known:
            known[key] = Model(self._raw.model(given), self.problem, (cast("Study", self), given))
        return cast(Model, known[key])
