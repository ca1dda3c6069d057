"""Pictures with matplotlib: of a study, and of runs on benchmark tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mcbo._errors import DataError
from mcbo._table import choices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from mcbo._study import Study
    from mcbo.bench import Run

__all__ = ["curves", "history", "mechanism"]


def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib; hint: pip install matplotlib") from error
    _, made = plt.subplots(figsize=(6.0, 3.5), layout="constrained")
    return made


def history(study: Study, ax: Axes | None = None) -> Axes:
    """The measured reward of every trial in its own sign, and the best so far."""
    axes = _axes(ax)
    numbers, values, best = _history(study)
    axes.plot(numbers, values, "o", markersize=4, label="measured")
    if len(numbers) > 0:
        axes.step(numbers, best, where="post", label="best so far")
    goal = "maximised" if study.problem.maximize else "minimised"
    axes.set(xlabel="trial", ylabel=f"{study.problem.reward} ({goal})")
    axes.legend()
    return axes


def _history(study: Study) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Numbers, values and the best values so far of the trials that count, in the sign of the node."""
    seen = [
        (trial.number, trial.value) for trial in study.trials if trial.value is not None and trial.state != "voided"
    ]
    values = np.array([value for _, value in seen], dtype=np.float64)
    best = np.maximum.accumulate(values) if study.problem.maximize else np.minimum.accumulate(values)
    return np.array([number for number, _ in seen], dtype=np.int64), values, best


def _along(
    study: Study, node: str, along: str | None
) -> tuple[str, NDArray[np.float64], dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]]:
    """The input that is varied, its values, and mean and deviation of every component of a node along it."""
    model, data, problem = study.model, study.data, study.problem
    names = model.inputs(node)
    if not names:
        raise DataError(f"{node} has no inputs")
    chosen = names[0] if along is None else along
    if chosen not in names:
        raise DataError(f"{chosen!r} is no input of {node}; hint: its inputs are {', '.join(names)}")
    actions = list(problem.actions)
    columns = [
        data.actions[:, actions.index(name)] if name in actions else data.values[:, problem.slots.index(name)]
        for name in names
    ]
    table = np.column_stack(columns)
    table = table[~np.isnan(table).any(axis=1)]
    if len(table) == 0:
        raise DataError(f"nothing was measured of {node}'s inputs")
    at = names.index(chosen)
    middle = table.mean(axis=0)
    along_it = np.linspace(table[:, at].min(), table[:, at].max(), 101)
    for place, name in enumerate(names):
        # Between two names there is none: the commonest stands for all.
        if name in choices(problem._raw):
            seen, counts = np.unique(table[:, place], return_counts=True)
            middle[place] = seen[counts.argmax()]
            along_it = np.round(along_it) if place == at else along_it
    places = np.tile(middle, (101, 1))
    places[:, at] = along_it
    mean, deviation = model.predict(node, places)
    if mean.ndim == 1:
        return chosen, places[:, at], {node: (mean, deviation)}
    found = {f"{node}[{at}]": (mean[:, at], deviation[:, at]) for at in range(problem.nodes[node].dim)}
    return chosen, places[:, at], found


def _curves(
    runs: Iterable[Run], metric: Literal["average", "best"]
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Means over seeds and their standard errors after every round, by method."""
    by_method: dict[tuple[str, str], list[Any]] = {}
    for run in runs:
        curve = run.average_rewards if metric == "average" else run.best_rewards
        by_method.setdefault((run.task, run.method), []).append(curve)
    several = len({task for task, _ in by_method}) > 1
    out: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for (task, method), found in by_method.items():
        shortest = min(len(curve) for curve in found)
        table = np.array([curve[:shortest] for curve in found])
        mean = table.mean(axis=0)
        error = table.std(axis=0, ddof=1) / np.sqrt(len(table)) if len(table) > 1 else np.zeros_like(mean)
        out[f"{method} on {task}" if several else method] = (mean, error)
    return out


def mechanism(study: Study, node: str, along: str | None = None, ax: Axes | None = None) -> Axes:
    """What is known of a node's mechanism along one of its inputs, the others at their means."""
    axes = _axes(ax)
    chosen, places, found = _along(study, node, along)
    for label, (middle, spread) in found.items():
        axes.plot(places, middle, label=label)
        axes.fill_between(places, middle - 2 * spread, middle + 2 * spread, alpha=0.2)
    axes.set(xlabel=chosen, ylabel=node)
    axes.legend()
    return axes


def curves(runs: Iterable[Run], metric: Literal["average", "best"] = "average", ax: Axes | None = None) -> Axes:
    """The average (or best) reward after every round: means over seeds, with bands of one standard error."""
    axes = _axes(ax)
    for label, (mean, error) in _curves(runs, metric).items():
        rounds = np.arange(len(mean))
        axes.plot(rounds, mean, label=label)
        axes.fill_between(rounds, mean - error, mean + error, alpha=0.2)
    axes.set(xlabel="round", ylabel=f"{metric} reward")
    axes.legend()
    return axes
