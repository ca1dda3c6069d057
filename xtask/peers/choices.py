"""Whole runs on tasks with steps, choices and requirements.

Our side goes through the rounds (mcbo_bench::run): it measures, with the same noise for all, scores by the true
expected reward, and keeps every finished run in a folder, from which it is taken when the same run is wanted again. It
asks this side for what a library decides. A library is told all that can be said to it: ranges, steps, names,
requirements, and how noisy the reward is where that is one number.
"""

import csv
import itertools
import math
import platform
import time
from datetime import date
from statistics import mean, median, stdev

import numpy as np
import optuna
import torch
from botorch.acquisition import PosteriorMean
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, SingleTaskGP
from botorch.optim import optimize_acqf_discrete
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
from gpytorch.mlls import ExactMarginalLogLikelihood
from optuna.distributions import CategoricalDistribution, FloatDistribution

from common import ROOT, own_version, processor, say, table, tensor, versions

HEADING = "## Steps and choices\n"
SEEDS, ROUNDS = 20, 60
TASKS = ["strains", "doses", "ackley-mixed"]
FOLDER = "target/peers"  # and in it one for each number of rounds
TABLE = ROOT / "docs/results/choices.csv"
# A share that counts as the optimum; on grids it is nothing else.
REACHED = 0.99
FEWEST = 5  # seeds, below which nothing is said of a difference
# Combinations that are all looked at.
FEW = 10_000
FLOOR = 1e-6  # variance of a noiseless reward, relative to that of all rewards: mcbo's noise floor


class Space:
    """What can be done in a task. Points have a number for each action; names are counted from 0."""

    def __init__(self, told):
        self.names = [action["name"] for action in told["actions"]]
        self.named = [bool(action["choices"]) for action in told["actions"]]
        self.values = [
            list(range(len(action["choices"]))) if action["choices"] else action["values"]
            for action in told["actions"]
        ]
        self.low, high = np.array([action["range"] for action in told["actions"]], dtype=float).T
        # Numbers are seen on a scale from 0 to 1, names as they are.
        self.low[self.named], high[self.named] = 0.0, 1.0
        self.width = high - self.low
        self.require = [(requirement["terms"], requirement["most"]) for requirement in told["require"]]
        self.noise, self.random, self.optimum = told["noise"], told["random"], told["optimum"]

    def unit(self, x):
        return (np.asarray(x, dtype=float) - self.low) / self.width

    def native(self, unit):
        return self.low + np.asarray(unit) * self.width

    def share(self, reward):
        return (reward - self.random) / (self.optimum - self.random)


class BoTorch:
    """Its model for mixed spaces where there are names, its default model where not; noisy expected improvement."""

    libraries = ["botorch", "gpytorch", "torch"]

    def start(self, space, seed):
        torch.manual_seed(seed)
        self.space = space
        self.names = [k for k, named in enumerate(space.named) if named]
        values = {k: space.values[k] for k in range(len(space.names)) if space.values[k] is not None}
        units = {k: ((np.array(v) - space.low[k]) / space.width[k]).tolist() for k, v in values.items()}
        self.grid = None
        if len(units) == len(space.names) and math.prod(map(len, units.values())) <= FEW:
            self.grid = tensor(list(itertools.product(*units.values())))
        top = [units[k][-1] if k in units else 1.0 for k in range(len(space.names))]
        self.settings = {
            "bounds": tensor([[0.0] * len(top), top]),
            "discrete_dims": {k: v for k, v in units.items() if k not in self.names},
            "cat_dims": {k: units[k] for k in self.names},
        }
        if space.require:
            self.settings["inequality_constraints"] = [self.at_least(*each) for each in space.require]
            # The budget of its tutorials: with requirements the one by default takes some 5 s a suggestion.
            self.settings |= {"raw_samples": 512, "num_restarts": 10}

    def at_least(self, terms, most):
        """A requirement as BoTorch has them: a sum that is at least something."""
        places = [k for k, _ in terms]
        weights = np.array([weight for _, weight in terms])
        low, width = self.space.low[places], self.space.width[places]
        return torch.tensor(places), tensor(-weights * width), float(weights @ low - most)

    def fit(self, x, y):
        settings = {}
        if self.space.noise is not None:
            variance = self.space.noise**2 or FLOOR * y.var(ddof=1)
            settings["train_Yvar"] = torch.full((len(y), 1), variance, dtype=torch.double)
        x, y = tensor(self.space.unit(x)), tensor(y)[:, None]
        if self.names:
            model = MixedSingleTaskGP(x, y, cat_dims=self.names, **settings)
        else:
            model = SingleTaskGP(x, y, **settings)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def search(self, criterion):
        if self.grid is not None:
            found, _ = optimize_acqf_discrete(criterion, q=1, choices=self.grid)
        else:
            found, _ = optimize_acqf_mixed_alternating(criterion, **self.settings)
        return self.space.native(found.numpy().ravel())

    def suggest(self, x, y):
        model = self.fit(x, y)
        seen = tensor(self.space.unit(x))
        return self.search(qLogNoisyExpectedImprovement(model, X_baseline=seen, prune_baseline=True))

    def recommend(self, x, y):
        return self.search(PosteriorMean(self.fit(x, y)))


class Optuna:
    """One of its samplers. It knows no requirements between parameters: what our side moves is told as it was done."""

    libraries = ["optuna"]

    def __init__(self, sampler):
        self.sampler = sampler

    def start(self, space, seed):
        self.distributions = {}
        for name, named, values, low, width in zip(
            space.names, space.named, space.values, space.low, space.width
        ):
            if named:
                self.distributions[name] = CategoricalDistribution(values)
            else:
                step = None if values is None else values[1] - values[0]
                self.distributions[name] = FloatDistribution(low, low + width, step=step)
        # The initial design is what it starts up with.
        self.study = optuna.create_study(direction="maximize", sampler=self.sampler(space, seed))
        self.told, self.trial = 0, None

    def tell(self, x, y):
        if self.trial is not None:
            asked = np.array([self.trial.params[name] for name in self.distributions], dtype=float)
            if np.allclose(asked, x[-1], rtol=0.0, atol=1e-9):
                self.study.tell(self.trial, y[-1])
                self.told = len(y)
            else:
                self.study.tell(self.trial, state=optuna.trial.TrialState.FAIL)
            self.trial = None
        for row, value in list(zip(x, y))[self.told :]:
            values = zip(self.distributions.items(), row.tolist())
            params = {
                name: int(value) if isinstance(kind, CategoricalDistribution) else value
                for (name, kind), value in values
            }
            done = optuna.trial.create_trial(params=params, distributions=self.distributions, value=value)
            self.study.add_trial(done)
        self.told = len(y)

    def suggest(self, x, y):
        self.tell(x, y)
        self.trial = self.study.ask(self.distributions)
        return [self.trial.params[name] for name in self.distributions]

    def recommend(self, x, y):
        self.tell(x, y)
        return [self.study.best_params[name] for name in self.distributions]


def tpe(_, seed):
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=0)


def gp(space, seed):
    exact = space.noise == 0.0
    return optuna.samplers.GPSampler(seed=seed, n_startup_trials=0, deterministic_objective=exact)


OURS = "mcbo"
# By their names in the folder. Those that take long come last, seed by seed: when time is up there is something of all.
QUICK = {
    OURS: ("**mcbo, default**: sees the graph", None),
    "one-hot": ("one-hot with rounding[^one-hot]: sees the graph", None),
    "ei": ("mcbo `ei`: blind to the graph", None),
    "ucb": ("mcbo `ucb`: blind to the graph", None),
    "random": ("random", None),
    "optuna-tpe": ("Optuna TPESampler", Optuna(tpe)),
}
SLOW = {
    "optuna-gp": ("Optuna GPSampler", Optuna(gp)),
    "botorch": ("BoTorch qLogNEI[^botorch]", BoTorch()),
}


def run(ours, peer, space, request):
    """A run as it was kept, or made now; what a library is asked for is answered on the way."""
    if peer is not None:
        peer.start(space, request["seed"])
    answer = ours.ask(do="run", **request)
    while "ask" in answer:
        x, y = np.array(answer["x"]), np.array(answer["y"])
        try:
            found = peer.suggest(x, y) if answer["ask"] == "suggest" else peer.recommend(x, y)
            reply = {"x": [float(value) for value in found]}
        except Exception as error:  # whatever a library raises ends its run, not the comparison
            reply = {"error": f"{type(error).__name__}: {error}"}
        answer = ours.ask(**reply)
    return answer


def outcome(answer):
    """What is said of a run."""
    return {
        "average": mean(answer["rewards"]),
        "best": answer["best"],
        "recommended": answer["recommended"],
        "seconds": answer["seconds"],
        "initial": answer["initial"],
    }


# The columns of the table that are figures, by what they are called here.
FIGURES = {
    "average": "average_reward",
    "best": "best_reward",
    "recommended": "recommended_reward",
    "seconds": "seconds",
}
COLUMNS = ["task", "method", "seed", *FIGURES.values(), "rounds", "libraries"]


def known(rounds):
    """The runs of libraries that the table has. They depend on nothing but the task and the libraries' versions."""
    results = {}
    if not TABLE.exists():
        return results
    with TABLE.open(newline="") as file:
        for row in csv.DictReader(file):
            peer = (QUICK | SLOW).get(row["method"], (None, None))[1]
            if peer is None or row["libraries"] != versions(*peer.libraries) or int(row["rounds"]) != rounds:
                continue
            figures = {name: float(row[column]) for name, column in FIGURES.items()}
            results[row["task"], row["method"], int(row["seed"])] = figures
    return results


def runs(ours, spaces, seeds, rounds, minutes):
    """What came of every run, by task, name and seed, and what did not come to its end."""
    before, results, failures = known(rounds), {}, []
    end = math.inf if minutes is None else time.monotonic() + 60 * minutes
    for turn in [QUICK, SLOW]:
        for seed, task, (name, (_, peer)) in itertools.product(range(seeds), TASKS, turn.items()):
            request = {"task": task, "method": name, "seed": seed, "rounds": rounds}
            request["folder"] = f"{FOLDER}/{rounds}"
            if (task, name, seed) in before:
                results[task, name, seed] = before[task, name, seed]
                continue
            if peer is not None:
                request["peer"] = versions(*peer.libraries)
            answer = ours.ask(do="kept", **request)
            if answer is None and time.monotonic() < end:
                answer = run(ours, peer, spaces[task], request)
                say(f"{task}, {name}, seed {seed}: {answer.get('failed') or 'done'}")
            if answer is not None and "failed" in answer:
                failures.append(f"{name} stopped on {task}, seed {seed}: {answer['failed']}")
            elif answer is not None:
                results[task, name, seed] = outcome(answer)
    return results, failures


# ---------------------------------------------------------------- the section


def error(values):
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else math.nan


def figure(values):
    """The mean and its standard error, which has two digits."""
    if len(values) < 2:
        return f"{mean(values):.3f}"
    digits = max(0, 1 - math.floor(math.log10(error(values)))) if error(values) > 0 else 3
    return f"{mean(values):.{digits}f} ± {error(values):.{digits}f}"


def beyond(values):
    """1 where ours is better by more than two standard errors, -1 where it is worse by as much, else 0."""
    clear = len(values) >= FEWEST and abs(mean(values)) > 2 * error(values)
    return (1 if mean(values) > 0 else -1) if clear else 0


def difference(values):
    return {1: "**{}**", 0: "{}", -1: "*{}* ▼"}[beyond(values)].format(figure(values))


def task_part(results, task, space, seeds, rounds):
    """What came out on one task."""

    def of(name):
        return {seed: results[task, name, seed] for seed in range(seeds) if (task, name, seed) in results}

    def averages(name):
        return {seed: answer["average"] for seed, answer in of(name).items()}

    def count(name, what):
        reached = sum(space.share(answer[what]) >= REACHED for answer in of(name).values())
        return f"{reached} of {len(of(name))}"

    lines, verdicts, ours = [], {-1: [], 0: [], 1: []}, averages(OURS)
    for name, (label, _) in (QUICK | SLOW).items():
        own = averages(name)
        if not own:
            lines.append([label, 0, *["–"] * 6])
            continue
        beside = [ours[seed] - reward for seed, reward in own.items() if seed in ours]
        if name != OURS and len(beside) >= FEWEST:
            verdicts[beyond(beside)].append(f"`{name}`")
        seconds = median(answer["seconds"] / rounds for answer in of(name).values())
        lines.append(
            [
                label,
                len(own),
                figure(list(own.values())),
                f"{space.share(mean(own.values())):.3f}",
                difference(beside) if name != OURS and beside else "",
                count(name, "best"),
                count(name, "recommended"),
                f"{seconds:.2g}" if name != "random" else "–",
            ]
        )
    header = ["optimiser", "seeds", "average reward", "share", "ours minus it", "best tried", "best recommended"]
    said = {1: "more than", 0: "as much, within two standard errors, as", -1: "**less** than"}
    said = [f"{what} {', '.join(verdicts[sign])}" for sign, what in said.items() if verdicts[sign]]
    verdict = f"Ours has {'; '.join(said)}."
    values = f"Optimum {space.optimum:.4g}, mean of points spread evenly {space.random:.3g}"
    begun = f"The initial design alone has the best in {count(OURS, 'initial')} seeds"
    return [f"### {task}", f"{values}. {begun}.", table([*header, "s a suggestion"], lines), verdict]


def head(seeds, rounds):
    libraries = versions("botorch", "gpytorch", "torch", "optuna", "scipy", "numpy")
    return f"""\
Written on {date.today()} by

```sh
cargo xtask peers --only choices --seeds {seeds} --rounds {rounds}
```

which keeps finished runs in `{FOLDER}/{rounds}`, takes those of libraries from [`choices.csv`](choices.csv) too, and adds
those that are missing; the tables say how many seeds there are of each. {rounds} rounds after the initial design of the task; design and noise of a seed are the same for all.

- Average reward: of the {rounds} rounds, true expectations; mean ± standard error over the seeds. Share: of it, where
  points spread evenly (in `doses` moved to where it is allowed) have 0 on average and the optimum has 1.
- Ours minus it: the average reward of mcbo's default minus that of the other, seed by seed. **Bold**: more than two
  standard errors better. *▼*: more than two worse. Nothing is said of fewer than {FEWEST} seeds.
- Best tried, best recommended: a trial, or what is recommended after the last, has a share of {REACHED} or more. On the
  grid of `strains` that is the optimum alone.
- s a suggestion: median over the runs, by the clock, one thread each. Where a run waits for other programs its
  seconds are too many, and in few runs that shows: they are no measure of speed, which stands above.

Every run is in [`choices.csv`](choices.csv). Processor: {processor()}. mcbo {own_version()}, {libraries}, Python
{platform.python_version()}."""


NOTES = """\
Not alike, and why:

- mcbo's default and one-hot with rounding are told every node of a trial and which reads which. The others see actions
  and reward alone; so do mcbo's `ei` and `ucb`.
- mcbo's default and one-hot are told the noise of every node. BoTorch is told that of the reward where it is one number
  (0.1 in `doses`, none in `ackley-mixed`) and learns it in `strains`; `ei` and `ucb` learn it in both. Optuna's
  GPSampler can be told that there is none, and is.
- What is recommended: by mcbo the best of its model, by BoTorch the largest posterior mean, by Optuna `best_params`,
  which is the best measurement, as it is by random.
- Optuna knows no requirements between parameters: in `doses` what it suggests is moved to where it is allowed, and it
  is told what was done. Samplers begin with the initial design (`n_startup_trials=0`), all else is as by default.
- Seconds of Optuna and BoTorch have the way through a pipe in them, 0.1 to 0.3 ms.

[^one-hot]: `OneHot` in mcbo-bench: mcbo's default on ranges alone, names as numbers of which the largest is meant,
    everything rounded.
[^botorch]: `MixedSingleTaskGP` where there are names, `SingleTaskGP` where not, with their default kernels and priors;
    `qLogNoisyExpectedImprovement` with its default 512 samples, over all 1740 combinations of `strains`, by
    `optimize_acqf_mixed_alternating` in the others: with its default 1024 points and 20 starts in `ackley-mixed`, with
    the 512 and 10 of BoTorch's tutorials in `doses`, where the default takes twice the time.
"""


def section(ours, seeds, rounds, minutes):
    """The section of the page; the table of runs is written beside it."""
    spaces = {task: Space(ours.ask(do="space", task=task)) for task in TASKS}
    results, failures = runs(ours, spaces, seeds, rounds, minutes)
    parts = [HEADING.strip(), head(seeds, rounds)]
    for task in TASKS:
        parts += task_part(results, task, spaces[task], seeds, rounds)
    if failures:
        parts.append("Runs that a library did not finish, left out above:")
        parts.append("\n".join(f"- {failure}" for failure in failures))
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for (task, name, seed), figures in sorted(results.items()):
            peer = (QUICK | SLOW)[name][1]
            libraries = versions(*peer.libraries) if peer else ""
            row = {"task": task, "method": name, "seed": seed, "rounds": rounds, "libraries": libraries}
            row |= {column: figures[figure] for figure, column in FIGURES.items()}
            writer.writerow(row | {"seconds": f"{figures['seconds']:.3f}"})
    return "\n\n".join([*parts, NOTES])
