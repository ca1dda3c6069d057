"""Studies: ask for the next intervention, do it, tell what came out."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from mcbo import _html, _mcbo, _optimize, _storage, _table
from mcbo._errors import DataError, StudyExistsError, TrialError
from mcbo._frozen import FrozenDict, Vector, frozen
from mcbo._intervention import Intervention, InterventionLike, ValueLike
from mcbo._model import Model
from mcbo._picture import Picture
from mcbo._problem import Problem
from mcbo._trial import (
    Best,
    Certificate,
    Doubt,
    Effect,
    Effects,
    Forecast,
    NodePrediction,
    Status,
    Suspicion,
    Trial,
    Why,
    attribute,
    keepings,
    moment,
    node_forecasts,
    node_predictions,
)
from mcbo.strategy import Data, Strategy

if TYPE_CHECKING:
    import pandas as pd

#: What an objective gives: the measured values by node.
Objective = Callable[[Trial], Mapping[str, ValueLike | None]]
#: What is known of the contexts, by name.
Given = Mapping[str, ValueLike]
#: What is called after every trial.
Callback = Callable[["Study", Trial], object]


class Study:
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
        number = 1 if count is None else _optimize.whole("the number of trials", count, 0)
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
            raise DataError(f"{_optimize.shown(state)} is no state to tell; hint: complete or failed")

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
            _optimize.Plan(
                n_trials=n_trials,
                timeout=timeout,
                trial_timeout=trial_timeout,
                callbacks=_optimize.calls(callbacks),
                show_progress_bar=show_progress_bar,
                catch=_optimize.classes(catch),
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

    @overload
    def best(
        self, by: Literal["mean", "lower"] = "mean", width: float | None = 2.0, *, given: Given | None = None
    ) -> Best: ...
    @overload
    def best(
        self, by: Literal["mean", "lower"] = "mean", width: float | None = 2.0, *, given: _table.Contexts
    ) -> list[Best]: ...
    def best(
        self,
        by: Literal["mean", "lower"] = "mean",
        width: float | None = 2.0,
        *,
        given: Given | _table.Contexts | None = None,
    ) -> Best | list[Best]:
        """What to settle for: the intervention with the highest expected reward, or the highest lower bound of it.

        ``width`` is that of the certificate's confidence band in standard deviations; ``None`` leaves it out and is
        faster. ``given`` is what is known of the contexts; with a list of such dictionaries, or a data frame with their
        columns, there is one answer for each: a policy.
        """
        if isinstance(given, (list, tuple)) or hasattr(given, "to_numpy"):
            many = _table.contexts(given, self.problem._raw) or []
            return [self._best(raw, by) for raw in self._raw.best(by, width, many)]
        known = self._remembered()
        key = ("best", by, width, _key(given))
        if key not in known:
            known[key] = self._best(self._raw.best(by, width, [given])[0], by)
        return cast(Best, known[key])

    def _remembered(self) -> dict[Any, Any]:
        """What was computed of the study as it is now."""
        version = self._raw.counts()[-1]
        if self._known[0] != version:
            self._known = (version, {})
        return self._known[1]

    def _best(self, raw: Mapping[str, Any], by: str) -> Best:
        bounds, seen = raw["certificate"], raw["best"]
        certificate = None
        if bounds is not None:
            width, lower, upper, gap, optimistic = bounds
            certificate = Certificate(width, lower, upper, gap, Intervention(*optimistic))
        return Best(
            intervention=Intervention(*raw["intervention"]),
            by=by,
            reward=None if raw["reward"] is None else Forecast(*raw["reward"]),
            predicted=FrozenDict(node_forecasts(raw["predicted"])),
            trial=None if seen is None else self.trial(seen[0]),
            certificate=certificate,
            warnings=tuple(raw["warnings"]),
            given=frozen(raw["given"]),
            limits=keepings(raw["limits"]),
            cost=raw["cost"],
        )

    @overload
    def predict(
        self,
        intervention: InterventionLike = None,
        *,
        given: Given | None = None,
        missing: Literal["neutral"] | None = None,
    ) -> dict[str, NodePrediction]: ...
    @overload
    def predict(
        self,
        intervention: _table.Interventions,
        *,
        given: Given | None = None,
        missing: Literal["neutral"] | None = None,
    ) -> list[dict[str, NodePrediction]]: ...
    def predict(
        self,
        intervention: InterventionLike | _table.Interventions = None,
        *,
        given: Given | None = None,
        missing: Literal["neutral"] | None = None,
    ) -> dict[str, NodePrediction] | list[dict[str, NodePrediction]]:
        """What the model expects of an intervention, or of each of many: a list of them, or a pandas data frame.

        For every node the expected value with its bounds and the range of a single outcome. Actions that are not named
        are neutral; nodes without a path to the reward are not learned and are left out. The model is the one behind
        :meth:`best` and is fitted once for all of them. Of a data frame the columns of actions and ``do(node)``
        count: one from :meth:`trials_dataframe` will do. NaN in them means not set; actions must have values, unless
        ``missing="neutral"`` says what is meant. ``given`` is what is known of the contexts.

        Up to 16 interventions are predicted by 2048 outcomes each: the ends of ``outcome`` are then off by about a
        hundredth of the deviation of an outcome. Of more there are 64 each, all under the same luck: hundreds take
        milliseconds, expected values are off by about a fiftieth of the deviation of what is not known of them, their
        bounds are those of a normal distribution, and the ends of ``outcome`` are off by about a twentieth.

        >>> import mcbo
        >>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
        >>> study = mcbo.create_study(problem)
        >>> study.add_trials([{"a": a / 4, "y": 1 - (a / 4 - 0.5) ** 2} for a in range(5)])
        >>> low, high = study.predict({"a": 0.5})["y"].outcome
        >>> low < 1.0 < high
        True
        >>> len(study.predict([{"a": 0.2}, {"a": 0.4}]))
        2
        """
        many = _table.interventions(intervention, self.problem._raw, _table.neutral(missing))
        all_of_them = [cast(InterventionLike, intervention)] if many is None else many
        parts = [self.problem._parts(one) for one in all_of_them]
        found = [node_predictions(raw) for raw in self._model(given)._raw.outlooks(parts)]
        return found[0] if many is None else found

    def suspicions(self) -> list[Suspicion]:
        """Trials that do not fit: values far off, rows that the rest contradicts, surprises, runs of misses."""
        return [Suspicion(Vector(trials), message) for trials, message in self.model._raw.oddities()]

    def doubts(self) -> list[Doubt]:
        """What the data say against the graph, the formulas and single values, the weightiest first.

        Models with and without an arrow are compared by their evidence. The command is ``mcbo doctor STUDY``.
        """
        return [Doubt(*raw) for raw in self.model._raw.doubts()]

    def why(self, trial: Trial | int) -> Why:
        """All that can be said for a trial.

        What it promises, what is known of it, what it would teach, how it differs from the best known.
        """
        raw = self.model._raw.why(_number(trial))
        expected = None if raw["expected"] is None else Forecast(*raw["expected"])
        told = {"expected": expected, "teaches": FrozenDict(raw["teaches"]), "differs": Vector(raw["differs"])}
        return Why(**{**raw, **told})

    def effects(self, *, given: Given | None = None) -> Effects:
        """What matters to the reward.

        What every action and every arrow does to it about the recommended intervention, and which nodes are to blame
        for what is not known of it. The model is the one behind :meth:`best`; ``given`` is what is known of the
        contexts.

        >>> import mcbo
        >>> nodes = {"y": {"actions": ["a", "b"]}}
        >>> problem = mcbo.Problem(nodes=nodes, actions={"a": (0, 1), "b": (0, 1)}, maximize="y")
        >>> study = mcbo.create_study(problem)
        >>> rows = [{"a": a / 4, "b": b / 4, "y": a / 2} for a in range(5) for b in range(5)]
        >>> study.add_trials(rows)
        >>> list(study.effects().actions)
        ['a', 'b']
        """
        actions, arrows, unknown = self._model(given)._raw.effects()
        return Effects(
            actions=FrozenDict({name: Effect(*numbers) for name, numbers in actions}),
            arrows=FrozenDict({(start, end): Effect(*numbers) for start, end, numbers in arrows}),
            unknown=FrozenDict(unknown),
        )

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
    def model(self) -> Model:
        """The model that is fitted to what was measured so far."""
        return self._model(None)

    def _model(self, given: Given | None) -> Model:
        known, key = self._remembered(), ("model", _key(given))
        if key not in known:
            known[key] = Model(self._raw.model(given), self.problem, (self, given))
        return cast(Model, known[key])

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


def _number(trial: Trial | int) -> int:
    number = trial.number if isinstance(trial, Trial) else trial
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise DataError(f"an object of type {type(trial).__name__} is no trial; hint: give a Trial or its number")
    return int(number)


def _text(what: str, given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise DataError(f"{what} is of type {type(given).__name__}; hint: a text")
    return given


def _seconds(lease: Any) -> float | None:
    if lease is None:
        return None
    if isinstance(lease, bool) or not isinstance(lease, (int, float)):
        raise DataError(f"the lease is {_optimize.shown(lease)}; hint: seconds, more than 0")
    return float(lease)


def _key(given: object) -> Any:
    """What is given, as the key of a dictionary."""
    return None if not given else json.dumps(given, sort_keys=True, default=str)


def _restored(name: str | None, entries: list[tuple[int, int, str, str]], own: Strategy | None) -> Study:
    """A study in memory from all that happened to it."""
    return Study(_mcbo.Study.restore(entries, own), name, None, None, own)


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
        raise DataError(f"beta is {_optimize.shown(beta)}; hint: a number, or 'theory'")
    width = None if beta is None or isinstance(beta, str) else float(beta)
    chosen_seed = secrets.randbits(63) if seed is None else _optimize.whole("the seed", seed, 0)
    if chosen_seed is None or chosen_seed >= 2**64:
        raise DataError(f"the seed is {_optimize.shown(seed)}; hint: a whole number below 2**64, or None to draw one")
    initial = _optimize.whole("initial", initial, 0)
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


def load_study(name: str, storage: str, strategy: Strategy | None = None) -> Study:
    """A study that is in a store.

    If its strategy is of one's own, that is needed again to ask for trials, and for nothing else.
    """
    _storage.check_there(storage)
    return Study(_mcbo.Study.open(storage, _text("the name", name) or "", strategy), name, storage, None, strategy)
