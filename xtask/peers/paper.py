"""Fits, suggestions and whole runs on the paper's tasks: the same jobs on the same data in one session.

Whoever is compared takes turns on every set of rows, each on one thread.
"""

import os
import platform
import time
from datetime import date
from statistics import mean, median

import egobox as egx
import numpy as np
import optuna
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.utils.gpytorch_modules import get_matern_kernel_with_gamma_prior
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from common import decimals, own_version, processor, say, table, tensor, versions, with_error

SEEDS, ROUNDS = 3, 50
TASKS = ["dropwave", "alpine2", "rosenbrock", "ackley"]
# The task of the single fits and suggestions, in six dimensions.
SINGLE = "ackley"
DIM = 6
# Sets of rows per size: large fits are slow and differ less.
SETS = {20: 7, 110: 7, 500: 3}
NOISE = 1e-6  # of a noiseless reward, relative to its variance: mcbo's noise floor
BETA = 0.5  # multiplies the deviation, as everywhere in mcbo


# ---------------------------------------------------------------- the peers


def botorch_fit(x, y, alike=True):
    """`alike` is the model of mcbo's paper preset: Matérn-5/2, its gamma priors, known noise; else BoTorch's own."""
    alike_settings = {}
    if alike:
        alike_settings["train_Yvar"] = torch.full((len(y), 1), NOISE * y.var(ddof=1), dtype=torch.double)
        alike_settings["covar_module"] = get_matern_kernel_with_gamma_prior(ard_num_dims=x.shape[1])
    model = SingleTaskGP(tensor(x), tensor(y)[:, None], **alike_settings)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def botorch_predict(model, x):
    with torch.no_grad():
        posterior = model.posterior(tensor(x))
        return posterior.mean.numpy().ravel(), posterior.variance.numpy().ravel()


class BoTorch:
    def __init__(self, criterion, alike=True):
        self.criterion, self.alike = criterion, alike

    def start(self, dim, seed):
        torch.manual_seed(seed)
        self.bounds = tensor([[0.0] * dim, [1.0] * dim])

    def suggest(self, x, y):
        model = botorch_fit(x, y, self.alike)
        if self.criterion == "ei":
            acquisition = LogExpectedImprovement(model, best_f=y.max())
        else:
            # Its beta stands under a square root.
            acquisition = UpperConfidenceBound(model, beta=BETA**2)
        # The budget of BoTorch's own tutorials.
        found, _ = optimize_acqf(acquisition, self.bounds, q=1, num_restarts=10, raw_samples=512)
        return found.numpy().ravel()


class Optuna:
    def start(self, dim, seed):
        names = [f"a{k}" for k in range(dim)]
        self.distributions = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
        sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=0, deterministic_objective=True)
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.trial = None

    def suggest(self, x, y):
        if self.trial is not None:
            self.study.tell(self.trial, y[-1])
        for row, value in list(zip(x, y))[len(self.study.trials) :]:
            params = dict(zip(self.distributions, row.tolist()))
            known = optuna.trial.create_trial(params=params, distributions=self.distributions, value=value)
            self.study.add_trial(known)
        self.trial = self.study.ask(self.distributions)
        return np.array([self.trial.params[name] for name in self.distributions])


MATERN = egx.CorrelationSpec.MATERN52


class Egobox:
    def start(self, dim, seed):
        self.seed, self.egor = seed, egx.Egor([[0.0, 1.0]] * dim, gp_config=egx.GpConfig(corr_spec=MATERN))

    def suggest(self, x, y):
        # It minimises.
        return self.egor.suggest(x, -y[:, None], seed=self.seed + len(y)).ravel()


def egobox_predict(model, x):
    return model.predict(x).ravel(), model.predict_var(x).ravel()


# ---------------------------------------------------------------- the jobs


def fits(ours):
    """Seconds, error and surprise of every fit, by number of rows and label."""

    def own(preset, everything):
        def run(x, y, at, seed):
            request = {"preset": preset, "all": everything, "x": x.tolist(), "y": y.tolist(), "at": at.tolist()}
            answer = ours.ask(do="fit", seed=seed, **request)
            return answer["seconds"], np.array(answer["mean"]), np.array(answer["variance"])

        return run

    def peer(fit, predict):
        def run(x, y, at, seed):
            start = time.perf_counter()
            model = fit(x, y, seed)
            # The first prediction makes what is made lazily.
            predict(model, at[:1])
            seconds = time.perf_counter() - start
            return seconds, *predict(model, at)

        return run

    def egobox_fit(x, y, seed):
        return egx.Gpx.builder(corr_spec=MATERN, seed=seed).fit(x, y[:, None])

    who = {
        "**mcbo, MAP**": own("paper", True),
        "mcbo, MAP as in a study[^200]": own("paper", False),
        "mcbo, default: samples[^samples]": own("default", False),
        "BoTorch": peer(lambda x, y, seed: botorch_fit(x, y), botorch_predict),
        "egobox[^egobox]": peer(egobox_fit, egobox_predict),
    }
    results = {}
    for rows, sets in SETS.items():
        for number in range(-1, sets):
            generator = np.random.default_rng([rows, number + 1])
            # One untimed turn: libraries compile and load on first use.
            x = generator.random((rows if number >= 0 else 20, DIM))
            at = generator.random((1000, DIM))
            y, truth = ours.rewards(SINGLE, x), ours.rewards(SINGLE, at)
            for label, run in who.items():
                # Up to 200 rows a study fits to all of them too.
                if rows <= 200 and "[^200]" in label:
                    continue
                seconds, centre, variance = run(x, y, at, number + 1)
                variance = variance.clip(0) + NOISE * y.var()
                error = np.sqrt(np.mean((centre - truth) ** 2)) / truth.std()
                surprise = 0.5 * np.mean(np.log(2 * np.pi * variance) + (centre - truth) ** 2 / variance)
                if number >= 0:
                    results.setdefault((rows, label), []).append((seconds, error, surprise))
        say(f"fits of {rows} rows done")
    return results


def suggestions(ours):
    """Seconds and reward of one suggestion from given rows, by number of rows and label."""
    who = {
        "**mcbo `ei`, MAP**": ("ei", "ei-paper"),
        "mcbo `ei`, default": ("ei", "ei"),
        "BoTorch LogEI": ("ei", BoTorch("ei")),
        "Optuna GPSampler (LogEI)": ("ei", Optuna()),
        "egobox Egor (LogEI)": ("ei", Egobox()),
        "**mcbo `ucb`, MAP**": ("ucb", "ucb-paper"),
        "mcbo `ucb`, default": ("ucb", "ucb"),
        "BoTorch UCB": ("ucb", BoTorch("ucb")),
    }
    results = {}
    for rows in [20, 110]:
        for number in range(-1, SETS[rows]):
            x = np.random.default_rng([rows, number + 1]).random((rows, DIM))
            y = ours.rewards(SINGLE, x)
            for label, (criterion, method) in who.items():
                if isinstance(method, str):
                    answer = ours.ask(do="suggest", task=SINGLE, method=method, x=x.tolist(), seed=number + 1)
                    seconds, found = answer["seconds"], answer["x"]
                else:
                    method.start(DIM, number + 1)
                    start = time.perf_counter()
                    found = method.suggest(x, y)
                    seconds = time.perf_counter() - start
                if number >= 0:
                    reward = ours.rewards(SINGLE, [found])[0]
                    results.setdefault((rows, criterion, label), []).append((seconds, reward))
        say(f"suggestions from {rows} rows done")
    return results


RUNNERS = {
    "**mcbo `ei`, MAP**": "ei-paper",
    "mcbo `ei`, default": "ei",
    "mcbo `ucb`, MAP": "ucb-paper",
    "mcbo `ucb`, default": "ucb",
    "BoTorch LogEI": BoTorch("ei"),
    "BoTorch LogEI, its default model[^default]": BoTorch("ei", alike=False),
    "Optuna GPSampler": Optuna(),
    "egobox Egor": Egobox(),
    "random": "random",
    "mcbo, default: **sees the graph**": "mcbo",
    "mcbo, paper: **sees the graph**": "mcbo-paper",
}


def peer_run(ours, peer, task, x, seed, rounds):
    """The same protocol as mcbo_bench::run: seconds of the suggestions, rewards of the rounds."""
    y = ours.rewards(task, x)
    peer.start(x.shape[1], seed)
    seconds = 0.0
    for _ in range(rounds):
        start = time.perf_counter()
        found = peer.suggest(x, y)
        seconds += time.perf_counter() - start
        found = np.clip(found, 0.0, 1.0)
        x, y = np.vstack([x, found]), np.append(y, ours.rewards(task, [found]))
    return seconds, y[-rounds:]


def runs(ours, task, seeds, rounds):
    """Seconds, average and best reward of whole runs by label; the rewards of chance and of the optimum; failures."""
    results, failures = {label: [] for label in RUNNERS}, []
    for seed in range(seeds):
        design = ours.ask(do="design", task=task, seed=seed)
        x, optimum = np.array(design["x"]), design["optimum"]
        known = ours.rewards(task, x).max()
        for label, method in RUNNERS.items():
            if isinstance(method, str):
                answer = ours.ask(do="run", task=task, method=method, seed=seed, rounds=rounds)
                seconds, rewards = answer["seconds"], np.array(answer["rewards"])
            else:
                try:
                    seconds, rewards = peer_run(ours, method, task, x, seed, rounds)
                except Exception as error:  # whatever a library raises ends its run, not the comparison
                    failures.append(f"{label} stopped on {task}, seed {seed}: {type(error).__name__}: {error}")
                    say(failures[-1])
                    continue
            results[label].append((seconds, rewards.mean(), max(known, rewards.max())))
        say(f"{task}, seed {seed} done")
    floor = ours.rewards(task, np.random.default_rng(0).random((20_000, x.shape[1]))).mean()
    return results, floor, optimum, failures


# ---------------------------------------------------------------- the page


def ratio(seconds, ours):
    return f"{seconds / ours:.2g} ×" if seconds < 99.5 * ours else f"{seconds / ours:.0f} ×"


def fit_table(results):
    lines = []
    for (rows, label), measured in results.items():
        seconds, error, surprise = (median(column) for column in zip(*measured))
        ours = median(second for second, *_ in results[rows, "**mcbo, MAP**"])
        figures = [f"{1e3 * seconds:.1f}", ratio(seconds, ours), f"{error:.3f}", f"{surprise:.2f}"]
        lines.append([rows, label, *figures])
        if label.startswith("egobox"):
            lines.append([rows, "Optuna[^optuna]", "–", "–", "–", "–"])
    return table(["rows", "fit", "ms", "time / ours", "error", "surprise"], lines)


def suggestion_table(results):
    lines = []
    for (rows, criterion, label), measured in results.items():
        seconds, rewards = zip(*measured)
        ours = median(second for second, _ in results[rows, criterion, f"**mcbo `{criterion}`, MAP**"])
        figures = [f"{1e3 * median(seconds):.1f}", ratio(median(seconds), ours), with_error(rewards)]
        lines.append([rows, label, *figures])
    return table(["rows", "suggestion", "ms", "time / ours", "reward there"], lines)


def run_table(results, floor, optimum):
    def share(values):
        return f"{(mean(values) - floor) / (optimum - floor):.2f}"

    ours = median(second for second, *_ in results["**mcbo `ei`, MAP**"])
    lines = []
    for label, measured in results.items():
        if not measured:
            lines.append([label, *["–"] * 6])
            continue
        seconds, averages, bests = zip(*measured)
        times = [f"{median(seconds):.{decimals(median(seconds))}f}", ratio(median(seconds), ours)]
        if label == "random":
            times = ["–", "–"]
        lines.append([label, with_error(averages), share(averages), with_error(bests), share(bests), *times])
    header = ["optimiser", "average reward", "share", "best reward", "share", "s", "time / ours"]
    return table(header, lines)


NOTES = f"""\
Not alike, and why:

- mcbo with the graph is told every node of a trial and which reads which. The others see actions and reward alone.
- In a run mcbo and Optuna begin a fit from the hyper-parameters of the last round; BoTorch and egobox begin anew.
- The model "MAP" and BoTorch's are one: Matérn-5/2 with a lengthscale per input, Gamma(3, 6) on lengthscales and
  Gamma(2, 0.15) on the variance, constant mean, noise of {NOISE:g} of the variance. Optuna has priors of its own,
  egobox none.
- Every library searches its criterion with its own budget: BoTorch with that of its tutorials, 512 points and 10
  starts; mcbo with 672 and 24 in six dimensions, and starts at the two best trials as well.
  UCB is `μ + {BETA} σ` (BoTorch's beta is {BETA**2:g}).
- The libraries are called from Python; the interpreter's share is theirs, as it is for their users. Reading and
  writing the pipe, and evaluating the task, count for nobody.

[^200]: Hyper-parameters from 200 of the rows, evenly spread; the posterior from all. Up to 200 rows it is the fit
    above.
[^samples]: Four samples of the hyper-parameters instead of one maximum, one beyond 400 rows, and a choice of two
    kernels: more work than the others do.
[^egobox]: Ten starts of a search without derivatives.
[^optuna]: Its fit has no public function: only a whole suggestion can be timed.
[^default]: `SingleTaskGP(X, Y)`: squared exponential, log-normal priors that grow with the dimension, noise learned.
"""


def head(seeds, rounds, seconds):
    libraries = versions("botorch", "gpytorch", "torch", "optuna", "egobox", "scipy", "numpy")
    return f"""\
# mcbo beside its peers

Made on {date.today()} in {seconds / 60:.0f} minutes by

```sh
cargo xtask peers --only paper --seeds {seeds} --rounds {rounds}
```

One thread each, all in turn in one session: times are comparable within this page only, and other programs may have
used the machine. Every ratio is to the row in bold.

- Processor: {processor()}, {os.cpu_count()} cores.
- mcbo {own_version()}, {libraries}, Python {platform.python_version()}."""


def page(ours, seeds, rounds):
    """All of the comparison, as text."""
    began = time.perf_counter()
    parts = [
        "## One fit",
        f"Six dimensions, random rows of {SINGLE}; medians over {SETS[20]} sets of rows ({SETS[500]} of 500). Error: "
        "root mean square at 1000 other places, relative to the deviation there. Surprise: mean negative log density "
        "there, lower is better.",
        fit_table(fits(ours)),
        "## One suggestion",
        "A fit from nothing and the search of the criterion on the same rows; median time and mean reward over "
        f"{SETS[20]} sets. A ratio is to mcbo with the same criterion.",
        suggestion_table(suggestions(ours)),
        "## Whole runs",
        f"{rounds} rounds after the initial design of the task, which is the same for all; seeds 0 to "
        f"{seeds - 1}. Average reward: of the {rounds} rounds. Best: of the initial design too. "
        "Mean ± standard error. Share: 0 is the mean of random actions, 1 the optimum. s: seconds of all suggestions "
        "of a run, median over the seeds.",
    ]
    failures = []
    for task in TASKS:
        results, floor, optimum, failed = runs(ours, task, seeds, rounds)
        failures += failed
        parts += [f"### {task}", run_table(results, floor, optimum)]
    if failures:
        parts.append("Runs that a library did not finish, left out above:")
        parts.append("\n".join(f"- {failure}" for failure in failures))
    return "\n\n".join([head(seeds, rounds, time.perf_counter() - began), *parts, NOTES])
