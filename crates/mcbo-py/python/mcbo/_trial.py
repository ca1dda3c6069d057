"""Trials, forecasts and recommendations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from math import isfinite
from typing import Any, NamedTuple, Union

from mcbo import _html
from mcbo._intervention import Intervention, Value


class Forecast(NamedTuple):
    """What the model expects of a quantity: the mean, and bounds of 90 % credibility on it.

    The bounds are of the expected value; a single outcome scatters around that by its noise.
    """

    mean: float
    lower: float
    upper: float


#: Forecasts of a node: one, or one per component of a vector node.
NodeForecast = Union[Forecast, list[Forecast]]


class Prediction(NamedTuple):
    """What an intervention gives of a quantity, on average and in a single trial.

    The bounds are of the expected value, with 90 % credibility. A single measurement lies within ``outcome`` with a
    probability of 90 %, by its noise and by what is not known of the mechanisms together.
    """

    mean: float
    lower: float
    upper: float
    outcome: tuple[float, float]


#: Predictions of a node: one, or one per component of a vector node.
NodePrediction = Union[Prediction, list[Prediction]]


class Keeping(NamedTuple):
    """How probable it is that a single outcome keeps the limit of a node."""

    #: By its noise and by what is not known of the mechanisms.
    probability: float
    #: The probability that is wanted.
    wanted: float


def keepings(raw: Mapping[str, Any]) -> dict[str, Keeping]:
    """Limits by node from tuples."""
    return {name: Keeping(*chance) for name, chance in raw.items()}


@dataclass(frozen=True)
class Trial:
    """One experiment: what is to be done, why, and what came of it."""

    #: Its number, from 1.
    number: int
    #: ``pending``, ``complete`` or ``failed``.
    state: str
    #: What is to be done.
    intervention: Intervention
    #: Who proposed it; ``design`` for the initial design, ``enqueued`` or ``added`` for those of the user.
    strategy: str
    #: The measured values by node, ``None`` where not measured; ``None`` while it is pending.
    observed: Mapping[str, Value | None] | None
    #: The measured reward in the direction of improvement.
    reward: float | None
    #: The acquisition's value.
    acquisition: float | None
    #: The width of the confidence band, in standard deviations.
    beta: float | None
    #: What the model expected of every node when the trial was proposed.
    predicted: Mapping[str, NodeForecast] = field(repr=False)
    #: What the optimistic model expected of every node.
    optimistic: Mapping[str, Value] = field(repr=False)
    #: What should be known about the suggestion.
    warnings: tuple[str, ...]
    #: Who has it.
    worker: str | None = field(repr=False)
    #: When it was proposed.
    asked: datetime = field(repr=False)
    #: When values came in last.
    told: datetime | None = field(repr=False)
    #: Why it failed.
    reason: str | None
    #: How long the suggestion took to compute.
    seconds: float | None = field(repr=False)
    #: What was known of the contexts when it was asked for.
    given: Mapping[str, Value] = field(default_factory=dict)
    #: How probable it is that each limit is kept, by node.
    limits: Mapping[str, Keeping] = field(default_factory=dict)
    #: What it costs; ``None`` if the problem says nothing about costs.
    cost: float | None = None

    @property
    def actions(self) -> Mapping[str, Any]:
        """The values of the actions: numbers, and names of choices."""
        return self.intervention.actions

    @property
    def values(self) -> Mapping[str, Value]:
        """The nodes to be set, with their values."""
        return self.intervention.values

    @property
    def targets(self) -> list[str]:
        """The nodes to be set."""
        return self.intervention.targets

    @property
    def params(self) -> dict[str, Any]:
        """Everything that is to be done by one name each; set nodes as ``do(node)``."""
        return self.intervention.flat()

    @classmethod
    def _of(cls, raw: Mapping[str, Any]) -> Trial:
        return cls(
            number=raw["number"],
            state=raw["state"],
            intervention=Intervention(raw["actions"], raw["targets"]),
            strategy=raw["strategy"],
            observed=raw["observed"],
            reward=raw["reward"],
            acquisition=raw["acquisition"],
            beta=raw["beta"],
            predicted=node_forecasts(raw["predicted"]),
            optimistic=raw["optimistic"],
            warnings=tuple(raw["warnings"]),
            worker=raw["worker"],
            asked=moment(raw["asked"]),
            told=None if raw["told"] is None else moment(raw["told"]),
            reason=raw["reason"],
            seconds=raw["seconds"],
            given=raw["given"],
            limits=keepings(raw["limits"]),
            cost=raw["cost"],
        )


@dataclass(frozen=True)
class Certificate:
    """How much better than the recommended intervention any other could still be.

    It holds if every learned mechanism lies within ``width`` deviations of its mean, and the graph is right.
    """

    #: The width of the confidence band, in standard deviations.
    width: float
    #: No plausible model expects less of the recommended intervention.
    lower: float
    #: No plausible model expects more of any intervention.
    upper: float
    #: No intervention is better than the recommended one by more than this; infinite where nothing can be said.
    gap: float
    #: The intervention that the upper bound belongs to.
    optimistic: Intervention


@dataclass(frozen=True)
class Best:
    """What to settle for, and how sure the model is of it."""

    #: The recommended intervention.
    intervention: Intervention
    #: What it went by: ``mean`` or ``lower``.
    by: str
    #: The expected reward, in the direction of improvement.
    reward: Forecast | None
    #: What is expected of every node.
    predicted: Mapping[str, NodeForecast]
    #: The trial with the best measured reward.
    trial: Trial | None
    #: How much could still be gained; ``None`` if it was not asked for.
    certificate: Certificate | None
    #: What should be known about the fit.
    warnings: tuple[str, ...]
    #: What was given of the contexts.
    given: Mapping[str, Value] = field(default_factory=dict)
    #: How probable it is that each limit is kept, by node.
    limits: Mapping[str, Keeping] = field(default_factory=dict)
    #: What it costs; ``None`` if the problem says nothing about costs.
    cost: float | None = None

    @property
    def actions(self) -> Mapping[str, Any]:
        """The values of the actions: numbers, and names of choices."""
        return self.intervention.actions

    @property
    def values(self) -> Mapping[str, Value]:
        """The nodes to be set, with their values."""
        return self.intervention.values

    def __str__(self) -> str:
        what = ", ".join(f"{name} = {value:.6g}" for name, value in self.intervention.flat().items())
        lines = [what or "do nothing"]
        if self.reward is not None:
            mean, lower, upper = self.reward
            lines.append(f"expected reward {mean:.4g}, between {lower:.4g} and {upper:.4g}")
        for name, (probability, wanted) in self.limits.items():
            lines.append(f"{name} keeps its limit with probability {probability:.3g}, {wanted:.3g} is wanted")
        if self.certificate is not None and isfinite(self.certificate.gap):
            lines.append(f"nothing else is better by more than {self.certificate.gap:.4g}")
        if self.trial is not None:
            lines.append(f"best measured: {self.trial.reward:.4g} in trial {self.trial.number}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _html.best(self)


@dataclass(frozen=True)
class Status:
    """Where a study stands."""

    #: Its name; ``None`` in memory.
    name: str | None
    #: Who proposes.
    strategy: str
    #: The settings of the strategy's model.
    preset: str
    #: The width of the confidence band, if it is fixed.
    beta: float | None
    #: What the trials are for, if it was said beside the problem; ``theory`` for the width of the paper's theorem.
    aim: str | None
    #: The seed of its random numbers.
    seed: int
    #: Trials of the initial design.
    initial: int
    #: Its trials, rows that were added among them.
    trials: int
    #: Those under way.
    pending: int
    #: Those with measurements.
    complete: int
    #: Those that could not be run.
    failed: int
    #: When it was made.
    created: datetime
    #: When anything happened to it last.
    changed: datetime
    #: What its trials have cost; ``None`` if the problem says nothing about costs.
    spent: float | None = None


def moment(milliseconds: int) -> datetime:
    """A moment from milliseconds since 1970 (UTC)."""
    return datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)


def node_predictions(raw: Mapping[str, Any]) -> dict[str, NodePrediction]:
    """Predictions by node from tuples."""
    return {
        name: Prediction(*value) if isinstance(value, tuple) else [Prediction(*one) for one in value]
        for name, value in raw.items()
    }


def node_forecasts(raw: Mapping[str, Any]) -> dict[str, NodeForecast]:
    """Forecasts by node from tuples."""
    return {
        name: Forecast(*value) if isinstance(value, tuple) else [Forecast(*one) for one in value]
        for name, value in raw.items()
    }
