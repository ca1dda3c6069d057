from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import mcbo
import numpy as np
import pandas as pd
import pytest
from conftest import grow

Make = Callable[..., mcbo.Study]


def test_ask_and_tell(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, seed=1)
    for number in range(1, 11):
        trial = study.ask()
        assert (trial.number, trial.state, trial.observed) == (number, "pending", None)
        study.tell(trial, grow(trial))
    assert abs(study.best().actions["water"] - 6.0) < 0.5
    status = study.status
    assert (status.trials, status.complete, status.pending, status.failed) == (10, 10, 0, 0)
    last = study.trials[-1]
    assert last.strategy == "mcbo"
    assert last.acquisition is not None
    forecast = last.predicted["growth"]
    assert isinstance(forecast, mcbo.Forecast)
    assert forecast.lower <= forecast.mean <= forecast.upper
    assert last.observed is not None
    assert last.reward == last.observed["growth"]
    assert study.best_trial is not None
    assert study.best_trial.reward == max(trial.reward or 0.0 for trial in study.trials)


def test_memory_and_store_suggest_the_same(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    one = mcbo.create_study(greenhouse, seed=7)
    other = mcbo.create_study(greenhouse, seed=7, storage=f"sqlite://{tmp_path}/s.sqlite")
    for study in (one, other):
        study.optimize(grow, n_trials=8)
    assert [trial.params for trial in one.trials] == [trial.params for trial in other.trials]
    assert one.best() == pytest.approx(other.best()) or one.best().intervention == other.best().intervention


def test_workers_get_what_they_have(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)
    first = study.ask(worker="a")
    assert study.ask(worker="a").number == first.number
    assert study.ask(worker="b").number == 2
    assert study.ask().number == 3
    assert [trial.number for trial in study.ask(3, worker="a")] == [1, 4, 5]
    assert study.ask(0) == []
    assert study.status.pending == 5


def test_queue_comes_first(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)
    queued = study.enqueue({"water": 2.5})
    assert queued.strategy == "enqueued"
    assert study.enqueue({"water": 3.5}, worker="b").number == 2
    given = study.ask(worker="a")
    assert (given.number, given.actions["water"], given.worker) == (1, 2.5, "a")
    assert study.ask().number == 3
    assert study.ask(worker="b").number == 2


def test_measurements_come_in_pieces(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)
    trial = study.ask()
    study.tell(trial, {"moisture": 0.5})
    assert study.trial(1).observed == {"moisture": 0.5, "growth": None}
    study.tell(trial.number, {"growth": 0.9, "moisture": None})
    study.tell(trial.number, {"growth": 0.9})
    assert study.trial(1).reward == 0.9
    with pytest.raises(mcbo.TrialError, match="0.9 already and cannot become 0.8"):
        study.tell(1, {"growth": 0.8})


def test_failures_and_mistakes(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse)
    study.tell(study.ask(), state="failed", reason="pump")
    assert (study.trial(1).state, study.trial(1).reason) == ("failed", "pump")
    study.tell(1, state="failed")
    # What gives something after all counts, and has not failed.
    study.tell(1, {"growth": 1.0})
    assert (study.trial(1).state, study.trial(1).reason) == ("complete", None)
    with pytest.raises(mcbo.TrialError, match="complete already"):
        study.tell(1, state="failed")
    with pytest.raises(mcbo.TrialError, match="there is no trial 9"):
        study.tell(9, {"growth": 1.0})
    trial = study.ask()
    for values, words in (
        ({"grwth": 1.0}, "there is no node"),
        ({"growth": float("nan")}, "growth is NaN"),
        ({"growth": [1.0, 2.0]}, "2 values"),
        ({"growth": "high"}, "of type str"),
        ({}, "no node has a value"),
        (None, "no node has a value"),
        (7, "by name"),
    ):
        with pytest.raises(mcbo.DataError, match=words):
            study.tell(trial, values)  # type: ignore[arg-type]
    assert study.trial(2).state == "pending"


def test_rows_of_all_kinds(make: Make, greenhouse: mcbo.Problem, clinic: mcbo.Problem) -> None:
    study = make(greenhouse)
    study.add_trials([{"water": 1.0, "moisture": 0.35, "growth": 0.93}, {"growth": 0.9}])
    study.add_trials(np.array([[2.0, 0.96], [3.0, 0.97]]), columns=["water", "growth"])
    study.add_trials(np.array([(4.0, 0.99)], dtype=[("water", float), ("growth", float)]))
    frame = pd.DataFrame({"water": [5.0, np.nan], "growth": [1.0, 0.8], "moisture": [np.nan, 0.2]})
    study.add_trials(frame, missing="neutral")
    waters = [trial.actions["water"] for trial in study.trials]
    assert waters == [1.0, 0.0, 2.0, 3.0, 4.0, 5.0, 0.0]
    assert study.trials[5].observed == {"moisture": None, "growth": 1.0}
    with pytest.raises(mcbo.DataError, match="row 1: "):
        study.add_trials([{"water": 1.0, "growth": 0.9}, {"water": float("inf"), "growth": 1.0}])
    with pytest.raises(mcbo.DataError, match="there is no column 'x'|there is no column \"x\""):
        study.add_trials(pd.DataFrame({"x": [1.0]}))
    assert len(study.trials) == 7
    hard = mcbo.create_study(clinic)
    hard.add_trials([{"do(aspirin)": 0.5, "age": 60.0, "psa": 5.0}])
    assert hard.trials[0].values == {"aspirin": 0.5}


def test_frames_go_round(told: mcbo.Study, clinic: mcbo.Problem) -> None:
    frame = told.trials_dataframe()
    assert list(frame.columns[:5]) == ["number", "state", "strategy", "water", "moisture"]
    again = mcbo.create_study(told.problem)
    again.add_trials(frame)
    assert np.array_equal(again.data.values, told.data.values)
    study = mcbo.create_study(clinic, strategy="random", seed=2)
    study.optimize(clinic.simulate, n_trials=12)
    copy = mcbo.create_study(clinic)
    copy.add_trials(study.trials_dataframe())
    assert [trial.params for trial in copy.trials] == [trial.params for trial in study.trials]
    assert np.array_equal(copy.data.targets, study.data.targets, equal_nan=True)


def test_best_tells_what_bounds_it(told: mcbo.Study) -> None:
    best = told.best(by="lower", width=1.5)
    assert best.by == "lower"
    assert best.certificate is not None
    assert best.certificate.width == 1.5
    assert best.certificate.gap >= 0
    assert best.trial is not None
    assert "water" in str(best)
    assert told.best(width=None).certificate is None
    with pytest.raises(mcbo.DataError, match='"mean" or "lower"'):
        told.best(by="median")  # type: ignore[arg-type]


def test_stores(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    storage = f"sqlite://{tmp_path}/s.sqlite"
    study = mcbo.create_study(greenhouse, storage=storage, strategy="ucb", preset="paper", beta=0.7, seed=9, initial=4)
    assert study.name == "greenhouse"
    study.optimize(grow, n_trials=3)
    with pytest.raises(mcbo.StudyExistsError, match="already"):
        mcbo.create_study(greenhouse, storage=storage)
    for same in (
        mcbo.load_study("greenhouse", storage),
        mcbo.create_study(greenhouse, None, storage, "ucb", "paper", 0.7, seed=9, initial=4, load_if_exists=True),
        pickle.loads(pickle.dumps(study)),
    ):
        status = same.status
        assert (status.strategy, status.preset, status.beta, status.seed) == ("ucb", "paper", 0.7, 9)
        assert (status.initial, status.complete) == (4, 3)
        assert same.problem == greenhouse
    with pytest.raises(mcbo.StudyNotFoundError, match="the studies are greenhouse"):
        mcbo.load_study("glasshouse", storage)
    with pytest.raises(mcbo.StorageError, match="hint: sqlite:///"):
        mcbo.create_study(greenhouse, storage="studies.db")


def test_strategies_by_name(greenhouse: mcbo.Problem) -> None:
    for name in ("mcbo", "eifn", "ucb", "ei", "random"):
        study = mcbo.create_study(greenhouse, strategy=name, seed=2)
        study.optimize(grow, n_trials=5)
        assert study.trials[-1].strategy == name
    with pytest.raises(mcbo.StrategyError, match="the strategies are mcbo, eifn"):
        mcbo.create_study(greenhouse, strategy="tpe")
    with pytest.raises(mcbo.StrategyError, match="default or paper"):
        mcbo.create_study(greenhouse, preset="fast")  # type: ignore[arg-type]
    with pytest.raises(mcbo.StrategyError, match="at least 0"):
        mcbo.create_study(greenhouse, beta=-1.0)


def test_a_problem_can_be_mended(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/s.sqlite"
    for study in (mcbo.create_study(greenhouse), mcbo.create_study(greenhouse, name="s", storage=url)):
        study.optimize(grow, n_trials=4)
        wide = mcbo.Problem.from_toml(greenhouse.to_toml().replace("10.0", "12.0"))
        assert wide != greenhouse
        study.change_problem(wide)
        assert study.problem == wide
        assert study.status.complete == 4
        gone = mcbo.Problem(nodes={"growth": {"actions": ["water"]}}, actions={"water": (0, 12)}, maximize="growth")
        with pytest.raises(mcbo.McboError, match="moisture"):
            study.change_problem(gone)
        assert study.problem == wide
    assert mcbo.load_study("s", url).problem == wide


def test_aims(make: Make, greenhouse: mcbo.Problem) -> None:
    assert greenhouse.aim == "earn"
    study = make(greenhouse, seed=1, aim="find")
    assert study.status.aim == "find"
    for _ in range(4):
        study.tell(trial := study.ask(), grow(trial))
    assert study.ask().beta is None, "improvements have no width"
    theory = mcbo.create_study(greenhouse, seed=1, beta="theory")
    assert theory.status.aim == "theory"
    for _ in range(4):
        theory.tell(trial := theory.ask(), grow(trial))
    beta = theory.ask().beta
    assert beta is not None
    assert beta > 1
    shape = {**greenhouse.to_dict(), "aim": "find"}
    assert mcbo.Problem.from_toml(mcbo.Problem.from_dict(shape).to_toml()).aim == "find"
    for wrong in (
        {"aim": "win"},
        {"aim": "find", "strategy": "random"},
        {"aim": "find", "beta": 1.0},
        {"beta": "wide"},
    ):
        with pytest.raises(mcbo.McboError):
            mcbo.create_study(greenhouse, **wrong)


def test_kernels_name_their_inputs() -> None:
    def problem(kernel: str) -> mcbo.Problem:
        y = {"parents": ["x"], "actions": ["b"], "kernel": kernel}
        return mcbo.Problem(nodes={"x": {"actions": ["a"]}, "y": y}, actions={"a": (0, 1), "b": (0, 1)}, maximize="y")

    assert problem("se(b) * linear(x)").to_dict()["nodes"]["y"]["kernel"] == "se(b) * linear(x)"
    with pytest.raises(mcbo.ProblemError, match="not an input"):
        problem("se(c)")


def test_corrections_and_voids(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, seed=3)
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, grow(trial))
    right = grow(study.trial(2))
    study.correct(2, {"growth": 7.5}, reason="a slip")
    assert study.trial(2).reward == 7.5
    assert study.trial(2).corrected is not None
    assert study.trial(1).corrected is None
    study.correct(study.trial(2), right)
    assert study.trial(2).reward == right["growth"]
    with pytest.raises(mcbo.DataError, match="growth is NaN"):
        study.correct(2, {"growth": float("nan")})
    before = study.model.nodes["growth"].rows
    assert study.void([2, study.trial(3)], reason="the wrong pot") == [2, 3]
    assert study.void(3) == []
    assert (study.trial(3).state, study.trial(3).reason) == ("voided", "the wrong pot")
    assert study.model.nodes["growth"].rows == before - 2
    assert (study.status.complete, study.status.voided, study.status.trials) == (4, 2, 6)
    frame = study.trials_dataframe()
    assert list(frame["state"]).count("voided") == 2
    assert frame["corrected"].notna().tolist() == [False, True, False, False, False, False]
    other = make(greenhouse, seed=3)
    other.add_trials(frame)
    assert len(other.trials) == 4, "what was taken out is not added elsewhere"
    assert study.void(2, undo=True) == [2]
    with pytest.raises(mcbo.TrialError, match="there is no trial 9"):
        study.void([3, 9], undo=True)
    assert study.trial(3).state == "voided"


def test_what_was_really_done(make: Make, greenhouse: mcbo.Problem) -> None:
    study = make(greenhouse, seed=3)
    trial = study.ask()
    really = 5.0 if trial.actions["water"] < 4 else 2.0
    study.tell(trial, {"water": really, **grow(trial)})
    told = study.trial(1)
    assert told.actions == trial.actions, "the suggestion stays on record"
    assert told.done is not None
    assert told.done.actions == {"water": really}
    assert study.data.actions[0, 0] == really
    other = study.ask()
    study.tell(other, {"water": other.actions["water"], **grow(other)})
    assert study.trial(2).done is None
    frame = study.trials_dataframe()
    assert frame["water"].tolist() == [really, other.actions["water"]]
    assert frame["#suggested(water)"].tolist() == [trial.actions["water"], other.actions["water"]]
    assert len(study.predict(frame)) == 2
    with pytest.raises(mcbo.TrialError, match="already and cannot become"):
        study.tell(1, {"water": really + 1})
    study.correct(1, {"water": really + 1})
    assert study.trial(1).done == mcbo.Intervention(actions={"water": really + 1})
    twin = make(greenhouse, seed=3)
    twin.add_trials(frame)
    assert twin.data.actions[0, 0] == really
