"""Experiments that compare the levels of a factor: does it matter, for each program and for programs like these?

Two error terms, both shown: within the programs (does it hold for these programs) and between them (for others like
them). The paper asked the second question.
"""
import functools
import itertools
import statistics

from recorded import p_text, percent, stats, table

RESPONSES = {"wall_ns": "wall time", "user_ns": "user time"}


def makers():
    """{plan: what makes its tables}."""
    compare = functools.partial
    return {"optimization": compare(compared, factors=["opt"]), "pgo": compare(compared, factors=["opt"]),
            "lto": compare(compared, factors=["opt"]), "ablation": compare(compared, factors=["code", "stack", "heap"]),
            "dose": compare(compared, factors=["epoch", "heap"]), "bias": compare(moved, factor="env_size"),
            "data": compare(moved, factor="data")}


def columns(recorded, trials, response, factors):
    return {"time": [t[response] for t in trials], "subject": [recorded.subjects[t["subject"]] for t in trials]} | {
        factor: [recorded.cells[t["cell"]][factor] for t in trials] for factor in factors}


def level_order(recorded, factor):
    """As the plan has them: its first cells have the first levels."""
    return list(dict.fromkeys(cell[factor] for cell in recorded.cells))


def compared(recorded, factors):
    """Neighbouring levels of each factor, by program and over the programs."""
    blocks = [recorded.header()]
    for factor, response in itertools.product(factors, RESPONSES):
        levels = level_order(recorded, factor)
        for first, second in itertools.pairwise(levels):
            found = {}
            for subject in recorded.subjects:
                sides = [[t[response] for t in recorded.where(subject, **{factor: level})] for level in (second, first)]
                found[subject] = stats("ratio", {"time": sides[0] + sides[1], "side": ["a"] * len(sides[0]) + ["b"] * len(sides[1])},
                                       "--group", "side")
            adjusted = stats("holm", {"p": [f["p_value"] for f in found.values()]}, "--response", "p")["adjusted"]
            rows = [[subject, percent(f["estimate"] - 1, 2), f"[{percent(f['conf_low'] - 1, 2)}, {percent(f['conf_high'] - 1, 2)}]",
                     p_text(f["p_value"]), p_text(holm)] for (subject, f), holm in zip(found.items(), adjusted)]
            seen = [sum(f["p_value"] < 0.05 for f in found.values()), sum(p < 0.05 for p in adjusted)]
            blocks.append(f"**{factor} {second} against {first}, {RESPONSES[response]}**: {seen[0]} of {len(found)} programs differ at "
                          f"5 %, {seen[1]} with Holm. Over the programs: {'; '.join(over_programs(recorded, factor, (first, second), response))}.")
            blocks.append(table(["program", "difference", "95 %", "p", "p (Holm)"], rows))
    return {recorded.name: "\n\n".join(blocks)}, {}


def over_programs(recorded, factor, levels, response):
    """The analysis of variance within subjects of the programs' means, raw and log; and with the trials' own error."""
    trials = [t for level in levels for t in recorded.where(**{factor: level})]
    given = columns(recorded, trials, response, [factor])
    means = {}
    for time, subject, level in zip(given["time"], given["subject"], given[factor]):
        means.setdefault((subject, level), []).append(time)
    of_programs = {"time": [statistics.fmean(times) for times in means.values()], "subject": [key[0] for key in means],
                   factor: [key[1] for key in means]}
    said = []
    for name, flags in (("raw", []), ("log", ["--log"])):
        row = stats("anova-within", of_programs, "--response", "time", "--group", factor, "--pair", "subject", *flags)["rows"][0]
        said.append(f"programs like these, {name}: F({row['df']:g}, {row['df2']:g}) = {row['statistic']:.3f}, p = {p_text(row['p_value'])}")
    rows = stats("anova", given, "--response", "time", "--group", f"{factor},subject", "--log")["rows"]
    row = next(row for row in rows if row["term"] == factor)
    said.append(f"these programs: F = {row['statistic']:.3f}, p = {p_text(row['p_value'])}")
    return said


def moved(recorded, factor):
    """How far the factor moves each program's mean, with layouts fixed and randomized: largest over smallest, and Welch's
    analysis of variance between its levels."""
    modes = {"fixed": {"code": "off", "stack": "off"}, "randomized": {"code": "shuffle", "stack": "on"}}
    blocks = [recorded.header()]
    for response, name in RESPONSES.items():
        rows, significant = [], {mode: 0 for mode in modes}
        for subject in recorded.subjects:
            row = [subject]
            for mode, levels in modes.items():
                given = columns(recorded, recorded.where(subject, **levels), response, [factor])
                means = [statistics.fmean(t for t, own in zip(given["time"], given[factor]) if own == level)
                         for level in level_order(recorded, factor)]
                p = stats("welch-anova", given, "--response", "time", "--group", factor, "--log")["p_value"]
                significant[mode] += p < 0.05
                row += [percent(max(means) / min(means) - 1, 2), p_text(p)]
            rows.append(row)
        counts = ", ".join(f"{mode} {count} of {len(rows)}" for mode, count in significant.items())
        blocks += [f"**{factor}, {name}**: programs whose mean it moves at 5 %: {counts}.",
                   table(["program", *(f"{mode}: {what}" for mode in modes for what in ("range", "p"))], rows)]
    return {recorded.name: "\n\n".join(blocks)}, {}
