"""Rows from and to tables: lists of dictionaries, arrays, data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray

from mcbo import _mcbo
from mcbo._errors import DataError
from mcbo._intervention import InterventionLike, Value, row_parts
from mcbo._trial import Trial

if TYPE_CHECKING:
    import pandas as pd

#: Rows that were measured elsewhere.
Rows = Union[Iterable[Mapping[str, Any]], "NDArray[np.floating[Any]]", "pd.DataFrame"]

#: Interventions, one after the other.
Interventions = Union[Sequence[InterventionLike], "pd.DataFrame"]

#: What is known of the contexts, one row after the other.
Contexts = Union[Sequence[Mapping[str, Any]], "pd.DataFrame"]

#: Columns that a table of trials has beside the numbers.
BOOKKEEPING = ("number", "state", "strategy", "reward", "worker", "asked", "told", "corrected", "reason", "seconds")


def neutral(missing: object) -> bool:
    """Whether actions without a value are neutral."""
    if missing not in (None, "neutral"):
        raise DataError('missing is neither None nor "neutral"; hint: None refuses actions without a value')
    return missing is not None


def is_frame(given: object) -> bool:
    """Whether something is a data frame, of pandas or like one."""
    return hasattr(given, "columns") and hasattr(given, "to_numpy")


def add(raw: _mcbo.Study, problem: _mcbo.Problem, rows: Rows, columns: Sequence[str] | None, is_neutral: bool) -> None:
    """Adds rows to a study, whatever they are given as."""
    if isinstance(rows, np.ndarray):
        _add_array(raw, rows, columns, is_neutral)
    elif is_frame(rows):
        _add_frame(raw, problem, rows, is_neutral)
    elif isinstance(rows, (str, bytes, Mapping)):
        raise DataError(f"rows are of type {type(rows).__name__}; hint: give a list of dictionaries, one per row")
    else:
        actions = [name for name, *_ in problem.actions()]
        try:
            given = [row_parts(_done(row, actions, at, is_neutral), actions) for at, row in enumerate(rows)]
        except TypeError as error:
            raise DataError(f"rows are of type {type(rows).__name__}: {error}") from error
        raw.add_rows(given)


def _done(row: Any, actions: Sequence[str], at: int, is_neutral: bool) -> Any:
    """A row by names in which every action that is named has a value."""
    if not isinstance(row, Mapping):
        return row
    unknown = [name for name in actions if name in row and _is_nothing(row[name])]
    if unknown and not is_neutral:
        raise DataError(f"row {at}: {unknown[0]} has no value, and what is not known is not neutral; {_HINT}")
    return {name: value for name, value in row.items() if name not in unknown} if unknown else row


_HINT = 'hint: give what was done, or missing="neutral" if nothing was'


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def interventions(given: Any, problem: _mcbo.Problem, is_neutral: bool = False) -> list[InterventionLike] | None:
    """Many interventions from a sequence of them or the rows of a data frame; ``None`` if it is one by itself."""
    if isinstance(given, (list, tuple)):
        return list(given)
    if not is_frame(given):
        return None
    actions = {name for name, *_ in problem.actions()}
    settable = {f"do({name})" for name in _settable(problem)}
    settable |= {f"do({slot})" for slot in problem.slots}
    done = [name for name in given.columns if name in actions or name in settable]
    measured = {*problem.slots, *BOOKKEEPING, "trial"}
    aside = [name for name in given.columns if str(name).startswith("#")]
    unknown = [name for name in given.columns if name not in done and name not in measured and name not in aside]
    if unknown:
        names = ", ".join(sorted(actions) + sorted(f"do({name})" for name in _settable(problem)))
        raise DataError(f"nothing to choose is called {unknown[0]!r}; hint: columns may be {names}")
    named = choices(problem)
    columns = {str(name): _numbers(given[name], str(name), named) for name in done}
    for name in actions & set(columns):
        without = np.flatnonzero(np.isnan(columns[name]))
        if len(without) and not is_neutral:
            raise DataError(f"row {without[0]}: {name} has no value, and what is not known is not neutral; {_HINT}")
    return list(_rows(columns, named, len(given)))


def _rows(
    columns: Mapping[str, NDArray[np.float64]], named: Mapping[str, list[str]], count: int
) -> list[dict[str, Any]]:
    """The rows of columns by name, names instead of their places; what is not known is left out."""
    return [
        {
            name: named[name][int(column[row])] if name in named else float(column[row])
            for name, column in columns.items()
            if not np.isnan(column[row])
        }
        for row in range(count)
    ]


def contexts(given: Any, problem: _mcbo.Problem) -> list[dict[str, Any]] | None:
    """Many contexts from a sequence of them or the rows of a data frame; ``None`` if it is one by itself."""
    if isinstance(given, (list, tuple)):
        return [dict(one) if isinstance(one, Mapping) else one for one in given]
    if not is_frame(given):
        return None
    known = [name for name, marks in problem.marks().items() if marks.get("context")]
    unknown = [name for name in given.columns if name not in known]
    if unknown:
        raise DataError(f"{unknown[0]!r} is no context; hint: the contexts are {', '.join(known)}")
    named = choices(problem)
    columns = {str(name): _numbers(given[name], str(name), named) for name in given.columns}
    return _rows(columns, named, len(given))


def choices(problem: _mcbo.Problem) -> dict[str, list[str]]:
    """The names of the values of everything that has names: actions, nodes, and nodes that are set."""
    nodes = {node["name"]: node["choices"] for node in problem.nodes() if node["choices"]}
    actions = {name: names for name, _, _, _, _, names in problem.actions() if names}
    return {**actions, **nodes, **{f"do({name})": names for name, names in nodes.items()}}


def _numbers(column: Any, name: str, named: Mapping[str, list[str]], what: str | None = None) -> NDArray[np.float64]:
    """A column of a table as numbers; of what has names the places of these."""
    if name not in named:
        return floats(column.to_numpy() if hasattr(column, "to_numpy") else column, what or name)
    places = {text: float(at) for at, text in enumerate(named[name])}
    out = np.full(len(column), np.nan)
    for row, value in enumerate(column):
        if not _is_nothing(value):
            if value not in places:
                known = ", ".join(named[name])
                raise DataError(f"{name} is {value!r}, which is not one of its choices; hint: they are {known}")
            out[row] = places[value]
    return out


def _add_array(raw: _mcbo.Study, rows: NDArray[Any], columns: Sequence[str] | None, is_neutral: bool) -> None:
    if rows.dtype.names is not None:
        columns = list(rows.dtype.names)
        rows = np.column_stack([floats(rows[name], name) for name in columns])
    elif columns is None:
        raise DataError("an array needs the names of its columns; hint: columns=[...]")
    if rows.ndim != 2:
        raise DataError(f"the array has {rows.ndim} dimensions; hint: a row per trial, a column per name")
    raw.add_table([str(name) for name in columns], floats(rows, "the array"), is_neutral)


def _add_frame(raw: _mcbo.Study, problem: _mcbo.Problem, frame: Any, is_neutral: bool) -> None:
    names = {name for name, *_ in problem.actions()} | set(problem.slots)
    # A table that a study gave out goes in again, from the command line too: what is pending or failed has no values.
    if "state" in frame.columns and "state" not in names:
        frame = frame[frame["state"] == "complete"]
    aside = [name for name in frame.columns if name in (*BOOKKEEPING, "trial") or str(name).startswith("#")]
    kept = [name for name in frame.columns if name in names or name not in aside]
    named = choices(problem)
    columns = [_numbers(frame[name], str(name), named) for name in kept]
    table = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    raw.add_table([str(name) for name in kept], table, is_neutral)


def inputs(
    given: Any, names: Sequence[str], what: str, named: Mapping[str, list[str]] | None = None
) -> NDArray[np.float64]:
    """Places, a row each: an array with columns in the order of the names, or columns by name in any order.

    Of what is in ``named`` the values may be its names; an array has their places.
    """
    named = named or {}
    if is_frame(given) or (isinstance(given, np.ndarray) and given.dtype.names is not None):
        frame: Any = given
        has = [str(name) for name in (frame.columns if is_frame(given) else frame.dtype.names or ())]
        without = [name for name in names if name not in has]
        if without:
            raise DataError(f"the table of {what} has no column {without[0]!r}; hint: it needs {', '.join(names)}")
        twice = [name for name in names if has.count(name) > 1]
        if twice:
            raise DataError(f"the table of {what} has the column {twice[0]!r} twice; hint: one each")
        columns = [_numbers(frame[name], name, named) for name in names]
        return np.column_stack(columns) if columns else np.empty((len(given), 0))
    if isinstance(given, Mapping):
        return inputs([given], names, what, named)
    if isinstance(given, (list, tuple)) and given and all(isinstance(row, Mapping) for row in given):
        for row in given:
            without = [name for name in names if name not in row]
            if without:
                raise DataError(f"a row of {what} has no {without[0]!r}; hint: it needs {', '.join(names)}")
        columns = [_numbers([row[name] for row in given], name, named, what) for name in names]
        return np.column_stack(columns) if columns else np.empty((len(given), 0))
    return floats(given, what)


def floats(given: Any, name: str) -> NDArray[np.float64]:
    """An array of numbers; texts, times and the like are no numbers."""
    try:
        array = np.asarray(given)
        if array.dtype.kind in "biufO":
            return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name} has values that are no numbers: {error}") from error
    raise DataError(f"{name} has values of type {array.dtype}, which are no numbers")


def frame(trials: Sequence[Trial], problem: _mcbo.Problem) -> pd.DataFrame:
    """The trials as a data frame: a row each, a column per action, set node and node.

    What was done stands there. Where that is something else than what was suggested, ``#suggested(name)`` has the
    latter.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("trials_dataframe needs pandas; hint: pip install pandas") from error
    actions = [name for name, *_ in problem.actions()]
    settable = [f"do({slot})" for slot in problem.slots if slot.split("[")[0] in _settable(problem)]
    otherwise = _otherwise(trials, [*actions, *settable])
    rows: list[dict[str, object]] = []
    for trial in trials:
        row: dict[str, object] = {"number": trial.number, "state": trial.state, "strategy": trial.strategy}
        row.update(dict.fromkeys([*actions, *settable, *problem.slots], float("nan")))
        row.update((trial.done or trial.intervention).flat())
        suggested = trial.params
        row.update({f"#suggested({name})": suggested.get(name, float("nan")) for name in otherwise})
        row.update(flat(trial.observed or {}))
        row.update({key: getattr(trial, key) for key in BOOKKEEPING[3:]})
        rows.append(row)
    beside = [f"#suggested({name})" for name in otherwise]
    names = ["number", "state", "strategy", *actions, *settable, *problem.slots, *BOOKKEEPING[3:], *beside]
    table = pd.DataFrame(rows, columns=names)
    named = choices(problem)
    texts = {*named, *(f"#suggested({name})" for name in named)}
    numbers = [
        name for name in [*actions, *settable, *problem.slots, "reward", "seconds", *beside] if name not in texts
    ]
    return table.astype(dict.fromkeys(numbers, "float64"))


def _otherwise(trials: Sequence[Trial], names: Sequence[str]) -> list[str]:
    """What can be chosen and was done otherwise than suggested in some trial."""
    pairs = [(trial.params, trial.done.flat()) for trial in trials if trial.done is not None]
    return [name for name in names if any(asked.get(name) != done.get(name) for asked, done in pairs)]


def _settable(problem: _mcbo.Problem) -> set[str]:
    return {fields["name"] for fields in problem.nodes() if fields["do"] is not None}


def flat(values: Mapping[str, Value | None]) -> dict[str, float | str]:
    """Values by component, those that are missing left out."""
    out: dict[str, float | str] = {}
    for name, value in values.items():
        if isinstance(value, (list, tuple)):
            out.update({f"{name}[{at}]": one for at, one in enumerate(value) if one is not None})
        elif value is not None:
            out[name] = value
    return out
