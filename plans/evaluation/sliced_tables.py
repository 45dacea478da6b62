"""The experiments in sliced blocks: the tables that answer what docs/evaluation/sliced.md asked before their data.

All of CPU time, user and system. A block's logarithms are compared within the block: by the paired t-test, and by signed ranks
where the page says so. A verdict is the page's rule applied to the numbers beside it, "confirmed", "refuted" or "open".
"""
import functools
import itertools
import math
import statistics
from collections import Counter

from figures import COLOURS, Canvas, Panel
from pairs_tables import COMPILERS, p_four, paired_ranks
from recorded import (Recorded, as_ratio, binomial, change, holm, in_parallel, machine_text, mcnemar, of_pairs, percent, ratio,
                      ratio_in_blocks, share, shift, stats, table, verdict_on_level)

ALPHA = 0.05
RESPONSE = "cpu_ns"
BLOCKS = 10                  # of an experiment of sliced-sensitivity
TURNS = "sliced-turns"       # its calibration, whose slowed side has 20 %
CALIBRATED_AT = 20
EVERYTHING = {"code": "shuffle", "stack": "on", "heap": "page"}
NOTHING = {"code": "off", "stack": "off", "heap": "off"}


def by_block(trials):
    return {trial["block"]: math.log(trial[RESPONSE]) for trial in trials}


def verdicts(rows):
    """rows: (question's name, what was seen, verdict)."""
    return "What was asked before the data:\n\n" + table(["asked", "seen", "verdict"], [[f"**{name}**", seen, f"**{verdict}**"] for name, seen, verdict in rows])


def one_sided(p, more):
    """The verdict of a two-sided p whose direction was foretold; more: how much further it went that way (negative: the other)."""
    return "open" if p >= ALPHA or more == 0 else "confirmed" if more > 0 else "refuted"


# Pairs that must not differ

# Whether equal programs stay equal, plain ones raise more alarms, plain ones lie further apart.
PAIRS_ASKED = {"aa-sliced": ("A1", "A2", "A3"), "aa-thousand": ("B1", "B2", "B3"), "aa-sliced-env": ("E1", "E2", "E3"),
               "aa-sliced-unused": ("U1", "U2", "U3")}


def pairs(recorded, subjects=()):
    """subjects: without any, all."""
    questions = PAIRS_ASKED[recorded.name]
    factor, levels = ("env_size", ("0", "1040")) if "env_size" in recorded.cells[0] else ("side", ("A", "B"))

    def test(subject, compiler):
        sides = [recorded.where(subject, cc=compiler, **{factor: level}) for level in levels]
        a, b = map(by_block, sides)
        differences = [a[block] - b[block] for block in a.keys() & b.keys()]
        return {"subject": subject, "program": subject.rpartition("-")[0], "compiler": compiler,
                "p": ratio_in_blocks(*sides, RESPONSE)["p_value"], "distance": abs(statistics.fmean(differences)),
                "sd": statistics.stdev(differences), "layouts": [t["layouts_executed"] for side in sides for t in side]}
    tested = in_parallel(test, itertools.product(subjects or recorded.subjects, COMPILERS))
    of = {compiler: {pair["subject"]: pair for pair in tested if pair["compiler"] == compiler} for compiler in COMPILERS}
    alarmed = {compiler: {s for s, pair in own.items() if pair["p"] < ALPHA} for compiler, own in of.items()}
    plain, randomized = alarmed.values()
    shares = {compiler: binomial(len(alarmed[compiler]), len(own), ALPHA) for compiler, own in of.items()}
    found, only = shares["szc"], (len(plain - randomized), len(randomized - plain))
    distances = {compiler: {s: pair["distance"] for s, pair in own.items()} for compiler, own in of.items()}
    apart = [statistics.median(own.values()) for own in distances.values()]
    fewer, nearer = mcnemar(*only), paired_ranks(distances)
    asked = verdicts([
        (questions[0], f"{len(randomized)} alarms of {len(of['szc'])} randomized pairs: {share(found)}", verdict_on_level(found, ALPHA)),
        (questions[1], f"{len(plain)} alarms of {len(of['clang-19'])} plain pairs: {share(shares['clang-19'])}; only plain {only[0]}, only randomized "
               f"{only[1]}; p {p_four(fewer)}", one_sided(fewer, only[0] - only[1])),
        (questions[2], f"median distance {percent(apart[0], 2)} plain, {percent(apart[1], 2)} randomized; p {p_four(nearer)}",
         one_sided(nearer, apart[0] - apart[1]))])
    rows = []
    for program in sorted({pair["program"] for pair in tested}):
        own = {compiler: [pair for pair in of[compiler].values() if pair["program"] == program] for compiler in COMPILERS}
        row = [program]
        for compiler in COMPILERS:
            row += [f"{sum(pair['p'] < ALPHA for pair in own[compiler])} of {len(own[compiler])}",
                    percent(statistics.median(pair["sd"] for pair in own[compiler]), 2),
                    percent(statistics.median(pair["distance"] for pair in own[compiler]), 2),
                    percent(max(pair["distance"] for pair in own[compiler]), 2)]
        layouts = [n for pair in own["szc"] for n in pair["layouts"]]
        rows.append([*row, f"{min(layouts)} to {max(layouts)}"])
    head = ["program", *(f"{name}: {what}" for name in COMPILERS.values() for what in ("alarms", "sd", "distance", "largest")), "layouts a run"]
    legend = ("By program (sd: of a block's difference, in the median pair; distance: of a pair's sides, in the median pair and in the one "
              "that lies furthest apart):")
    machines = by_machine(recorded, of) if "parts" in recorded.facts else []
    return {recorded.name: "\n\n".join([recorded.header(), asked, *machines, legend, table(head, rows)])}, {recorded.name: pair_curves(of)}


def thousand(recorded):
    """B1 to B3, of the pairs that are complete."""
    counts = Counter(trial["subject"] for trial in recorded.trials)
    full = max(counts.values())
    complete = [subject for i, subject in enumerate(recorded.subjects) if counts[i] == full]
    return pairs(recorded, complete)


def by_machine(recorded, of):
    """Alarms on each machine, with the share's interval."""
    rows = []
    for machine, subjects in recorded.machines().items():
        here = [[pair["p"] < ALPHA for s, pair in own.items() if s in subjects] for own in of.values()]
        rows.append([machine, len(here[0]), *(f"{sum(own)}: {share(binomial(sum(own), len(own), ALPHA))}" for own in here)])
    return ["By machine:", table(["machine", "pairs", *(f"{name}: alarms" for name in COMPILERS.values())], rows)]


def pair_curves(of):
    """How far the sides lie apart, and how the p-values are distributed."""
    canvas = Canvas(760, 400)
    most = 0.05   # a few lie much further apart and would flatten all others
    apart = Panel(canvas, (50, 30, 310, 310), (0, most), (0, 1))
    canvas.text(50, 22, "share of pairs whose sides lie at most so far apart")
    apart.axis_texts([most * k / 5 for k in range(6)], (0, 0.25, 0.5, 0.75, 1), lambda v: f"{v:g}", x_form=lambda v: f"{100 * v:g} %")
    level = Panel(canvas, (420, 30, 310, 310), (0, 1), (0, 1))
    canvas.text(420, 22, "share of pairs with a p-value up to")
    level.axis_texts((0, 0.25, 0.5, 0.75, 1), (0, 0.25, 0.5, 0.75, 1), lambda v: f"{v:g}")
    level.line([(0, 0), (1, 1)], "#999999", dashed=True)
    for colour, own in zip(COLOURS, of.values()):
        for panel, what in ((apart, "distance"), (level, "p")):
            values = sorted(pair[what] for pair in own.values())
            seen = [(value, (i + 1) / len(values)) for i, value in enumerate(values) if value <= panel.x_range[1]]
            panel.line([(0, 0), *seen, (panel.x_range[1], seen[-1][1])], colour, 1.6)
    canvas.legend(60, 384, COMPILERS.values())
    canvas.text(360, 384, "dashed: a test that keeps its level")
    return canvas.svg()


# Planted slowdowns

def truths(folder):
    """{subject: ratio of its sides in the calibration}."""
    recorded = Recorded(folder / f"{TURNS}.json.xz")
    return {subject: calibrated(recorded, subject)["estimate"] for subject in recorded.subjects}


def calibrated(recorded, subject):
    return ratio_in_blocks(recorded.where(subject, slow=str(CALIBRATED_AT)), recorded.where(subject, slow="0"), RESPONSE)


def planted(one, percent_planted):
    """The true ratio of a slowdown, of what CALIBRATED_AT percent turned out to be: time grows in proportion to the turns."""
    return 1 + (one - 1) * percent_planted / CALIBRATED_AT


def turns(recorded):
    rows = [[subject, change(calibrated(recorded, subject))] for subject in recorded.subjects]
    return {recorded.name: f"{recorded.header()}\n\n{table(['workload', f'{CALIBRATED_AT} % planted'], rows)}"}, {}


def sensitivity(recorded):
    """S1 to S3. Each ten blocks are an experiment, in the order of their numbers."""
    truth_of = truths(recorded.folder)
    levels = sorted({cell["slow"] for cell in recorded.cells}, key=float)
    experiments, rows = [], []
    blocks = {trial["block"] for trial in recorded.trials}
    first, experiments_each = min(blocks), math.ceil(len(blocks) / BLOCKS)
    for subject in recorded.subjects:
        for slow in levels[1:]:
            truth = planted(truth_of[subject], float(slow))
            row = [subject, f"{slow} %", percent(truth - 1, 2)]
            for compiler in ("szc", "clang-19"):
                sides = [recorded.where(subject, cc=compiler, slow=level) for level in (slow, levels[0])]
                tens = [[[t for t in side if (t["block"] - first) // BLOCKS == ten] for side in sides] for ten in range(experiments_each)]
                answers = in_parallel(ratio_in_blocks, [(*own, RESPONSE) for own in tens if min(map(len, own)) > 1])
                held = [f["conf_low"] <= truth <= f["conf_high"] for f in answers]
                right = [f["p_value"] < ALPHA and f["estimate"] > 1 for f in answers]
                wrong = [f["p_value"] < ALPHA and f["estimate"] < 1 for f in answers]
                experiments += [{"compiler": compiler, "slow": slow, "held": h, "right": r} for h, r in zip(held, right)]
                row += [percent(statistics.median(f["estimate"] for f in answers) - 1, 2),
                        percent(statistics.median((f["conf_high"] - f["conf_low"]) / 2 for f in answers), 2),
                        f"{sum(held)} of {len(held)}", f"{sum(right)} of {len(right)}", sum(wrong)]
            rows.append(row)
    held = {compiler: [e["held"] for e in experiments if e["compiler"] == compiler] for compiler in ("szc", "clang-19")}
    coverage = {compiler: binomial(sum(own), len(own), 1 - ALPHA) for compiler, own in held.items()}
    found = coverage["szc"]
    one_percent = [e["right"] for e in experiments if e["compiler"] == "szc" and e["slow"] == "1"]
    power = sum(one_percent) / len(one_percent)
    only = [sum(ours and not theirs for ours, theirs in zip(*order)) for order in ((held["szc"], held["clang-19"]), (held["clang-19"], held["szc"]))]
    worse = mcnemar(*only)
    asked = verdicts([
        ("S1", f"{sum(held['szc'])} of {len(held['szc'])} intervals hold the truth: {share(found)}",
         "confirmed" if found["conf_low"] <= 1 - ALPHA <= found["conf_high"] else "refuted" if found["conf_high"] < 1 - ALPHA else "open"),
        ("S2", f"1 % is found in {sum(one_percent)} of {len(one_percent)}", "confirmed" if power >= 0.8 else "refuted" if power < 0.6 else "open"),
        ("S3", f"of plain builds {sum(held['clang-19'])} of {len(held['clang-19'])}: {share(coverage['clang-19'])}; held only by randomized "
               f"{only[0]}, only by plain {only[1]}; p {p_four(worse)}", one_sided(worse, only[0] - only[1]))])
    head = ["workload", "planted", "truth", *(f"{name}: {what}" for name in ("randomized", "plain")
                                             for what in ("estimate", "half interval", "held", "found", "wrong sign"))]
    legend = ("By workload and slowdown (estimate and half of the 95 % interval: of the median experiment; held: the interval holds the "
              "truth; found: p < 0.05 and slower; wrong sign: p < 0.05 and faster):")
    return {recorded.name: "\n\n".join([recorded.header(), asked, legend, table(head, rows)])}, {}


# The control

def control(recorded):
    """C1 and C2, and how the other orders did."""
    orders = ("hot", "scattered", "colliding")
    rows, interactions, left = [], [], []
    for subject in recorded.subjects:
        row, costs = [subject], {}
        for code in ("pad", "shuffle"):
            source = by_block(recorded.where(subject, code=code, order="source"))
            for order in orders:
                this = by_block(recorded.where(subject, code=code, order=order))
                both = this.keys() & source.keys()
                costs[code, order] = {block: math.exp(this[block] - source[block]) for block in both}
                found = as_ratio(of_pairs("wilcoxon", *({block: math.exp(side[block]) for block in both} for side in (this, source))))
                row.append(change(found))
                if (code, order) == ("shuffle", "colliding"):
                    left.append(found)
        interactions.append(as_ratio(of_pairs("wilcoxon", costs["pad", "colliding"], costs["shuffle", "colliding"])))
        rows.append([*row, change(interactions[-1]), p_four(interactions[-1]["p_value"])])
    adjusted = holm([found["p_value"] for found in interactions])
    seen = sum(p < ALPHA and found["estimate"] > 1 for p, found in zip(adjusted, interactions))
    same = sum(found["conf_low"] is not None and found["conf_low"] > 0.99 and found["conf_high"] < 1.01 for found in left)
    asked = verdicts([("C1", f"seen in {seen} of {len(rows)} programs", of_eight(seen)),
                      ("C2", f"within ±1 % in {same} of {len(rows)}", of_eight(same))])
    head = ["workload", *(f"{code}: {order}" for code in ("pad", "shuffle") for order in orders), "colliding costs more under pad", "p", "p (Holm)"]
    legend = "Change of CPU time against the source's order, block by block, by signed ranks [95 %]:"
    return {recorded.name: "\n\n".join([recorded.header(), asked, legend,
                                        table(head, [[*row, p_four(p)] for row, p in zip(rows, adjusted)])])}, {}


def of_eight(programs):
    return "confirmed" if programs >= 6 else "refuted" if programs <= 2 else "open"


# Overhead

# Plan, or another run of it -> the question, and the bounds of the median ratio and of the worst workload's.
OVERHEAD_ASKED = {"sliced-overhead": ("O1", 1.02, 1.05), "sliced-overhead-second": ("O2", 1.02, 1.05), "sliced-overhead-third": ("O3", 1.02, 1.05),
                  "sliced-libraries": ("O4", 1.03, math.inf), "sliced-overhead-llvm22": ("O5", math.inf, 1.05)}


def overhead(recorded):
    """O1; of the second run O2, of the third O3; with all code in libraries O4, which asks for the median alone; with LLVM 22 O5, which asks
    for the worst alone."""
    plain, ours = sorted({cell["cc"] for cell in recorded.cells})   # clang's name, and szc's
    cells = {"plain": {"cc": plain}, "off": {"cc": ours, **NOTHING}, "all": {"cc": ours, **EVERYTHING}}
    asked_of = {"everything off, over plain": ("off", "plain"), "everything on, over plain": ("all", "plain"), "everything on, over off": ("all", "off")}
    subjects = [subject for subject in sorted(recorded.subjects) if all(recorded.where(subject, **cell) for cell in cells.values())]

    def compare(subject, ours, base):
        return ratio_in_blocks(recorded.where(subject, **cells[ours]), recorded.where(subject, **cells[base]), RESPONSE)
    found = {name: dict(zip(subjects, in_parallel(compare, [(subject, *sides) for subject in subjects]))) for name, sides in asked_of.items()}
    summaries = {name: stats("describe", {"ratio": [f["estimate"] for f in own.values()]}) for name, own in found.items()}
    question, of_median, of_worst = OVERHEAD_ASKED[recorded.name]
    name = "everything on, over plain"
    asked = verdicts([(question, *cost_answer(found[name], summaries[name], of_median, of_worst))])
    rows = [[subject, *(change(own[subject]) for own in found.values())] for subject in subjects]
    rows.append(["**median**", *map(median_text, summaries.values())])
    return {recorded.name: "\n\n".join([recorded.header(), asked, "Change of CPU time [95 %], within blocks, each block another link:",
                                        table(["workload", *found], rows)])}, {}


# Epoch -> the question of its cost, and the bounds of the median ratio and of the worst workload's.
DOSES_ASKED = {"500ms": ("D1", 1.01, 1.05), "20ms": ("D2", 1.02, math.inf), "5ms": ("D3", 1.04, math.inf)}
LONGEST, SHORTEST = "500ms", "5ms"


def costs_by_epoch(recorded):
    """{epoch: {subject: ratio of everything on to plain}}, the longest epoch first."""
    epochs = sorted({cell["epoch"] for cell in recorded.cells if cell["cc"] == "szc"}, key=lambda text: -int(text.removesuffix("ms")))
    subjects = sorted(recorded.subjects)

    def compare(subject, epoch):
        return ratio_in_blocks(recorded.where(subject, cc="szc", epoch=epoch), recorded.where(subject, cc="clang-19"), RESPONSE)
    return {epoch: dict(zip(subjects, in_parallel(compare, [(subject, epoch) for subject in subjects]))) for epoch in epochs}


def epochs_table(recorded, found, summaries=None):
    """A row for each workload, one for their medians, and one for how many layouts a run had."""
    layouts = {epoch: [t["layouts_executed"] for t in recorded.where(cc="szc", epoch=epoch)] for epoch in found}
    rows = [[subject, *(change(own[subject]) for own in found.values())] for subject in sorted(recorded.subjects)]
    rows += [["**median**", *map(median_text, summaries.values())]] if summaries else []
    rows.append(["layouts a run, median", *(f"{statistics.median(own):g}" for own in layouts.values())])
    legend = "Change of CPU time over plain builds [95 %], within blocks, each block another link, by epoch:"
    return f"{legend}\n\n{table(['workload', *found], rows)}"


def doses(recorded):
    """D1 to D4."""
    found = costs_by_epoch(recorded)
    summaries = {epoch: stats("describe", {"ratio": [f["estimate"] for f in own.values()]}) for epoch, own in found.items()}
    asked = [(question, *cost_answer(found[epoch], summaries[epoch], of_median, of_worst))
             for epoch, (question, of_median, of_worst) in DOSES_ASKED.items()]
    sides = [{subject: f["estimate"] for subject, f in found[epoch].items()} for epoch in (SHORTEST, LONGEST)]
    more = as_ratio(of_pairs("wilcoxon", *sides))
    asked.append(("D4", f"{SHORTEST} over {LONGEST} {change(more)}, p {p_four(more['p_value'])}", one_sided(more["p_value"], more["estimate"] - 1)))
    return {recorded.name: "\n\n".join([recorded.header(), verdicts(asked), epochs_table(recorded, found, summaries)])}, {}


LLD_ASKED_AT = "10ms"
LLD_AT_MOST, LLD_HALF = 1.05, 0.005   # the ratio that its interval may reach, and half of that interval


def linker(recorded):
    """D5 and D6: what everything costs the linker lld, its interval below the bound and narrow."""
    found = costs_by_epoch(recorded)
    costs = found[LLD_ASKED_AT].values()
    half = max((cost["conf_high"] - cost["conf_low"]) / 2 for cost in costs)
    within = all(cost["conf_high"] <= LLD_AT_MOST for cost in costs) and half <= LLD_HALF
    verdict = "refuted" if any(cost["conf_low"] > LLD_AT_MOST for cost in costs) else "confirmed" if within else "open"
    question = "D6" if recorded.name == "sliced-lld-more" else "D5"
    asked = [(question, f"{'; '.join(map(change, costs))}; half an interval {percent(half, 2)}", verdict)]
    return {recorded.name: "\n\n".join([recorded.header(), verdicts(asked), epochs_table(recorded, found)])}, {}


def cost_answer(costs, summary, of_median, of_worst):
    """(what was seen, verdict) of ratios by workload, the summary of these, and the bounds of their median and of the worst; inf: not asked."""
    worst = max(costs, key=lambda subject: costs[subject]["estimate"])
    over = sum(f["conf_low"] > 1.05 for f in costs.values())
    is_above = summary["median_conf_low"] is not None and summary["median_conf_low"] > of_median
    is_within = summary["median"] <= of_median and costs[worst]["estimate"] <= of_worst
    verdict = "refuted" if is_above or any(f["conf_low"] > of_worst for f in costs.values()) else "confirmed" if is_within else "open"
    return f"median {median_text(summary)}; worst {worst} {change(costs[worst])}; surely above 5 %: {over} of {len(costs)}", verdict


# What slicing does to a difference

SLICING_ASKED = {"slicing-short": ("K1", "t", "--short --blocks 60"), "slicing-tiny": ("K2", "ranks", "--tiny --blocks 400")}
ENOUGH_WITHIN = 9   # programs whose interval lies within a percent


def slicing(recorded):
    """K1 and K2: the difference of two programs as sliced blocks have it, over that of blocks in turn."""
    question, test, options = SLICING_ASKED[recorded.name]
    rows, found = [], []
    for subject in recorded.subjects:
        other = "slowed" if recorded.where(subject, slow="slowed") else "again"
        logs = {name: by_kind(recorded.where(subject, slow=name)) for name in ("plain", "again", other)}
        equal, differ = ({kind: [math.exp(logs[name][kind][b] - own[b]) for b in own if b in logs[name][kind]]
                          for kind, own in logs["plain"].items()} for name in ("again", other))
        found.append((ratio if test == "t" else shift)(differ[1], differ[0]))
        deviations = [statistics.stdev(map(math.log, equal[kind])) for kind in (0, 1)]
        rows.append([subject.split("/")[0], "1 % planted" if other == "slowed" else "none", *(percent(sd, 2) for sd in deviations),
                     f"{(deviations[0] / deviations[1])**2:.0f}",
                     *(change(as_ratio(of_pairs("paired-t", dict(enumerate(differ[kind])), dict.fromkeys(range(len(differ[kind])), 1.0))))
                       for kind in (0, 1)), change(found[-1]), p_four(found[-1]["p_value"])])
    adjusted = holm([f["p_value"] for f in found])
    beyond = sum(p < ALPHA for p in adjusted)
    tight = sum(within(f, 0.01) == "confirmed" for f in found)
    verdict = "refuted" if beyond else "confirmed" if tight >= ENOUGH_WITHIN else "open"
    saved = statistics.median(float(row[4]) for row in rows)
    asked = verdicts([(question, f"beyond chance in {beyond} of {len(rows)} programs; within ±1 % in {tight}", verdict)])
    facts, failed = recorded.facts, len(recorded.attempts) - len(recorded.trials)
    header = (f"`tests/bench/sliced_blocks {options}`, {facts['began_utc']} to {facts['ended_utc']} UTC: {len(recorded.trials)} of {facts['planned']} "
              f"trials recorded, {failed} attempts failed or lost. {machine_text(facts['machine'])}; {facts['machine']['placement']}.")
    head = ["program", "difference", "in turn: sd", "sliced: sd", "one sliced tells as much as", "difference in turn", "difference sliced", "bias", "p", "p (Holm)"]
    legend = (f"sd: of equal programs within a block; one sliced block tells as much as {saved:.0f} in turn, in the median program. Bias: the sliced "
              "difference over that in turn [95 %]:")
    return {recorded.name: "\n\n".join([header, asked, legend, table(head, [[*row, p_four(p)] for row, p in zip(rows, adjusted)])])}, {}


def by_kind(trials):
    """{1 of sliced blocks, else 0: {block: logarithm}}."""
    return {kind: by_block([trial for trial in trials if trial["sliced"] == kind]) for kind in (0, 1)}


FACTORS = {"heap in order": {"heap": "base"}, "heap": {"heap": "page"}, "stack": {"stack": "on"}, "code": {"code": "shuffle"}, "everything": EVERYTHING}


def factors(recorded):
    """Which factor costs how much; asked after sliced-overhead, so there is no verdict."""
    def compare(subject, levels):
        return ratio_in_blocks(recorded.where(subject, **NOTHING | levels), recorded.where(subject, **NOTHING), RESPONSE)
    subjects = sorted(recorded.subjects)
    found = in_parallel(compare, itertools.product(subjects, FACTORS.values()))
    rows = [[subject, *map(change, found[i * len(FACTORS):(i + 1) * len(FACTORS)])] for i, subject in enumerate(subjects)]
    legend = "Change of CPU time against everything off [95 %], within blocks, one link:"
    return {recorded.name: "\n\n".join([recorded.header(), legend, table(["workload", *FACTORS], rows)])}, {}


def median_text(summary):
    """With its exact interval, which few workloads don't have."""
    low, high = ("-" if summary[name] is None else percent(summary[name] - 1, 2) for name in ("median_conf_low", "median_conf_high"))
    return f"{percent(summary['median'] - 1, 2)} [{low}, {high}]"


# Optimization levels, and optimizers that know more

LEVELS = {"-O1 against -O2": ({"opt": "-O1"}, {"opt": "-O2"}), "-O3 against -O2": ({"opt": "-O3"}, {"opt": "-O2"}),
          "-O2 again": ({"opt": "again"}, {"opt": "-O2"})}
OPTIMIZERS = {"PGO": ({"lto": "off", "pgo": "on"}, {"lto": "off", "pgo": "off"}),
              "ThinLTO": ({"lto": "thin", "pgo": "off"}, {"lto": "off", "pgo": "off"}),
              "both": ({"lto": "thin", "pgo": "on"}, {"lto": "off", "pgo": "off"}),
              "PGO, of ThinLTO": ({"lto": "thin", "pgo": "on"}, {"lto": "thin", "pgo": "off"})}


class Compared:
    """What treatments do to each workload, and over programs. A program's workloads are alike, so over programs their mean counts once.
    A workload that was recorded in no block has no answer, and the page names it."""

    def __init__(self, recorded, sides):
        self.recorded, self.subjects = recorded, sorted(s for s in recorded.subjects if recorded.where(s))
        self.without = sorted(set(recorded.subjects) - set(self.subjects))
        compare = functools.partial(self._compare, recorded)
        self.found = {name: dict(zip(self.subjects, in_parallel(compare, [(subject, *cells) for subject in self.subjects])))
                      for name, cells in sides.items()}
        self.over = {name: over_programs(own) for name, own in self.found.items()}
        self.adjusted = {name: dict(zip(own, holm([f["p_value"] for f in own.values()]))) for name, own in self.found.items()}

    @staticmethod
    def _compare(recorded, subject, ours, base):
        return ratio_in_blocks(recorded.where(subject, **ours), recorded.where(subject, **base), RESPONSE)

    def sure(self, name, way):
        """How many workloads are faster or slower, with Holm."""
        return sum(p < ALPHA and (self.found[name][s]["estimate"] > 1) == (way == "slower") for s, p in self.adjusted[name].items())

    def page(self, asked):
        rows = [[subject, *(cell for name, own in self.found.items() for cell in (change(own[subject]), p_four(self.adjusted[name][subject])))]
                for subject in self.subjects]
        rows.append(["**over programs**", *(cell for f in self.over.values() for cell in (change(f), p_four(f["p_value"])))])
        half = statistics.median((f["conf_high"] - f["conf_low"]) / 2 for own in self.found.values() for f in own.values())
        legend = (f"Change of CPU time [95 %], within blocks; half an interval is {percent(half, 2)} in the median. "
                  "p with Holm over the workloads" + (f"; no trial of {', '.join(self.without)} was recorded" if self.without else "") + ":")
        head = ["workload", *(cell for name in self.found for cell in (name, "p"))]
        return {self.recorded.name: "\n\n".join([self.recorded.header(), verdicts(asked), legend, table(head, rows)])}, {}


def levels(recorded):
    """L1 to L4; of the second day L5 to L8."""
    compared = Compared(recorded, LEVELS)
    o1, o3 = compared.over["-O1 against -O2"], compared.over["-O3 against -O2"]
    faster, slower = (compared.sure("-O3 against -O2", way) for way in ("faster", "slower"))
    same = compared.found["-O2 again"].values()
    alarmed = sum(f["p_value"] < ALPHA for f in same)
    alarms = binomial(alarmed, len(same), ALPHA)
    first = 1 if recorded.name == "sliced-levels" else 5
    return compared.page([
        (f"L{first}", f"-O1 against -O2 over programs {change(o1)}, p {p_four(o1['p_value'])}", one_sided(o1["p_value"], o1["estimate"] - 1)),
        (f"L{first + 1}", f"-O3 against -O2 over programs {change(o3)}, p {p_four(o3['p_value'])}", within(o3, 0.01)),
        (f"L{first + 2}", f"with Holm -O3 is faster in {faster} and slower in {slower} of {len(compared.subjects)} workloads",
         "confirmed" if faster and slower else "open" if faster or slower else "refuted"),
        (f"L{first + 3}", f"{alarmed} alarms of {len(same)}: {share(alarms)}", verdict_on_level(alarms, ALPHA))])


def optimizers(recorded):
    """P1 to P4."""
    compared = Compared(recorded, OPTIMIZERS)
    pgo, thin = compared.over["PGO"], compared.over["ThinLTO"]
    slower = compared.sure("PGO", "slower")
    together = over_programs({s: {"estimate": compared.found["PGO, of ThinLTO"][s]["estimate"] / compared.found["PGO"][s]["estimate"]}
                              for s in compared.subjects})
    return compared.page([
        ("P1", f"PGO over programs {change(pgo)}, p {p_four(pgo['p_value'])}", one_sided(pgo["p_value"], 1 - pgo["estimate"])),
        ("P2", f"ThinLTO over programs {change(thin)}, p {p_four(thin['p_value'])}", one_sided(thin["p_value"], 1 - thin["estimate"])),
        ("P3", f"with Holm PGO is slower in {slower} of {len(compared.subjects)} workloads", "refuted" if slower else "confirmed"),
        ("P4", f"what PGO does to ThinLTO's builds over what it does to others {change(together)}", within(together, 0.01))])


def over_programs(of_workloads):
    """The paired t-test of the programs' mean logarithms against none, as a ratio."""
    logs = {}
    for subject, f in of_workloads.items():
        logs.setdefault(subject.split("/")[0], []).append(math.log(f["estimate"]))
    means = {program: math.exp(statistics.fmean(own)) for program, own in logs.items()}
    return as_ratio(of_pairs("paired-t", means, dict.fromkeys(means, 1.0)))


def within(found, margin):
    """Whether a ratio's interval lies within that margin of 1."""
    low, high = found["conf_low"] - 1, found["conf_high"] - 1
    return "confirmed" if -margin < low and high < margin else "refuted" if low > margin or high < -margin else "open"
