"""Experiments about effects that are known to be there: injected slowdowns, and a layout optimization as control."""
import itertools
import statistics

from figures import changes
from recorded import OF_A_LINK, answer, as_ratio, change, differ, holm, of_pairs, p_text, ratio, shift, stats, table, units
from resample import MOST, needed as needed_by_ranks

RESPONSES = {"wall_ns": "wall time", "task-clock": "CPU time"}
TESTS = {"t": ratio, "ranks": shift}
POWER = "0.8"


def sensitivity(recorded):
    """What it takes to see a slowdown: with random layouts, with seeded links, and with one link a side."""
    levels = sorted({cell["slow"] for cell in recorded.cells}, key=float)
    blocks = []
    for (response, name), (test, compare) in itertools.product(RESPONSES.items(), TESTS.items()):
        rows = []
        for subject, slow in itertools.product(recorded.subjects, levels[1:]):
            sides = {cc: [units(recorded.where(subject, cc=cc, slow=level), response, OF_A_LINK[test]) for level in (slow, levels[0])]
                     for cc in ("szc", "clang-19")}
            row = [subject, f"{slow} %"]
            for times in sides.values():
                found = compare(*times)
                row += [change(found), p_text(found["p_value"]), needed(times, float(slow) / 100, test)]
            pairs = list(itertools.product(*sides["clang-19"]))
            rows.append([*row, f"{sum(slowed < plain for slowed, plain in pairs)} of {len(pairs)}"])
        blocks += [f"By {name}, {test}:", table(
            ["workload", "injected", "randomized: seen [95 %]", "p", "trials a side", "seeded links: seen [95 %]", "p", "links a side",
             "one link a side: wrong sign"], rows)]
    return {"sensitivity": "\n\n".join([recorded.header(), *blocks])}, {}


def needed(times, change_share, test):
    """How many a side find this change with 80 % probability: by t given the spread that was seen, by ranks as draws from the
    side that isn't slowed find it."""
    if test == "ranks":
        return needed_by_ranks(times[1], change_share) or f"> {MOST}"
    found = [stats("describe", {"time": side}) for side in times]
    spread = statistics.fmean((f["sd"] / f["mean"]) ** 2 for f in found) ** 0.5
    return answer(["power-t", "--delta", repr(change_share), "--sd", repr(spread), "--power", POWER])["n_whole"]


def control(recorded):
    """An order of functions is an effect where the order is kept, and none where it is shuffled."""
    orders = [o for o in ("hot", "scattered", "colliding") if any(cell["order"] == o for cell in recorded.cells)]
    head = ["workload", "order"] + [word for code in ("pad", "shuffle") for name in RESPONSES.values()
                                    for word in (f"{code}, {name} [95 %]", "p")]
    blocks, bars = [], {test: [] for test in TESTS}
    for test, compare in TESTS.items():
        rows = []
        for subject, order in itertools.product(recorded.subjects, orders):
            row = [subject, order]
            for code, response in itertools.product(("pad", "shuffle"), RESPONSES):
                found = compare(*([t[response] for t in recorded.where(subject, code=code, order=o)] for o in (order, "source")))
                row += [change(found), p_text(found["p_value"])]
                if response == "task-clock":
                    bars[test].append((f"{subject} {order}", code, found))
            rows.append(row)
        seen = {}
        for code in ("pad", "shuffle"):
            p = [found["p_value"] for _, c, found in bars[test] if c == code]
            seen[code] = differ(p, holm(p))
        blocks += [f"By {test}, differences to the source's order in CPU time at 5 % (with Holm): {seen['pad']} where the order is kept, "
                   f"{seen['shuffle']} where it is shuffled.", table(head, rows)]
    return ({recorded.name: "\n\n".join([recorded.header(), *blocks, interactions(recorded, orders[-1])])},
            {recorded.name: changes(bars["ranks"], ("pad", "shuffle"))})


def interactions(recorded, order):
    """What the order costs more where it is kept than where it is shuffled: the difference of the two differences within each block,
    by signed ranks. That one difference is seen and another isn't would be no test of it."""
    rows, cpu = [], []
    for subject in recorded.subjects:
        row = [subject]
        for response in RESPONSES:
            costs = []
            for code in ("pad", "shuffle"):
                this, source = ({t["block"]: t[response] for t in recorded.where(subject, code=code, order=o)} for o in (order, "source"))
                costs.append({block: this[block] / source[block] for block in this.keys() & source.keys()})
            found = as_ratio(of_pairs("wilcoxon", *costs))
            row += [change(found), p_small(found["p_value"])]
            cpu += [found["p_value"]] if response == "task-clock" else []
        rows.append(row)
    head = ["workload"] + [word for name in RESPONSES.values() for word in (f"{name} [95 %]", "p")]
    asked = "asked after the data were seen"
    if recorded.name != "control":   # the first run, whose data raised the question; of others it was asked before
        rows = [[*row, p_small(p)] for row, p in zip(rows, holm(cpu))]
        head, asked = [*head, "CPU time, p (Holm)"], "asked before the data"
    return (f"What the {order} order costs more under `pad` than under `shuffle`, block by block, by signed ranks ({asked}):\n\n"
            f"{table(head, rows)}")


def p_small(p):
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}"
