"""Experiments that compare the levels of a factor: does it matter, for each program and for programs like these?

Two error terms, both shown: within the programs (does it hold for these programs) and between them (for others like
them). The paper asked the second question.
"""
import functools
import itertools
import statistics

from recorded import p_text, percent, ratio, shift, stats, table, units

MOVES = {"code": "shuffle"}
# The dose's cells: epochs and heaps cross at the widest range of pads, ranges differ at one epoch and heap.
WIDEST = {"stack_range": "4096"}
DOSED = {"epoch": WIDEST, "heap": WIDEST, "stack_range": {"heap": "page", "epoch": "20ms"}}
RESPONSES = {"wall_ns": "wall time", "user_ns": "user time"}
TESTS = {"t": ratio, "ranks": shift}


def makers():
    """{plan: what makes its tables}."""
    compare = functools.partial
    return {"optimization": compare(compared, factors=["opt"]), "pgo": compare(compared, factors=["opt"]),
            "lto": compare(compared, factors=["opt"]),
            # Stack and heap where code is shuffled: elsewhere both sides would be the same few links.
            "ablation": compare(compared, factors=["code", "stack", "heap"], within={"stack": MOVES, "heap": MOVES}),
            "dose": compare(compared, factors=list(DOSED), within=DOSED), "bias": compare(moved, factor="env_size"),
            "data": compare(moved, factor="data")}


def level_order(recorded, factor):
    """As the plan has them: its first cells have the first levels."""
    return list(dict.fromkeys(cell[factor] for cell in recorded.cells))


def compared(recorded, factors, within=None):
    """Neighbouring levels of each factor, by program and over the programs; within: the cells in which."""
    blocks = [recorded.header()]
    for factor, response in itertools.product(factors, RESPONSES):
        levels = level_order(recorded, factor)
        for first, second in itertools.pairwise(levels):
            cells = (within or {}).get(factor, {})
            draws = {subject: [units(recorded.where(subject, **{factor: level}, **cells), response) for level in (second, first)]
                     for subject in recorded.subjects}
            rows, seen = [[subject] for subject in draws], []
            for test, compare in TESTS.items():
                found = [compare(*sides) for sides in draws.values()]
                adjusted = stats("holm", {"p": [f["p_value"] for f in found]}, "--response", "p")["adjusted"]
                for row, f, holm in zip(rows, found, adjusted):
                    row += [percent(f["estimate"] - 1, 2), interval(f), p_text(f["p_value"]), p_text(holm)]
                seen.append(f"{sum(f['p_value'] < 0.05 for f in found)} by {test} ({sum(p < 0.05 for p in adjusted)} with Holm)")
            blocks.append(f"**{factor} {second} against {first}, {RESPONSES[response]}**: programs of {len(rows)} that differ at 5 %: "
                          f"{', '.join(seen)}. Over the programs: {'; '.join(over_programs(draws, (second, first)))}.")
            blocks.append(table(["program"] + [f"{test}: {what}" for test in TESTS for what in ("difference", "95 %", "p", "p (Holm)")],
                                rows))
    return {recorded.name: "\n\n".join(blocks)}, {}


def interval(found):
    return f"[{', '.join('-' if found[b] is None else percent(found[b] - 1, 2) for b in ('conf_low', 'conf_high'))}]"


def over_programs(draws, levels):
    """The analysis of variance within subjects of the programs' means, raw and log, and of their medians, which disturbed trials
    hardly move; and with the draws' own errors, which differ between programs, hence HC3."""
    rows = [(time, subject, level) for subject, sides in draws.items() for level, side in zip(levels, sides) for time in side]
    means, medians = ([(of(side), subject, level) for subject, sides in draws.items() for level, side in zip(levels, sides)]
                      for of in (statistics.fmean, statistics.median))
    given, of_means, of_medians = ({name: [row[i] for row in listed] for i, name in enumerate(("time", "subject", "level"))}
                                   for listed in (rows, means, medians))
    said = []
    for name, of_programs, flags in (("raw", of_means, []), ("log", of_means, ["--log"]), ("log of medians", of_medians, ["--log"])):
        row = stats("anova-within", of_programs, "--response", "time", "--group", "level", "--pair", "subject", *flags)["rows"][0]
        said.append(f"programs like these, {name}: F({row['df']:g}, {row['df2']:g}) = {row['statistic']:.3f}, p {p_text(row['p_value'], '= ')}")
    found = stats("anova-hc3", given, "--response", "time", "--group", "level,subject", "--log")["rows"]
    row = next(row for row in found if row["term"] == "level")
    said.append(f"these programs: F = {row['statistic']:.3f}, p {p_text(row['p_value'], '= ')}")
    return said


def moved(recorded, factor):
    """How far the factor moves each program's mean, with layouts fixed and randomized: largest over smallest."""
    modes = {"fixed": {"code": "off", "stack": "off"}, "randomized": {"code": "shuffle", "stack": "on"}}
    blocks = [recorded.header()]
    for response, name in RESPONSES.items():
        rows, significant = [], {mode: 0 for mode in modes}
        for subject in recorded.subjects:
            row = [subject]
            for mode, levels in modes.items():
                trials = {level: recorded.where(subject, **levels, **{factor: level}) for level in level_order(recorded, factor)}
                means = [statistics.fmean(units(own, response)) for own in trials.values()]
                p = between_levels(trials, response)
                significant[mode] += p < 0.05
                row += [percent(max(means) / min(means) - 1, 2), p_text(p)]
            rows.append(row)
        counts = ", ".join(f"{mode} {count} of {len(rows)}" for mode, count in significant.items())
        blocks += [f"**{factor}, {name}**: programs whose mean it moves at 5 %: {counts}.",
                   table(["program", *(f"{mode}: {what}" for mode in modes for what in ("range", "p"))], rows)]
    return {recorded.name: "\n\n".join(blocks)}, {}


def between_levels(trials, response):
    """p of the levels' difference. The links that ran at each level are compared with themselves. Without links
    Welch's analysis of variance."""
    links = set.intersection(*({t["link"] for t in own} for own in trials.values())) - {0}
    if links:
        rows = [(statistics.fmean(t[response] for t in own if t["link"] == link), level, link)
                for level, own in trials.items() for link in sorted(links)]
    else:
        rows = [(t[response], level, 0) for level, own in trials.items() for t in own]
    given = {name: [row[i] for row in rows] for i, name in enumerate(("time", "level", "link"))}
    if links:
        return stats("anova-within", given, "--response", "time", "--group", "level", "--pair", "link", "--log")["rows"][0]["p_value"]
    return stats("welch-anova", given, "--response", "time", "--group", "level", "--log")["p_value"]
