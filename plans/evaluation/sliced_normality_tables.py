"""How a run's time goes to normal with its number of layouts: the tables that answer N1 to N4 of docs/evaluation/sliced.md.

A value is the logarithm of a trial's CPU time over that of the fixed layout in its block, so that what the machine did to the block
cancels. The fixed layout has a second trial in each block: its values show the noise that slicing leaves.
"""
import math
import statistics

from pairs_tables import p_four, paired_ranks
from recorded import binomial, in_parallel, p_text, percent, share, stats, table, verdict_on_level
from sliced_tables import ALPHA, by_block, one_sided, verdicts

FIXED = {"code": "off", "epoch": "1h"}
KINDS = {"fixed": {"code": "off", "epoch": "50ms"}, "one layout": {"code": "shuffle", "epoch": "1h"},
         "50 ms": {"code": "shuffle", "epoch": "50ms"}, "10 ms": {"code": "shuffle", "epoch": "10ms"}}


def values(recorded, subject, kind):
    base, ours = (by_block(recorded.where(subject, **levels)) for levels in (FIXED, KINDS[kind]))
    return [ours[block] - base[block] for block in sorted(ours.keys() & base.keys())]


def shape(times):
    """Standard deviation, Shapiro and Wilk's W and p, and skewness (adjusted, G1)."""
    tested, n, mean, sd = stats("shapiro-wilk", {"d": times}), len(times), statistics.fmean(times), statistics.stdev(times)
    return {"sd": sd, "w": tested["statistic"], "p": tested["p_value"],
            "skewness": n / ((n - 1) * (n - 2)) * sum(((t - mean) / sd)**3 for t in times)}


def tables(recorded):
    subjects = sorted(recorded.subjects)
    found = {kind: dict(zip(subjects, in_parallel(lambda subject, kind=kind: shape(values(recorded, subject, kind)), [(s,) for s in subjects])))
             for kind in KINDS}
    one, many = found["one layout"], found["10 ms"]

    def of_kinds(what):
        return {name: {subject: own[subject][what] for subject in subjects} for name, own in (("one", one), ("many", many))}

    not_normal = {kind: sum(own["p"] < ALPHA for own in of.values()) for kind, of in found.items()}
    shares = {kind: binomial(count, len(subjects), ALPHA) for kind, count in not_normal.items()}
    w, sd = of_kinds("w"), of_kinds("sd")
    nearer = [many[s]["w"] - one[s]["w"] for s in subjects]
    narrower = [math.log(one[s]["sd"] / many[s]["sd"]) for s in subjects]
    p_w, p_sd = paired_ranks(w), paired_ranks(sd)
    asked = verdicts([
        ("N1", f"W is {statistics.median(w['one'].values()):.3f} with one layout, {statistics.median(w['many'].values()):.3f} with many (medians); "
               f"p {p_four(p_w)}", one_sided(p_w, statistics.median(nearer))),
        ("N2", f"not normal with many layouts: {not_normal['10 ms']} of {len(subjects)}, {share(shares['10 ms'])}",
         verdict_on_level(shares["10 ms"], ALPHA)),
        ("N3", f"the standard deviation with one layout is {math.exp(statistics.median(narrower)):.2f} times that with many (median); "
               f"p {p_four(p_sd)}", one_sided(p_sd, statistics.median(narrower))),
        ("N4", f"not normal with a fixed layout: {not_normal['fixed']} of {len(subjects)}, {share(shares['fixed'])}",
         verdict_on_level(shares["fixed"], ALPHA))])
    rows = [["**not normal at 5 %**"] + [cell for kind in KINDS for cell in (f"**{not_normal[kind]} of {len(subjects)}**", "", "")]]
    for subject in subjects:
        row = [subject]
        for kind in KINDS:
            own = found[kind][subject]
            row += [p_text(own["p"]), percent(own["sd"], 2), f"{own['skewness']:+.1f}"]
        rows.append(row)
    layouts = {kind: [t["layouts_executed"] for t in recorded.where(**KINDS[kind])] for kind in KINDS if kind != "fixed"}
    rows.append(["layouts a run, median", "", "", ""] + [cell for own in layouts.values() for cell in (f"{statistics.median(own):g}", "", "")])
    head = ["workload"] + [f"{kind}: {what}" for kind in KINDS for what in ("p normal", "sd", "skewness")]
    legend = "Of the logarithms of CPU time over that of the fixed layout in the same block:"
    return {recorded.name: "\n\n".join([recorded.header(), asked, legend, table(head, rows)])}, {}
