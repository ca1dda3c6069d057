"""Units, contexts, limits and costs."""

from __future__ import annotations

import mcbo
import pandas as pd
import pytest


def reactor() -> mcbo.Problem:
    return mcbo.Problem(
        nodes={
            "quality": {"context": True},
            "acetate": {"actions": ["feed"], "unit": "g/l", "limit": {"below": 4.0, "probability": 0.9}},
            "growth": {"parents": ["quality"], "actions": ["feed"], "noise": {"gaussian": 0.1}},
        },
        actions={"feed": {"range": [0, 10], "unit": "g", "cost": {"fixed": 1.0, "per_unit": 0.1}}},
        maximize="growth",
        simulator={
            "quality": "uniform(0, 1)",
            "acetate": "0.5 * feed + normal(0, 0.1)",
            "growth": "feed * (1 + quality) - 0.1 * feed^2 + normal(0, 0.1)",
        },
    )


def told(trials: int) -> mcbo.Study:
    problem = reactor()
    study = mcbo.create_study(problem, seed=1, initial=4)
    for number in range(1, trials + 1):
        given = problem.simulate_contexts(seed=1, number=number)
        trial = study.ask(given=given)
        assert trial.given == given
        assert trial.cost is not None
        study.tell(trial, problem.simulate(trial, seed=1))
    return study


def test_problems_have_marks() -> None:
    problem = reactor()
    assert problem.nodes["quality"].context
    assert not problem.nodes["growth"].context
    assert problem.nodes["acetate"].unit == "g/l"
    assert problem.nodes["acetate"].limit == {"below": 4.0, "probability": 0.9}
    assert problem.actions["feed"].cost == {"fixed": 1.0, "per_unit": 0.1}
    again = mcbo.Problem.from_dict(problem.to_dict())
    assert again.nodes == problem.nodes
    assert again.actions == problem.actions
    actions = {"a": {"range": [0, 1], "cost": {"fixed": -1}}}
    with pytest.raises(mcbo.ProblemError, match="is -1"):
        mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions=actions, maximize="y")


def test_contexts_and_limits() -> None:
    study = told(9)
    assert study.trials[-1].limits["acetate"].wanted == 0.9
    best = study.best(given={"quality": 0.9}, width=None)
    assert best.given == {"quality": 0.9}
    assert best.limits["acetate"].probability >= 0.9
    assert not any("not given" in warning for warning in best.warnings)
    assert any("quality is not given" in warning for warning in study.best(width=None).warnings)
    rows = [{"quality": 0.1}, {"quality": 0.9}]
    policy = study.best(given=rows, width=None)
    assert [one.given for one in policy] == rows
    assert policy[1].intervention == best.intervention
    framed = study.best(given=pd.DataFrame(rows), width=None)
    assert [one.intervention for one in framed] == [one.intervention for one in policy]
    low, high = (study.predict({"feed": 3.0}, given={"quality": q})["growth"] for q in (0.0, 1.0))
    assert not isinstance(low, list)
    assert not isinstance(high, list)
    assert low.mean < high.mean
    trial = study.ask(given={"quality": 0.5})
    with pytest.raises(mcbo.DataError, match="was given as 0.5"):
        study.tell(trial, {"quality": 0.6, "growth": 1.0})
    with pytest.raises(mcbo.DataError, match="is no context"):
        study.ask(given={"growth": 0.5})
    with pytest.raises(mcbo.DataError, match="is no context"):
        study.best(given=pd.DataFrame({"growth": [1.0]}))


def test_budgets() -> None:
    problem = reactor()
    study = mcbo.create_study(problem, strategy="random", seed=2, initial=0)
    study.optimize(lambda trial: problem.simulate(trial, seed=2), budget=10)
    spent = study.status.spent
    assert spent is not None
    assert 7.0 < spent <= 10.0
    assert study.trials[-1].state == "pending"
    assert (study.trials[-1].cost or 0.0) > 10.0 - spent
    assert spent == pytest.approx(sum(trial.cost or 0.0 for trial in study.trials if trial.state == "complete"))
    free = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
    assert mcbo.create_study(free).status.spent is None
    with pytest.raises(mcbo.DataError, match="has a cost"):
        mcbo.create_study(free).optimize(lambda trial: {"y": 1.0}, budget=3)


def test_rows_outside_the_range_are_data() -> None:
    problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
    study = mcbo.create_study(problem)
    study.add_trials([{"a": a, "y": 2 * a} for a in (0.1, 0.4, 0.8, 3.0)])
    best = study.best(width=None)
    assert 0.0 <= best.actions["a"] <= 1.0
    assert any("outside its range 0 to 1" in warning for warning in best.warnings)
    assert len(study.predict(study.trials_dataframe())) == 4
    with pytest.raises(mcbo.DataError, match="outside its range"):
        study.predict({"a": 7.0})


def test_limits_may_have_two_sides() -> None:
    window = {"above": 0.2, "below": 0.6, "probability": 0.8}
    problem = mcbo.Problem(
        maximize="y",
        nodes={"s": {"actions": ["a"], "limit": window}, "y": {"actions": ["a"]}},
        actions={"a": {"range": [0.0, 1.0]}},
    )
    assert problem.nodes["s"].limit == window
