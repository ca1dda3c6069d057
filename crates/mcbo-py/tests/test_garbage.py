"""Whatever is put in where it does not belong comes back as a Python exception: a thousand times through every call."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import mcbo
import numpy as np
import pytest
from conftest import GREENHOUSE, grow

TIMES = 1000


class Raises:
    """An object that lets nobody look at it."""

    def _no(self, *args: object) -> Any:
        raise RuntimeError("do not touch")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __call__ = __bool__ = _no
    __eq__ = __lt__ = __array__ = _no  # type: ignore[assignment]
    __hash__ = object.__hash__
    items = keys = _no

    @property
    def name(self) -> str:
        raise RuntimeError("nor my name")

    def __repr__(self) -> str:
        raise RuntimeError("nor my face")


class Shouts:
    """A mapping that raises halfway."""

    def items(self) -> Iterator[tuple[str, float]]:
        yield ("growth", 1.0)
        raise OSError("halfway")


def loop() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


LEAVES: list[Callable[[random.Random], Any]] = [
    lambda rng: float("nan"),
    lambda rng: float("-inf"),
    lambda rng: 10 ** rng.randint(310, 400),
    lambda rng: -(10 ** rng.randint(310, 400)),
    lambda rng: "".join(chr(rng.randint(0, 0x3000)) for _ in range(rng.randint(0, 20))),
    lambda rng: "\ud800" * rng.randint(1, 3),
    lambda rng: bytes(rng.randrange(256) for _ in range(rng.randint(0, 9))),
    lambda rng: complex(rng.random(), 1.0),
    lambda rng: object(),
    lambda rng: Raises(),
    lambda rng: Shouts(),
    lambda rng: loop(),
    lambda rng: np.array(["a", "b"]),
    lambda rng: np.array([object(), None]),
    lambda rng: np.full((2, 3, 4), np.nan),
    lambda rng: np.zeros((0, 3)),
    lambda rng: np.datetime64("2020-01-01"),
    lambda rng: Raises,
    lambda rng: {rng.random(): 1.0},
]


def garbage(rng: random.Random, depth: int = 2) -> Any:
    """Something that belongs nowhere, alone or wrapped up."""
    kind = rng.random()
    if depth == 0 or kind < 0.6:
        return rng.choice(LEAVES)(rng)
    inside = garbage(rng, depth - 1)
    if kind < 0.75:
        return [inside] * rng.randint(1, 3)
    if kind < 0.85:
        return (inside, garbage(rng, depth - 1))
    key = rng.choice(["water", "growth", "moisture", "do(growth)", "actions", "values", "nodes", "x[0]", "\x00", ""])
    return {key: inside}


def text(value: Any) -> bool:
    return isinstance(value, str) and "\ud800" not in value


def problem() -> mcbo.Problem:
    return mcbo.Problem.from_toml(GREENHOUSE)


def study() -> mcbo.Study:
    made = mcbo.create_study(problem())
    made.optimize(grow, n_trials=4)
    made.ask()
    return made


def never(value: Any) -> bool:
    return False


def a_class(value: Any) -> bool:
    return isinstance(value, type)


P, S = problem(), study()
M = S.model
#: Where trials are begun, and fail.
R = mcbo.create_study(P, strategy="random", initial=0)
T = mcbo.bench.Task("dropwave")

#: Every public call with a hole for garbage, and what is no garbage there.
CALLS: dict[str, tuple[Callable[[Any], object], Callable[[Any], bool]]] = {
    "Problem(nodes)": (lambda g: mcbo.Problem(g, {"a": (0, 1)}, maximize="y"), never),
    "Problem(actions)": (lambda g: mcbo.Problem({"y": {"actions": ["a"]}}, g, maximize="y"), never),
    "Problem(maximize)": (lambda g: mcbo.Problem({"y": {"actions": ["a"]}}, {"a": (0, 1)}, maximize=g), never),
    "Problem(noise)": (
        lambda g: mcbo.Problem({"y": {"actions": ["a"], "noise": g}}, {"a": (0, 1)}, maximize="y"),
        never,
    ),
    "Problem(range)": (lambda g: mcbo.Problem({"y": {"actions": ["a"]}}, {"a": g}, maximize="y"), never),
    "Problem(graph)": (lambda g: mcbo.Problem(graph=g, actions={"a": (0, 1)}, maximize="y"), never),
    "Problem(constraints)": (
        lambda g: mcbo.Problem(
            {"y": {"actions": ["a"]}}, {"a": (0, 1)}, maximize="y", constraints={"max_interventions": g}
        ),
        never,
    ),
    "Problem(simulator)": (
        lambda g: mcbo.Problem({"y": {"actions": ["a"]}}, {"a": (0, 1)}, maximize="y", simulator={"y": g}),
        never,
    ),
    "Problem.from_toml": (mcbo.Problem.from_toml, never),
    "Problem.from_file": (mcbo.Problem.from_file, never),
    "Problem.from_dict": (mcbo.Problem.from_dict, never),
    "Problem.intervention": (P.intervention, never),
    "Problem.simulate": (P.simulate, never),
    "Problem.simulate(seed)": (lambda g: P.simulate(seed=g), never),
    "Study.change_problem": (S.change_problem, never),
    "create_study(problem)": (mcbo.create_study, never),
    "create_study(storage)": (lambda g: mcbo.create_study(P, storage=g), never),
    "create_study(name)": (
        lambda g: mcbo.create_study(P, name=g, storage="sqlite:///nowhere/at/all.sqlite"),
        never,
    ),
    "create_study(strategy)": (lambda g: mcbo.create_study(P, strategy=g), never),
    "create_study(preset)": (lambda g: mcbo.create_study(P, preset=g), never),
    "create_study(beta)": (lambda g: mcbo.create_study(P, beta=g), never),
    "create_study(seed)": (lambda g: mcbo.create_study(P, seed=g), never),
    "create_study(initial)": (lambda g: mcbo.create_study(P, initial=g), never),
    "load_study(name)": (lambda g: mcbo.load_study(g, "sqlite:///nowhere/at/all.sqlite"), never),
    "load_study(storage)": (lambda g: mcbo.load_study("s", g), never),
    "ask(count)": (S.ask, never),
    "ask(worker)": (lambda g: S.ask(worker=g), text),
    "tell(trial)": (lambda g: S.tell(g, {"growth": 0.5}), never),
    "tell(values)": (lambda g: S.tell(5, g), never),
    "tell(value)": (lambda g: S.tell(5, {"growth": g}), never),
    "tell(state)": (lambda g: S.tell(5, {"growth": 0.5}, state=g), never),
    "tell(reason)": (lambda g: S.tell(99, state="failed", reason=g), never),
    "add_trials": (S.add_trials, lambda g: isinstance(g, (bytes,)) and not g),
    "add_trials(row)": (lambda g: S.add_trials([g]), never),
    "add_trials(columns)": (lambda g: S.add_trials(np.zeros((2, 2)), columns=g), never),
    "enqueue": (S.enqueue, never),
    "optimize": (lambda g: S.optimize(g, n_trials=1), a_class),
    "optimize(result)": (lambda g: R.optimize(lambda trial: g, n_trials=1), never),
    "optimize(n_trials)": (lambda g: S.optimize(grow, n_trials=g), lambda g: isinstance(g, int) and g > 0),
    "optimize(executor)": (lambda g: S.optimize(grow, n_trials=1, executor=g), never),
    "optimize(until_gap)": (
        lambda g: S.optimize(grow, n_trials=1, until_gap=g),
        lambda g: isinstance(g, int) and g > 0,
    ),
    "optimize(callbacks)": (lambda g: S.optimize(grow, n_trials=0, callbacks=[g]), callable),
    "best(by)": (S.best, never),
    "best(width)": (lambda g: S.best(width=g), never),
    "trial": (S.trial, never),
    "predict(node)": (lambda g: M.predict(g, [[1.0]]), never),
    "predict(inputs)": (lambda g: M.predict("growth", g), never),
    "inputs": (M.inputs, never),
    "forecast": (M.forecast, never),
    "sample": (M.sample, never),
    "sample(n)": (lambda g: M.sample(n=g), never),
    "expected_reward(n)": (lambda g: M.expected_reward(n=g), never),
    "bench.Task": (mcbo.bench.Task, never),
    "Task.expected_reward": (T.expected_reward, never),
    "Task.sample(seed)": (lambda g: T.sample(seed=g), never),
    "Task.initial_design": (T.initial_design, never),
    "bench.run(task)": (lambda g: mcbo.bench.run(g, rounds=1), never),
    "bench.run(strategy)": (lambda g: mcbo.bench.run("dropwave", g, rounds=1), never),
    "bench.run(seed)": (lambda g: mcbo.bench.run("dropwave", "random", seed=g, rounds=1), never),
    "bench.run(rounds)": (lambda g: mcbo.bench.run("dropwave", "random", rounds=g), never),
    "bench.sweep(tasks)": (lambda g: mcbo.bench.sweep(g, ["random"], [0], rounds=1), lambda g: empty(g)),
    "bench.sweep(seeds)": (lambda g: mcbo.bench.sweep(["dropwave"], ["random"], g, rounds=1), lambda g: empty(g)),
    "bench.sweep(executor)": (
        lambda g: mcbo.bench.sweep(["dropwave"], ["random"], [0], rounds=1, executor=g),
        never,
    ),
    "set_threads": (mcbo.set_threads, never),
    "plot.mechanism": (lambda g: mcbo.plot.mechanism(S, g), never),
}


def empty(value: Any) -> bool:
    try:
        return len(value) == 0
    except Exception:
        return False


@pytest.mark.parametrize("call", CALLS)
def test_garbage(call: str) -> None:
    made, belongs = CALLS[call]
    rng = random.Random(call)
    before = S.status.complete
    for _ in range(TIMES):
        value = garbage(rng)
        if belongs(value):
            continue
        try:
            made(value)
        except mcbo.InternalError as error:
            pytest.fail(f"{call} panics: {error}")
        except Exception:
            continue
        pytest.fail(f"{call} takes {type(value)}")
    assert S.status.complete == before


@pytest.mark.parametrize("number", [-1, 2**64, 2**63, 1.5, "7", None, True])
def test_numbers_that_are_none(number: Any) -> None:
    for call in (
        lambda: S.ask(number) if number not in (None, True) else S.ask("x"),  # type: ignore[call-overload]
        lambda: S.tell(number, {"growth": 0.5}),
        lambda: S.trial(number),
        lambda: mcbo.bench.run("dropwave", "random", rounds=number if number is not True else -1),
        lambda: M.sample(n=number if number is not True else 0),
        lambda: mcbo.create_study(P, initial=number) if number not in (None, True, 2**63) else S.trial(0),
    ):
        with pytest.raises((mcbo.McboError, TypeError, OverflowError)):
            call()
