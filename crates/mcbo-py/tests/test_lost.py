"""What was wrong or lost once: every one of these failed before it was mended."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import mcbo
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import grow

Make = Callable[..., mcbo.Study]


@pytest.fixture
def two() -> mcbo.Study:
    """A node with two inputs that matter in different ways."""
    problem = mcbo.Problem(
        nodes={"light": {"actions": ["lamp"]}, "biomass": {"parents": ["light"], "actions": ["water"]}},
        actions={"lamp": (0.0, 1.0), "water": (0.0, 10.0)},
        maximize="biomass",
    )
    study = mcbo.create_study(problem, seed=1)
    rng = np.random.default_rng(0)
    rows = []
    for lamp, water in rng.uniform(0, 1, (24, 2)) * [1, 10]:
        light = 2 * lamp + rng.normal(0, 0.01)
        rows.append({"lamp": lamp, "water": water, "light": light, "biomass": light + 0.5 * water})
    study.add_trials(rows)
    return study


def test_tables_are_read_by_name(two: mcbo.Study) -> None:
    model = two.model
    assert model.inputs("biomass") == ["light", "water"]
    right = model.predict("biomass", [[0.5, 8.0]])[0]
    assert abs(right[0] - 4.5) < 0.1
    frame = pd.DataFrame({"water": [8.0], "light": [0.5], "else": ["what"]})
    rows = np.array([(8.0, 0.5)], dtype=[("water", float), ("light", float)])
    for table in (frame, rows, [{"water": 8.0, "light": 0.5}], {"water": 8.0, "light": 0.5}):
        assert model.predict("biomass", table)[0] == pytest.approx(right)  # type: ignore[arg-type]
    for table in (frame[["water"]], [{"water": 8.0}]):
        with pytest.raises(mcbo.DataError, match="has no .*'light'.*hint"):
            model.predict("biomass", table)


class Boom(Exception):  # noqa: N818
    """Raised by experiments."""


def sometimes(trial: mcbo.Trial) -> Mapping[str, float]:
    if trial.number == 1:
        raise Boom("trial 1")
    time.sleep(0.3)
    return grow(trial)


@pytest.mark.parametrize("where", ["threads", "pool", "processes"])
def test_what_is_finished_is_told_before_anything_is_raised(make: Make, greenhouse: mcbo.Problem, where: str) -> None:
    study = make(greenhouse, seed=1)
    options: dict[str, Any] = {"n_jobs": 4}
    pools = {"pool": ThreadPoolExecutor, "processes": ProcessPoolExecutor}
    if where in pools:
        options = {"executor": pools[where](max_workers=4)}
    try:
        with pytest.raises(Boom, match="trial 1"):
            study.optimize(sometimes, n_trials=8, **options)
    finally:
        if "executor" in options:
            options["executor"].shutdown()
    assert [trial.state for trial in study.trials] == ["failed", "complete", "complete", "complete"]
    assert study.trial(1).reason == "Boom: trial 1"


def test_a_callback_that_raises_loses_nothing(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse, seed=1)

    def shout(study: mcbo.Study, trial: mcbo.Trial) -> None:
        raise Boom("seen")

    with pytest.raises(Boom):
        study.optimize(grow, n_trials=6, n_jobs=3, callbacks=[shout])
    assert study.status.pending == 0
    assert study.status.complete >= 1


SCRIPT = """
import signal, sys, time
# Whatever the tests were started by: programs in the background of a shell ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
import mcbo
from conftest import GREENHOUSE, grow
def slow(trial):
    print(trial.number, flush=True)
    time.sleep({seconds})
    return grow(trial)
study = mcbo.create_study(mcbo.Problem.from_toml(GREENHOUSE), storage={storage!r}, load_if_exists=True)
study.optimize(slow, n_trials={trials})
"""


def start(storage: str, seconds: float, trials: int) -> subprocess.Popen[str]:
    tests = str(Path(__file__).parent)
    script = SCRIPT.format(tests=tests, storage=storage, seconds=seconds, trials=trials)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="whether a process lives is read from /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_script_takes_up_its_trial(tmp_path: Path, how: signal.Signals) -> None:
    storage = f"sqlite://{tmp_path}/s.sqlite"
    first = start(storage, 60, 1)
    assert first.stdout is not None
    assert first.stdout.readline().strip() == "1"
    study = mcbo.load_study("greenhouse", storage)
    # While it lives nobody else gets it, and nothing is taken from it.
    study.optimize(grow, n_trials=1)
    assert [trial.state for trial in study.trials] == ["pending", "complete"]
    first.send_signal(how)
    first.wait()
    again = start(storage, 0, 1)
    again.communicate(timeout=60)
    assert [trial.state for trial in study.trials] == ["complete", "complete"]
    assert study.trial(1).lost == (1 if how == signal.SIGKILL else 0)


def test_leases(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)
    study.ask(worker="a", lease=0.2)
    assert study.keep(1, lease=60)
    time.sleep(0.3)
    assert study.ask(worker="b", lease=0.1).number == 2, "a still has the first"
    time.sleep(0.2)
    taken = study.ask(worker="c")
    assert (taken.number, taken.lost) == (2, 1)
    assert not study.keep(2, worker="b")
    assert study.release(taken) == [2]
    assert study.release([2]) == []
    assert study.ask(worker="d").number == 2
    study.tell(2, {"growth": 1.0})
    with pytest.raises(mcbo.TrialError, match="complete already"):
        study.release(2)
    for lease in (0, -1, float("nan"), "long"):
        with pytest.raises(mcbo.DataError, match="hint"):
            study.ask(lease=lease)  # type: ignore[call-overload]


def test_a_living_process_keeps_its_trials(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    """The lease is shorter than the experiment; the interpreter is held half of the time."""
    storage = f"sqlite://{tmp_path}/s.sqlite"
    study = mcbo.create_study(greenhouse, storage=storage)
    other = mcbo.load_study("greenhouse", storage)
    seen: list[int] = []

    def slow(trial: mcbo.Trial) -> Mapping[str, float]:
        for _ in range(6):
            time.sleep(0.6)
            seen.append(other.ask(lease=0.001).number)
        return grow(trial)

    study.optimize(slow, n_trials=1, lease=2.0)
    assert 1 not in seen
    assert study.trial(1).state == "complete"
    assert study.trial(1).lost == 0


def test_what_exists_must_be_what_is_asked_for(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    storage = f"sqlite://{tmp_path}/s.sqlite"

    def make(problem: mcbo.Problem = greenhouse, **options: Any) -> mcbo.Study:
        return mcbo.create_study(problem, "s", storage, load_if_exists=True, **options)

    study = make(seed=3)
    study.optimize(grow, n_trials=2)
    assert make(seed=3).status.complete == 2
    assert make(seed=None).status.complete == 2
    shape = greenhouse.to_dict()
    for other, words in (
        ({"seed": 4}, "seed is 3 there and not 4"),
        ({"seed": 3, "strategy": "random"}, "strategy is 'mcbo' there and not 'random'"),
        ({"seed": 3, "beta": 0.5}, "beta is None there and not 0.5"),
        ({"seed": 3, "aim": "find"}, "aim is None there and not 'find'"),
        ({"problem": mcbo.Problem.from_dict({**shape, "actions": {"water": {"range": [0, 5]}}}), "seed": 3}, "'water'"),
    ):
        with pytest.raises(mcbo.StudyExistsError, match=words):
            make(**other)  # type: ignore[arg-type]
    shape["minimize"] = shape.pop("maximize")
    with pytest.raises(mcbo.StudyExistsError, match="minimize"):
        make(mcbo.Problem.from_dict(shape), seed=3)
    # A problem that was mended on the way is the same study, by its old text and its new.
    wider = mcbo.Problem.from_dict({**greenhouse.to_dict(), "actions": {"water": {"range": [0, 12]}}})
    study.change_problem(wider)
    assert make(seed=3).status.complete == make(wider, seed=3).status.complete == 2


def test_n_jobs_are_threads(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, strategy="random")
    together = threading.Barrier(4, timeout=20)

    def meet(trial: mcbo.Trial) -> Mapping[str, float]:
        together.wait()
        return grow(trial)

    study.optimize(meet, n_trials=8, n_jobs=4)
    assert study.status.complete == 8
    study.optimize(grow, n_trials=np.int64(2), n_jobs=-1)  # type: ignore[arg-type]
    assert study.status.complete == 10


def test_parts_of_vectors(make: Make, vector: mcbo.Problem) -> None:
    name = next(node.name for node in vector.nodes.values() if node.dim > 1)
    study = make(vector, strategy="random", seed=1)
    study.optimize(vector.simulate, n_trials=3)
    trial = study.ask()
    study.tell(trial, {f"{name}[1]": 0.25})
    told = study.trial(trial.number).observed
    assert told is not None
    assert told[name][1] == 0.25
    assert told[name][0] is None
    parts = [None] * vector.nodes[name].dim
    parts[-1] = 0.5
    study.add_trials([{name: parts}, {f"{name}[0]": 0.125}])
    frame = study.trials_dataframe()
    again = make(vector)
    again.add_trials(frame)
    assert np.array_equal(again.data.values, study.data.values, equal_nan=True)
    other = study.ask()
    study.tell(other, {name: parts})
    assert study.trial(other.number).observed[name][-1] == 0.5  # type: ignore[index]


def test_what_is_not_known_is_not_neutral(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)
    frame = pd.DataFrame({"water": [1.0, np.nan], "growth": [0.5, 0.6]})
    rows = [{"water": 1.0, "growth": 0.5}, {"water": float("nan"), "growth": 0.6}]
    nothing = [{"water": 1.0, "growth": 0.5}, {"water": None, "growth": 0.6}]
    for table in (frame, rows, nothing, frame.to_records(index=False)):
        with pytest.raises(mcbo.DataError, match='row 1: water has no value.*missing="neutral"'):
            study.add_trials(table)
    assert study.trials == []
    for table in (frame, rows, nothing, frame.to_records(index=False)):
        study.add_trials(table, missing="neutral")
    assert [trial.actions["water"] for trial in study.trials] == [1.0, 0.0] * 4
    study.add_trials([{"growth": 0.7}])
    with pytest.raises(mcbo.DataError, match="row 1: water has no value"):
        study.predict(frame[["water"]])
    with pytest.raises(mcbo.DataError, match="hint"):
        study.add_trials(frame, missing="zero")  # type: ignore[arg-type]


class Nothing:
    name = "nothing"

    def suggest(self, context: mcbo.Context) -> Any:
        return None


def test_a_strategy_that_returns_nothing(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, strategy=Nothing(), initial=0)
    with pytest.raises(mcbo.StrategyError, match="proposes nothing.*hint"):
        study.ask()
    assert study.trials == []


class Cluster(Executor):
    """A cluster whose workers die under the first trials, as that of Dask says it."""

    def __init__(self, deaths: int, error: type[BaseException] = ConnectionError) -> None:
        self.deaths, self.error = deaths, error

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.deaths > 0:
            self.deaths -= 1
            future.set_exception(self.error("a worker died"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_failures_of_the_cluster_are_none_of_the_experiment(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, seed=1)
    study.optimize(grow, n_trials=5, executor=Cluster(2), n_jobs=1)
    assert [trial.state for trial in study.trials] == ["complete"] * 3
    assert study.trial(1).lost == 2
    # So often, and no oftener.
    study.optimize(grow, n_trials=4, executor=Cluster(4), n_jobs=1, retries=2)
    assert [trial.state for trial in study.trials[3:]] == ["failed", "complete"] or study.trial(4).state == "failed"
    assert "lost 3 times" in (study.trial(4).reason or "")


class Remembering(Cluster):
    """A cluster that would make an experiment anew whose future somebody still holds."""

    def __init__(self) -> None:
        super().__init__(0)
        self.futures: list[weakref.ref[Future[Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        self.futures.append(weakref.ref(future))
        return future

    def told(self, study: mcbo.Study, trial: mcbo.Trial) -> None:
        assert self.futures[trial.number - 1]() is None, f"the future of trial {trial.number} is held"


def test_a_future_is_let_go_before_its_trial_is_told(make: Make, greenhouse: mcbo.Problem) -> None:
    cluster = Remembering()
    make(greenhouse, seed=1).optimize(grow, n_trials=4, executor=cluster, n_jobs=2, callbacks=[cluster.told])
    assert len(cluster.futures) == 4


def test_a_broken_pool_leaves_trials_waiting(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, seed=1)
    with ProcessPoolExecutor(max_workers=2) as pool, pytest.raises(BrokenExecutor):
        study.optimize(die, n_trials=2, executor=pool)
    assert {trial.state for trial in study.trials} == {"pending"}
    study.optimize(grow, n_trials=2)
    assert [trial.state for trial in study.trials] == ["complete"] * 2
    # The pool may break before the second is sent: what never began was not lost.
    first, second = study.trials
    assert first.lost == 1
    assert second.lost in (0, 1)


def die(trial: mcbo.Trial) -> Mapping[str, float]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def test_what_cannot_be_pickled_is_said(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)
    with ProcessPoolExecutor(max_workers=1) as pool:
        with pytest.raises(mcbo.DataError, match="cannot be sent to another process.*hint"):
            study.optimize(lambda trial: grow(trial), n_trials=2, executor=pool)
        with pytest.raises(mcbo.DataError, match="cannot be sent to another process.*hint"):
            study.optimize(unsendable, n_trials=2, executor=pool)
        assert {trial.state for trial in study.trials} == {"pending"}
        # Where Dask was imported it teaches all exceptions to travel.
        with pytest.raises((RuntimeError, Odd), match="3"):
            study.optimize(oddly, n_trials=1, executor=pool)
    assert study.status.failed == 1


class Odd(Exception):  # noqa: N818
    """An exception that does not come back from another process."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(one)


def oddly(trial: mcbo.Trial) -> Mapping[str, float]:
    raise Odd(3, 4)


def unsendable(trial: mcbo.Trial) -> Any:
    return {"growth": threading.Lock()}


def test_trials_have_their_time(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, seed=1)
    end = threading.Event()

    def slow(trial: mcbo.Trial) -> Mapping[str, float]:
        if trial.number == 2:
            end.wait(120)
        return grow(trial)

    begun = time.monotonic()
    study.optimize(slow, n_trials=4, trial_timeout=0.5)
    assert time.monotonic() - begun < 60
    assert [trial.state for trial in study.trials] == ["complete", "failed", "complete", "complete"]
    assert study.trial(2).reason == "no answer in 0.5 s"
    end.set()


def test_best_says_what_it_warns_of(greenhouse: mcbo.Problem) -> None:
    problem = mcbo.Problem(
        nodes={"quality": {"context": True}, "y": {"parents": ["quality"], "actions": ["a"]}},
        actions={"a": (0, 1)},
        maximize="y",
    )
    study = mcbo.create_study(problem)
    study.add_trials([{"a": a / 5, "quality": a % 2, "y": a} for a in range(5)])
    best = study.best(width=None)
    assert best.warnings
    assert f"warning: {best.warnings[0]}" in str(best)


def test_best_is_computed_once(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, seed=1)
    study.optimize(grow, n_trials=5)
    first = study.best()
    took = []
    for _ in range(20):
        begun = time.perf_counter()
        assert study.best() is first
        took.append(time.perf_counter() - begun)
    assert min(took) < 1e-3, f"{1e3 * min(took):.2f} ms"
    assert study.best(by="lower") is not first
    assert study.best(width=1.0) is not first
    study.correct(2, {"growth": 0.3})
    assert study.best() is not first


def test_forecasts_are_stable(two: mcbo.Study) -> None:
    doing = {"lamp": 0.5, "water": 3.0}

    def spans(n: int | None) -> tuple[float, float, float]:
        """How far means and upper ends of 30 seeds lie apart, and how wide the bounds are."""
        found = [two.model.forecast(doing, n=n, seed=seed)["biomass"] for seed in range(30)]
        forecasts = [one for one in found if isinstance(one, mcbo.Forecast)]
        assert len(forecasts) == 30
        means, ends = [one.mean for one in forecasts], [one.upper for one in forecasts]
        return max(means) - min(means), max(ends) - min(ends), forecasts[0].upper - forecasts[0].lower

    mean, end, width = spans(None)
    assert mean < 0.01 * width
    assert end < 0.06 * width
    # Fewer draws of the mechanisms leave the mean where it is; the bounds they move.
    mean, of_few, width = spans(64)
    assert mean < 0.05 * width
    assert of_few > 2 * end


def test_forecasts_of_many(two: mcbo.Study, clinic: mcbo.Problem, vector: mcbo.Problem) -> None:
    model = two.model
    waters = [1.0, 5.0, 9.0]
    many = [{"lamp": 0.5, "water": water} for water in waters]
    alone = [model.forecast(one) for one in many]
    assert model.forecast(many) == alone
    assert model.forecast(pd.DataFrame(many)) == alone
    arrays = model.forecast(many, output="array")
    assert arrays["biomass"].shape == (3, 3)
    assert arrays["biomass"][1].tolist() == list(alone[1]["biomass"])
    frame = model.forecast(many, output="frame")
    assert list(frame.columns) == ["light", "light.lower", "light.upper", "biomass", "biomass.lower", "biomass.upper"]
    study = mcbo.create_study(clinic, strategy="random", seed=1)
    study.optimize(clinic.simulate, n_trials=12)
    assert study.model.forecast({"do(statin)": 0.5})["statin"] == (0.5, 0.5, 0.5)
    wide = mcbo.create_study(vector, strategy="random", seed=1)
    wide.optimize(vector.simulate, n_trials=8)
    name = next(node.name for node in vector.nodes.values() if node.dim > 1)
    drawn = wide.model.forecast([{}, {}], output="array")
    assert drawn[name].shape == (2, vector.nodes[name].dim, 3)
    assert f"{name}[0].lower" in wide.model.forecast([{}, {}], output="frame").columns


def test_addresses_that_mean_another_place(greenhouse: mcbo.Problem, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mcbo.StorageError, match=r"root folder.*hint: sqlite://studies.db is in the working folder"):
        mcbo.create_study(greenhouse, storage="sqlite:///studies.db")
    with pytest.raises(mcbo.StorageError, match=r"does not exist; hint: sqlite://nowhere/x.db"):
        mcbo.create_study(greenhouse, storage="sqlite:///nowhere/x.db")
    assert not Path("/studies.db").exists()
    for call in (
        lambda: mcbo.load_study("greenhouse", "sqlite://studis.db"),
        lambda: mcbo.studies("sqlite://studis.db"),
        lambda: mcbo.delete_study("greenhouse", "sqlite://studis.db"),
    ):
        with pytest.raises(mcbo.StudyNotFoundError, match="there are no studies at.*hint"):
            call()
    assert list(tmp_path.iterdir()) == []
    mcbo.create_study(greenhouse, storage="sqlite://studies.db")
    assert mcbo.load_study("greenhouse", f"sqlite:///{tmp_path}/studies.db").name == "greenhouse"


def test_graphs_go_round(greenhouse: mcbo.Problem) -> None:
    graph = nx.DiGraph([("moisture", "growth")])
    graph.nodes["moisture"].update(actions=["water"], nosie="none")
    with pytest.raises(mcbo.ProblemError, match="'nosie'.*hint: 'noise' is one"):
        mcbo.Problem(graph=graph, actions={"water": (0, 10)}, maximize="growth")
    for file in sorted((Path(__file__).parents[3] / "examples").glob("*.toml")):
        problem = mcbo.Problem.from_file(file)
        assert mcbo.Problem(graph=problem.to_networkx()) == problem, file
    assert mcbo.Problem(graph=greenhouse.to_networkx(), name="other").name == "other"


@pytest.mark.parametrize(
    "call",
    [
        lambda problem, study: mcbo.create_study(problem, seed=-1),
        lambda problem, study: mcbo.create_study(problem, seed=2**64),
        lambda problem, study: mcbo.create_study(problem, seed=0.5),
        lambda problem, study: mcbo.create_study(problem, initial=-1),
        lambda problem, study: study.optimize(grow, n_trials=1, catch=["ValueError"]),
        lambda problem, study: study.optimize(grow, n_trials=1, catch=3),
        lambda problem, study: study.optimize(grow, n_trials=1, callbacks=print),
        lambda problem, study: study.optimize(grow, n_trials="2"),
        lambda problem, study: study.optimize(grow, n_trials=1, trial_timeout=0),
        lambda problem, study: study.optimize(grow, n_trials=1, retries=-1),
        lambda problem, study: study.optimize(grow, n_trials=1, worker=3),
        lambda problem, study: study.ask(-1),
        lambda problem, study: study.ask(worker=3),
        lambda problem, study: study.tell(1, 0.5),
        lambda problem, study: mcbo.bench.run("dropwave", seed=-1),
        lambda problem, study: mcbo.bench.run("dropwave", rounds=-1),
        lambda problem, study: mcbo.load_study("s", 3),
        lambda problem, study: mcbo.load_study(3, "sqlite://x"),
    ],
)
def test_mistakes_are_ours_and_have_a_hint(greenhouse: mcbo.Problem, call: Callable[..., object]) -> None:
    study = mcbo.create_study(greenhouse)
    with pytest.raises(mcbo.McboError, match="hint"):
        call(greenhouse, study)
    assert study.status.complete == 0


def test_what_is_meant_is_taken(greenhouse: mcbo.Problem) -> None:
    study = mcbo.create_study(greenhouse, seed=None)
    assert study.status.seed != mcbo.create_study(greenhouse, seed=None).status.seed

    def boom(trial: mcbo.Trial) -> Mapping[str, float]:
        raise ValueError("boom")

    study.optimize(boom, n_trials=2, catch=[ValueError])
    study.optimize(boom, n_trials=1, catch=ValueError)
    assert study.status.failed == 3


def test_designs_say_that_no_model_was_asked(greenhouse: mcbo.Problem) -> None:
    trial = mcbo.create_study(greenhouse).ask()
    assert dict(trial.predicted) == {}
    with pytest.raises(KeyError):
        trial.predicted["growth"]
    with pytest.raises(mcbo.McboError, match=r"^nothing was predicted of 'growth'.*hint: study.predict\(trial\)"):
        trial.predicted["growth"]


def test_own_signs(make: Make) -> None:
    problem = mcbo.Problem(nodes={"loss": {"actions": ["a"]}}, actions={"a": (0, 1)}, minimize="loss")
    study = make(problem)
    with pytest.raises(mcbo.TrialError, match="hint"):
        study.best_value  # noqa: B018
    study.add_trials([{"a": 0.1, "loss": 3.0}, {"a": 0.2, "loss": 1.0}, {"a": 0.3, "loss": 2.0}])
    assert (study.best_value, study.best_params, study.direction) == (1.0, {"a": 0.2}, "minimize")
    assert study.best_trial is not None
    assert (study.best_trial.value, study.best_trial.reward) == (1.0, -1.0)
    axes = mcbo.plot.history(study)
    assert list(axes.lines[0].get_ydata()) == [3.0, 1.0, 2.0]  # type: ignore[arg-type]
    assert list(axes.lines[1].get_ydata()) == [3.0, 1.0, 1.0]  # type: ignore[arg-type]
    assert "minimised" in axes.get_ylabel()


class Stepper:
    name = "stepper"

    def __init__(self, step: float) -> None:
        self.step = step

    def suggest(self, context: mcbo.Context) -> Any:
        return {"a0": self.step, "a1": self.step}


def test_two_settings_of_one_strategy_stay_two() -> None:
    runs = mcbo.bench.sweep(["dropwave"], [Stepper(0.1), Stepper(0.4), "random"], seeds=[0], rounds=2)
    assert [run.method for run in runs] == ["stepper(step=0.1)", "stepper(step=0.4)", "random"]
    assert set(mcbo.bench.table(runs)["method"]) == {"stepper(step=0.1)", "stepper(step=0.4)", "random"}
    assert len(mcbo.plot.curves(runs).lines) == 3


def test_everything_pickles_and_copies(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, seed=2)
    study.optimize(grow, n_trials=6)
    study.set_user_attr("room", [1, 2])
    model = study.model
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.forecast({"water": 3.0}) == model.forecast({"water": 3.0})
    assert copy.deepcopy(model) is model
    task = mcbo.bench.Task("dropwave")
    assert pickle.loads(pickle.dumps(task)).optimum == task.optimum
    own = mcbo.bench.Task(greenhouse)
    assert pickle.loads(pickle.dumps(own)) == own
    memory = mcbo.create_study(greenhouse, seed=2)
    memory.optimize(grow, n_trials=6)
    memory.set_user_attr("room", [1, 2])
    others = [pickle.loads(pickle.dumps(memory)), copy.deepcopy(memory), copy.copy(study)]
    for other in others:
        assert other.user_attrs == {"room": [1, 2]}
        assert [trial.params for trial in other.trials] == [trial.params for trial in study.trials]
        assert other.ask().params == memory.ask(worker="w").params
    others[0].tell(7, {"growth": 1.0})
    assert memory.trial(7).state == "pending"
    assert pickle.loads(pickle.dumps(memory.trials)) == memory.trials
    assert pickle.loads(pickle.dumps(study.best())) == study.best()


def test_results_stay_as_they_are(told: mcbo.Study, clinic: mcbo.Problem) -> None:
    trial, best = told.trials[-1], told.best()
    for mapping in (
        trial.actions,
        trial.predicted,
        trial.observed,
        best.predicted,
        best.actions,
        told.effects().actions,
    ):
        assert mapping is not None
        with pytest.raises(TypeError, match="hint"):
            mapping["water"] = 1.0  # type: ignore[index]
    assert len({trial, told.trials[-1]}) == 1
    assert len({best, best.intervention, best.certificate, told.effects()}) == 4
    assert hash(clinic.nodes["age"]) == hash(clinic.nodes["age"])


def test_an_empty_study_says_so(greenhouse: mcbo.Problem) -> None:
    with pytest.raises(mcbo.TrialError, match="there is no trial 3; hint: there are none yet"):
        mcbo.create_study(greenhouse).trial(3)
