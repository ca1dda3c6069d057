"""Studies: ask for the next intervention, do it, tell what came out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from mcbo import _html, _mcbo, _optimize, _plan, _storage, _table
from mcbo._errors import DataError, TrialError
from mcbo._insight import Given, Insight, _number
from mcbo._intervention import InterventionLike, ValueLike
from mcbo._picture import Picture
from mcbo._problem import Problem
from mcbo._trial import (
    Status,
    Trial,
    attribute,
    moment,
)
from mcbo.strategy import Data, Strategy

if TYPE_CHECKING:
    import pandas as pd

#: What an objective gives: the measured values by node.
Objective = Callable[[Trial], Mapping[str, ValueLike | None]]
#: What is called after every trial.
Callback = Callable[["Study", Trial], object]


class Study(Insight):
    """An optimisation under way. Made by :func:`create_study` and :func:`load_study`.

    >>> import mcbo
    >>> problem = mcbo.Problem(
    ...     nodes={"moisture": {"actions": ["water"], "noise": "none"},
    ...            "growth": {"parents": ["moisture"], "noise": "none"}},
    ...     actions={"water": (0.0, 10.0)},
    ...     maximize="growth",
    ... )
    >>> study = mcbo.create_study(problem, seed=1)
    >>> for _ in range(12):
    ...     trial = study.ask()
    ...     moisture = 0.3 + 0.05 * trial.actions["water"]
    ...     study.tell(trial, {"moisture": moisture, "growth": 1 - (moisture - 0.6) ** 2})
    >>> abs(study.best().actions["water"] - 6.0) < 0.5
    True
    """

    def __init__(
        self,
        raw: _mcbo.Study,
        name: str | None,
        storage: str | None,
        problem: Problem | None,
        own: Strategy | None,
    ) -> None:
        self._raw = raw
        self._name = name
        self._storage = storage
        self._problem = problem
        self._own = own
        self._stopped = False
        #: What was computed, and the number of the event until which it holds.
        self._known: tuple[int, dict[Any, Any]] = (-1, {})

    @property
    def name(self) -> str | None:
        """The name in its store; ``None`` in memory."""
        return self._name

    @property
    def storage(self) -> str | None:
        """The address of its store; ``None`` in memory."""
        return self._storage

    @property
    def problem(self) -> Problem:
        """The problem; of a study in a store the one in force there."""
        return self._problem if self._problem is not None else Problem._of(self._raw.problem())

    @property
    def direction(self) -> Literal["maximize", "minimize"]:
        """Whether large or small values of the reward's node are good."""
        return "maximize" if self.problem.maximize else "minimize"

    @overload
    def ask(
        self,
        count: None = None,
        *,
        given: Given | None = None,
        fixed: InterventionLike = None,
        worker: str | None = None,
        lease: float | None = None,
    ) -> Trial: ...
    @overload
    def ask(
        self,
        count: int,
        *,
        given: Given | None = None,
        fixed: InterventionLike = None,
        worker: str | None = None,
        lease: float | None = None,
    ) -> list[Trial]: ...
    def ask(
        self,
        count: int | None = None,
        *,
        given: Given | None = None,
        fixed: InterventionLike = None,
        worker: str | None = None,
        lease: float | None = None,
    ) -> Trial | list[Trial]:
        """The next trial, or a list of ``count`` trials.

        ``given`` is what is known of the contexts, by name; told values must agree with it. Without it the average over
        the values seen so far counts.

        Several may be pending at once; none is proposed twice. A worker that asks again under the same name gets the
        trials it has, after a crash for example; without a name every call gives others. Trials that were enqueued
        come first. Nobody else gets a trial for ``lease`` seconds, a day unless it is said; :meth:`keep` makes it
        longer, :meth:`release` ends it.

        ``fixed`` is what is done in any case, by the names of actions and as ``do(node)``: the strategy decides the
        rest.

        >>> import mcbo
        >>> nodes = {"y": {"actions": ["a", "b"]}}
        >>> study = mcbo.create_study(mcbo.Problem(nodes=nodes, actions={"a": (0, 1), "b": (0, 1)}, maximize="y"))
        >>> study.ask(fixed={"b": 0.3}).actions["b"]
        0.3
        """
        number = 1 if count is None else _plan.whole("the number of trials", count, 0)
        parts = self.problem._parts(fixed)
        raw = self._raw.ask(number or 0, _text("the worker", worker), given, parts, _seconds(lease))
        trials = [Trial._of(one) for one in raw]
        return trials[0] if count is None else trials

    def keep(self, trial: Trial | int, *, worker: str | None = None, lease: float | None = None) -> bool:
        """Leaves a trial that is under way to its worker for another ``lease`` seconds, from now on.

        A sign of life while an experiment takes its time. Says whether the worker still has it. ``optimize`` does
        this by itself.
        """
        number = _number(trial)
        name = worker if worker is not None else self.trial(number).worker
        return name is not None and number in self._raw.keep([number], name, _seconds(lease))

    def release(self, trials: Trial | int | Iterable[Trial | int], *, reason: str = "") -> list[int]:
        """Gives trials back that are under way: the next who asks gets them. Says of which trials this is new."""
        several = [trials] if isinstance(trials, Trial) or not isinstance(trials, Iterable) else trials
        return self._raw.release([_number(trial) for trial in several], None, reason, False)

    def tell(
        self,
        trial: Trial | int,
        values: Mapping[str, ValueLike | None] | None = None,
        *,
        state: Literal["complete", "failed"] = "complete",
        reason: str = "",
        worker: str | None = None,
    ) -> None:
        """Takes what a trial gave: the measured values by node, all or some of them.

        The first values make a trial complete; what is measured later can be told later. With ``state="failed"`` the
        trial could not be run; it is not proposed again, and counts if it gives something after all.

        Actions and set nodes may be among the values: what was really done, where that differs from what was asked for.
        The model learns from it; the trial's ``intervention`` stays what was asked for, and ``done`` is what was done.
        """
        number = _number(trial)
        if isinstance(trial, Trial) and trial.user_attrs:
            self._raw.write_beside(number, json.dumps(trial.user_attrs))
        if state == "failed":
            if values is not None:
                raise DataError("a failed trial has no values; hint: tell one or the other")
            self._raw.fail(number, _text("the reason", reason) or "")
        elif state == "complete":
            if isinstance(values, (int, float)) and not isinstance(values, bool):
                raise DataError(
                    "a trial gives values by name; hint: tell what was measured along the way too, "
                    f"{{{self.problem.reward!r}: {values!r}, ...}}"
                )
            self._raw.tell(number, values, _text("the worker", worker))
        else:
            raise DataError(f"{_plan.shown(state)} is no state to tell; hint: complete or failed")

    def set_user_attr(self, key: str, value: Any, *, trial: Trial | int | None = None) -> None:
        """Writes something beside the study, or beside a trial: anything that is JSON.

        >>> import mcbo
        >>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
        >>> study = mcbo.create_study(problem)
        >>> study.set_user_attr("machine", {"name": "bench 3"})
        >>> study.user_attrs["machine"]["name"]
        'bench 3'
        """
        number = None if trial is None else _number(trial)
        self._raw.write_beside(number, json.dumps({key: attribute(key, value)}))

    @property
    def user_attrs(self) -> dict[str, Any]:
        """What was written beside the study."""
        found: dict[str, Any] = json.loads(self._raw.attributes())
        return found

    def correct(self, trial: Trial | int, values: Mapping[str, ValueLike | None], *, reason: str = "") -> None:
        """Puts values right that were told wrong, of nodes or of what was really done.

        From then on the study suggests what one would that had been told right at once and remembers the same. What was
        never told is told, not corrected.
        """
        self._raw.correct(_number(trial), values, reason)

    def void(self, trials: Trial | int | Iterable[Trial | int], *, reason: str = "", undo: bool = False) -> list[int]:
        """Takes trials, or rows that were added, out of the study, all of them or none; with ``undo`` puts them back.

        The model does not learn from them any more, and those under way are not waited for. All that was told of them
        stays on record. Says of which trials this is new.
        """
        several = [trials] if isinstance(trials, Trial) or not isinstance(trials, Iterable) else trials
        return self._raw.void([_number(trial) for trial in several], reason, undo)

    def add_trials(
        self,
        rows: _table.Rows,
        columns: Sequence[str] | None = None,
        *,
        missing: Literal["neutral"] | None = None,
    ) -> None:
        """Adds what was measured outside the study: all rows, or none if one does not fit.

        Rows are dictionaries, an array with names for its ``columns``, or a pandas data frame. Names are those of nodes
        and actions, and ``do(node)`` for a node that was set; components of vector nodes are ``node[0]``, ``node[1]``.
        Actions that are not named at all were neutral. In tables NaN means that nothing was measured; an action
        without a value is refused, since what is not known is not neutral, unless ``missing="neutral"`` says so.

        >>> import mcbo, numpy as np
        >>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
        >>> study = mcbo.create_study(problem)
        >>> study.add_trials([{"a": 0.2, "y": 1.0}, {"y": 0.7}])
        >>> study.add_trials(np.array([[0.4, 1.2], [0.6, 1.1]]), columns=["a", "y"])
        >>> len(study.trials)
        4
        """
        _table.add(self._raw, self.problem._raw, rows, columns, _table.neutral(missing))

    def enqueue(self, intervention: InterventionLike, *, worker: str | None = None) -> Trial:
        """Puts a trial of one's own choice under way: the next who asks gets it, or the worker that is named."""
        return Trial._of(self._raw.enqueue(*self.problem._parts(intervention), worker))

    def optimize(
        self,
        func: Objective,
        n_trials: int | None = None,
        *,
        timeout: float | None = None,
        trial_timeout: float | None = None,
        callbacks: Iterable[Callback] | None = None,
        show_progress_bar: bool = False,
        catch: type[Exception] | Iterable[type[Exception]] = (),
        executor: Executor | None = None,
        n_jobs: int | None = None,
        until_gap: float | None = None,
        budget: float | None = None,
        worker: str | None = None,
        lease: float | None = None,
        retries: int = 3,
    ) -> None:
        """Asks, calls ``func`` with the trial, tells what it returns: ``n_trials`` times.

        ``func`` returns the measured values by node. A trial whose function raises is noted as failed; the exception
        goes on to the caller unless it is one of ``catch`` or :class:`mcbo.TrialFailed`, after everything that was
        under way is told. An interrupt gives the trial back, and the next who asks takes it up again.

        ``n_jobs`` trials are under way at once, in threads, -1 for one per core; or where an ``executor`` puts them
        (any
        of ``concurrent.futures``, or a Dask client's ``get_executor()``), by default as many as that has workers. A
        trial whose worker died or whose cluster failed did not fail itself: it goes back to waiting, ``retries`` times.

        While it runs, the trials of a stored study are this process's own; after a kill the next ``optimize`` on this
        machine takes them up at once, and one elsewhere when ``lease`` seconds have gone by without a sign of life
        (two to ten minutes, unless it is said).

        ``until_gap`` stops as soon as no intervention can be better than the recommended one by more than that (the
        certificate of :meth:`best`); ``timeout`` begins no trial after so many seconds, and ``budget`` none that would
        cost more than what is left of it; the trial that was too dear stays pending. A trial that takes longer than
        ``trial_timeout`` seconds is noted as failed and left to itself; if it gives something before all others have
        ended, that counts after all.
        """
        _optimize.optimize(
            self,
            func,
            _plan.Plan(
                n_trials=n_trials,
                timeout=timeout,
                trial_timeout=trial_timeout,
                callbacks=_plan.calls(callbacks),
                show_progress_bar=show_progress_bar,
                catch=_plan.classes(catch),
                executor=executor,
                n_jobs=n_jobs,
                until_gap=until_gap,
                budget=budget,
                worker=worker,
                lease=lease,
                retries=retries,
            ),
        )

    def stop(self) -> None:
        """Called inside ``optimize``, by an objective or a callback: no more trials are begun."""
        self._stopped = True

    @property
    def trials(self) -> list[Trial]:
        """All trials, in order."""
        return [Trial._of(raw) for raw in self._raw.trials()]

    def trial(self, number: int) -> Trial:
        """A trial by its number, from 1."""
        return Trial._of(self._raw.trial(_number(number)))

    @property
    def best_trial(self) -> Trial | None:
        """The trial with the best measured reward, of those that broke no limit if there are any."""
        number = self._raw.best_trial()
        return None if number is None else self.trial(number)

    @property
    def best_value(self) -> float:
        """The best measured value of the node that is optimised, in its own sign."""
        return cast(float, self._best_measured().value)

    @property
    def best_params(self) -> dict[str, Any]:
        """What was done in the trial with the best measured value, by one name each."""
        best = self._best_measured()
        return (best.done or best.intervention).flat()

    def _best_measured(self) -> Trial:
        best = self.best_trial
        if best is None:
            raise TrialError(
                f"no trial has a value of {self.problem.reward} yet; hint: measure one; study.best() recommends"
            )
        return best

    @property
    def status(self) -> Status:
        """Where the study stands."""
        trials, pending, complete, failed, voided, created, changed, _ = self._raw.counts()
        strategy, preset, beta, aim, seed, initial = self._raw.settings()
        return Status(
            name=self._name,
            strategy=strategy,
            preset=preset,
            beta=beta,
            aim=aim,
            seed=seed,
            initial=initial,
            trials=trials,
            pending=pending,
            complete=complete,
            failed=failed,
            voided=voided,
            created=moment(created),
            changed=moment(changed),
            spent=self._raw.spent(),
        )

    @property
    def data(self) -> Data:
        """What was measured, as arrays."""
        return Data._of(self._raw.arrays(), self.problem)

    def trials_dataframe(self) -> pd.DataFrame:
        """All trials as a pandas data frame; :meth:`add_trials` of another study takes it."""
        return _table.frame(self.trials, self.problem._raw)

    def change_problem(self, problem: Problem) -> None:
        """Goes on with a changed problem.

        Arrows, ranges, noise and formulas may change; nodes and actions may be added, and count as not measured and
        neutral so far. None may go. Trials outside the new ranges stay and are learned from, and nothing outside is
        proposed.
        """
        if not isinstance(problem, Problem):
            raise DataError(f"an object of type {type(problem).__name__} is no problem; hint: give a mcbo.Problem")
        self._raw.change_problem(problem.to_toml())
        if self._problem is not None:
            self._problem = problem

    def pictures(self) -> dict[str, Picture]:
        """All pictures of the study by name.

        ``history``, ``graph``, ``parallel``; once something was measured also ``mechanism-NODE``, what is known of a
        node, and ``calibration-NODE``, how well it foretells what it has not seen.
        """
        drawn = self._raw.pictures(self.status.complete > 0)
        return {name: Picture(name, title, svg) for name, title, svg in drawn}

    def __reduce__(self) -> tuple[Any, ...]:
        if self._storage is None or self._name is None:
            return (_restored, (self._name, self._raw.entries(), self._own))
        return (load_study, (self._name, self._storage, self._own))

    def __deepcopy__(self, memo: object) -> Study:
        return self.__copy__()

    def __copy__(self) -> Study:
        """A study of its own in memory that goes on as this one would, whatever becomes of either."""
        return _restored(self._name, self._raw.entries(), self._own)

    def __repr__(self) -> str:
        status = self.status
        name = repr(self._name) if self._name is not None else "in memory"
        return f"Study({name}, {status.strategy}, {status.complete} of {status.trials} trials complete)"

    def _repr_html_(self) -> str:
        return _html.study(self)


def _text(what: str, given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise DataError(f"{what} is of type {type(given).__name__}; hint: a text")
    return given


def _seconds(lease: Any) -> float | None:
    if lease is None:
        return None
    if isinstance(lease, bool) or not isinstance(lease, (int, float)):
        raise DataError(f"the lease is {_plan.shown(lease)}; hint: seconds, more than 0")
    return float(lease)


def _restored(name: str | None, entries: list[tuple[int, int, str, str]], own: Strategy | None) -> Study:
    """A study in memory from all that happened to it."""
    return Study(_mcbo.Study.restore(entries, own), name, None, None, own)


def load_study(name: str, storage: str, strategy: Strategy | None = None) -> Study:
    """A study that is in a store.

    If its strategy is of one's own, that is needed again to ask for trials, and for nothing else.
    """
    _storage.check_there(storage)
    return Study(_mcbo.Study.open(storage, _text("the name", name) or "", strategy), name, storage, None, strategy)
