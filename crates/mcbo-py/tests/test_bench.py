from __future__ import annotations

import json
import pickle
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import mcbo
import numpy as np
import pytest


def test_tasks_and_optima() -> None:
    names = mcbo.bench.tasks()
    assert "dropwave" in names
    assert "scm-soft-0" in mcbo.bench.tasks(extra=True)
    for name in names:
        task = mcbo.bench.Task(name)
        design = task.initial_design(seed=0)
        assert len(design) > 0
        assert np.isfinite(design.rewards).all()
    psa = mcbo.bench.Task("psagraph")
    assert psa.expected_reward({"aspirin": 0.0, "statin": 1.0}) <= psa.optimum + 1e-6
    with pytest.raises(mcbo.TaskError, match="there is no task"):
        mcbo.bench.Task("dropwaves")


def test_a_run_is_that_of_the_command_line(command: Path) -> None:
    answer = subprocess.run(
        [
            command,
            "bench",
            "run",
            "--task",
            "dropwave",
            "--strategy",
            "mcbo",
            "--rounds",
            "6",
            "--seeds",
            "3..4",
            "--json",
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    run = mcbo.bench.run("dropwave", "mcbo", seed=3, rounds=6)
    theirs = [line["expected_reward"] for line in lines if line["round"] > 0 and line["seed"] == 3]
    assert theirs == run.expected_rewards.tolist()
    assert [line["average_reward"] for line in lines if line["seed"] == 3] == run.average_rewards.tolist()


@pytest.mark.parametrize("name", ["toygraph", "psagraph", "ackley", "scm-mixed-1", "scm-hard-0"])
def test_the_problem_of_a_task_is_a_problem(name: str, tmp_path: Path) -> None:
    problem = mcbo.bench.Task(name).problem
    again = mcbo.Problem.from_toml(problem.to_toml())
    assert again == problem == pickle.loads(pickle.dumps(problem))
    kept = mcbo.create_study(problem, storage=f"sqlite://{tmp_path}/s.sqlite", name="kept", seed=1)
    assert kept.ask().params == mcbo.create_study(problem, seed=1).ask().params


def test_settings() -> None:
    by_name = mcbo.bench.run("dropwave", "mcbo-paper-0.05", rounds=3)
    by_options = mcbo.bench.run("dropwave", "mcbo", rounds=3, preset="paper", beta=0.05)
    assert by_name == by_options
    assert by_name.method == "mcbo-paper-0.05"
    with pytest.raises(mcbo.StrategyError, match="there is no method"):
        mcbo.bench.run("dropwave", "mcbo-x", rounds=1)
    with pytest.raises(mcbo.StrategyError, match="needs nodes that can be set"):
        mcbo.bench.run("dropwave", "cbo", rounds=1)


def test_sweeps_are_the_same_wherever_they_run() -> None:
    tasks, strategies, seeds = ["dropwave", "toygraph"], ["mcbo", "cbo", "random"], range(2)
    alone = mcbo.bench.sweep(tasks, strategies, seeds, rounds=3)
    assert len(alone) == 10, "cbo cannot do anything on dropwave"
    with ProcessPoolExecutor(max_workers=2) as executor:
        assert mcbo.bench.sweep(tasks, strategies, seeds, rounds=3, executor=executor) == alone
    table = mcbo.bench.table(alone)
    assert len(table) == 10 * 4


def test_a_task_of_ones_own(greenhouse: mcbo.Problem) -> None:
    task = mcbo.bench.Task(greenhouse)
    assert task.expected_reward({"water": 6.0}) == pytest.approx(1.0)
    runs = mcbo.bench.sweep([greenhouse], ["mcbo", "random"], [0], rounds=8)
    assert runs[0].best_reward > 0.999
