"""What the parts of the comparison share: our side behind a pipe, and how figures are written."""

import os

# Before the libraries are loaded; our side inherits them.
for threads in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"]:
    os.environ[threads] = "1"

import json
import platform
import subprocess
import sys
import tomllib
import warnings
from importlib.metadata import version
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import optuna
import torch

# torch and gpytorch warn of each other's ways; nothing of it is about the figures.
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
optuna.logging.set_verbosity(optuna.logging.ERROR)

ROOT = Path(__file__).resolve().parents[2]


class Ours:
    """The program of mcbo: a request and an answer, one line of JSON each."""

    def __init__(self):
        command = [os.environ.get("CARGO", "cargo"), "run", "--quiet", "--release"]
        command += ["--package", "mcbo-bench", "--example", "peers"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("error: the example `peers` of mcbo-bench stopped; what it said is above")
        return json.loads(line)

    def rewards(self, task, x):
        return np.array(self.ask(do="rewards", task=task, x=np.asarray(x).tolist())["rewards"])


def tensor(values):
    return torch.tensor(values, dtype=torch.double)


def say(text):
    print(text, file=sys.stderr, flush=True)


def decimals(value):
    return next((digits for digits, size in enumerate([100, 10, 1]) if abs(value) >= size), 3)


def with_error(values):
    """The mean and its standard error, with equal decimals."""
    digits = decimals(mean(values))
    text = f"{mean(values):.{digits}f}"
    return f"{text} ± {stdev(values) / len(values) ** 0.5:.{digits}f}" if len(values) > 1 else text


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def versions(*libraries):
    return ", ".join(f"{name} {version(name)}" for name in libraries)


def own_version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
