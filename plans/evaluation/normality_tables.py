"""The normality experiment: one layout a run against a new one each epoch. The paper's Table 1."""
import copy
import itertools
import statistics

from figures import COLOURS, Canvas, Panel
from recorded import PAPERS, binomial, holm, p_text, percent, stats, table

MODES = {"once": "one layout", "shuffle": "re-randomized"}
RESPONSES = {"wall_ns": "wall time", "cpu_ns": "CPU time"}
# A block was disturbed when somebody else took that share of a trial's processor: wall time without CPU time, which layouts
# don't make. The helper and the engine take less.
DISTURBED = 0.2
ENOUGH_BLOCKS = 20


def tables(recorded):
    """{block name: markdown}, {figure name: svg}."""
    header = recorded.header()
    shown = found = {name: tests(recorded, response) for response, name in RESPONSES.items()}
    if left_out := disturbed(recorded):
        whole, recorded = recorded, copy.copy(recorded)
        recorded.trials = [trial for trial in whole.trials if trial["block"] not in left_out]
        shown = {name: tests(recorded, response) for response, name in RESPONSES.items()}
        found = found | {f"{name}, calm blocks": tested for name, tested in shown.items()}
        found = found | {f"{name}, calm blocks, largest left out": tests(recorded, response, left_out=1) for response, name in RESPONSES.items()}
        header += (f"\n\nBlocks in which somebody else took {percent(DISTURBED, 0)} and more of a trial's processor: "
                   f"{', '.join(str(block + 1) for block in left_out)}; the others are the calm ones, of which the second table and "
                   f"the figure are.")
    rows = []
    for i, subject in enumerate(recorded.subjects):
        row = [subject, len(values(recorded, subject, "once", "wall_ns"))]
        for response, mode in itertools.product(RESPONSES, MODES):
            times = values(recorded, subject, mode, response)
            row += [percent(statistics.stdev(times) / statistics.mean(times), 2), p_text(shown[RESPONSES[response]][mode][i])]
        doses = [t["layouts_executed"] for t in recorded.where(subject, code="shuffle")]
        rows.append([*row, f"{min(doses)} to {max(doses)}"])
    workloads = table(["workload", "n"] + [f"{name}, {mode}: {what}" for name in RESPONSES.values() for mode in MODES.values()
                                           for what in ("sd", "p normal")] + ["layouts a run"], rows)
    return {"normality": f"{header}\n\n{summary(recorded, found)}\n\n{workloads}"}, {"normality": quantiles(recorded)}


def disturbed(recorded):
    """Blocks to leave out as well, while enough remain."""
    lost = {}
    for trial in recorded.trials:
        lost.setdefault(trial["block"], []).append(1 - trial["cpu_ns"] / trial["wall_ns"])
    found = sorted(block for block, shares in lost.items() if max(shares) >= DISTURBED)
    return found if len(lost) - len(found) >= ENOUGH_BLOCKS else []


def values(recorded, subject, mode, response):
    return [trial[response] for trial in recorded.where(subject, code=mode)]


def tests(recorded, response, left_out=0):
    """p-values by subject: Shapiro-Wilk in both modes, and with Holm over the workloads; Brown-Forsythe between them.
    left_out: so many of each mode's largest values, as the paper's scripts leave out one."""
    found = {mode: [] for mode in (*MODES, "spread")}
    for subject in recorded.subjects:
        both = [(time, mode) for mode in MODES for time in sorted(values(recorded, subject, mode, response))[:-left_out or None]]
        columns = {"time": [time for time, _ in both], "mode": [mode for _, mode in both]}
        for group in stats("shapiro-wilk", columns, "--group", "mode")["groups"]:
            found[group["group"]].append(group["p_value"])
        # Of relative times: a mode that is slower isn't for that more spread.
        found["spread"].append(stats("brown-forsythe", columns, "--group", "mode", "--log")["p_value"])
    for mode in MODES:
        found[f"{mode} holm"] = holm(found[mode])
    return found


def summary(recorded, found):
    n = len(recorded.subjects)
    rows = []
    for name, p in found.items():
        not_normal = {key: sum(x < 0.05 for x in p[key]) for key in (*MODES, "once holm", "shuffle holm")}
        lost = sum(a < 0.05 <= b for a, b in zip(p["once"], p["shuffle"]))
        gained = sum(b < 0.05 <= a for a, b in zip(p["once"], p["shuffle"]))
        pairwise = f"{lost} to {gained}, p {p_text(binomial(lost, lost + gained, 0.5)['p_value'])}" if lost + gained else "none"
        rows.append([name, f"{not_normal['once']} of {n}", f"{not_normal['shuffle']} of {n}", f"{not_normal['once holm']} of {n}",
                     f"{not_normal['shuffle holm']} of {n}", pairwise, f"{sum(x < 0.05 for x in p['spread'])} of {n}"])
    # Their public data (branch results of ccurtsinger/stabilizer), by their own qq.r and without its first step.
    rows.append([f"{PAPERS}, 500 ms, largest left out", "5 of 18", "2 of 18", "-", "-", "-", "10 of 18"])
    rows.append([f"{PAPERS}, 500 ms, all values", "8 of 18", "5 of 18", "-", "-", "-", "-"])
    return table(["not normal at 5 %", "one layout", "re-randomized", "one, Holm", "re-rand., Holm", "became normal to the reverse",
                  "spreads differ"], rows)


def quantiles(recorded):
    columns, side = 5, 120
    lines = -(-len(recorded.subjects) // columns)
    canvas = Canvas(columns * (side + 20) + 20, lines * (side + 30) + 40)
    for i, subject in enumerate(recorded.subjects):
        left, top = 20 + i % columns * (side + 20), 20 + i // columns * (side + 30)
        canvas.text(left, top - 4, subject)
        panel = Panel(canvas, (left, top, side, side), (-3, 3), (-4, 4))
        panel.line([(-3, -3), (3, 3)], "#999999", dashed=True)
        for colour, mode in zip(COLOURS, MODES):
            times = values(recorded, subject, mode, "wall_ns")
            mean, sd = statistics.mean(times), statistics.stdev(times)
            points = stats("qq", {"time": times})
            if "groups" in points:
                points = points["groups"][0]
            scaled = [(x, max(-4, min(4, (y - mean) / sd))) for x, y in zip(points["theoretical"], points["sample"])]
            panel.dots(scaled, colour)
    canvas.legend(30, lines * (side + 30) + 28, MODES.values())
    canvas.text(320, lines * (side + 30) + 28, "standardized wall times against normal quantiles")
    return canvas.svg()
