"""Steps, choices and requirements."""

from __future__ import annotations

import pickle

import mcbo
import pandas as pd
import pytest

TEXT = """
maximize = "y"
[nodes.x]
actions = ["strain", "cycles"]
do = [0, 1]
step = 0.25
[nodes.y]
parents = ["x"]
actions = ["dose", "feed"]
[actions.strain]
choices = ["wild", "mutant"]
neutral = "mutant"
[actions.cycles]
range = [0, 12]
step = 3
[actions.dose]
range = [0, 90]
[actions.feed]
range = [0, 90]
[constraints]
require = ["dose + feed <= 120"]
[simulator]
x = "0.5 * (strain == 'wild') + cycles / 12 + normal(0, 0.1)"
y = "x + dose / 90 + feed / 180 + normal(0, 0.1)"
"""


def problem() -> mcbo.Problem:
    return mcbo.Problem.from_toml(TEXT)


def test_a_problem_says_what_it_was_told() -> None:
    shown = problem()
    assert shown.actions["strain"] == mcbo.Action("strain", (0.0, 1.0), "mutant", None, ("wild", "mutant"))
    assert shown.actions["cycles"].step == 3.0
    assert shown.nodes["x"].step == 0.25
    assert shown.require == ["dose + feed <= 120"]
    assert mcbo.Problem.from_dict(shown.to_dict()) == shown
    assert "wild, mutant" in shown._repr_html_()
    assert "by 3" in shown._repr_html_()


def test_names_go_in_and_come_out() -> None:
    study = mcbo.create_study(problem(), seed=3)
    study.optimize(lambda trial: study.problem.simulate(trial, seed=1), n_trials=8)
    for trial in study.trials:
        assert trial.actions["strain"] in ("wild", "mutant")
        assert trial.actions["cycles"] in (0, 3, 6, 9, 12)
        assert trial.actions["dose"] + trial.actions["feed"] <= 120
    queued = study.enqueue({"strain": "wild", "cycles": 9})
    assert queued.actions["strain"] == "wild"
    assert study.predict({"strain": "wild"}).keys() == {"x", "y"}
    assert study.best().actions["strain"] in ("wild", "mutant")


def test_tables_have_names() -> None:
    study = mcbo.create_study(problem(), seed=3)
    rows = pd.DataFrame({"strain": ["wild", None], "cycles": [3.0, 4.5], "x": [0.7, 0.4], "y": [1.0, 0.8]})
    study.add_trials(rows, missing="neutral")
    table = study.trials_dataframe()
    assert list(table["strain"]) == ["wild", "mutant"]
    again = mcbo.create_study(problem(), seed=3)
    again.add_trials(table)
    assert list(again.trials_dataframe()["strain"]) == ["wild", "mutant"]
    assert len(study.predict(table[["strain", "cycles"]])) == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"strain": "wold"}, "they are wild, mutant"),
        ({"strain": 1}, "they are wild, mutant"),
        ({"cycles": 4}, "goes in steps of 3"),
        ({"dose": 80, "feed": 80}, "is required"),
    ],
)
def test_what_is_not_allowed_is_refused(given: dict[str, object], words: str) -> None:
    study = mcbo.create_study(problem(), seed=3)
    with pytest.raises(mcbo.DataError, match=words):
        study.enqueue(given)


def test_bad_names_in_tables_are_refused() -> None:
    study = mcbo.create_study(problem(), seed=3)
    with pytest.raises(mcbo.DataError, match="they are wild, mutant"):
        study.add_trials(pd.DataFrame({"strain": ["wold"], "x": [0.7], "y": [1.0]}))
    with pytest.raises(mcbo.DataError, match="they are wild, mutant"):
        study.add_trials([{"strain": "wold", "x": 0.7, "y": 1.0}])


NAMED = """
maximize = "gloss"
[nodes.supplier]
choices = ["north", "south"]
context = true
[nodes.operator]
choices = ["ann", "bob"]
[nodes.resin]
choices = ["epoxy", "acrylic"]
do = true
[nodes.gloss]
parents = ["supplier", "resin", "operator"]
actions = ["heat"]
noise = { gaussian = 0.05 }
[actions.heat]
range = [0, 1]
[simulator]
gloss = "(resin == 'acrylic') - (heat - 0.2 - .6 * (supplier == 'south'))^2 + .1 * (operator == 'bob') + normal(0, .05)"
"""


def test_nodes_may_have_names() -> None:
    problem = mcbo.Problem.from_toml(NAMED)
    resin = problem.nodes["resin"]
    assert resin.choices == ("epoxy", "acrylic")
    assert resin.do is not None
    again = mcbo.Problem(graph=problem.to_networkx())
    assert again.nodes["resin"] == resin
    assert again.nodes["supplier"].context
    answer = problem.simulate({"heat": 0.3, "do(resin)": "acrylic"}, seed=1)
    assert answer["resin"] == "acrylic"
    assert answer["operator"] in ("ann", "bob")
    study = mcbo.create_study(problem, seed=3, initial=8)
    for number in range(20):
        given = {"supplier": "south" if number % 2 else "north"}
        trial = study.ask(given=given)
        assert trial.given == given
        told = problem.simulate(trial.intervention, seed=5, number=number)
        told["supplier"] = given["supplier"]
        base = 0.2 + 0.6 * (given["supplier"] == "south")
        told["gloss"] = (told["resin"] == "acrylic") - (float(trial.actions["heat"]) - base) ** 2
        study.tell(trial, told)
    for supplier, heat in [("north", 0.2), ("south", 0.8)]:
        best = study.best(given={"supplier": supplier})
        assert best.intervention.values == {"resin": "acrylic"}
        assert abs(float(best.intervention.actions["heat"]) - heat) < 0.15
        assert "operator" not in best.predicted
    policy = study.best(given=pd.DataFrame({"supplier": ["north", "south"]}))
    assert [one.given["supplier"] for one in policy] == ["north", "south"]
    with pytest.raises(mcbo.DataError, match="hint: they are north, south"):
        study.ask(given={"supplier": "west"})
    with pytest.raises(mcbo.DataError, match="which is not one of its choices"):
        study.ask(given={"supplier": 1})
    frame = study.trials_dataframe()
    assert set(frame["operator"].dropna()) <= {"ann", "bob"}
    assert set(frame["do(resin)"].dropna()) <= {"epoxy", "acrylic"}
    other = mcbo.create_study(problem, seed=3)
    other.add_trials(frame)
    assert [trial.observed for trial in other.trials] == [trial.observed for trial in study.trials]
    places = pd.DataFrame({"heat": [0.2, 0.2], "resin": ["acrylic", "epoxy"], "operator": "ann", "supplier": "north"})
    mean, _ = study.model.predict("gloss", places)
    assert abs(mean[0] - mean[1] - 1.0) < 0.2
    assert study.model.predict("gloss", dict(places.iloc[0]))[0] == mean[0]
    with pytest.raises(mcbo.DataError, match="which is not one of its choices"):
        study.model.predict("gloss", places.replace("ann", "anne"))
    mcbo.plot.mechanism(study, "gloss", "supplier")
    assert "acrylic" in problem._repr_html_()
    copy = pickle.loads(pickle.dumps(study))
    assert copy.best(given={"supplier": "south"}).intervention == study.best(given={"supplier": "south"}).intervention


def test_names_with_causes_are_probabilities() -> None:
    study = mcbo.create_study(
        mcbo.Problem.from_toml("""
maximize = "y"
[nodes.kind]
actions = ["speed"]
choices = ["none", "crack"]
[nodes.y]
parents = ["kind"]
actions = ["speed"]
[actions.speed]
range = [0, 10]
"""),
        seed=1,
    )
    speeds = range(11)
    kinds = ["crack" if speed > 6 else "none" for speed in speeds]
    rewards = [speed if kind == "none" else -speed for speed, kind in zip(speeds, kinds, strict=True)]
    study.add_trials(pd.DataFrame({"speed": speeds, "kind": kinds, "y": rewards}))
    slow, fast = (study.predict({"speed": speed})["kind"] for speed in (2, 9))
    assert isinstance(slow, dict)
    assert isinstance(fast, dict)
    assert set(slow) == set(fast) == {"none", "crack"}
    assert slow["none"].mean > 0.7
    assert fast["crack"].mean > 0.7
    assert sum(share.mean for share in slow.values()) == pytest.approx(1)
    best = study.best()
    assert 4 < float(best.intervention.actions["speed"]) < 8
    shares = best.predicted["kind"]
    assert isinstance(shares, dict)
    assert shares["none"].mean > 0.5
    with pytest.raises(mcbo.DataError, match="hint: they are none, crack"):
        study.tell(study.ask(), {"kind": "crck", "y": 1})


def test_listed_values_stay_listed() -> None:
    problem = mcbo.Problem(
        nodes={"x": {"actions": ["mesh"], "do": {"values": [3, 1, 2.5]}}, "y": {"parents": ["x"], "actions": ["oven"]}},
        actions={"mesh": {"values": [0.5, 0.25, 4]}, "oven": (0.0, 1.0)},
        maximize="y",
        simulator={"x": "mesh", "y": "x - (oven - 0.3)^2"},
    )
    assert problem.actions["mesh"].values == (0.25, 0.5, 4.0)
    assert (problem.actions["mesh"].step, problem.actions["oven"].values) == (None, None)
    assert problem.actions["mesh"].neutral == 0.25
    assert problem.nodes["x"].values == (1.0, 2.5, 3.0)
    assert mcbo.Problem.from_dict(problem.to_dict()) == problem
    assert mcbo.Problem.from_toml(problem.to_toml()) == problem
    assert "0.25, 0.5, 4" in problem._repr_html_()
    study = mcbo.create_study(problem, seed=3)
    study.optimize(lambda trial: study.problem.simulate(trial, seed=1), n_trials=12)
    for trial in study.trials:
        assert trial.actions["mesh"] in (0.25, 0.5, 4)
        assert trial.intervention.values.get("x", 1) in (1, 2.5, 3)
    assert any("x" in trial.intervention.values for trial in study.trials)
    with pytest.raises(mcbo.ProblemError, match="has both `values` and a `range`"):
        mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": {"values": [1, 2], "range": (0, 1)}}, maximize="y")


def test_ratios_and_retired_names() -> None:
    oven = {"choices": ["old", "new"], "do": True, "retired": ["old"]}
    problem = mcbo.Problem(
        nodes={"x": {"actions": ["salt", "strain"]}, "oven": oven, "y": {"parents": ["x", "oven"]}},
        actions={
            "salt": {"range": (1e-3, 10.0), "scale": "log", "neutral": 0.0},
            "strain": {"choices": ["wild", "mutant", "hybrid"], "retired": ["wild"]},
        },
        constraints={"require": ["salt <= 1 if strain == 'mutant'"]},
        maximize="y",
        simulator={
            "x": "-(log(salt + 0.001) + 3)^2 + (strain == 'hybrid')",
            "oven": "pick('old', 1, 'new', 1)",
            "y": "x",
        },
    )
    assert (problem.actions["salt"].scale, problem.actions["salt"].neutral) == ("log", 0.0)
    assert (problem.actions["strain"].scale, problem.actions["strain"].retired) == ("linear", ("wild",))
    assert problem.nodes["oven"].retired == ("old",)
    assert mcbo.Problem.from_dict(problem.to_dict()) == problem
    assert mcbo.Problem.from_toml(problem.to_toml()) == problem
    study = mcbo.create_study(problem, seed=3)
    study.add_trials([{"salt": 1.0, "strain": "wild", "oven": "old", "x": 0.1, "y": 0.1}])
    study.optimize(lambda trial: study.problem.simulate(trial, seed=1), n_trials=12)
    done = [trial.actions for trial in study.trials[1:]]
    salts = [float(actions["salt"]) for actions in done]
    assert all(salt == 0 or 1e-3 <= salt <= 10 for salt in salts)
    assert sum(0 < salt < 0.5 for salt in salts) > 4
    assert all(actions["strain"] != "wild" for actions in done)
    assert all(float(actions["salt"]) <= 1 for actions in done if actions["strain"] == "mutant")
    assert study.best().intervention.actions["strain"] == "hybrid"
    with pytest.raises(mcbo.ProblemError, match='must be "log" or "linear"'):
        mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": {"range": (1, 2), "scale": "ln"}}, maximize="y")
    with pytest.raises(mcbo.ProblemError, match="did you mean `mutant`"):
        mcbo.Problem.from_dict({**problem.to_dict(), "constraints": {"require": ["salt <= 1 if strain == 'mutent'"]}})
