"""The overhead experiment: what each randomization and its mechanism cost, alone and cumulated. The paper's Figure 6.

Over "plain": clang's build as it is, in seeded links; a link is one draw, however often it ran. Over "off": szc's own build
with everything off; both sides ran the same links, which are compared with themselves. All ratios are by ranks
(recorded.shift); those of geometric means stand beside them in the summary.
"""
import math
import statistics
from typing import NamedTuple

from figures import COLOURS, Canvas, Panel
from recorded import PAPERS, in_parallel, percent, ratio, shift, shift_of_pairs, stats, table, units

OVER = {"plain": {"cc": "clang-19"}, "off": {"cc": "szc", "code": "off", "stack": "off", "heap": "off"}}
# Programs that use less aren't compared: trials up to 20 November 2026, 17:30, have the peak of the lab itself, 16 to 17 MB,
# where the program's is smaller.
MEMORY_SEEN_KIB = 20000


class Column(NamedTuple):
    cell: dict
    over: str = "plain"
    median: float = math.inf   # what we aimed at: the workloads' median ratio, and the worst
    worst: float = math.inf
    paper: str = "-"
    response: str = "cpu_ns"


def cell(code="off", stack="off", heap="off", **more):
    return {"cc": "szc", "code": code, "stack": stack, "heap": heap, **more}


COLUMNS = {
    "off": Column(cell(), median=1.005),
    "copy": Column(cell("copy")),
    "code": Column(cell("shuffle", epoch="500ms"), median=1.01, worst=1.10, paper="3.1 %"),
    "code 20 ms": Column(cell("shuffle", epoch="20ms"), median=1.02, worst=1.10),
    "code 10 ms": Column(cell("shuffle", epoch="10ms")),
    "code, stack": Column(cell("shuffle", "on"), paper="5.5 %"),
    "all": Column(cell("shuffle", "on", "page", epoch="500ms"), paper="6.7 %; 38.7 %"),
    "all 20 ms": Column(cell("shuffle", "on", "page", epoch="20ms")),
    "all 10 ms": Column(cell("shuffle", "on", "page", epoch="10ms"), median=1.03, worst=1.12),
    "all, heap shuffle": Column(cell("shuffle", "on", "shuffle")),
    "stack zero": Column(cell(stack="zero"), median=1.01, worst=1.10),
    "stack on": Column(cell(stack="on"), median=1.01, worst=1.10),
    "heap base": Column(cell(heap="base"), "off", median=0.97),
    "heap page": Column(cell(heap="page"), "off", median=1.0, worst=1.15),
    "heap shuffle": Column(cell(heap="shuffle"), "off", worst=1.8),
    "page, memory": Column(cell(heap="page"), "off", median=1.1, worst=1.5, response="max_rss_kib"),
    "shuffle, memory": Column(cell(heap="shuffle"), "off", median=1.1, worst=1.5, response="max_rss_kib"),
}


def tables(recorded):
    """{block name: markdown}, {figure name: svg}."""
    columns = {name: column for name, column in COLUMNS.items() if recorded.where(**column.cell)}
    cost = {name: ratios(recorded, column, column.response) for name, column in columns.items()}
    timed = {name: column for name, column in columns.items() if column.response == "cpu_ns"}
    means = {name: ratios(recorded, column, "cpu_ns", by_means) for name, column in timed.items()}
    wall = {name: ratios(recorded, column, "wall_ns") for name, column in timed.items()}
    rows = [[name, column.over, *summary(cost[name]), aims(column, cost[name]), median_worst(means.get(name)),
             median_worst(wall.get(name)), column.paper] for name, column in columns.items()]
    head = ["on", "over", "median [95 %]", "worst", "surely more", "surely less", "aim: median; worst", "by means", "wall time", PAPERS]
    plain = [name for name, column in columns.items() if column.over == "plain"]
    rest = [name for name in columns if name not in plain]
    blocks = len({trial["block"] for trial in recorded.trials})
    text = [f"{recorded.header()} {blocks} blocks, the fixed cells in a link of its own in each. One sweep over the plain "
            f"builds' workloads takes {sweep(recorded):.1f} s.",
            f"CPU time, user and system, by ranks{', and peak memory in the last two rows' if rest else ''}: the median of the workloads' ratios with its "
            "exact interval, the worst, and how many 95 % intervals lie above and below 1; median and worst of the ratios of "
            "geometric means, and of wall time by ranks. Aims in bold were missed.",
            table(head, rows),
            "By workload: CPU time over that of the plain links, with half of the 95 % interval. *plain* is its median time, *links* "
            "the spread of its links, noise of the machine included (median absolute deviation, as a standard deviation); "
            "*all: spread* is that of randomized runs.",
            table(["workload", "plain", "links", "all: spread", *plain], [spreads(recorded, s) + entries(cost, plain, s)
                                                                        for s in sorted(recorded.subjects)])]
    if rest:
        text += [
            "By workload: the heap over szc's build with everything off, link by link; peak memory where it can be seen.",
            table(["workload", *rest], [[s] + entries(cost, rest, s) for s in sorted(recorded.subjects)])]
    shown = [name for name in ("code", "code 10 ms", "code, stack", "stack on", "all", "all 10 ms") if name in cost and (name != "stack on" or not rest)]
    return {recorded.name: "\n\n".join(text)}, {recorded.name: bars(recorded, cost, shown)}


def by_ranks(sides, response, same_links):
    if not same_links:
        return shift(*(units(side, response) for side in sides))
    ours, base = (by_link(side, response) for side in sides)
    return shift_of_pairs(ours, base) if len(ours.keys() & base.keys()) > 1 else None


def by_means(sides, response, same_links):
    return ratio(*(units(side, response) for side in sides))


def ratios(recorded, column, response, how=by_ranks):
    """{subject: ratio to what the column is over, with its interval}."""
    def of(subject):
        sides = [recorded.where(subject, **levels) for levels in (column.cell, OVER[column.over])]
        if min(len(side) for side in sides) < 2:
            return None
        if response != "max_rss_kib":
            return how(sides, response, column.over == "off")
        base = median(sides[1], response)
        if base < MEMORY_SEEN_KIB:
            return None
        return {"estimate": median(sides[0], response) / base, "conf_low": None, "conf_high": None}
    answers = in_parallel(of, ([subject] for subject in recorded.subjects))
    return {subject: found for subject, found in zip(recorded.subjects, answers) if found}


def median(trials, response):
    return statistics.median(units(trials, response))


def by_link(trials, response):
    """{link: mean of its trials}."""
    return {link: statistics.fmean(t[response] for t in trials if t["link"] == link) for link in {t["link"] for t in trials}}


def summary(found):
    if not found:
        return ["-"] * 4
    over = stats("describe", {"ratio": [f["estimate"] for f in found.values()]})
    bounds = ", ".join("-" if bound is None else f"{bound:.3f}" for bound in (over["median_conf_low"], over["median_conf_high"]))
    worst = max(found, key=lambda subject: found[subject]["estimate"])
    sides = [f for f in found.values() if f["conf_low"] is not None]
    counts = [sum(f["conf_low"] > 1 for f in sides), sum(f["conf_high"] < 1 for f in sides)]
    return [f"{over['median']:.3f} [{bounds}]", f"{found[worst]['estimate']:.3f} {worst}",
            *(f"{count} of {len(sides)}" if sides else "-" for count in counts)]


def aims(column, found):
    """What was aimed at; bold where it was missed."""
    estimates = [f["estimate"] for f in found.values()]
    said = ["-" if aim == math.inf else f"**{aim:g}**" if estimates and round(reached(estimates), 3) > aim else f"{aim:g}"
            for aim, reached in ((column.median, statistics.median), (column.worst, max))]
    return "; ".join(said) if set(said) != {"-"} else "-"


def median_worst(found):
    estimates = [f["estimate"] for f in (found or {}).values()]
    return f"{statistics.median(estimates):.3f}; {max(estimates):.3f}" if estimates else "-"


def sweep(recorded):
    """Seconds: the plain builds' wall times, each once."""
    return sum(median(recorded.where(subject, **OVER["plain"]), "wall_ns") for subject in recorded.subjects) / 1e9


def spreads(recorded, subject):
    row = [subject, f"{median(recorded.where(subject, **OVER['plain']), 'cpu_ns') / 1e9:.2f} s"]
    for levels in (OVER["plain"], COLUMNS["all"].cell):
        found = stats("describe", {"time": units(recorded.where(subject, **levels), "cpu_ns")})
        row.append(percent(found["mad"] / found["median"], 2))
    return row


def entries(cost, names, subject):
    found = [cost[name].get(subject) for name in names]
    return ["-" if f is None else f"{f['estimate']:.3f}" if f["conf_low"] is None else
            f"{f['estimate']:.3f} ± {(f['conf_high'] - f['conf_low']) / 2:.3f}" for f in found]


def bars(recorded, cost, names):
    canvas = Canvas(60 + 36 * len(recorded.subjects), 330)
    most = max(f["estimate"] - 1 for name in names for f in cost[name].values())
    panel = Panel(canvas, (50, 20, 36 * len(recorded.subjects), 200), (0, len(recorded.subjects)), (-0.1, max(0.2, most)))
    panel.axis_texts((), [tenth / 10 for tenth in range(-1, int(10 * panel.y_range[1]) + 1)], lambda v: f"{100 * v:.0f} %")
    panel.line([(0, 0), (len(recorded.subjects), 0)], "#999999")
    for i, subject in enumerate(sorted(recorded.subjects)):
        for k, name in enumerate(names):
            if subject in cost[name]:
                x = i + 0.25 * (k + 1)
                panel.line([(x, 0), (x, cost[name][subject]["estimate"] - 1)], COLOURS[k], 6)
        x, y = panel.at(i + 0.5, panel.y_range[0])
        canvas.parts.append(f'<text transform="translate({x:.1f} {y + 10:.1f}) rotate(60)" font-size="10">{subject}</text>')
    canvas.legend(60, 320, names)
    return canvas.svg()
