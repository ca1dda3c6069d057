"""What notebooks show: tables, and pictures where they help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

from mcbo._frozen import Names, Vector

if TYPE_CHECKING:
    from mcbo._model import Model
    from mcbo._problem import Action, Node, Problem
    from mcbo._study import Study
    from mcbo._trial import Best, Trial

#: Trials that are shown of a study, the last ones.
_SHOWN = 10


def number(value: object) -> str:
    """A number in four digits; nothing for nothing."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; everything in it is text."""
    top = "".join(f"<th>{escape(str(name))}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(number(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def problem(shown: Problem) -> str:
    """A problem: what is optimised, the nodes, the actions."""
    goal = "maximise" if shown.maximize else "minimise"
    limit = f", at most {shown.max_interventions} interventions" if shown.max_interventions is not None else ""
    nodes = [
        [_named(node), ", ".join(node.parents), ", ".join(node.actions), _settings(node), _noise(node.noise)]
        for node in shown.nodes.values()
    ]
    actions = [[_named(one), _values(one), one.neutral] for one in shown.actions.values()]
    parts = [
        f"<p><b>{escape(shown.name or 'problem')}</b>: {goal} <b>{escape(shown.reward)}</b>{limit}</p>",
        shown._raw.picture(),
        table(["node", "parents", "actions", "can be set", "noise"], nodes),
    ]
    if actions:
        parts.append(table(["action", "values", "neutral"], actions))
    parts.extend(_paragraph(warning) for warning in shown.warnings)
    return "".join(parts)


def _named(shown: Node | Action) -> str:
    return shown.name if shown.unit is None else f"{shown.name} ({shown.unit})"


def _settings(node: Node) -> str:
    if node.do and node.choices:
        return ", ".join(node.choices)
    return _ranges(node.do) if node.values is None else _list(node.values)


def _values(action: Action) -> str:
    if action.choices:
        return ", ".join(action.choices)
    if action.values is not None:
        return _list(action.values)
    return _ranges([action.range]) + ("" if action.step is None else f" by {action.step:g}")


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _ranges(ranges: Iterable[tuple[float, float]] | None) -> str:
    return ", ".join(f"{low:.4g} to {high:.4g}" for low, high in ranges or ())


def _noise(noise: str | Mapping[str, Any]) -> str:
    if isinstance(noise, str):
        return {"learn": "learned"}.get(noise, noise)
    return ", ".join(f"{kind} {value}" for kind, value in noise.items())


def best(shown: Best) -> str:
    """A recommendation: what to do, and what is expected of it."""
    doing = [[name, value] for name, value in shown.intervention.flat().items()]
    expected: list[list[object]] = []
    for name, forecast in shown.predicted.items():
        if isinstance(forecast, Names):
            several = [(f"{name}={choice}", one) for choice, one in forecast.items()]
        elif isinstance(forecast, Vector):
            several = [(name if len(forecast) == 1 else f"{name}[{at}]", one) for at, one in enumerate(forecast)]
        else:
            several = [(name, forecast)]
        expected.extend([label, one.mean, one.lower, one.upper] for label, one in several)
    parts = [
        f"<p><b>Recommended</b>, by the {escape(shown.by)} of the expected reward</p>",
        table(["do", "value"], doing) if doing else _paragraph("do nothing"),
        _reward(shown),
        table(["expected", "mean", "5 %", "95 %"], expected),
    ]
    if shown.certificate is not None and isfinite(shown.certificate.gap):
        bound = shown.certificate
        parts.append(
            _paragraph(
                f"No intervention that a search looked at is better by more than {bound.gap:.4g}, if every mechanism "
                f"lies within {bound.width:g} deviations of what is expected of it."
            )
        )
    if shown.trial is not None:
        parts.append(_paragraph(f"Best measured: {number(shown.trial.reward)} in trial {shown.trial.number}."))
    parts.extend(_paragraph(warning) for warning in shown.warnings)
    return "".join(parts)


def model(shown: Model) -> str:
    """A model: how well it knows every node, and what it has learned of each."""
    warnings = "".join(_paragraph(warning) for warning in shown.warnings)
    return "".join(picture.svg for picture in shown.pictures().values()) + warnings


def study(shown: Study) -> str:
    """A study: where it stands, how it went, its last trials."""
    status = shown.status
    name = "study" if shown.name is None else f"study {shown.name}"
    head = (
        f"<p><b>{escape(name)}</b>: {escape(status.strategy)}, {status.complete} complete, {status.pending} pending, "
        f"{status.failed} failed{f', {status.voided} taken out' if status.voided else ''}</p>"
    )
    trials = shown.trials
    history = shown._raw.pictures(False)[0][2] if trials else ""
    return head + history + _trials(trials[-_SHOWN:], len(trials))


def _trials(trials: Sequence[Trial], total: int) -> str:
    if not trials:
        return _paragraph("no trials yet")
    names = list(dict.fromkeys(name for trial in trials for name in trial.params))
    rows = [
        [trial.number, trial.state, trial.strategy, *(trial.params.get(name) for name in names), trial.reward]
        for trial in trials
    ]
    more = _paragraph(f"the last {len(trials)} of {total} trials") if total > len(trials) else ""
    return table(["trial", "state", "strategy", *names, "reward"], rows) + more


def _reward(shown: Best) -> str:
    """The expected reward with its bounds, the best measured one, and the most that any intervention could give."""
    if shown.reward is None or not all(isfinite(place) for place in shown.reward):
        return ""
    mean, lower, upper = shown.reward
    marks: list[tuple[str, float, str]] = [("expected", mean, "#0072b2")]
    if shown.trial is not None and shown.trial.reward is not None:
        marks.append(("best measured", shown.trial.reward, "#d55e00"))
    if shown.certificate is not None and isfinite(shown.certificate.upper):
        marks.append(("the most that a plausible model expects of anything", shown.certificate.upper, "#767676"))
    places = [lower, upper, *(place for _, place, _ in marks)]
    low, span = min(places), (max(places) - min(places)) or 1.0

    def across(value: float) -> float:
        return round(20 + 380 * (value - low) / span, 1)

    dots = "".join(
        f'<circle cx="{across(place)}" cy="20" r="4" fill="{colour}"/>'
        f'<circle cx="24" cy="{46 + 18 * at}" r="4" fill="{colour}"/>'
        f'<text x="36" y="{50 + 18 * at}">{escape(words)}: {number(place)}</text>'
        for at, (words, place, colour) in enumerate(marks)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="420" height="{46 + 18 * len(marks)}" role="img" '
        f'aria-label="expected reward" font-family="sans-serif" font-size="12">'
        f'<rect x="{across(lower)}" y="14" width="{max(across(upper) - across(lower), 1)}" height="12" fill="#a6cee3"/>'
        f'<line x1="10" x2="410" y1="20" y2="20" stroke="#cccccc"/>{dots}</svg>'
    )
