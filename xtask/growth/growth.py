"""How the command grows: tables for docs/performance.md.

    cargo build --release && python3 xtask/growth/growth.py target/release/mcbo [rows] [trials] [nodes] [sets]

It needs GNU time. Processor seconds of single commands on one thread, with the largest memory; other work on the machine does not change them much.
Under each table: the exponent of its last column, by least squares of the logarithms over its larger half.
"""

import hashlib
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

MCBO = os.path.abspath(sys.argv[1])
WANTED = sys.argv[2:] or ["rows", "trials", "nodes", "sets"]
FOLDER = tempfile.TemporaryDirectory(prefix="mcbo-growth-")
FILE = os.path.join(FOLDER.name, "studies.sqlite")
os.environ |= {"MCBO_STORAGE": "sqlite://" + FILE, "RAYON_NUM_THREADS": "1"}


def run(*arguments):
    """Runs the command; its processor seconds and its memory in MB."""
    # A child of this program would begin with this program's memory on its account.
    clock = ["/usr/bin/time", "-f", "%U %S %M", MCBO]
    done = subprocess.run([*clock, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr}")
    user, system, memory = map(float, done.stderr.split()[-3:])
    return user + system, round(memory / 1024)


def path(name):
    return os.path.join(FOLDER.name, name)


def write(name, text):
    with open(path(name), "w") as file:
        file.write(text)
    return path(name)


def table(title, columns, lines):
    """Prints a table; each line is a size and some (seconds, MB)."""
    print(f"\n{title}\n\n| {' | '.join(columns)} | memory |\n|{'---|' * (len(columns) + 1)}")
    for size, *cells in lines:
        seconds = " | ".join(f"{cell[0]:.2f}" for cell in cells)
        print(f"| {size:,} | {seconds} | {max(cell[1] for cell in cells)} MB |", flush=True)
    half = [(math.log(line[0]), math.log(max(line[-1][0], 1e-3))) for line in lines[len(lines) // 2 :]]
    if len(half) > 1:
        x, y = (sum(column) / len(half) for column in zip(*half))
        slope = sum((a - x) * (b - y) for a, b in half) / sum((a - x) ** 2 for a, _ in half)
        print(f"\nExponent of {columns[-1]} from {lines[len(lines) // 2][0]:,} on: {slope:.2f}", flush=True)


def chain(count, aside=0):
    """A chain with ten actions along it, and nodes beside it that lead nowhere: its file and its columns."""
    every = max(1, count // 10)
    text = f'maximize = "x{count - 1}"\n'
    for node in range(count):
        text += f"[nodes.x{node}]\n" + (f'parents = ["x{node - 1}"]\n' if node else "")
        text += f'actions = ["a{node}"]\n[actions.a{node}]\nrange = [0, 1]\n' if node % every == 0 else ""
    text += "".join(f'[nodes.z{node}]\nparents = ["x{node % count}"]\n' for node in range(aside))
    return text, [f"a{node}" for node in range(0, count, every)], count, aside


def measured(actions, count, aside, rows):
    """Rows of such a chain."""
    chance = random.Random(1)
    lines = [",".join(actions + [f"x{node}" for node in range(count)] + [f"z{node}" for node in range(aside)])]
    for _ in range(rows):
        done = {name: chance.random() for name in actions}
        values = []
        for node in range(count):
            before = values[-1] if values else 0.0
            values.append(math.sin(before + done.get(f"a{node}", 0.0)) + chance.gauss(0, 0.1))
        values += [values[node % count] + chance.gauss(0, 0.1) for node in range(aside)]
        lines.append(",".join(map(repr, [*done.values(), *values])))
    return "\n".join(lines) + "\n"


def study(name, problem, rows):
    """A study of such a chain with rows; what adding them took."""
    text, actions, count, aside = problem
    run("new", name, "--problem", write(f"{name}.toml", text))
    return run("add", name, "--csv", write(f"{name}.csv", measured(actions, count, aside, rows)))


def rows():
    lines = []
    for count in [20, 100, 500, 1000, 2000, 5000, 20_000, 100_000]:
        added = study(f"rows{count}", chain(6), count)
        lines.append((count, added, run("status", f"rows{count}"), run("ask", f"rows{count}")))
    table("Rows, chain of 6", ["rows", "`add`", "`status`", "`ask`"], lines)


def nodes():
    lines = []
    for count in [2, 10, 30, 100, 300, 1000]:
        added = study(f"nodes{count}", chain(count), 40)
        lines.append((count, run("check", path(f"nodes{count}.toml")), added, run("ask", f"nodes{count}")))
    table("Nodes that all lead to the reward, 40 rows", ["nodes", "`check`", "`add`", "`ask`"], lines)
    lines = []
    for count in [10, 30, 100, 300, 1000]:
        added = study(f"aside{count}", chain(8, count - 8), 40)
        lines.append((count, run("check", path(f"aside{count}.toml")), added, run("ask", f"aside{count}")))
    table("Nodes of which 8 lead to the reward, 40 rows", ["nodes", "`check`", "`add`", "`ask`"], lines)


def sets():
    lines = []
    for count in [2, 5, 10, 20, 40]:
        chance = random.Random(2)
        text = 'maximize = "y"\n' + "".join(f"[nodes.x{node}]\ndo = [-1, 1]\n" for node in range(count))
        text += f"[nodes.y]\nparents = {json.dumps([f'x{node}' for node in range(count)])}\n"
        cells = [",".join([f"x{node}" for node in range(count)] + ["y"])]
        for _ in range(60):
            values = [chance.gauss(0, 0.5) for _ in range(count)]
            reward = sum(math.cos(2 * value - node) for node, value in enumerate(values)) + chance.gauss(0, 0.1)
            cells.append(",".join(map(repr, [*values, reward])))
        run("new", f"sets{count}", "--problem", write(f"sets{count}.toml", text), "--initial", "1")
        run("add", f"sets{count}", "--csv", write(f"sets{count}.csv", "\n".join(cells) + "\n"))
        lines.append((count, run("ask", f"sets{count}")))
    table("Nodes that can be set, any of them together, 60 rows", ["settable", "`ask`"], lines)


def trials():
    for strategy in ["random", "mcbo"]:
        lines = []
        for count in [10, 100, 1000, 10_000, 100_000]:
            if strategy == "mcbo" and count > 10_000:
                continue
            name = f"{strategy}{count}"
            text, actions, *_ = chain(3)
            problem = write(f"{name}.toml", text)
            run("new", name, "--problem", problem, "--strategy", strategy, "--initial", "4")
            for trial in range(1, 9):
                run("ask", name)
                run("tell", name, str(trial), "x0=0.1", "x1=0.2", f"x2={0.1 * trial}")
            prolong(name, count)
            # The first command reads all of the log and writes a snapshot; it is the others that count.
            told = run("tell", name, str(ask(name)), "x0=0.1", "x1=0.2", "x2=0.3")
            lines.append((count, run("ask", name), told, run("status", name)))
        table(f"Trials in a log, strategy `{strategy}`", ["trials", "`ask`", "`tell`", "`status`"], lines)


def ask(name):
    said = subprocess.run([MCBO, "ask", name, "--worker", "w", "--json"], capture_output=True, check=True)
    said = json.loads(said.stdout)
    return said["trial"] if "trial" in said else said["number"]


def prolong(name, count):
    """Writes the last proposal and its values to the log of a study again and again, until there are so many trials."""
    database = sqlite3.connect(FILE)
    columns = "id, created, trials, pending, complete, failed, head, tip"
    [(number, created, *counts, head, tip)] = database.execute(f"SELECT {columns} FROM studies WHERE name = ?", [name])
    last = "SELECT at, payload FROM events WHERE study = ? AND kind = ? ORDER BY seq DESC LIMIT 1"
    kinds = [(kind, *database.execute(last, [number, kind]).fetchone()) for kind in ["asked", "told"]]
    kinds = [(kind, at, json.loads(payload)) for kind, at, payload in kinds]

    def digest(*parts):
        sha = hashlib.sha256()
        for part in parts:
            part = part.to_bytes(8, "little", signed=True) if isinstance(part, int) else part
            part = part.encode() if isinstance(part, str) else part
            sha.update(len(part).to_bytes(8, "little") + part)
        return sha.hexdigest()[:32]

    for trial in range(counts[0] + 1, count + 1):
        for kind, at, payload in kinds:
            payload = json.dumps(payload | {"trial": trial})
            head += 1
            tip = digest(tip, head, at, kind, hashlib.sha256(payload.encode()).digest())
            event = [number, head, at, kind, payload, tip]
            database.execute("INSERT INTO events (study, seq, at, kind, payload, digest) VALUES (?, ?, ?, ?, ?, ?)", event)
    grown = max(0, count - counts[0])
    counts[0], counts[2] = counts[0] + grown, counts[2] + grown
    seal = digest(name, number, created, kinds[1][1], head, *counts, tip)
    line = [kinds[1][1], counts[0], counts[2], head, tip, seal, number]
    database.execute("UPDATE studies SET changed = ?, trials = ?, complete = ?, head = ?, tip = ?, seal = ? WHERE id = ?", line)
    database.commit()
    database.close()


if __name__ == "__main__":
    for wanted in WANTED:
        {"rows": rows, "trials": trials, "nodes": nodes, "sets": sets}[wanted]()
