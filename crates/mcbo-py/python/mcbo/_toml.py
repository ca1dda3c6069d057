"""From a dictionary to the text of a problem file.

Not by ``tomli-w``: it refuses ``None``, arrays and sets, takes halves of characters and numbers that do not fit, and
spreads ``range = [0, 1]`` and ``noise = { gaussian = 0.5 }`` over four lines and a table of its own. People read these
files.
"""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from mcbo._errors import ProblemError

_DEEPEST = 8


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ProblemError(f"a key of the problem is {_shown(key)}; hint: keys are texts")
    return key if key.replace("_", "a").replace("-", "a").isascii() and _bare(key) else _text(key)


def _bare(key: str) -> bool:
    return bool(key) and all(letter.isalnum() or letter in "_-" for letter in key)


def _text(text: str) -> str:
    # What JSON escapes, TOML reads in the same way, except for halves of characters.
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ProblemError(f"a text of the problem is no Unicode: {error}") from error
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _shown(value: object) -> str:
    return f"an object of type {type(value).__name__}"


def _number(value: numbers.Real) -> str:
    if isinstance(value, numbers.Integral):
        whole = int(value)
        if abs(whole) >= 2**63:
            raise ProblemError("a whole number of the problem is too large; hint: write it with a decimal point")
        return str(whole)
    real = float(value)
    if real != real:
        return "nan"
    if real in (float("inf"), float("-inf")):
        return "inf" if real > 0 else "-inf"
    return repr(real)


def _value(value: object, depth: int = 0) -> str:
    if depth > _DEEPEST:
        raise ProblemError("the problem is nested too deeply")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, numbers.Real):
        return _number(value)
    if isinstance(value, Mapping):
        inside = ", ".join(
            f"{_key(key)} = {_value(item, depth + 1)}" for key, item in value.items() if item is not None
        )
        return f"{{ {inside} }}" if inside else "{}"
    to_list: Any = getattr(value, "tolist", None)
    if to_list is not None:
        return _value(to_list(), depth + 1)
    if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (bytes, bytearray, memoryview)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return "[" + ", ".join(_value(item, depth + 1) for item in items) + "]"
    raise ProblemError(f"the problem has {_shown(value)}; hint: texts, numbers, lists and dictionaries are read")


def write(problem: Mapping[str, object]) -> str:
    """The text of a problem file with the content of a dictionary of the same shape.

    >>> print(write({"maximize": "y", "nodes": {"y": {"actions": ["a"]}}, "actions": {"a": {"range": (0, 1)}}}))
    maximize = "y"
    <BLANKLINE>
    [nodes.y]
    actions = ["a"]
    <BLANKLINE>
    [actions.a]
    range = [0, 1]
    <BLANKLINE>
    """
    if not isinstance(problem, Mapping):
        raise ProblemError(f"the problem is {_shown(problem)}; hint: give a dictionary")
    plain: list[str] = []
    tables: list[str] = []
    for key, value in problem.items():
        if value is None:
            continue
        if key in ("nodes", "actions") and isinstance(value, Mapping):
            for name, fields in value.items():
                tables.append(_table(f"{key}.{_key(name)}", fields))
        elif isinstance(value, Mapping):
            tables.append(_table(_key(key), value))
        else:
            plain.append(f"{_key(key)} = {_value(value)}")
    return "\n".join(plain) + "\n" + "".join(f"\n{table}" for table in tables)


def _table(head: str, fields: object) -> str:
    if not isinstance(fields, Mapping):
        raise ProblemError(f"{head} is {_shown(fields)}; hint: give a dictionary of its fields")
    lines = [f"{_key(key)} = {_value(value)}" for key, value in fields.items() if value is not None]
    return "\n".join([f"[{head}]", *lines]) + "\n"
