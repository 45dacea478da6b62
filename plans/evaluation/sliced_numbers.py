"""Numbers that the pages state of the sliced experiments, from the recorded trials by second_way.py, without stabctl and without
sliced_tables.py. named_numbers.py adds them to the others."""
import functools
import math
import statistics
from collections import defaultdict

import second_way as way

COMPILERS = {"plain": "clang-19", "randomized": "szc"}
ORDERED = "aa-sliced"


def add_sliced(add, trials):
    """add(name, value); trials(experiment): its recorded trials as dictionaries."""
    add_pairs(add, functools.partial(pair_answers, trials))


@functools.cache
def pair_answers(trials, builds):
    """{pair: (p of the paired t-test, distance of the means, sd of a block's difference)}, of logarithms of CPU time."""
    times = defaultdict(lambda: defaultdict(dict))
    for row in trials(ORDERED):
        if row["cc"] == COMPILERS[builds]:
            times[row["subject"]][row["block"]][row["side"]] = math.log(row["cpu_ns"])
    found = {}
    for pair, blocks in times.items():
        differences = [sides["A"] - sides["B"] for sides in blocks.values() if len(sides) == 2]
        found[pair] = way.paired(differences)["p"], abs(statistics.fmean(differences)), statistics.stdev(differences)
    return found


def add_pairs(add, answers):
    def alarmed(builds):
        return {pair for pair, (p, *_) in answers(builds).items() if p < 0.05}

    def only(left, right):
        return len(alarmed(left) - alarmed(right))
    for builds in COMPILERS:
        add(f"sliced.pairs.{builds}.alarms", lambda builds=builds: len(alarmed(builds)))
        add(f"sliced.pairs.{builds}.share", lambda builds=builds: 100 * len(alarmed(builds)) / len(answers(builds)))
        for bound, at in (("low", 0), ("high", 1)):
            add(f"sliced.pairs.{builds}.{bound}", lambda builds=builds, at=at: 100 * way.clopper_pearson(len(alarmed(builds)), len(answers(builds)))[at])
        add(f"sliced.pairs.{builds}.apart", lambda builds=builds: 100 * statistics.median(d for _, d, _ in answers(builds).values()))
        add(f"sliced.pairs.{builds}.sd", lambda builds=builds: 100 * statistics.median(sd for *_, sd in answers(builds).values()))
        add(f"sliced.pairs.{builds}.furthest", lambda builds=builds: 100 * max(d for _, d, _ in answers(builds).values()))
    add("sliced.pairs.n", lambda: len(answers("plain")))
    add("sliced.pairs.programs", lambda: len({pair.rpartition("-")[0] for pair in answers("plain")}))
    add("sliced.pairs.p.alarms", lambda: way.sign_test(only("plain", "randomized"), only("randomized", "plain")))
    add("sliced.pairs.p.apart", lambda: way.signed_ranks([answers("plain")[pair][1] - answers("randomized")[pair][1] for pair in answers("plain")]))
