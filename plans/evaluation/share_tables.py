"""The layout-share experiment: how much of the variance of a run is the place of its code.

A block has some trials of one layout that is its own (`once`) and as many of the layout that is the same in all blocks (`off`). Its
unit is the difference of their logarithms, paired in the order in which they ran: what the machine does to a block falls on both.
What differs between blocks more than within them is the layouts.
"""
import math
import statistics

from figures import COLOURS, Canvas, Panel
from recorded import holm, p_text, percent, stats, table

RESPONSES = {"task-clock": "CPU time", "wall_ns": "wall time"}


def tables(recorded):
    """{block name: markdown}, {figure name: svg}."""
    found = {response: {subject: share(recorded, subject, response) for subject in recorded.subjects} for response in RESPONSES}
    adjusted = {response: dict(zip(own, holm([f["p"] for f in own.values()]))) for response, own in found.items()}
    rows = []
    for subject in sorted(recorded.subjects):
        row = [subject, found["task-clock"][subject]["blocks"]]
        for response in RESPONSES:
            own = found[response][subject]
            row += [percent(own["layout"], 2), percent(own["run"], 2), percent(own["share"], 0), p_text(own["p"]), p_text(adjusted[response][subject])]
        rows.append(row)
    head = ["workload", "blocks"] + [f"{name}: {what}" for name in RESPONSES.values() for what in ("sd of layouts", "sd of runs of one layout",
                                                                                          "share of layout", "p", "p (Holm)")]
    lines = [f"By {name}, layouts are seen in {sum(f['p'] < 0.05 for f in own.values())} of {len(own)} programs at 5 %, in "
             f"{sum(p < 0.05 for p in adjusted[response].values())} with Holm; the layout's share in the median program is "
             f"{percent(statistics.median(f['share'] for f in own.values()), 0)}."
             for (response, name), own in zip(RESPONSES.items(), found.values())]
    return {recorded.name: "\n\n".join([recorded.header(), " ".join(lines), table(head, rows)])}, {recorded.name: bars(found["task-clock"])}


def share(recorded, subject, response):
    """Standard deviations of layouts and of runs of one layout (logarithms), the layouts' share of the variance of a run, and p."""
    sides = {code: blocks(recorded.where(subject, code=code), response) for code in ("once", "off")}
    both = sorted(sides["once"].keys() & sides["off"].keys())
    pairs = {block: list(zip(sides["once"][block], sides["off"][block])) for block in both}
    columns = {"time": [ours - fixed for block in both for ours, fixed in pairs[block]], "block": [f"b{block}" for block in both for _ in pairs[block]]}
    p = stats("kruskal", columns, "--response", "time", "--group", "block")["p_value"]
    between, _ = (row["reml"] for row in stats("variance-components", columns, "--response", "time", "--group", "block")["rows"])
    once = {"time": [time for block in both for time in sides["once"][block]], "block": [f"b{block}" for block in both for _ in sides["once"][block]]}
    run = stats("variance-components", once, "--response", "time", "--group", "block")["rows"][-1]["reml"]
    return {"layout": math.sqrt(max(0, between)), "run": math.sqrt(run), "share": max(0, between) / (max(0, between) + run), "p": p, "blocks": len(both)}


def blocks(trials, response):
    """{block: logarithms in the order in which they ran}."""
    found = {}
    for trial in trials:
        found.setdefault(trial["block"], []).append(math.log(trial[response]))
    return found


def bars(found):
    """The two standard deviations, side by side."""
    names = ("layouts", "runs of one layout")
    canvas = Canvas(60 + 40 * len(found), 300)
    most = max(max(f["layout"], f["run"]) for f in found.values())
    panel = Panel(canvas, (50, 20, 40 * len(found), 190), (0, len(found)), (0, 1.05 * most))
    step = 0.01 if most < 0.06 else 0.02
    panel.axis_texts((), [step * i for i in range(int(1.05 * most / step) + 1)], lambda v: f"{100 * v:.0f} %")
    for i, subject in enumerate(sorted(found)):
        for k, value in enumerate((found[subject]["layout"], found[subject]["run"])):
            panel.line([(i + 0.35 + 0.3 * k, 0), (i + 0.35 + 0.3 * k, value)], COLOURS[k], 8)
        x, y = panel.at(i + 0.5, 0)
        canvas.parts.append(f'<text transform="translate({x:.1f} {y + 10:.1f}) rotate(60)" font-size="10">{subject}</text>')
    canvas.legend(60, 292, names)
    return canvas.svg()
