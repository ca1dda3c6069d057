"""What Python costs on top of what Rust computes."""

from __future__ import annotations

import time

import mcbo
from conftest import grow


def test_overhead_of_ask_and_tell(greenhouse: mcbo.Problem) -> None:
    """At a hundred trials of the smallest problem there is: larger ones compute longer."""
    study = mcbo.create_study(greenhouse, seed=1)
    study.optimize(grow, n_trials=90)
    computed, around, telling = [], [], []
    for _ in range(20):
        start = time.perf_counter()
        trial = study.ask()
        # The suggestion itself is timed by the library's own clock.
        computed.append(trial.seconds or 0.0)
        around.append(time.perf_counter() - start - computed[-1])
        values = grow(trial)
        start = time.perf_counter()
        study.tell(trial, values)
        telling.append(time.perf_counter() - start)
    # What else runs on the machine only adds.
    inside, outside = min(computed), min(around) + min(telling)
    overhead = outside / inside
    print(f"\n{1e3 * inside:.2f} ms a trial in Rust, {1e3 * outside:.3f} ms around it: {100 * overhead:.2f} %")
    assert overhead < 0.2
