from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mcbo
import numpy as np
import pytest
from conftest import grow


class Perturb:
    """Steps from the best so far."""

    name = "perturb"

    def suggest(self, context: mcbo.Context) -> mcbo.strategy.InterventionLike:
        problem, data, rng = context.problem, context.data, context.rng
        ranges = np.array([action.range for action in problem.actions.values()])
        if len(data) == 0:
            point = rng.uniform(ranges[:, 0], ranges[:, 1])
        else:
            best = data.actions[int(np.nanargmax(data.rewards))]
            step = 0.2 * (ranges[:, 1] - ranges[:, 0]) * rng.standard_normal(len(ranges))
            point = np.clip(best + step, ranges[:, 0], ranges[:, 1])
        return dict(zip(problem.actions, point.tolist(), strict=True))


class Broken:
    def __init__(self, answer: Callable[[mcbo.Context], object]) -> None:
        self.name = "broken"
        self.suggest = answer


def raising(context: mcbo.Context) -> object:
    raise ZeroDivisionError("inside")


def test_it_runs_in_a_study(make: Callable[..., mcbo.Study], greenhouse: mcbo.Problem) -> None:
    runs = []
    for _ in range(2):
        study = mcbo.create_study(greenhouse, strategy=Perturb(), seed=3)
        study.optimize(grow, n_trials=10)
        runs.append([trial.actions["water"] for trial in study.trials])
    assert runs[0] == runs[1]
    stored = make(greenhouse, strategy=Perturb(), seed=3)
    stored.optimize(grow, n_trials=10)
    assert [trial.actions["water"] for trial in stored.trials] == runs[0]
    assert {trial.strategy for trial in stored.trials} == {"design", "perturb"}
    assert stored.best().reward is not None


def test_every_name_is_a_strategy(greenhouse: mcbo.Problem) -> None:
    assert mcbo.strategy.NAMES[0] == "mcbo"
    assert "random" in mcbo.strategy.NAMES
    for name in mcbo.strategy.NAMES:
        assert mcbo.create_study(greenhouse, strategy=name).status.strategy == name


def test_a_store_asks_for_it_again(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    storage = f"sqlite://{tmp_path}/s.sqlite"
    mcbo.create_study(greenhouse, storage=storage, strategy=Perturb(), seed=3).optimize(grow, n_trials=5)
    study = mcbo.load_study("greenhouse", storage, Perturb())
    study.optimize(grow, n_trials=1)
    assert study.trials[-1].strategy == "perturb"
    # Reading and telling need no strategy; asking does.
    reader = mcbo.load_study("greenhouse", storage)
    assert reader.status == study.status
    assert reader.trials == study.trials
    assert reader.best(width=None).actions == study.best(width=None).actions
    with pytest.raises(mcbo.StrategyError, match="passed as an object"):
        reader.ask()


def test_it_runs_on_the_bench_beside_mcbo() -> None:
    runs = mcbo.bench.sweep(["dropwave"], [Perturb(), "mcbo", "random"], seeds=[0], rounds=10)
    assert [run.method for run in runs] == ["perturb", "mcbo", "random"]
    assert len({run.initial for run in runs}) == 1
    assert runs[0] == mcbo.bench.run("dropwave", Perturb(), seed=0, rounds=10)


def test_the_context_shows_what_is_known(greenhouse: mcbo.Problem) -> None:
    seen: list[mcbo.Context] = []

    def look(context: mcbo.Context) -> object:
        seen.append(context)
        return {"water": 1.0 + len(seen)}

    study = mcbo.create_study(greenhouse, strategy=Broken(look), initial=0)
    study.tell(study.ask(), {"growth": 0.5})
    study.ask()
    study.tell(study.ask(), state="failed")
    study.ask()
    context = seen[-1]
    assert context.data.actions.tolist() == [[2.0]]
    assert np.isnan(context.data.values[0, 0])
    assert context.data.rewards.tolist() == [0.5]
    assert [dict(one.actions) for one in context.pending] == [{"water": 3.0}]
    assert [dict(one.actions) for one in context.failed] == [{"water": 4.0}]
    assert context.problem == greenhouse
    # The generator depends on the seed and the trial alone.
    again = mcbo.create_study(greenhouse, strategy=Broken(look), initial=0)
    again.ask()
    assert seen[-1].rng.integers(1 << 60) == seen[0].rng.integers(1 << 60)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (raising, ZeroDivisionError),
        (lambda context: {"water": 99.0}, mcbo.StrategyError),
        (lambda context: {"fire": 1.0}, mcbo.StrategyError),
        (lambda context: 3.0, mcbo.StrategyError),
        (lambda context: {"water": float("nan")}, mcbo.StrategyError),
        (lambda context: {"water": "much"}, mcbo.StrategyError),
        (lambda context: None, mcbo.StrategyError),
    ],
)
def test_its_mistakes_are_exceptions(
    make: Callable[..., mcbo.Study],
    greenhouse: mcbo.Problem,
    answer: Callable[[mcbo.Context], object],
    error: type[Exception],
) -> None:
    study = make(greenhouse, strategy=Broken(answer), initial=0)
    with pytest.raises(error):
        study.ask()
    assert study.trials == []
    with pytest.raises(error):
        mcbo.bench.run("dropwave", Broken(answer), rounds=2)


def test_it_cannot_call_its_own_study(make: Callable[..., mcbo.Study], greenhouse: mcbo.Problem) -> None:
    holder: list[mcbo.Study] = []
    study = make(greenhouse, strategy=Broken(lambda context: holder[0].ask()), initial=0)
    holder.append(study)
    with pytest.raises(mcbo.StrategyError, match="all it may look at"):
        study.ask()


def test_names_and_shapes_are_checked(greenhouse: mcbo.Problem) -> None:
    class Nameless:
        def suggest(self, context: mcbo.Context) -> object:
            return {}

    class Taken(Perturb):
        name = "mcbo"

    class Silent:
        name = "silent"

    for strategy, words in (
        (Nameless(), "needs a `name`"),
        (Taken(), "there already"),
        (Silent(), "no method"),
    ):
        with pytest.raises(mcbo.StrategyError, match=words):
            mcbo.create_study(greenhouse, strategy=strategy)  # type: ignore[arg-type]
    with pytest.raises(mcbo.StrategyError):
        mcbo.create_study(greenhouse, strategy=17)  # type: ignore[arg-type]
