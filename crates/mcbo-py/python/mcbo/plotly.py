"""Figures with plotly, which answer to the mouse: of a study, and of runs on benchmark tasks.

Each function is the twin of one in :mod:`mcbo.plot`, and gives a ``plotly.graph_objects.Figure``. Plotly is no part of
the package: ``pip install mcbo[plotly]``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mcbo import plot

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from numpy.typing import NDArray

    from mcbo._study import Study
    from mcbo.bench import Run

__all__ = ["curves", "effects", "history", "mechanism", "parallel", "reward"]

_COLOURS = ("0,114,178", "213,94,0", "0,158,115", "204,121,167", "230,159,0", "86,180,233")


def _figure(**layout: Any) -> go.Figure:
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError("these figures need plotly; hint: pip install plotly") from error
    figure = go.Figure()
    figure.update_layout(template="simple_white", **layout)
    return figure


def _band(
    figure: go.Figure,
    x: NDArray[Any],
    middle: NDArray[np.float64],
    half: NDArray[np.float64],
    label: str,
) -> None:
    """A line with a band about it."""
    drawn: Any = figure.data
    colour = _COLOURS[len(drawn) // 2 % len(_COLOURS)]
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([middle + half, (middle - half)[::-1]]),
        fill="toself",
        fillcolor=f"rgba({colour},0.2)",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        legendgroup=label,
    )
    figure.add_scatter(x=x, y=middle, name=label, legendgroup=label, mode="lines", line={"color": f"rgb({colour})"})


def history(study: Study) -> go.Figure:
    """The measured reward of every trial in its own sign, and the best so far; what was done is shown at the point."""
    numbers, values, best = plot._history(study)
    doing = [
        "<br>".join(f"{name} = {value}" for name, value in study.trial(int(number)).params.items())
        for number in numbers
    ]
    goal = "maximised" if study.problem.maximize else "minimised"
    figure = _figure(xaxis_title="trial", yaxis_title=f"{study.problem.reward} ({goal})")
    figure.add_scatter(x=numbers, y=values, mode="markers", name="measured", text=doing)
    figure.add_scatter(x=numbers, y=best, mode="lines", line={"shape": "hv"}, name="best so far")
    return figure


def mechanism(study: Study, node: str, along: str | None = None) -> go.Figure:
    """What is known of a node's mechanism along one of its inputs, the others at their means, by two deviations."""
    chosen, places, found = plot._along(study, node, along)
    figure = _figure(xaxis_title=chosen, yaxis_title=node)
    for label, (middle, spread) in found.items():
        _band(figure, places, middle, 2 * spread, label)
    return figure


def reward(study: Study, action: str, places: int = 41) -> go.Figure:
    """What is expected of the reward along an action, all else as recommended, with bounds of 90 % credibility."""
    doing = study.best(width=None).params
    span = study.problem.actions[action]
    along = np.linspace(*span.range, places)
    choices = list(span.choices)
    values = choices if choices else [float(value) for value in along]
    found = study.model.forecast([{**doing, action: value} for value in values], output="array")[study.problem.reward]
    figure = _figure(xaxis_title=action, yaxis_title=study.problem.reward)
    error = {
        "type": "data",
        "symmetric": False,
        "array": found[:, 2] - found[:, 0],
        "arrayminus": found[:, 0] - found[:, 1],
    }
    if choices:
        figure.add_scatter(x=choices, y=found[:, 0], error_y=error, mode="markers", name="expected")
    else:
        middle, half = (found[:, 1] + found[:, 2]) / 2, (found[:, 2] - found[:, 1]) / 2
        _band(figure, along, middle, half, "90 % credible")
        figure.add_scatter(x=along, y=found[:, 0], mode="lines", name="expected")
    return figure


def effects(study: Study) -> go.Figure:
    """What every action does to the expected reward, about the recommended intervention, the largest first."""
    found = study.effects().actions
    names = list(found)[::-1]
    sizes = np.array([found[name].effect for name in names])
    error = {
        "type": "data",
        "symmetric": False,
        "array": [found[name].upper - found[name].effect for name in names],
        "arrayminus": [found[name].effect - found[name].lower for name in names],
    }
    figure = _figure(xaxis_title=f"effect on {study.problem.reward}", yaxis_title="")
    figure.add_bar(x=sizes, y=names, orientation="h", error_x=error)
    return figure


def parallel(study: Study) -> go.Figure:
    """Every measured trial as a line through what was done and what came of it."""
    frame = study.trials_dataframe()
    frame = frame[(frame["state"] == "complete") & frame[study.problem.reward].notna()]
    dimensions: list[dict[str, Any]] = []
    for name, action in study.problem.actions.items():
        if action.choices:
            places = [action.choices.index(value) for value in frame[name]]
            ticks = {"tickvals": list(range(len(action.choices))), "ticktext": list(action.choices)}
            dimensions.append({"label": name, "values": places, **ticks})
        elif action.scale == "log":
            # What is none at all stands where a tenth of the least does.
            least = action.range[0] / 10
            shown: list[float] = [*([0.0] if (frame[name] <= 0).any() else []), *action.range]
            along = [math.log10(max(value, least)) for value in frame[name]]
            marks = [math.log10(max(value, least)) for value in shown]
            words = [f"{value:g}" for value in shown]
            dimensions.append({"label": name, "values": along, "tickvals": marks, "ticktext": words})
        else:
            dimensions.append({"label": name, "values": frame[name]})
    dimensions.extend({"label": slot, "values": frame[slot]} for slot in study.problem.slots)
    figure = _figure()
    figure.add_parcoords(
        dimensions=dimensions, line={"color": frame[study.problem.reward], "showscale": True, "colorscale": "Viridis"}
    )
    return figure


def curves(runs: Iterable[Run], metric: Literal["average", "best"] = "average") -> go.Figure:
    """The average (or best) reward after every round: means over seeds, with bands of one standard error."""
    figure = _figure(xaxis_title="round", yaxis_title=f"{metric} reward")
    for label, (mean, error) in plot._curves(runs, metric).items():
        _band(figure, np.arange(len(mean)), mean, error, label)
    return figure
