#!/usr/bin/python3
"""The table of docs/evaluation/simulated.md from a database of plans/evaluation/simulated.toml.

    plans/evaluation/simulated_tables.py DATABASE [EXPERIMENT]

By the number of layouts in a run: trials, mean of the cost against runs of one layout, standard deviation of its logarithm, that times
the root of the number, and Shapiro-Wilk's p (of stabctl stats). Blocks that aren't whole are left out.
"""
import csv
import io
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

BIN = Path(os.environ.get("LAB_BIN", Path(__file__).resolve().parents[2] / "build/release/bin"))
LAYOUTS = {"0visits": 1, "15visits": 4, "4visits": 15, "2visits": 30, "1visits": 60}


def stabctl(*words, **more):
    return subprocess.run([BIN / "stabctl", *map(str, words)], capture_output=True, text=True, check=True, **more).stdout


def whole_blocks(rows):
    blocks = {}
    for row in rows:
        if not row["excluded"]:
            blocks.setdefault(row["block"], {})[row["epoch"]] = float(row["simulated_cost"])
    return [block for block in blocks.values() if set(block) == set(LAYOUTS)]


def shapiro_wilk(values):
    """The p-value."""
    text = "x\n" + "".join(f"{value!r}\n" for value in values)
    return json.loads(stabctl("stats", "shapiro-wilk", "-", "--json", input=text))["p_value"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    experiment = sys.argv[2] if len(sys.argv) > 2 else "1"
    blocks = whole_blocks(csv.DictReader(io.StringIO(stabctl("report", experiment, "--csv", "--db", sys.argv[1]))))
    if len(blocks) < 3:
        sys.exit(f"{sys.argv[1]}: {len(blocks)} whole blocks, expected at least 3")
    print("| layouts a run | runs | mean cost against one layout | sd of log cost | sd x sqrt(layouts) | Shapiro-Wilk p |")
    print("|---|---|---|---|---|---|")
    base = statistics.fmean(block["0visits"] for block in blocks)
    for level, layouts in LAYOUTS.items():
        costs = [block[level] for block in blocks]
        sd = statistics.stdev(math.log(cost) for cost in costs)
        change = 100 * (statistics.fmean(costs) / base - 1)
        print(f"| {layouts} | {len(costs)} | {change:+.2f} % | {100 * sd:.2f} % | {100 * sd * math.sqrt(layouts):.2f} % | "
              f"{shapiro_wilk(costs):.3g} |")


main()
