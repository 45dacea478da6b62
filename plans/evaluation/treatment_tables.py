"""Experiments that compare the levels of a factor: does it matter, for each workload and for programs like these?

Two error terms, both shown: within the workloads (does it hold for these) and between programs (for others like them). The
paper asked the second question. A program's workloads are alike, so there their mean counts once.
"""
import functools
import itertools
import math
import statistics

from figures import changes
from recorded import (OF_A_LINK, as_ratio, bounds, details, differ, holm, of_pairs, p_text, percent, ratio, ratio_in_blocks, shift, stats,
                      table, units)

ALONE = {"stack": "off", "heap": "off"}
MOVES = {"code": "shuffle"}
ABLATED = {"code": ALONE, "stack": MOVES, "heap": MOVES}
# The dose's cells: epochs and heaps cross at the widest range of pads, ranges differ at one epoch and heap.
WIDEST = {"stack_range": "4096"}
DOSED = {"epoch": WIDEST, "heap": WIDEST, "stack_range": {"heap": "page", "epoch": "20ms"}}
RESPONSES = {"wall_ns": "wall time", "user_ns": "user time"}
TESTS = ("t", "ranks")
OVER_ALL = ("programs like these: raw", "log", "log: mean change [95 %]", "[90 %]", "log of medians", "log of medians: mean change [95 %]", "these workloads")


def makers():
    """{plan: what makes its tables}."""
    compare = functools.partial
    return {"optimization": compare(compared, factors=["opt"]), "pgo": compare(compared, factors=["opt"]),
            "lto": compare(compared, factors=["opt"]),
            "ablation": ablation,
            "dose": compare(compared, factors=list(DOSED), within=DOSED), "bias": compare(moved, factor="env_size"),
            "data": compare(moved, factor="data")}


def level_order(recorded, factor):
    """As the plan has them: its first cells have the first levels."""
    return list(dict.fromkeys(cell[factor] for cell in recorded.cells))


def compared(recorded, factors, within=None):
    """Neighbouring levels of each factor, by workload and over the workloads; within: {factor: levels of others}, the cells in
    which it is compared, all where there is none."""
    summary, tables, bars = [], [], []
    for factor, response in itertools.product(factors, RESPONSES):
        for levels in itertools.pairwise(level_order(recorded, factor)):
            name, cells = f"{factor} {levels[1]} against {levels[0]}", (within or {}).get(factor, {})
            sides = {subject: [recorded.where(subject, **{factor: level}, **cells) for level in reversed(levels)]
                     for subject in sorted(recorded.subjects)}
            draws = {test: {subject: [units(side, response, of) for side in both] for subject, both in sides.items()}
                     for test, of in OF_A_LINK.items()}
            rows, line = [[subject] for subject in sides], [f"{name}, {RESPONSES[response]}"]
            found_by = {"t": [ratio(*both) for both in draws["t"].values()],
                        "in blocks": [ratio_in_blocks(*both, response) for both in sides.values()],
                        "ranks": [shift(*both) for both in draws["ranks"].values()]}
            for test, found in found_by.items():
                if (test, response) == ("ranks", "user_ns"):
                    bars += [(subject, name, f) for subject, f in zip(sides, found)]
                p = [f["p_value"] for f in found]
                adjusted = holm(p)
                for row, f, adjusted_p in zip(rows, found, adjusted):
                    row += [percent(f["estimate"] - 1, 2), bounds(f), p_text(f["p_value"]), p_text(adjusted_p)]
                line += [percent(statistics.median(f["estimate"] for f in found) - 1, 2), differ(p, adjusted)]
            summary.append([*line, *over_all(draws)])
            head = ["workload"] + [f"{test}: {what}" for test in found_by for what in ("difference", "95 %", "p", "p (Holm)")]
            tables.append(details(f"{line[0]}, by workload", head, rows))
    head = ["", *(f"{test}: {what}" for test in found_by for what in ("median", "differ at 5 % (Holm)")), *OVER_ALL]
    series = tuple(dict.fromkeys(name for _, name, _ in bars))
    return ({recorded.name: "\n\n".join([recorded.header(), table(head, summary), *tables])}, {recorded.name: changes(bars, series)})


def ablation(recorded):
    """Each factor by itself, then all with each other, and what they do to the spread.

    Code is compared where stack and heap are off: trials of shuffled code against trials of links, each link once. Over all cells
    one number would stand for a link's trials in four of them, moved by any that was disturbed, against four draws on the
    shuffled side. Stack and heap are compared where code is shuffled, over both levels of the other, so that each trial is
    a draw: elsewhere both sides would be the same few links."""
    factors = list(ABLATED)
    blocks, figures = compared(recorded, factors, ABLATED)
    return {recorded.name: "\n\n".join([blocks[recorded.name], factorial(recorded, factors), spreads(recorded, factors)])}, figures


def factorial(recorded, factors):
    """The analysis of variance within subjects of the medians' logarithms. An effect is the mean of the cells on its plus side
    less that of the others, as a ratio; plus: an even number of its factors at their first levels."""
    head, rows = ["effect"], {}
    first = {factor: level_order(recorded, factor)[0] for factor in factors}
    for response, name in RESPONSES.items():
        medians = {(program, i): statistics.geometric_mean(
                       statistics.median(units(recorded.where(subject, **cell), response, OF_A_LINK["ranks"])) for subject in subjects)
                   for program, subjects in by_program(recorded.subjects).items() for i, cell in enumerate(recorded.cells)}
        given = {"time": list(medians.values()), "subject": [program for program, _ in medians],
                 **{f: [recorded.cells[i][f] for _, i in medians] for f in factors}}
        found = stats("anova-within", given, "--response", "time", "--group", ",".join(factors), "--pair", "subject", "--log")["rows"]
        adjusted = holm([row["p_value"] for row in found])
        head += [f"{name}: effect", f"{name}: F", f"{name}: p", f"{name}: p (Holm)"]
        for row, adjusted_p in zip(found, adjusted):
            sign = {at: math.prod(-1 if cell[f] == first[f] else 1 for f in row["term"].split(":")) for at, cell in enumerate(recorded.cells)}
            effect = 2 * statistics.fmean(sign[at] * math.log(time) for (_, at), time in medians.items())
            rows.setdefault(row["term"], [row["term"].replace(":", " × ")]).extend(
                [percent(math.exp(effect) - 1, 2), f"F({row['df']:g}, {row['df2']:g}) = {row['statistic']:.3f}",
                 p_text(row["p_value"]), p_text(adjusted_p)])
    return "All with each other, over programs like these (medians, log):\n\n" + table(head, rows.values())


def spreads(recorded, factors):
    """By cell: time against the first cell, and the spread of its trials, that of the middle half as a standard deviation."""
    rows, first = [], recorded.cells[0]
    for cell in recorded.cells:
        row = [" ".join(f"{factor}={cell[factor]}" for factor in factors)]
        for response in RESPONSES:
            times = {s: [t[response] for t in recorded.where(s, **cell)] for s in recorded.subjects}
            base = {s: [t[response] for t in recorded.where(s, **first)] for s in recorded.subjects}
            row += [f"{statistics.median(statistics.median(times[s]) / statistics.median(base[s]) for s in times):.3f}",
                    percent(statistics.median(middle_spread(times[s]) for s in times), 2),
                    "-" if cell is first else differences(times, base)]
        rows.append(row)
    head = ["cell"] + [f"{name}: {what}" for name in RESPONSES.values() for what in ("over all off", "spread", "wider, narrower at 5 %")]
    return "By cell, medians over the workloads; spread of the trials, and workloads in which it differs (Brown and Forsythe):\n\n" + table(head, rows)


def middle_spread(times):
    low, _, high = statistics.quantiles(times, n=4)
    return (high - low) / 1.349 / statistics.median(times)


def differences(times, base):
    """How many workloads have a wider spread than in the base, and how many a narrower one."""
    found = [wider(times[s], base[s]) for s in times]
    return f"{found.count(1)}, {found.count(-1)}"


def wider(times, base):
    """1 or -1 where the spread differs at 5 %, else 0."""
    given = {"time": [math.log(t) for t in times + base], "side": ["a"] * len(times) + ["b"] * len(base)}
    if stats("brown-forsythe", given, "--response", "time", "--group", "side")["p_value"] >= 0.05:
        return 0
    return 1 if statistics.stdev(given["time"][:len(times)]) > statistics.stdev(given["time"][len(times):]) else -1


def by_program(subjects):
    """{program: its subjects}"""
    return {program: list(own) for program, own in itertools.groupby(sorted(subjects), lambda subject: subject.split("/")[0])}


def over_all(draws):
    """The analysis of variance within programs of their workloads' means, raw and log, and of their medians, which disturbed trials
    hardly move; and with the draws' own errors, which differ between workloads, hence HC3. draws: {test: {subject: sides}}."""
    cells = []
    for test, of_a_program, flags in (("t", statistics.fmean, []), ("t", statistics.geometric_mean, ["--log"]),
                                      ("ranks", statistics.geometric_mean, ["--log"])):
        typical = [(of_a_program([OF_A_LINK[test](draws[test][subject][level]) for subject in subjects]), program, level)
                   for program, subjects in by_program(draws[test]).items() for level in (0, 1)]
        row = stats("anova-within", columns(typical, ("time", "program", "level")), "--response", "time", "--group", "level",
                    "--pair", "program", *flags)["rows"][0]
        cells.append(f_text(row, f"F({row['df']:g}, {row['df2']:g})"))
        if flags:
            cells += mean_changes(typical, (0.95, 0.9) if test == "t" else (0.95,))
    rows = [(time, subject, level) for subject, sides in draws["t"].items() for level, side in enumerate(sides) for time in side]
    found = stats("anova-hc3", columns(rows, ("time", "subject", "level")), "--response", "time", "--group", "level,subject", "--log")["rows"]
    row = next(row for row in found if row["term"] == "level")
    return [*cells, f_text(row, "F")]


def mean_changes(typical, levels):
    """The programs' mean change as a ratio with its interval at each level: the estimate that the F of the same logarithms tests."""
    sides = [{program: time for time, program, level in typical if level == side} for side in (0, 1)]
    found = [of_pairs("paired-t", *sides, "--conf", str(level)) for level in levels]
    return [f"{percent(as_ratio(found[0])['estimate'] - 1, 2)} {bounds(as_ratio(found[0]))}", *(bounds(as_ratio(f)) for f in found[1:])]


def f_text(row, name):
    return f"{name} = {row['statistic']:.3f}, p {p_text(row['p_value'], '= ')}"


MODES = {"fixed": {"code": "off", "stack": "off"}, "randomized": {"code": "shuffle", "stack": "on"}}


def moved(recorded, factor):
    """How far the factor moves each workload, with layouts fixed and randomized, and how far link orders move the fixed ones:
    largest over smallest of the levels' means and of their medians. Noise alone makes a range, too: p says whether there is more."""
    summary, tables, bars = [], [], []
    for response, name in RESPONSES.items():
        found = {}
        for mode, levels in MODES.items():
            found[f"{factor}, {mode}"] = {s: between({level: recorded.where(s, **levels, **{factor: level})
                                                      for level in level_order(recorded, factor)}, response) for s in sorted(recorded.subjects)}
        if any(trial["link"] for trial in recorded.trials):
            found["link, fixed"] = {s: between_links(recorded.where(s, **MODES["fixed"]), response, recorded, factor)
                                    for s in sorted(recorded.subjects)}
        for what, by_workload in found.items():
            line = [f"{what}, {name}"]
            for test in TESTS:
                p, ranges = ([f[test][number] for f in by_workload.values()] for number in ("p_value", "range"))
                line += [percent(statistics.median(ranges) - 1, 2), percent(max(ranges) - 1, 2), differ(p, holm(p))]
            summary.append(line)
            if response == "user_ns":
                bars += [(s, what, {"estimate": f["ranks"]["range"], "conf_low": 1, "conf_high": f["ranks"]["range"]}) for s, f in by_workload.items()]
        head = ["workload"] + [f"{what}, {test}: {number}" for what in found for test in TESTS for number in ("range", "p")]
        rows = [[s] + [cell for by_workload in found.values() for test in TESTS
                       for cell in (percent(by_workload[s][test]["range"] - 1, 2), p_text(by_workload[s][test]["p_value"]))]
                for s in sorted(recorded.subjects)]
        tables.append(details(f"{name}, by workload", head, rows))
    head = ["what moves the time"] + [f"{test}: {number}" for test in TESTS for number in ("range, median", "worst", "moved at 5 % (Holm)")]
    series = tuple(dict.fromkeys(what for _, what, _ in bars))
    return ({recorded.name: "\n\n".join([recorded.header(), table(head, summary), *tables])}, {recorded.name: changes(bars, series)})


def between(trials, response):
    """The levels' differences, {level: trials}. The links that ran at each level are compared with themselves: analysis of
    variance within them, Friedman's test. Without links Welch's analysis and Kruskal's and Wallis's."""
    links = sorted(set.intersection(*({t["link"] for t in own} for own in trials.values())) - {0})

    def typical(of):
        if links:
            return [(of([t[response] for t in own if t["link"] == link]), level, link) for level, own in trials.items() for link in links]
        return [(t[response], level, 0) for level, own in trials.items() for t in own]
    rows = {test: typical(of) for test, of in OF_A_LINK.items()}
    given = {test: (columns(listed), "--response", "time", "--group", "level") for test, listed in rows.items()}
    if links:
        p = {"t": stats("anova-within", *given["t"], "--pair", "link", "--log")["rows"][0], "ranks": stats("friedman", *given["ranks"], "--block", "link")}
    else:
        p = {"t": stats("welch-anova", *given["t"], "--log"), "ranks": stats("kruskal", *given["ranks"])}
    return {test: {"range": span(rows[test], of), "p_value": p[test]["p_value"]} for test, of in OF_A_LINK.items()}


def between_links(trials, response, recorded, factor):
    """The links' differences, the factor's level taken into account: analysis of variance with both; by ranks the links alone."""
    rows = [(t[response], recorded.cells[t["cell"]][factor], t["link"]) for t in trials]
    found = stats("anova", columns(rows), "--response", "time", "--group", "level,link", "--additive", "--type", "2", "--log")["rows"]
    own = [(time, link, 0) for time, _, link in rows]
    return {"t": {"range": span(own, statistics.fmean), "p_value": next(row["p_value"] for row in found if row["term"] == "link")},
            "ranks": {"range": span(own, statistics.median),
                      "p_value": stats("kruskal", columns(own), "--response", "time", "--group", "level")["p_value"]}}


def columns(rows, names=("time", "level", "link")):
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def span(rows, of):
    """Largest over smallest of the levels' typical times; rows: (time, level, link)."""
    typical = [of([time for time, level, _ in rows if level == one]) for one in {level for _, level, _ in rows}]
    return max(typical) / min(typical)
