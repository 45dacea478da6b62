"""The race: what each of seven ways found in twenty runs a side, how often it was wrong and how much time it would need for 1 %.

docs/evaluation/sliced.md says what was asked before the data. race_ways.py has the ways.
"""
import math
import statistics

from pairs_tables import p_four
from recorded import as_ratio, binomial, mcnemar, of_pairs, percent, ratio, share, table, units, verdict_on_level
from sliced_tables import ALPHA, one_sided, verdicts

FIRST_ASKED = {"race": 1, "race-quiet": 6}   # the number of the first of five questions
PLANTED = math.log(1.01)
QUANTILES = 1.960 + 0.842   # two-sided 5 %, and 80 % power
TIMES = 10   # as much machine time
UNPAIRED = {"hyperfine": "wall_ns", "links": "cpu_ns"}   # and their response; the others' is CPU time in blocks


def tables(recorded):
    """V1 to V5, of the experiments that were asked in all ways; on a quiet machine V6 to V10."""
    first = FIRST_ASKED[recorded.name]
    ways = list(dict.fromkeys(cell["way"] for cell in recorded.cells))
    subjects = [subject for subject in recorded.subjects if all(recorded.where(subject, way=way) for way in ways)]
    asked = {(subject, way): experiment(recorded, subject, way) for subject in subjects for way in ways}
    found, wrong = ({way: {s for s in subjects if asked[s, way][what]} for way in ways} for what in ("found", "wrong"))
    planted = [subject for subject in subjects if is_planted(subject)]
    equal = [subject for subject in subjects if not is_planted(subject)]

    def only(sets, ours, other):
        return len(sets[ours] - sets[other]), len(sets[other] - sets[ours])
    rows = []
    for question, other in (("V1", "hyperfine"), ("V2", "blocks")):
        more, fewer = only(found, "matched", other)
        rows.append((question, f"found by matched {len(found['matched'])}, by {other} {len(found[other])} of {len(planted)}; only by matched {more}, "
                     f"only by {other} {fewer}; p {p_four(mcnemar(more, fewer))}", one_sided(mcnemar(more, fewer), more - fewer)))
    times = {way: {subject: asked[subject, way]["needed"] for subject in subjects} for way in ways}
    ratios = {other: as_ratio(of_pairs("wilcoxon", times[other], times["matched"])) for other in ("hyperfine", "blocks")}
    rows.append(("V3", "; ".join(f"{other} needs {times_text(r)} times as much" for other, r in ratios.items()),
                 "confirmed" if all((r["conf_low"] or 0) > TIMES for r in ratios.values()) else
                 "refuted" if any((r["conf_high"] or math.inf) < TIMES for r in ratios.values()) else "open"))
    alarms = binomial(len(wrong["matched"] & set(equal)), len(equal), ALPHA)
    rows.append(("V4", f"{len(wrong['matched'] & set(equal))} alarms of {len(equal)}: {share(alarms)}",
                 verdict_on_level(alarms, ALPHA)))
    more, fewer = only(wrong, "sliced plain", "matched")
    rows.append(("V5", f"wrong by sliced plain {len(wrong['sliced plain'])}, by matched {len(wrong['matched'])} of {len(subjects)}; only by "
                 f"sliced plain {more}, only by matched {fewer}; p {p_four(mcnemar(more, fewer))}", one_sided(mcnemar(more, fewer), more - fewer)))
    if recorded.facts["planned"] > len(recorded.trials):   # a rule is about all of it
        rows = [(name, seen, f"waits: {len(recorded.trials)} of {recorded.facts['planned']} runs are there") for name, seen, _ in rows]
    rows = [(f"V{first + number}", seen, verdict) for number, (_, seen, verdict) in enumerate(rows)]
    legend = ("By way (found: p < 0.05 and slower; needed: machine time for 80 % power, of the median experiment and of the quarters' ends; "
              "half interval: of the median experiment):")
    head = ["way", "planted 1 %: found", "called faster", "equal: called different", "half interval", "machine time", "needed for 1 %"]
    lines = []
    for way in ways:
        needed = statistics.quantiles(times[way].values(), n=4, method="inclusive")
        lines.append([way, f"{len(found[way])} of {len(planted)}", len(wrong[way] & set(planted)), f"{len(wrong[way] & set(equal))} of {len(equal)}",
                      percent(statistics.median(asked[s, way]["half"] for s in subjects), 2),
                      seconds(statistics.median(asked[s, way]["took"] for s in subjects)),
                      f"{seconds(needed[1])} [{seconds(needed[0])}, {seconds(needed[2])}]"])
    return {recorded.name: "\n\n".join([recorded.header(), verdicts(rows), legend, table(head, lines)])}, {}


def experiment(recorded, subject, way):
    """What a way answered: whether it found the planted slowdown, whether it was wrong, its time and what it would need."""
    ours, base = (recorded.where(subject, way=way, side=side) for side in "BA")
    log_ratio, error, p, half = unpaired(ours, base, way) if way in UNPAIRED else paired(ours, base)
    starts, ends = zip(*((t["started_ms"] / 1e3, t["started_ms"] / 1e3 + t["wall_ns"] / 1e9) for t in ours + base))
    differs, planted, took = p < ALPHA, is_planted(subject), max(ends) - min(starts)
    return {"found": planted and differs and log_ratio > 0, "wrong": differs and not (planted and log_ratio > 0), "took": took, "half": half,
            "needed": took * (QUANTILES * error / PLANTED) ** 2}


def unpaired(ours, base, way):
    """(estimated log ratio, its standard error, p, half of its 95 % interval) by Welch's test on logarithms."""
    response = UNPAIRED[way]
    answer = ratio(*(units(side, response) if way == "links" else [t[response] for t in side] for side in (ours, base)))
    log_ratio = math.log(answer["estimate"])
    return log_ratio, log_ratio / answer["statistic"], answer["p_value"], math.log(answer["conf_high"] / answer["conf_low"]) / 2


def paired(ours, base):
    """The same by the paired t-test on logarithms of CPU time."""
    answer = of_pairs("paired-t", *({t["block"]: t["cpu_ns"] for t in side} for side in (ours, base)))
    return answer["estimate"], answer["standard_error"], answer["p_value"], (answer["conf_high"] - answer["conf_low"]) / 2


def is_planted(subject):
    return "-planted-" in subject


def times_text(found):
    low, high = ("-" if found[bound] is None else f"{found[bound]:.1f}" for bound in ("conf_low", "conf_high"))   # few values have no interval
    return f"{found['estimate']:.1f} [{low}, {high}]"


def seconds(value):
    return f"{value:.0f} s" if value < 600 else f"{value / 60:.0f} min"
