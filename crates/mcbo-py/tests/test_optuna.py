"""Optuna's idioms, from its tutorial and its questions and answers, line by line: the table of docs/optuna.md."""

from __future__ import annotations

import functools
import json
import logging
import math
import pickle
import re
import runpy
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import mcbo
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

PROBLEM = mcbo.Problem(
    nodes={"z": {"actions": ["x"]}, "loss": {"parents": ["z"]}},
    actions={"x": (-10.0, 10.0)},
    minimize="loss",
    name="quadratic",
)

Values = Mapping[str, float]


def objective(trial: mcbo.Trial) -> Values:
    z = trial.params["x"] - 2
    return {"z": z, "loss": z**2}


@pytest.fixture
def study() -> mcbo.Study:
    return mcbo.create_study(PROBLEM, seed=0)


@pytest.fixture
def done(study: mcbo.Study) -> mcbo.Study:
    study.optimize(objective, n_trials=6)
    return study


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path}/studies.sqlite"


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "optuna.md").read_text("utf-8")
    program = tmp_path / "page.py"
    program.write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)))
    runpy.run_path(str(program))
    assert len(re.findall(r"^\| [^|]*`", page, re.MULTILINE)) >= 40


# First steps.


def test_01_optimize_a_quadratic(study: mcbo.Study) -> None:
    study.optimize(objective, n_trials=10)
    assert abs(study.best_params["x"] - 2) < 1


def test_02_best_value(done: mcbo.Study) -> None:
    assert done.best_value == min(trial.value for trial in done.trials if trial.value is not None)


def test_03_best_params(done: mcbo.Study) -> None:
    assert (done.best_params["x"] - 2) ** 2 == pytest.approx(done.best_value)


def test_04_best_trial(done: mcbo.Study) -> None:
    assert done.best_trial is not None
    assert done.best_trial.value == done.best_value


def test_05_all_trials(done: mcbo.Study) -> None:
    assert len(done.trials) == 6
    assert [trial.number for trial in done.trials] == [1, 2, 3, 4, 5, 6]


def test_06_going_on(done: mcbo.Study) -> None:
    done.optimize(objective, n_trials=4)
    assert len(done.trials) == 10


def test_07_direction() -> None:
    assert mcbo.create_study(PROBLEM).direction == "minimize"
    up = mcbo.Problem(nodes={"y": {"actions": ["x"]}}, actions={"x": (0, 1)}, maximize="y")
    assert mcbo.create_study(up).direction == "maximize"


def test_08_best_of_nothing_raises(study: mcbo.Study) -> None:
    with pytest.raises(mcbo.McboError, match="hint"):
        study.best_value  # noqa: B018
    assert study.best_trial is None


# Spaces.

SPACE = mcbo.Problem(
    nodes={"y": {"actions": ["f", "step", "n", "n3", "kind"]}},
    actions={
        "f": (0.0, 1.0),
        "step": {"range": (0.0, 1.0), "step": 0.25},
        "n": {"range": (1, 8), "step": 1},
        "n3": {"range": (0, 12), "step": 3},
        "kind": ["a", "b"],
    },
    maximize="y",
)


def test_09_suggest_float() -> None:
    assert 0 <= mcbo.create_study(SPACE).ask().params["f"] <= 1


def test_10_suggest_float_in_steps() -> None:
    assert mcbo.create_study(SPACE).ask().params["step"] in (0, 0.25, 0.5, 0.75, 1)


def test_11_suggest_int() -> None:
    assert mcbo.create_study(SPACE).ask().params["n"] in range(1, 9)


def test_12_suggest_int_in_steps() -> None:
    assert mcbo.create_study(SPACE).ask().params["n3"] in (0, 3, 6, 9, 12)


def test_13_suggest_categorical() -> None:
    assert mcbo.create_study(SPACE).ask().params["kind"] in ("a", "b")


def test_14_logarithms_are_chosen_as_such(study: mcbo.Study) -> None:
    rate = mcbo.Problem(nodes={"y": {"actions": ["log10_rate"]}}, actions={"log10_rate": (-5, -1)}, maximize="y")
    assert 1e-5 <= 10 ** mcbo.create_study(rate).ask().params["log10_rate"] <= 1e-1
    with pytest.raises(mcbo.ProblemError, match="hint"):
        mcbo.Problem(nodes={"y": {"actions": ["r"]}}, actions={"r": {"range": (1, 2), "log": True}}, maximize="y")


# Stores.


def test_15_named_studies_last(url: str) -> None:
    mcbo.create_study(PROBLEM, "s", url).optimize(objective, n_trials=2)
    again = mcbo.create_study(PROBLEM, "s", url, load_if_exists=True)
    again.optimize(objective, n_trials=2)
    assert len(again.trials) == 4


def test_16_a_name_that_is_taken(url: str) -> None:
    mcbo.create_study(PROBLEM, "s", url)
    with pytest.raises(mcbo.StudyExistsError):
        mcbo.create_study(PROBLEM, "s", url)


def test_17_load_study(url: str) -> None:
    mcbo.create_study(PROBLEM, "s", url).optimize(objective, n_trials=2)
    assert mcbo.load_study("s", url).best_value >= 0
    with pytest.raises(LookupError):
        mcbo.load_study("t", url)


def test_18_all_names(url: str) -> None:
    for name in ("one", "two"):
        mcbo.create_study(PROBLEM, name, url)
    assert [study.name for study in mcbo.studies(url)] == ["one", "two"]


def test_19_summaries(url: str) -> None:
    mcbo.create_study(PROBLEM, "s", url).optimize(objective, n_trials=3)
    assert mcbo.studies(url)[0].complete == 3


def test_20_delete(url: str) -> None:
    mcbo.create_study(PROBLEM, "s", url)
    mcbo.delete_study("s", url)
    assert mcbo.studies(url) == []


def test_21_copy(url: str) -> None:
    mcbo.create_study(PROBLEM, "s", url).optimize(objective, n_trials=3)
    mcbo.copy_study("s", "t", url)
    assert mcbo.load_study("t", url).best_params == mcbo.load_study("s", url).best_params


def test_22_the_address_of_optuna() -> None:
    with pytest.raises(mcbo.StorageError, match="hint: sqlite://example.db is in the working folder"):
        mcbo.create_study(PROBLEM, "s", "sqlite:///example.db")


def test_23_pickle(done: mcbo.Study) -> None:
    assert pickle.loads(pickle.dumps(done)).best_params == done.best_params


# The loop.


def test_24_timeout(study: mcbo.Study) -> None:
    def slow(trial: mcbo.Trial) -> Values:
        time.sleep(0.05)
        return objective(trial)

    study.optimize(slow, timeout=0.3)
    assert 1 <= len(study.trials) <= 6


def test_25_n_jobs(study: mcbo.Study) -> None:
    study.optimize(objective, n_trials=8, n_jobs=2)
    assert study.status.complete == 8


def test_26_catch(study: mcbo.Study) -> None:
    def fails(trial: mcbo.Trial) -> Values:
        raise ValueError("no")

    study.optimize(fails, n_trials=2, catch=(ValueError,))
    assert [trial.state for trial in study.trials] == ["failed", "failed"]


def test_27_exceptions_go_on_to_the_caller(study: mcbo.Study) -> None:
    with pytest.raises(ZeroDivisionError):
        study.optimize(lambda trial: {"loss": 1 / 0}, n_trials=2)
    assert study.trials[0].state == "failed"


def test_28_nan_is_a_failure(study: mcbo.Study) -> None:
    study.optimize(lambda trial: {"loss": math.nan}, n_trials=1, catch=mcbo.DataError)
    assert study.trials[0].state == "failed"
    assert "NaN" in (study.trials[0].reason or "")


def test_29_callbacks(study: mcbo.Study) -> None:
    seen: list[tuple[int, float | None]] = []
    study.optimize(objective, n_trials=3, callbacks=[lambda study, trial: seen.append((trial.number, trial.value))])
    assert [number for number, _ in seen] == [1, 2, 3]


def test_30_stop_from_a_callback(study: mcbo.Study) -> None:
    def enough(study: mcbo.Study, trial: mcbo.Trial) -> None:
        if study.status.complete >= 3:
            study.stop()

    study.optimize(objective, n_trials=50, callbacks=[enough])
    assert len(study.trials) == 3


def test_31_log_when_the_best_is_better(study: mcbo.Study) -> None:
    winners = []

    def note(study: mcbo.Study, trial: mcbo.Trial) -> None:
        winner = study.user_attrs.get("winner")
        if winner is None or study.best_value < winner:
            study.set_user_attr("winner", study.best_value)
            winners.append(study.best_value)

    study.optimize(objective, n_trials=6, callbacks=[note])
    assert winners == sorted(winners, reverse=True)


def test_32_progress_bar(study: mcbo.Study, capsys: pytest.CaptureFixture[str]) -> None:
    study.optimize(objective, n_trials=2, show_progress_bar=True)
    assert "2/2" in capsys.readouterr().err


def test_33_objectives_with_arguments(study: mcbo.Study) -> None:
    class Objective:
        def __init__(self, centre: float) -> None:
            self.centre = centre

        def __call__(self, trial: mcbo.Trial) -> Values:
            z = trial.params["x"] - self.centre
            return {"z": z, "loss": z**2}

    def three(trial: mcbo.Trial, centre: float) -> Values:
        return Objective(centre)(trial)

    study.optimize(Objective(1.0), n_trials=1)
    study.optimize(lambda trial: three(trial, 1.0), n_trials=1)
    study.optimize(functools.partial(three, centre=1.0), n_trials=1)
    assert study.status.complete == 3


def test_34_an_objective_is_tested_by_hand() -> None:
    trial = mcbo.create_study(PROBLEM).enqueue({"x": 1.0})
    assert objective(trial) == {"z": -1.0, "loss": 1.0}


def test_35_pruned_trials(study: mcbo.Study) -> None:
    def prune(trial: mcbo.Trial) -> Values:
        raise mcbo.TrialFailed("hopeless")

    study.optimize(prune, n_trials=1)
    assert study.trials[0].reason == "TrialFailed: hopeless"
    for name in ("report", "should_prune"):
        assert not hasattr(study.trials[0], name)


# Ask and tell.


def test_36_ask_and_tell(study: mcbo.Study) -> None:
    for _ in range(3):
        trial = study.ask()
        study.tell(trial, objective(trial))
    assert study.status.complete == 3


def test_37_tell_by_number(study: mcbo.Study) -> None:
    trial = study.ask()
    study.tell(trial.number, {"loss": 1.0})
    assert study.trial(trial.number).value == 1.0


def test_38_tell_a_failure(study: mcbo.Study) -> None:
    study.tell(study.ask(), state="failed", reason="no power")
    assert study.trials[0].state == "failed"


def test_39_a_single_number_is_explained(study: mcbo.Study) -> None:
    with pytest.raises(mcbo.DataError, match=r"by name; hint: .*\{'loss': 0.5, \.\.\.\}"):
        study.tell(study.ask(), 0.5)  # type: ignore[arg-type]
    with pytest.raises(mcbo.DataError, match="by name; hint"):
        study.optimize(lambda trial: 0.5, n_trials=1)  # type: ignore[arg-type,return-value]


def test_40_batches(study: mcbo.Study) -> None:
    batch = study.ask(3)
    assert len({trial.params["x"] for trial in batch}) == 3
    for trial in batch:
        study.tell(trial, objective(trial))
    assert study.status.complete == 3


def test_41_enqueue(study: mcbo.Study) -> None:
    study.enqueue({"x": 5.0})
    study.optimize(objective, n_trials=1)
    assert study.trials[0].params == {"x": 5.0}


def test_42_fix_a_part() -> None:
    study = mcbo.create_study(SPACE, seed=1)
    trial = study.ask(fixed={"kind": "b", "f": 0.5})
    assert (trial.params["kind"], trial.params["f"]) == ("b", 0.5)
    study.tell(trial, {"y": 1.0})
    assert study.ask(fixed={"n": 4}).params["n"] == 4


def test_43_add_trials(study: mcbo.Study, done: mcbo.Study) -> None:
    fresh = mcbo.create_study(PROBLEM)
    fresh.add_trials([{"x": 1.0, "z": -1.0, "loss": 1.0}])
    fresh.add_trials(done.trials_dataframe())
    assert len(fresh.trials) == 7


# Trials.


def test_44_times_and_durations(done: mcbo.Study) -> None:
    trial = done.trials[0]
    assert trial.told is not None
    assert timedelta(0) <= trial.told - trial.asked < timedelta(minutes=5)


def test_45_states(done: mcbo.Study) -> None:
    done.ask()
    assert len([trial for trial in done.trials if trial.state == "complete"]) == 6
    assert done.trials[-1].state == "pending"


def test_46_user_attributes_of_trials(study: mcbo.Study) -> None:
    def noted(trial: mcbo.Trial) -> Values:
        trial.set_user_attr("accuracy", np.float64(0.5))
        trial.set_user_attr("files", ["a", "b"])
        return objective(trial)

    study.optimize(noted, n_trials=1)
    assert study.trials[0].user_attrs == {"accuracy": 0.5, "files": ["a", "b"]}
    with pytest.raises(mcbo.DataError, match="hint"):
        study.trials[0].set_user_attr("model", object())


def test_47_user_attributes_of_studies(url: str) -> None:
    mcbo.create_study(PROBLEM, "s", url).set_user_attr("contributors", ["A", "B"])
    assert mcbo.load_study("s", url).user_attrs == {"contributors": ["A", "B"]}


def test_48_data_frames(done: mcbo.Study) -> None:
    frame = done.trials_dataframe()
    assert isinstance(frame, pd.DataFrame)
    assert frame["loss"].min() == done.best_value


def test_49_json(done: mcbo.Study) -> None:
    assert json.loads(done.trials[0].to_json())["trial"] == 1
    assert json.loads(done.best().to_json())["best"]["trial"] == done.best_trial.number  # type: ignore[union-attr]


# Samplers, seeds, logs, pictures.


def test_50_seeds_repeat(done: mcbo.Study) -> None:
    again = mcbo.create_study(PROBLEM, seed=0)
    again.optimize(objective, n_trials=6)
    assert [trial.params for trial in again.trials] == [trial.params for trial in done.trials]


def test_51_random_sampler() -> None:
    study = mcbo.create_study(PROBLEM, strategy="random", initial=0)
    assert study.ask().strategy == "random"


class Annealing:
    """A sampler of one's own, that looks at the model."""

    name = "annealing"

    def suggest(self, context: mcbo.Context) -> Any:
        if len(context.data) < 3:
            return {"x": float(context.rng.uniform(-10, 10))}
        best = context.data.actions[np.nanargmax(context.data.rewards), 0]
        near = np.clip(best + context.rng.normal(0, 1, 8), -10, 10)
        expected = [float(context.model.expected_reward({"x": float(x)}).mean()) for x in near]
        return {"x": float(near[int(np.argmax(expected))])}


def test_52_a_sampler_of_ones_own() -> None:
    study = mcbo.create_study(PROBLEM, strategy=Annealing(), initial=0, seed=1)
    study.optimize(objective, n_trials=8)
    assert study.trials[-1].strategy == "annealing"
    assert study.best_value < 10


def test_53_logging(study: mcbo.Study, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="mcbo"):
        study.optimize(objective, n_trials=2)
    assert sum("finished" in record.message for record in caplog.records) == 2
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="mcbo"):
        study.optimize(objective, n_trials=1)
    assert caplog.records == []


def test_54_importances(done: mcbo.Study) -> None:
    assert list(done.effects().actions) == ["x"]


def test_55_constraints() -> None:
    problem = mcbo.Problem(
        nodes={"z": {"actions": ["x"], "limit": {"below": 3.0}}, "y": {"parents": ["z"]}},
        actions={"x": (0, 10)},
        maximize="y",
    )
    study = mcbo.create_study(problem, seed=0)
    study.optimize(lambda trial: {"z": trial.params["x"], "y": trial.params["x"]}, n_trials=8)
    assert study.best(width=None).params["x"] < 3.3


def test_56_figures(done: mcbo.Study) -> None:
    pytest.importorskip("plotly")
    import mcbo.plotly as figures

    assert list(figures.history(done).data[0].y) == [trial.value for trial in done.trials]
    drawn = (figures.parallel(done), figures.effects(done), figures.reward(done, "x"), figures.mechanism(done, "loss"))
    for figure in drawn:
        assert json.loads(figure.to_json())["data"]
    runs = mcbo.bench.sweep(["dropwave"], ["random"], seeds=[0, 1], rounds=2)
    assert len(figures.curves(runs).data) == 2


def test_57_several_objectives_are_refused() -> None:
    with pytest.raises(mcbo.ProblemError, match="hint"):
        mcbo.Problem(nodes={"y": {"actions": ["x"]}}, actions={"x": (0, 1)}, maximize="y", minimize="y")
    with pytest.raises(TypeError):
        mcbo.create_study(PROBLEM, directions=["minimize", "maximize"])  # type: ignore[call-arg]
