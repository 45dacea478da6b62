"""The best of many random links, by successive halving: all of them once, the better half with twice the runs, and so on to one.

Each round has as many runs as there are links, so the last two are told apart by as many as all had in the first. What the winner was
chosen by says nothing of how good it is, since whoever is luckiest wins: it must be measured afresh (`searched` in the controls of
tests/bench/layout_controls). Jamieson and Talwalkar, AISTATS 2016, have the rule; with a fixed number of runs it is within a logarithm of the best.
"""
import csv
import io
import math
import statistics


def blocks_of(text, response="task-clock"):
    """Of report --csv's text: [{link: log of the response}], one for each block."""
    blocks = {}
    for row in csv.DictReader(io.StringIO(text)):
        if not row["excluded"] and row.get(response):
            blocks.setdefault(row["block"], {})[row["placing"]] = math.log(float(row[response]))
    return list(blocks.values())


def scores(blocks, alive):
    """{link: median of its logarithms less their block's median}, of the links that are alive: the others' places don't matter any more.
    Medians, since a run that the machine disturbed says nothing of its link."""
    seen = {}
    for block in blocks:
        here = {link: value for link, value in block.items() if link in alive}
        if len(here) < 2:
            continue
        middle = statistics.median(here.values())
        for link, value in here.items():
            seen.setdefault(link, []).append(value - middle)
    return {link: statistics.median(values) for link, values in seen.items()}


def search(links, measure, say=lambda text: None):
    """The link that is left. measure(links, runs, round): the blocks of one round, as blocks_of has them. A link without any time goes
    first; ValueError where none has one."""
    alive, blocks, runs, number = list(links), [], 1, 0
    while len(alive) > 1:
        blocks += measure(alive, runs, number)
        found = scores(blocks, set(alive))
        if not found:
            raise ValueError(f"no two of {len(alive)} links have times of one block")
        alive = sorted(found, key=found.get)[:(len(alive) + 1) // 2]
        say(f"round {number + 1}: {len(found)} links, {runs} more run(s) of each; best {alive[0]}, "
            f"{100 * math.expm1(found[alive[0]]):+.1f} % to the median, the last that stays {100 * math.expm1(found[alive[-1]]):+.1f} %")
        runs, number = 2 * runs, number + 1
    return alive[0]
