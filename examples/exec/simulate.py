#!/usr/bin/env python3
"""One experiment for `mcbo run problem.toml --exec 'python3 simulate.py'`.

A suggestion comes as one line of JSON on stdin; the values of the nodes go as one JSON object to stdout. Replace
everything between the two by your own experiment. What is printed to stderr appears in the terminal; an exit
code other than 0 marks the trial as failed.
"""

import json
import math
import random
import sys

suggestion = json.load(sys.stdin)
actions = suggestion["intervention"]["actions"]  # every action has a value: {"speed": 61.3}
forced = suggestion["intervention"]["values"]  # only the nodes that are set in this trial: {} or {"grain": 420.0}

# The same trial gives the same numbers, so that a run can be repeated.
noise = random.Random(suggestion["trial"])

humidity = noise.gauss(45, 5)
thickness = 9000 / (10 + actions["speed"]) + 300 + noise.gauss(0, 8)
grain = 1.1 * thickness - 4 * (humidity - 40) + noise.gauss(0, 15)
if "grain" in forced:
    grain = forced["grain"]
efficiency = (
    21 * math.exp(-(((thickness - 450) / 120) ** 2))
    * (1 - 0.5 * math.exp(-grain / 200))
    * math.exp(-(((grain - 620) / 400) ** 2))
    + noise.gauss(0, 0.2)
)

# The microscope is not always free: null means that a node was not measured.
seen = suggestion["trial"] % 5 != 0

json.dump(
    {
        "humidity": humidity,
        "thickness": thickness,
        "grain": grain if seen or "grain" in forced else None,
        "efficiency": efficiency,
    },
    sys.stdout,
)
