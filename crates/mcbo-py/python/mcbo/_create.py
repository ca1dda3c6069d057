"""New studies."""

from __future__ import annotations

import secrets
from typing import Any, Literal

from mcbo import _mcbo, _plan, _storage
from mcbo._errors import DataError, StudyExistsError
from mcbo._problem import Problem
from mcbo._study import Study, _text
from mcbo.strategy import Strategy


def create_study(
    problem: Problem,
    name: str | None = None,
    storage: str | None = None,
    strategy: str | Strategy = "mcbo",
    preset: Literal["default", "paper"] = "default",
    beta: float | Literal["theory"] | None = None,
    aim: Literal["earn", "find"] | None = None,
    seed: int | None = 0,
    initial: int | None = None,
    load_if_exists: bool = False,
) -> Study:
    """A new study.

    Without ``storage`` it lasts as long as the object. Storages are ``sqlite://studies.sqlite`` in the working folder,
    ``sqlite:///folder/studies.sqlite`` from the root and ``postgresql://user@host/database``; studies there have names,
    and any number of programs can work on one at once. With ``load_if_exists`` the study of that name is taken if there
    is one; it must have been made with the same problem and the same settings.

    ``strategy`` is a name (``mcbo eifn cbo ucb ei random ...``) or an object of one's own (:mod:`mcbo.strategy`),
    ``initial`` the number of trials before it decides. ``aim`` says what the trials are for, if the problem does not:
    to ``"earn"`` (every trial counts) or to ``"find"`` (only the final recommendation does). ``beta`` fixes the width
    of the confidence band instead, ``"theory"`` at that of the paper's theorem. The same problem, data and seed give
    the same suggestions, to the bit, on the command line and in Rust too; ``seed=None`` draws one.
    """
    if not isinstance(problem, Problem):
        raise DataError(f"the problem is of type {type(problem).__name__}; hint: make it a mcbo.Problem")
    if aim is not None and beta is not None:
        raise DataError("both aim and beta are given; hint: a fixed width has no aim, leave out one of them")
    own = None if isinstance(strategy, str) else strategy
    rule = "theory" if isinstance(beta, str) and beta == "theory" else _text("the aim", aim)
    if beta is not None and beta != "theory" and (isinstance(beta, (bool, str)) or not isinstance(beta, (int, float))):
        raise DataError(f"beta is {_plan.shown(beta)}; hint: a number, or 'theory'")
    width = None if beta is None or isinstance(beta, str) else float(beta)
    chosen_seed = secrets.randbits(63) if seed is None else _plan.whole("the seed", seed, 0)
    if chosen_seed is None or chosen_seed >= 2**64:
        raise DataError(f"the seed is {_plan.shown(seed)}; hint: a whole number below 2**64, or None to draw one")
    initial = _plan.whole("initial", initial, 0)
    if initial is not None and initial > 10**9:
        raise DataError(f"initial is {initial}; hint: trials that are made before a strategy decides, a handful")
    preset_name = _text("the preset", preset) or ""
    if storage is None:
        if load_if_exists:
            raise DataError("load_if_exists needs a storage; hint: a study in memory is never there already")
        raw = _mcbo.Study.in_memory(problem.to_toml(), strategy, preset_name, width, rule, chosen_seed, initial)
        return Study(raw, _text("the name", name), None, problem, own)
    _storage.check_new(storage)
    called = _text("the name", name)
    chosen = called if called is not None else problem.name
    if not chosen:
        raise DataError("a study in a store needs a name; hint: name=...")
    text = problem.to_toml()
    settings = (strategy, preset_name, width, rule, chosen_seed, initial)
    raw = _mcbo.Study.create(storage, chosen, text, *settings, load_if_exists)
    study = Study(raw, chosen, storage, None, own)
    if load_if_exists:
        _check_same(study, problem, settings, drawn=seed is None)
    return study


def _check_same(study: Study, problem: Problem, settings: tuple[Any, ...], drawn: bool) -> None:
    """Refuses a study that is there and is another one than was asked for."""
    strategy, preset, beta, aim, seed, initial = study._raw.settings()
    asked: dict[str, Any] = {
        "strategy": settings[0] if isinstance(settings[0], str) else settings[0].name,
        **dict(zip(("preset", "beta", "aim"), settings[1:4], strict=True)),
    }
    found = {"strategy": strategy, "preset": preset, "beta": beta, "aim": aim, "seed": seed, "initial": initial}
    if not drawn:
        asked["seed"] = settings[4]
    if settings[5] is not None:
        asked["initial"] = settings[5]
    different = _storage.differences(asked, found)
    first = study._raw.first_problem()
    # One that was mended since is the same study.
    known = [study.problem, *([] if first is None else [Problem.from_toml(first)])]
    if problem not in known:
        different.extend(problem._differences(study.problem))
    if different:
        raise StudyExistsError(
            f"there is a study {study.name!r} already, and it is another one: {'; '.join(different)}; hint: "
            "mcbo.load_study takes it as it is, change_problem mends its problem, another name begins a new one"
        )
