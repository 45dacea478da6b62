"""Numbers that the pages state of the race, from the recorded runs by second_way.py, without stabctl and without race_tables.py."""
import functools
import math
import statistics
from collections import defaultdict

import second_way as way

UNPAIRED = {"hyperfine": lambda row: row["wall_ns"], "links": lambda row: row["user_ns"] + row["system_ns"]}
NEEDED = (1.960 + 0.842) / math.log(1.01)   # two-sided 5 %, 80 % power, a slowdown of 1 %


@functools.cache
def answers(trials, race):
    """{way: {experiment: (difference of logarithms, its standard error, p, seconds from first start to last end)}}."""
    runs = defaultdict(lambda: defaultdict(list))
    for row in trials(race):
        runs[row["way"]][row["subject"]].append(row)
    complete = set.intersection(*(set(own) for own in runs.values()))
    return {name: {subject: answer(name, rows) for subject, rows in own.items() if subject in complete} for name, own in runs.items()}


def answer(name, rows):
    sides = {side: [row for row in rows if row["side"] == side] for side in "AB"}
    took = max(r["started_ms"] / 1e3 + r["wall_ns"] / 1e9 for r in rows) - min(r["started_ms"] for r in rows) / 1e3
    if name in UNPAIRED:
        b, a = (way.logs(draws(name, sides[side])) for side in "BA")
        error = math.sqrt(sum(statistics.variance(side) / len(side) for side in (a, b)))
        return statistics.fmean(b) - statistics.fmean(a), error, way.welch(b, a), took
    cpu = {side: {row["block"]: math.log(row["user_ns"] + row["system_ns"]) for row in own} for side, own in sides.items()}
    differences = [cpu["B"][block] - cpu["A"][block] for block in cpu["A"].keys() & cpu["B"].keys()]
    found = way.paired(differences)
    return found["mean"], statistics.stdev(differences) / math.sqrt(len(differences)), found["p"], took


def draws(name, rows):
    """What is independent: runs, or the means of links."""
    if name != "links":
        return [UNPAIRED[name](row) for row in rows]
    links = defaultdict(list)
    for row in rows:
        links[row["link"]].append(UNPAIRED[name](row))
    return [statistics.fmean(own) for own in links.values()]


def add_race(add, trials, race, stem):
    """Those of one run of it: `race` is its file, `stem` what its numbers' names begin with."""
    def count(name, kind, holds):
        return sum(f"-{kind}-" in subject and p < 0.05 and holds(difference) for subject, (difference, _, p, _) in answers(trials, race)[name].items())

    def needed(name):
        return [took * (NEEDED * error) ** 2 for _, error, _, took in answers(trials, race)[name].values()]
    for name in ("hyperfine", "pairs", "links", "sliced plain", "blocks", "sliced", "matched"):
        word = name.replace(" ", "_")
        add(f"{stem}.{word}.found", lambda name=name: count(name, "planted", lambda d: d > 0))
        add(f"{stem}.{word}.faster", lambda name=name: count(name, "planted", lambda d: d < 0))
        add(f"{stem}.{word}.alarms", lambda name=name: count(name, "equal", lambda d: True))
        add(f"{stem}.{word}.needed_s", lambda name=name: statistics.median(needed(name)))
        add(f"{stem}.{word}.needed_min", lambda name=name: statistics.median(needed(name)) / 60)
    for kind in ("planted", "equal"):
        add(f"{stem}.{kind}", lambda kind=kind: sum(f"-{kind}-" in subject for subject in answers(trials, race)["matched"]))
    add(f"{stem}.n", lambda: len(answers(trials, race)["matched"]))
