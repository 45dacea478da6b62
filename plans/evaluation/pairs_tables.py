"""The A/A experiments: how often a t-test sees a difference between builds that must not differ.

One test a pair and compiler, said before the data: Welch's t-test of the logarithms of wall time, two-sided, at 5 %.
CPU time is beside it, and so are the contrast within blocks that stabctl report makes, the paired t-test of a block's
two sides, and, added when the first two kinds had run, Mann and Whitney's test: its level is exact whatever the times'
distribution, 4.99 % with eight a side. The shares' intervals are exact and take the pairs as independent; pairs of a program share its
source, so the programs' own shares are shown, and an interval from them alone.

The wide experiment asks three questions that were written before it ran: wide() answers them, of CPU time.
"""
import itertools
import math
import statistics

from figures import COLOURS, Canvas, Panel
from pairs import KINDS as PAIRS, LONGER_ENV_BYTES, WIDE
from recorded import binomial, holm, in_parallel, mcnemar, percent, ratio, share, shift, stats, table

ALPHA = 0.05
SIDES = {"side": ("A", "B"), "env_size": ("0", str(LONGER_ENV_BYTES))}
COMPILERS = {"clang-19": "plain", "szc": "randomized"}
RESPONSES = {"wall_ns": "wall time", "task-clock": "CPU time"}
TESTS = {"p": "t", "blocked": "in blocks", "ranked": "ranks"}
DIFFER = {"link": "another link order", WIDE: "another link order", "unused": "an unused function", "env": "a longer environment"}
KINDS = {f"aa-{kind}": DIFFER[kind] for kind in PAIRS}
DECLARED = "task-clock"   # the response of what was asked of the wide experiment


def tested(recorded):
    """One dictionary a pair and compiler: program, p for each response, ratio of the sides, spread within a side."""
    factor = next(factor for factor in SIDES if len({cell[factor] for cell in recorded.cells if factor in cell}) == 2)

    def test(subject, compiler):
        sides = [recorded.where(subject, cc=compiler, **{factor: level}) for level in SIDES[factor]]
        if min(map(len, sides)) < 3:
            return None
        pair = {"kind": recorded.name, "subject": subject, "program": subject.rsplit("-", 1)[0], "compiler": compiler,
                "layouts": [t["layouts_executed"] for side in sides for t in side]}
        for response in RESPONSES:
            times = [[t[response] for t in own] for own in sides]
            found = ratio(*times)
            blocked = stats("paired-t", columns(complete_blocks(*sides), response), "--group", "side", "--pair", "block",
                            "--response", "time", "--log")
            pair[response] = {"means": apart(times, statistics.fmean), "medians": apart(times, statistics.median), "p": found["p_value"], "ratio": found["estimate"], "blocked": blocked["p_value"],
                              "ranked": shift(*times)["p_value"],
                              "sd": statistics.mean(statistics.stdev(t[response] for t in side) /
                                                    statistics.mean(t[response] for t in side) for side in sides)}
        return pair
    return [found for found in in_parallel(test, itertools.product(recorded.subjects, COMPILERS)) if found]


def apart(times, centre):
    """How far the sides' centres lie apart, on logarithms."""
    return abs(centre([math.log(t) for t in times[0]]) - centre([math.log(t) for t in times[1]]))


def complete_blocks(*sides):
    """The trials of the blocks that have one on each side."""
    both = set.intersection(*({t["block"] for t in side} for side in sides))
    return [[t for t in side if t["block"] in both] for side in sides]


def columns(sides, response):
    return {"time": [t[response] for side in sides for t in side], "block": [t["block"] for side in sides for t in side],
            "side": ["a"] * len(sides[0]) + ["b"] * len(sides[1])}


def tables(experiments):
    """{block name: markdown}, {figure name: svg}, of all the A/A experiments together."""
    pairs = [pair for recorded in experiments for pair in tested(recorded)]
    kinds = [recorded.name for recorded in experiments]
    head = headers(experiments, pairs)
    return ({"honesty": "\n\n".join([head, shares({kind: KINDS[kind] for kind in kinds} | {"all": "all"}, pairs), distances(kinds, pairs),
                                     clusters(pairs)])}, {"honesty": curves(pairs)})


def headers(experiments, pairs):
    text = "\n\n".join(recorded.header() for recorded in experiments)
    if left_out := sum(len(recorded.subjects) for recorded in experiments) * len(COMPILERS) - len(pairs):
        text += f"\n\n{left_out} pairs with fewer than three trials on a side are left out."
    return text


def shares(kinds, pairs):
    """kinds: what stands for each in the table; `all` are all of them."""
    rows = [line(name, compiler, [p for p in pairs if kind in (p["kind"], "all") and p["compiler"] == compiler])
            for kind, name in kinds.items() for compiler in COMPILERS]
    legend = ("Alarms, their share and its exact 95 % interval (t: Welch's test; in blocks: the paired one; ranks: Mann and "
              "Whitney's; sd CPU: of a side's trials, the median pair's):")
    head = ["the sides differ in", "builds", "pairs", "sd CPU", *(f"{name}, {test}" for test in TESTS.values() for name in RESPONSES.values())]
    return f"{legend}\n\n{table(head, rows)}"


def wide(recorded):
    """{block name: markdown}, {figure name: svg}: what was asked before, then the tables of the other kinds."""
    pairs = tested(recorded)
    text = [headers([recorded], pairs), asked(pairs), shares({recorded.name: DIFFER[WIDE]}, pairs),
            distances([recorded.name], pairs, asked="CPU time's medians were asked about before"), clusters(pairs)]
    return {recorded.name: "\n\n".join(text)}, {recorded.name: curves(pairs)}


def asked(pairs):
    """The three predictions, with what chance alone gives."""
    apart = {compiler: {p["subject"]: p[DECLARED]["medians"] for p in pairs if p["compiler"] == compiler} for compiler in COMPILERS}
    of_pairs = [paired_ranks(apart)]
    programs = {compiler: {program: statistics.fmean(d for s, d in own.items() if s.rpartition("-")[0] == program)
                           for program in {s.rpartition("-")[0] for s in own}} for compiler, own in apart.items()}
    alarmed = {compiler: {p["subject"] for p in pairs if p["compiler"] == compiler and p[DECLARED]["blocked"] < ALPHA} for compiler in COMPILERS}
    plain, randomized = alarmed.values()
    only = len(plain - randomized), len(randomized - plain)
    p_values = [*of_pairs, paired_ranks(programs), mcnemar(*only)]
    centre = {compiler: [statistics.median(own.values()) for own in (apart[compiler], programs[compiler])] for compiler in COMPILERS}
    said = [[percent(math.expm1(centre[compiler][k]), 2) for compiler in COMPILERS] for k in (0, 1)]
    rows = [[question, *seen, p_four(p), p_four(adjusted)] for question, seen, p, adjusted in
            zip(("sides' medians, the median pair", "the same, the median program's mean",
                 f"called different in blocks; only plain {only[0]}, only randomized {only[1]}"),
                [*said, [f"{len(found)} of {len(apart[compiler])}" for compiler, found in alarmed.items()]], p_values, holm(p_values))]
    return ("What was asked before the data, of CPU time (signed ranks over pairs, signed ranks over programs, McNemar's exact test):\n\n" +
            table(["asked", *COMPILERS.values(), "p", "p (Holm)"], rows))


def paired_ranks(of):
    """p of signed ranks. of: {compiler: {what pairs: value}}, both with the same pairs."""
    both = sorted(set.intersection(*(set(found) for found in of.values())))
    given = {"distance": [found[at] for found in of.values() for at in both], "pair": [at for _ in of for at in both],
             "builds": [compiler for compiler in of for _ in both]}
    return stats("wilcoxon", given, "--response", "distance", "--group", "builds", "--pair", "pair")["p_value"]


def alarms(pairs, response, test="p"):
    return sum(pair[response][test] < ALPHA for pair in pairs)


def line(kind, compiler, pairs):
    row = [kind, COMPILERS[compiler], len(pairs), percent(statistics.median(p["task-clock"]["sd"] for p in pairs))]
    for test in TESTS:
        for response in RESPONSES:
            found = binomial(alarms(pairs, response, test), len(pairs), ALPHA)
            row.append(f"{alarms(pairs, response, test)}: {share(found)}")
    return row


def distances(kinds, pairs, asked="asked after the data were seen"):
    rows = []
    for kind, (response, name), centre in itertools.product((*kinds, "all") if len(kinds) > 1 else kinds, RESPONSES.items(), ("medians", "means")):
        own = [p for p in pairs if kind in ("all", p["kind"])]
        of = {compiler: {f"{p['kind']} {p['subject']}": p[response][centre] for p in own if p["compiler"] == compiler} for compiler in COMPILERS}
        both = sorted(set.intersection(*(set(found) for found in of.values())))
        p = paired_ranks(of)
        rows.append([KINDS.get(kind, kind), f"{name}, {centre}",
                     *(percent(math.expm1(statistics.median(found[at] for at in both)), 2) for found in of.values()), p_four(p)])
    head = ["the sides differ in", "distance of the sides'", *COMPILERS.values(), "p"]
    return (f"How far a pair's sides lie apart, in the median pair, and whether plain pairs differ in that from the randomized ones beside "
            f"them (signed ranks; {asked}):\n\n{table(head, rows)}")


def p_four(p):
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def clusters(pairs):
    rows, shares = [], {compiler: [] for compiler in COMPILERS}
    programs = sorted({pair["program"] for pair in pairs})
    for program in programs:
        row = [program]
        for compiler in COMPILERS:
            own = [p for p in pairs if p["program"] == program and p["compiler"] == compiler]
            shares[compiler].append(alarms(own, "wall_ns") / len(own))
            difference = statistics.median(abs(p["wall_ns"]["ratio"] - 1) for p in own)
            row += [f"{alarms(own, 'wall_ns')} of {len(own)}", percent(statistics.median(p["wall_ns"]["sd"] for p in own), 2),
                    percent(statistics.median(p["task-clock"]["sd"] for p in own), 2), percent(difference, 2)]
        layouts = [n for p in pairs if p["program"] == program and p["compiler"] == "szc" for n in p["layouts"]]
        rows.append([*row, f"{min(layouts)} to {max(layouts)}"])
    columns = [f"{name}: {what}" for name in COMPILERS.values() for what in ("alarms", "sd wall", "sd CPU", "difference")]
    means = "; ".join(f"{name} {percent(statistics.mean(s))} [{interval(s)}]" for (c, name) in COMPILERS.items() for s in [shares[c]])
    return (f"By program (sd: of a side's trials; difference: the median pair's, between its sides; wall time):\n\n"
            f"{table(['program', *columns, 'layouts a run'], rows)}\n\nMean of the programs' shares, with a t interval over "
            f"the programs: {means}.")


def interval(shares):
    if len(set(shares)) < 2:
        return "all equal"
    found = stats("one-sample-t", {"share": shares})
    return f"{percent(found['conf_low'])}, {percent(found['conf_high'])}"


def curves(pairs):
    """How the p-values are distributed: on the diagonal when the test keeps what it promises."""
    canvas = Canvas(760, 400)
    for k, (response, name) in enumerate(RESPONSES.items()):
        panel = Panel(canvas, (50 + 370 * k, 30, 310, 310), (0, 1), (0, 1))
        canvas.text(50 + 370 * k, 22, f"{name}: share of pairs with a p-value up to")
        panel.axis_texts((0, 0.25, 0.5, 0.75, 1), (0, 0.25, 0.5, 0.75, 1), lambda v: f"{v:g}")
        panel.line([(0, 0), (1, 1)], "#999999", dashed=True)
        panel.line([(ALPHA, 0), (ALPHA, 1)], "#cccccc")
        for colour, compiler in zip(COLOURS, COMPILERS):
            p_values = sorted(p[response]["p"] for p in pairs if p["compiler"] == compiler)
            steps = [(p, (i + 1) / len(p_values)) for i, p in enumerate(p_values)]
            panel.line([(0, 0), *steps, (1, 1)], colour, 1.6)
    canvas.legend(60, 384, COMPILERS.values())
    canvas.text(360, 384, "dashed: a test that keeps its level")
    return canvas.svg()
