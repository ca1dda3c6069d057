"""What `study.ask()` and `study.best()` take from Python and from Rust: the same problem, rows and seed, in turn.

    cargo build --release --workspace --example asking
    maturin build --release ... && pip install ...        # the package as users have it
    python crates/mcbo-py/benches/beside_rust.py target/release/examples/asking [TURNS]

Processor time of one thread each, since other work on the machine then adds least; the quickest of all turns counts.
What was chosen must be the same to the bit.
"""

from __future__ import annotations

import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

os.environ["RAYON_NUM_THREADS"] = "1"
import mcbo

ROWS = 300
PROBLEM = """
name = "plant"
maximize = "yield"
[nodes.water]
actions = ["valve"]
[nodes.soil]
parents = ["water"]
actions = ["dose"]
[nodes.leaf]
parents = ["soil", "water"]
[nodes.light]
actions = ["lamp"]
[nodes.growth]
parents = ["leaf", "light"]
[nodes.yield]
parents = ["growth", "soil"]
[actions.valve]
range = [0, 10]
[actions.dose]
range = [0, 5]
[actions.lamp]
range = [0, 16]
"""


def rows() -> list[dict[str, float]]:
    """Trials of a made-up plant."""
    rng = random.Random(3)
    made = []
    for _ in range(ROWS):
        valve, dose, lamp = rng.uniform(0, 10), rng.uniform(0, 5), rng.uniform(0, 16)
        water = 0.3 + 0.05 * valve + rng.gauss(0, 0.02)
        soil = water * (1 + dose) - 0.1 * dose**2 + rng.gauss(0, 0.05)
        leaf = soil - (soil - 1.5) ** 2 + water + rng.gauss(0, 0.05)
        light = 1 - (lamp / 16 - 0.7) ** 2 + rng.gauss(0, 0.02)
        growth = leaf * light + rng.gauss(0, 0.05)
        last = growth - 0.1 * soil + rng.gauss(0, 0.05)
        made.append(
            {
                "valve": valve,
                "dose": dose,
                "lamp": lamp,
                "water": water,
                "soil": soil,
                "leaf": leaf,
                "light": light,
                "growth": growth,
                "yield": last,
            }
        )
    return made


def bits(value: float) -> str:
    """A number as Rust writes its bits."""
    return f"{struct.unpack('>Q', struct.pack('>d', value))[0]:016x}"


def main() -> None:
    """Both in turn."""
    program, turns = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12
    data, problem = rows(), mcbo.Problem.from_toml(PROBLEM)
    took: dict[str, list[float]] = {}
    chosen: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        at, lines = os.path.join(folder, "plant.toml"), os.path.join(folder, "rows")
        with open(at, "w") as file:
            file.write(PROBLEM)
        with open(lines, "w") as file:
            file.writelines(" ".join(map(repr, row.values())) + "\n" for row in data)
        for _ in range(turns):
            for kind in ("ask", "best"):
                # Reading the rows is a thousandth of it.
                start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                said = subprocess.run([program, at, lines, kind], check=True, capture_output=True, text=True).stdout
                spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
                took.setdefault(f"{kind} Rust", []).append(spent)
                chosen.setdefault(kind, set()).add(said.split()[2])
            study = mcbo.create_study(problem, seed=1)
            study.add_trials(data)
            start = time.process_time()
            best = study.best()
            took.setdefault("best Python", []).append(time.process_time() - start)
            chosen["best"].add(bits(best.intervention.actions["valve"]))
            start = time.process_time()
            trial = study.ask()
            took.setdefault("ask Python", []).append(time.process_time() - start)
            chosen["ask"].add(bits(trial.intervention.actions["valve"]))
    for kind in ("ask", "best"):
        rust, python = min(took[f"{kind} Rust"]), min(took[f"{kind} Python"])
        same = "the same to the bit" if len(chosen[kind]) == 1 else f"NOT THE SAME: {chosen[kind]}"
        print(f"{kind}: {1e3 * rust:.2f} ms from Rust, {1e3 * python:.2f} ms from Python, {python / rust:.3f}; {same}")


if __name__ == "__main__":
    main()
