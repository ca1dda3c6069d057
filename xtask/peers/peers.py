#!/usr/bin/env python3
"""Times and rewards of mcbo beside BoTorch, Optuna and egobox.

Run it with `cargo xtask peers`. Our side is the example `peers` of mcbo-bench, kept running behind a pipe. It also
answers for the tasks, so that no function is written down twice. All rewards are maximised.

Two parts, each with its own place in docs/results/peers.md: `paper` comes first, `choices` from its heading on.
"""

import argparse
import sys

# First: it says on how many threads the libraries compute.
from common import ROOT, Ours, say

import choices
import paper

PAGE = ROOT / "docs/results/peers.md"


def parts(text):
    """The page's two parts."""
    before, heading, after = text.partition(choices.HEADING)
    return before.rstrip() + "\n", heading + after


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["paper", "choices"])
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--minutes", type=int)
    options = parser.parse_args()
    ours = Ours()
    for part, make in [("paper", paper), ("choices", choices)]:
        if options.only not in [None, part]:
            continue
        seeds, rounds = options.seeds or make.SEEDS, options.rounds or make.ROUNDS
        if part == "paper":
            text = paper.page(ours, seeds, rounds)
        else:
            text = choices.section(ours, seeds, rounds, options.minutes)
        before, after = parts(PAGE.read_text() if PAGE.exists() else "")
        before, after = (text, after) if part == "paper" else (before, text)
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(f"{before.rstrip()}\n\n{after}".strip() + "\n")
        print(text)
        say(f"written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; finished runs with choices are kept, and the same command goes on from them")
