"""The tasks of the paper, whose answers are known, and runs of strategies on them.

>>> run("dropwave", "random", seed=0, rounds=5).best_reward <= Task("dropwave").optimum
True
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mcbo import _mcbo
from mcbo._errors import DataError
from mcbo._intervention import Intervention, InterventionLike, Value
from mcbo._json import AsJson, plain
from mcbo._plan import whole
from mcbo._problem import Problem
from mcbo.strategy import Data, Strategy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Round", "Run", "Task", "run", "sweep", "table", "tasks"]

#: A task: its name, or a problem with a simulator.
TaskLike = str | Problem


def tasks(*, extra: bool = False) -> list[str]:
    """The names of the paper's tasks; with ``extra`` also of random models.

    >>> tasks()[:3]
    ['toygraph', 'psagraph', 'dropwave']
    """
    paper, random = _mcbo.Task.names()
    return paper + random if extra else paper


class Task:
    """Something to optimise whose answer is known. Rewards are in the direction of improvement.

    >>> task = Task("dropwave")
    >>> task.optimum
    1.0
    >>> round(task.expected_reward({"a0": 0.5, "a1": 0.5}), 6)
    1.0
    """

    def __init__(self, task: TaskLike) -> None:
        self._is_own = isinstance(task, Problem)
        if isinstance(task, Problem):
            self._raw = _mcbo.Task(task.name, task._raw)
            self._name = task.name
            self._problem = task
        else:
            self._raw = _mcbo.Task(task)
            self._name = task
            self._problem = Problem._of(self._raw.problem)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Task, (self._problem if self._is_own else self._name,))

    def __eq__(self, other: object) -> bool:
        return self.__reduce__() == other.__reduce__() if isinstance(other, Task) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._name)

    @property
    def name(self) -> str:
        """The task's name."""
        return self._name

    @property
    def problem(self) -> Problem:
        """The problem, as a strategy sees it."""
        return self._problem

    @property
    def optimum(self) -> float:
        """The highest expected reward: worked out, or of random tasks found by a long search."""
        return self._raw.optimum()[0]

    @property
    def method(self) -> str:
        """How expected rewards are computed: ``exact``, ``quadrature`` or ``samples``."""
        return self._raw.method

    def expected_reward(self, intervention: InterventionLike = None) -> float:
        """The expected reward of an intervention."""
        return self._raw.expected_reward(*self._problem._parts(intervention))

    def sample(self, intervention: InterventionLike = None, *, seed: int = 0) -> dict[str, Value]:
        """One experiment."""
        drawn = self._raw.sample(*self._problem._parts(intervention), _seed(seed))
        return {name: value for name, value in drawn.items() if value is not None}

    def initial_design(self, seed: int = 0) -> Data:
        """The rows that every strategy starts from."""
        return Data._of(self._raw.initial_design(seed), self._problem)

    def __repr__(self) -> str:
        return f"Task({self._name!r})"


@dataclass(frozen=True)
class Round:
    """One round of a run. Rewards are expectations, in the direction of improvement."""

    #: The round, from 1.
    round: int
    #: What the strategy chose.
    intervention: Intervention
    #: The expected reward of the choice.
    expected_reward: float
    #: The mean over the initial design and all rounds so far.
    average_reward: float
    #: The highest of the initial design and all rounds so far.
    best_reward: float
    #: The width of the confidence band that was used.
    beta: float | None
    #: How long the strategy took to choose. It does not count when runs are compared.
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class Run(AsJson):
    """One run of a strategy on a task. Two runs are equal if everything but the seconds is."""

    task: str
    #: The strategy with its settings.
    method: str
    strategy: str
    seed: int
    #: Expected rewards of the initial design.
    initial: tuple[float, ...]
    rounds: tuple[Round, ...]
    #: What the strategy would settle for, and its expected reward.
    recommended: Intervention
    recommended_reward: float

    def to_dict(self) -> dict[str, Any]:
        """The run in the words of ``mcbo bench run --json``."""
        rounds = [
            {
                "round": one.round,
                **one.intervention.to_dict(),
                **{name: plain(getattr(one, name)) for name in ("expected_reward", "average_reward", "best_reward")},
                "beta": one.beta,
                "suggest_seconds": one.seconds,
            }
            for one in self.rounds
        ]
        return {
            **{name: plain(getattr(self, name)) for name in ("task", "method", "strategy", "seed", "initial")},
            "rounds": rounds,
            "recommended": self.recommended.to_dict(),
            "recommended_reward": self.recommended_reward,
        }

    @property
    def expected_rewards(self) -> NDArray[np.float64]:
        """The expected reward of every round."""
        return np.array([one.expected_reward for one in self.rounds])

    @property
    def average_rewards(self) -> NDArray[np.float64]:
        """The paper's average reward after every round, the initial design first."""
        return np.array([float(np.mean(self.initial)), *(one.average_reward for one in self.rounds)])

    @property
    def best_rewards(self) -> NDArray[np.float64]:
        """The highest expected reward after every round, the initial design first."""
        return np.array([max(self.initial), *(one.best_reward for one in self.rounds)])

    @property
    def average_reward(self) -> float:
        """The paper's average reward after the last round."""
        return float(self.average_rewards[-1])

    @property
    def best_reward(self) -> float:
        """The highest expected reward of the run."""
        return float(self.best_rewards[-1])


def run(
    task: TaskLike,
    strategy: str | Strategy = "mcbo",
    seed: int = 0,
    rounds: int = 100,
    *,
    preset: Literal["default", "paper"] | None = None,
    beta: float | None = None,
) -> Run:
    """One run on one thread: the paper's initial design, then as many rounds.

    ``strategy`` is a name, with its settings (``mcbo-paper-0.5``, or ``preset`` and ``beta``), or one's own. The
    initial design and the noise depend on the task and the seed alone, so strategies can be compared in pairs.
    """
    raw = Task(task)._raw.run(strategy, _seed(seed), _rounds(rounds), preset, beta)
    return _run(raw)


def _rounds(rounds: Any) -> int:
    number = whole("rounds", rounds, 0)
    if number is None:
        raise DataError("there are no rounds; hint: a whole number, at least 0")
    return number


def _seed(seed: Any) -> int:
    number = whole("the seed", seed, 0)
    if number is None or number >= 2**64:
        raise DataError(f"the seed is {seed!r}; hint: a whole number, at least 0 and below 2**64")
    return number


def _run(raw: Mapping[str, Any]) -> Run:
    rounds = [Round(one[0], Intervention(*one[1]), *one[2:]) for one in raw["rounds"]]
    parts, reward = raw["recommended"]
    return Run(
        task=raw["task"],
        method=raw["method"],
        strategy=raw["strategy"],
        seed=raw["seed"],
        initial=tuple(raw["initial"]),
        rounds=tuple(rounds),
        recommended=Intervention(*parts),
        recommended_reward=reward,
    )


def _job(task: TaskLike, strategy: str | Strategy, seed: int, rounds: int) -> Run:
    """One run of a sweep: what an executor is given, on whatever machine."""
    return run(task, strategy, seed, rounds)


def sweep(
    tasks: Iterable[TaskLike],
    strategies: Iterable[str | Strategy],
    seeds: Iterable[int],
    rounds: int = 100,
    executor: Executor | None = None,
) -> list[Run]:
    """All runs of a comparison, in the order of tasks, strategies and seeds.

    Without an ``executor`` all cores of this machine work. Any of ``concurrent.futures`` will do, or that of a cluster:
    ``dask.distributed.Client(...).get_executor()``, for example. Results do not depend on who computes them.
    Strategies that cannot do anything on a task are left out there. Strategies of one's own that share a name are told
    apart in ``method`` by what differs between them.
    """
    jobs = _jobs(tasks, strategies, seeds, rounds)
    labels = _labels([strategy for _, strategy, _, _ in jobs])
    if executor is not None:
        return _labelled(_gather(executor, _job, jobs), labels)
    stop = threading.Event()

    def job(task: TaskLike, strategy: str | Strategy, seed: int, rounds: int) -> Run:
        return _run(Task(task)._raw.run(strategy, _seed(seed), _rounds(rounds), stop=stop))

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as threads:
        try:
            return _labelled(_gather(threads, job, jobs), labels)
        finally:
            # What is still running after an interrupt ends too.
            stop.set()


def _labels(strategies: Sequence[str | Strategy]) -> list[str | None]:
    """Names for strategies that share one with another: with what differs between them, or with a number."""
    kinds: dict[str, dict[int, Strategy]] = {}
    for one in strategies:
        if not isinstance(one, str):
            kinds.setdefault(one.name, {})[id(one)] = one

    def label(one: str | Strategy) -> str | None:
        others = {} if isinstance(one, str) else kinds[one.name]
        if isinstance(one, str) or len(others) < 2:
            return None
        fields = [getattr(each, "__dict__", {}) for each in others.values()]
        mine = getattr(one, "__dict__", {})
        differs = [key for key in mine if any(repr(each.get(key)) != repr(mine[key]) for each in fields)]
        words = ", ".join(f"{key}={mine[key]!r}" for key in differs)
        return f"{one.name}({words or list(others).index(id(one)) + 1})"

    return [label(one) for one in strategies]


def _labelled(runs: list[Run], labels: Sequence[str | None]) -> list[Run]:
    return [one if label is None else replace(one, method=label) for one, label in zip(runs, labels, strict=True)]


def _jobs(
    tasks: Iterable[TaskLike], strategies: Iterable[str | Strategy], seeds: Iterable[int], rounds: int
) -> list[tuple[TaskLike, str | Strategy, int, int]]:
    for name, given in (("tasks", tasks), ("strategies", strategies)):
        if isinstance(given, (str, Problem)) or not isinstance(given, Iterable):
            raise DataError(f"{name} are given one by one; hint: {name}=[...]")
    if isinstance(seeds, (str, bytes)) or not isinstance(seeds, Iterable):
        raise DataError("seeds are given one by one; hint: seeds=range(20)")
    players, numbers = list(strategies), list(seeds)
    jobs: list[tuple[TaskLike, str | Strategy, int, int]] = []
    for task in tasks:
        known = Task(task)
        able = [one for one in players if not isinstance(one, str) or known._raw.applies(one)]
        jobs.extend((task, one, seed, rounds) for one in able for seed in numbers)
    return jobs


def _gather(
    executor: Executor, job: Callable[..., Run], jobs: Sequence[tuple[TaskLike, str | Strategy, int, int]]
) -> list[Run]:
    if not hasattr(executor, "submit"):
        raise DataError("the executor has no submit; hint: one of concurrent.futures, or get_executor() of Dask")
    futures: list[Future[Run]] = []
    try:
        futures.extend(executor.submit(job, *given) for given in jobs)
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


def table(runs: Iterable[Run]) -> pd.DataFrame:
    """Runs as a pandas data frame: a row per run and round, round 0 for the initial design."""
    import pandas as pd

    rows = [
        {
            "task": one.task,
            "method": one.method,
            "seed": one.seed,
            "round": at,
            "average_reward": average,
            "best_reward": best,
        }
        for one in runs
        for at, (average, best) in enumerate(zip(one.average_rewards, one.best_rewards, strict=True))
    ]
    return pd.DataFrame(rows)
