"""Trials, forecasts and recommendations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from math import isfinite
from typing import Any, NamedTuple, NoReturn, Union

from mcbo import _html
from mcbo._errors import DataError, NoPredictionError
from mcbo._frozen import FrozenDict, Names, Vector, frozen
from mcbo._intervention import Intervention, Value
from mcbo._json import AsJson, plain


class Forecast(NamedTuple):
    """What the model expects of a quantity: the mean, and bounds of 90 % credibility on it.

    The bounds are of the expected value; a single outcome scatters around that by its noise.
    """

    mean: float
    lower: float
    upper: float


#: Forecasts of a node: one, or one per component of a vector node; how probable each name is where its name has causes.
NodeForecast = Union[Forecast, Vector[Forecast], Names[Forecast]]


class Prediction(NamedTuple):
    """What an intervention gives of a quantity, on average and in a single trial.

    The bounds are of the expected value, with 90 % credibility. A single measurement lies within ``outcome`` with a
    probability of 90 %, by its noise and by what is not known of the mechanisms together.
    """

    mean: float
    lower: float
    upper: float
    outcome: tuple[float, float]


#: Predictions of a node: one, or one per component of a vector node, or per name where its name has causes. Whether
#: such a name comes in a single trial is 0 or 1.
NodePrediction = Union[Prediction, Vector[Prediction], Names[Prediction]]


class Keeping(NamedTuple):
    """How probable it is that a single outcome keeps the limit of a node."""

    #: By its noise and by what is not known of the mechanisms.
    probability: float
    #: The probability that is wanted.
    wanted: float


def keepings(raw: Mapping[str, Any]) -> Mapping[str, Keeping]:
    """Limits by node from tuples."""
    return FrozenDict({name: Keeping(*chance) for name, chance in raw.items()})


class Predictions(FrozenDict[str, NodeForecast]):
    """What a model expected of every node when a trial was proposed; nothing where no model was asked."""

    __slots__ = ()

    def __missing__(self, name: str) -> NoReturn:
        raise NoPredictionError(
            f"nothing was predicted of {name!r}: it is of the initial design, was enqueued or added, or the node "
            "does not matter to the reward; hint: study.predict(trial) asks the model of today"
        )


class Suspicion(NamedTuple):
    """Trials that do not fit, and why."""

    trials: Vector[int]
    message: str


class Doubt(NamedTuple):
    """Something that the data say against the graph or a formula."""

    #: ``missing-arrow``, ``idle-arrow``, ``formula``, ``uneven-noise``, ``drift`` or ``far-off``.
    kind: str
    node: str
    #: The other end of the arrow, or the input.
    source: str | None
    #: ``fair``, ``strong`` or ``beyond doubt``.
    weight: str
    #: Logarithm of how much more probable the data are if it is right, where that was computed.
    log_odds: float | None
    message: str


@dataclass(frozen=True)
class Why(AsJson):
    """All that can be said for a trial, in the direction of improvement."""

    #: What the model expects of its reward now.
    expected: Forecast | None
    #: What it hoped for when it was proposed, if what is not known turns out well.
    hope: float | None
    #: The measured trial most like it, and how far apart they are as a share of a range.
    nearest: tuple[int, float] | None
    #: The share of each node in what is not known of the reward there, the largest first.
    teaches: Mapping[str, float]
    #: The best measured trial, its reward, and what the model expects of doing it again.
    best: tuple[int, float, float | None] | None
    #: What is done otherwise than there: name, value here, value there; ``None`` where a node is not set.
    differs: Vector[tuple[str, float | None, float | None]]

    def to_dict(self) -> dict[str, Any]:
        """The reasons as ``mcbo ask --why --json`` has them, without the sentences."""
        return {
            "expected": plain(self.expected),
            "hope": plain(self.hope),
            "nearest": None if self.nearest is None else dict(zip(("trial", "apart"), self.nearest, strict=True)),
            "teaches": [{"node": node, "share": share} for node, share in self.teaches.items()],
            "best": None if self.best is None else dict(zip(("trial", "reward", "expected"), self.best, strict=True)),
            "differs": [dict(zip(("name", "here", "best"), one, strict=True)) for one in self.differs],
        }


class Effect(NamedTuple):
    """How far the expected reward goes up and down when something is moved through its range, with bounds of 90 %."""

    effect: float
    lower: float
    upper: float
    #: The value with the highest expected reward, and the one with the lowest.
    best: float
    worst: float


@dataclass(frozen=True)
class Effects(AsJson):
    """What matters to the reward, about the recommended intervention; the largest first."""

    #: By action, and ``do(node)`` for nodes that can be set.
    actions: Mapping[str, Effect]
    #: By arrow: (parent, child). The parent goes through what was seen of it, and this arrow alone passes it on.
    arrows: Mapping[tuple[str, str], Effect]
    #: The share of what is not known of the expected reward that each node is to blame for.
    unknown: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """The effects as ``mcbo effects --json`` has them."""
        return {
            "actions": [{"name": name, **plain(effect)} for name, effect in self.actions.items()],
            "arrows": [{"from": start, "to": end, **plain(effect)} for (start, end), effect in self.arrows.items()],
            "unknown": [{"node": node, "share": share} for node, share in self.unknown.items()],
        }


@dataclass(frozen=True)
class Trial(AsJson):
    """One experiment: what is to be done, why, and what came of it."""

    #: Its number, from 1.
    number: int
    #: ``pending``, ``complete``, ``failed``, or ``voided`` where it was taken out of the study.
    state: str
    #: What is to be done.
    intervention: Intervention
    #: Who proposed it; ``design`` for the initial design, ``enqueued`` or ``added`` for those of the user.
    strategy: str
    #: The measured values by node, ``None`` where not measured; ``None`` while it is pending.
    observed: Mapping[str, Value | None] | None
    #: The measured reward in the direction of improvement: the negated node where it is minimised.
    reward: float | None
    #: The acquisition's value.
    acquisition: float | None
    #: The width of the confidence band, in standard deviations.
    beta: float | None
    #: What the model expected of every node when the trial was proposed.
    predicted: Mapping[str, NodeForecast] = field(repr=False)
    #: What the optimistic model expected of every node; how probable each name is where its name has causes.
    optimistic: Mapping[str, Value | Names[float]] = field(repr=False)
    #: What should be known about the suggestion.
    warnings: tuple[str, ...]
    #: Who has it.
    worker: str | None = field(repr=False)
    #: When it was proposed.
    asked: datetime = field(repr=False)
    #: When values came in last.
    told: datetime | None = field(repr=False)
    #: When values were put right last.
    corrected: datetime | None = field(repr=False)
    #: Why it failed, or was taken out.
    reason: str | None
    #: What was really done, where that differs from what was asked for.
    done: Intervention | None
    #: How long the suggestion took to compute.
    seconds: float | None = field(repr=False)
    #: What was known of the contexts when it was asked for.
    given: Mapping[str, Value] = field(default_factory=dict)
    #: How probable it is that each limit is kept, by node.
    limits: Mapping[str, Keeping] = field(default_factory=dict)
    #: What it costs; ``None`` if the problem says nothing about costs.
    cost: float | None = None
    #: The measured value of the node that is optimised, in its own sign.
    value: float | None = None
    #: How often it was lost under way, by a worker that ended or a cluster that failed.
    lost: int = field(default=0, repr=False)
    #: What was written beside it.
    user_attrs: dict[str, Any] = field(default_factory=dict, hash=False)

    def set_user_attr(self, key: str, value: Any) -> None:
        """Writes something beside the trial: anything that is JSON.

        It is kept in this object and stored when the trial is told: by ``optimize``, wherever the objective runs, or by
        ``study.tell(trial, ...)``. ``study.set_user_attr(key, value, trial=number)`` stores it at once.
        """
        self.user_attrs[key] = attribute(key, value)

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
            observed=frozen(raw["observed"]),
            reward=raw["reward"],
            acquisition=raw["acquisition"],
            beta=raw["beta"],
            predicted=Predictions(node_forecasts(raw["predicted"])),
            optimistic=FrozenDict(
                {
                    name: Names(value) if isinstance(value, dict) else frozen(value)
                    for name, value in raw["optimistic"].items()
                }
            ),
            warnings=tuple(raw["warnings"]),
            worker=raw["worker"],
            asked=moment(raw["asked"]),
            told=None if raw["told"] is None else moment(raw["told"]),
            corrected=None if raw["corrected"] is None else moment(raw["corrected"]),
            reason=raw["reason"],
            done=None if raw["done"] is None else Intervention(*raw["done"]),
            seconds=raw["seconds"],
            given=frozen(raw["given"]),
            limits=keepings(raw["limits"]),
            cost=raw["cost"],
            value=raw["value"],
            lost=raw["lost"],
            user_attrs={} if raw["attributes"] is None else json.loads(raw["attributes"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The trial as ``mcbo export --format json`` has it."""
        out: dict[str, Any] = {
            "trial": self.number,
            "state": self.state,
            "strategy": self.strategy,
            "intervention": self.intervention.to_dict(),
            **{name: plain(getattr(self, name)) for name in ("acquisition", "beta", "predicted", "optimistic")},
            "warnings": list(self.warnings),
            "values": plain(self.observed),
            "reward": self.reward,
        }
        if self.done is not None:
            out["done"] = self.done.to_dict()
        if self.state == "failed":
            out["error"] = self.reason
        elif self.reason is not None:
            out["void_reason"] = self.reason
        for name in ("given", "limits", "user_attrs"):
            if getattr(self, name):
                out[name] = plain(getattr(self, name))
        for name in ("cost", "corrected"):
            if getattr(self, name) is not None:
                out[name] = plain(getattr(self, name))
        bookkeeping = {"worker": self.worker, "asked": self.asked, "told": self.told, "suggest_seconds": self.seconds}
        return {**out, **plain(bookkeeping)}


@dataclass(frozen=True)
class Certificate(AsJson):
    """How much better than the recommended intervention any other could still be.

    It holds if every learned mechanism lies within ``width`` deviations of its mean, and the graph is right. Both
    bounds come from a search that looks in many places but proves nothing.
    """

    #: The width of the confidence band, in standard deviations.
    width: float
    #: The least that a plausible model was found to expect of the recommended intervention.
    lower: float
    #: The most that a plausible model was found to expect of any intervention.
    upper: float
    #: No intervention that was looked at is better than the recommended one by more than this; infinite where nothing
    #: can be said.
    gap: float
    #: The intervention that the upper bound belongs to.
    optimistic: Intervention

    def to_dict(self) -> dict[str, Any]:
        """The bounds as ``mcbo best --json`` has them."""
        names = ("width", "lower", "upper", "gap", "optimistic")
        return {name: plain(getattr(self, name)) for name in names}


@dataclass(frozen=True)
class Best(AsJson):
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

    @property
    def params(self) -> dict[str, Any]:
        """Everything that is to be done by one name each; set nodes as ``do(node)``."""
        return self.intervention.flat()

    def to_dict(self) -> dict[str, Any]:
        """The recommendation as ``mcbo best --json`` has it."""
        recommendation: dict[str, Any] = {
            "by": self.by,
            **{name: plain(getattr(self, name)) for name in ("intervention", "predicted", "reward", "warnings")},
        }
        for name in ("given", "limits"):
            if getattr(self, name):
                recommendation[name] = plain(getattr(self, name))
        if self.cost is not None:
            recommendation["cost"] = self.cost
        best = None
        if self.trial is not None:
            done = self.trial.done or self.trial.intervention
            best = {
                "trial": self.trial.number,
                "intervention": done.to_dict(),
                "values": plain(self.trial.observed),
                "reward": self.trial.reward,
            }
        return {"recommendation": recommendation, "best": best, "certificate": plain(self.certificate)}

    def __str__(self) -> str:
        what = ", ".join(
            f"{name} = {value}" if isinstance(value, str) else f"{name} = {value:.6g}"
            for name, value in self.intervention.flat().items()
        )
        lines = [what or "do nothing"]
        if self.reward is not None:
            mean, lower, upper = self.reward
            lines.append(f"expected reward {mean:.4g}, between {lower:.4g} and {upper:.4g}")
        for name, (probability, wanted) in self.limits.items():
            lines.append(f"{name} keeps its limit with probability {probability:.3g}, {wanted:.3g} is wanted")
        if self.certificate is not None and isfinite(self.certificate.gap):
            lines.append(f"nothing else that was looked at is better by more than {self.certificate.gap:.4g}")
        if self.trial is not None:
            lines.append(f"best measured: {self.trial.reward:.4g} in trial {self.trial.number}")
        lines.extend(f"warning: {warning}" for warning in self.warnings)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _html.best(self)


@dataclass(frozen=True)
class Status(AsJson):
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
    #: Those that were taken out.
    voided: int
    #: When it was made.
    created: datetime
    #: When anything happened to it last.
    changed: datetime
    #: What its trials have cost; ``None`` if the problem says nothing about costs.
    spent: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Where the study stands, in the words of ``mcbo status --json``."""
        names = ("strategy", "preset", "beta", "seed", "initial", "created", "changed")
        counts = ("trials", "complete", "pending", "failed", "voided")
        out = {"study": self.name, **{name: plain(getattr(self, name)) for name in (*names, *counts)}}
        if self.aim is not None:
            out["aim"] = self.aim
        if self.spent is not None:
            out["spent"] = self.spent
        return out


def attribute(key: object, value: Any) -> Any:
    """Something that can be written beside a trial or a study: what JSON makes of it."""
    if not isinstance(key, str):
        raise DataError(f"the name of an attribute is of type {type(key).__name__}; hint: a text")
    number = getattr(value, "item", None)
    try:
        plainly = number() if callable(number) and getattr(value, "ndim", None) == 0 else value
        return json.loads(json.dumps(plainly, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(
            f"the attribute {key!r} cannot be stored: {error}; hint: texts, numbers, lists or dictionaries of them"
        ) from error


def moment(milliseconds: int) -> datetime:
    """A moment from milliseconds since 1970 (UTC)."""
    return datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)


def _each(raw: Mapping[str, Any], made: Callable[[Any], Any]) -> dict[str, Any]:
    """By node: one, one per component, or one per name."""

    def of(value: Any) -> Any:
        if isinstance(value, tuple):
            return made(value)
        if isinstance(value, dict):
            return Names({name: made(one) for name, one in value.items()})
        return Vector(made(one) for one in value)

    return {name: of(value) for name, value in raw.items()}


def node_predictions(raw: Mapping[str, Any]) -> dict[str, NodePrediction]:
    """Predictions by node from tuples."""
    return _each(raw, lambda value: Prediction(*value))


def node_forecasts(raw: Mapping[str, Any]) -> dict[str, NodeForecast]:
    """Forecasts by node from tuples."""
    return _each(raw, lambda value: Forecast(*value))
