"""The overhead experiment: each factor alone and cumulated, over the plain build in seeded links. The paper's Figure 6."""
import statistics

from figures import COLOURS, Canvas, Panel
from recorded import PAPERS, percent, ratio, table, units

BASELINE = {"cc": "clang-19"}
PAPER = {"code": "3.1 %", "code, stack": "5.5 %", "all": "6.7 % (worst 38.7 %)"}
# Name of a column -> its cell, among szc's.
CELLS = {
    "off": {"code": "off", "stack": "off", "heap": "off"},
    "copy": {"code": "copy"},
    "zero": {"stack": "zero"},
    "base": {"code": "off", "heap": "base"},
    "stack": {"code": "off", "stack": "on"},
    "heap": {"code": "off", "heap": "page"},
    "heap shuffle": {"code": "off", "heap": "shuffle"},
    "code": {"code": "shuffle", "stack": "off", "epoch": "500ms"},
    "code 20 ms": {"code": "shuffle", "stack": "off", "epoch": "20ms"},
    "code, stack": {"code": "shuffle", "stack": "on", "heap": "off"},
    "all": {"code": "shuffle", "stack": "on", "heap": "page", "epoch": "500ms"},
    "all 20 ms": {"code": "shuffle", "stack": "on", "heap": "page", "epoch": "20ms"},
    "all, heap shuffle": {"code": "shuffle", "stack": "on", "heap": "shuffle"},
}
RESPONSES = {"wall_ns": "wall time", "cpu_ns": "CPU time"}


def tables(recorded):
    """{block name: markdown}, {figure name: svg}."""
    cost = {response: {name: ratios(recorded, levels, response) for name, levels in CELLS.items()} for response in RESPONSES}
    rows = [[name, *(text(cost[r][name]) for r in RESPONSES), PAPER.get(name, "-")] for name in CELLS]
    summary = table(["on", *(f"{name}: median, worst" for name in RESPONSES.values()), PAPERS], rows)
    shown = ["off", "code", "code, stack", "all", "all 20 ms"]
    rows = []
    for subject in recorded.subjects:
        found = [cost["cpu_ns"][name].get(subject) for name in shown]
        rows.append([subject] + ["-" if f is None else f"{f['estimate']:.3f} [{f['conf_low']:.3f}, {f['conf_high']:.3f}]"
                                 for f in found])
    programs = table(["CPU time over plain, 95 %", *shown], rows)
    blocks = len({trial["block"] for trial in recorded.trials})
    return ({"overhead": f"{recorded.header()} {blocks} blocks, the fixed cells in a link of its own in each.\n\n"
                         f"{summary}\n\n{programs}"}, {"overhead": bars(recorded, cost["cpu_ns"], ["code", "code, stack", "all"])})


def ratios(recorded, levels, response):
    """{subject: ratio of geometric means to the plain links, with its interval}."""
    found = {}
    for subject in recorded.subjects:
        ours = units(recorded.where(subject, cc="szc", **levels), response)
        plain = units(recorded.where(subject, **BASELINE), response)
        if min(len(ours), len(plain)) >= 2:
            found[subject] = ratio(ours, plain)
    return found


def text(found):
    estimates = [f["estimate"] - 1 for f in found.values()]
    return f"{percent(statistics.median(estimates))}, {percent(max(estimates))}" if estimates else "-"


def bars(recorded, cost, names):
    canvas = Canvas(60 + 36 * len(recorded.subjects), 330)
    most = max(f["estimate"] - 1 for name in names for f in cost[name].values())
    panel = Panel(canvas, (50, 20, 36 * len(recorded.subjects), 200), (0, len(recorded.subjects)), (-0.1, max(0.5, most)))
    panel.axis_texts((), (-0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5), lambda v: f"{100 * v:.0f} %")
    panel.line([(0, 0), (len(recorded.subjects), 0)], "#999999")
    for i, subject in enumerate(recorded.subjects):
        for k, name in enumerate(names):
            if subject in cost[name]:
                x = i + 0.25 * (k + 1)
                panel.line([(x, 0), (x, cost[name][subject]["estimate"] - 1)], COLOURS[k], 6)
        x, y = panel.at(i + 0.5, panel.y_range[0])
        canvas.parts.append(f'<text transform="translate({x:.1f} {y + 10:.1f}) rotate(60)" font-size="10">{subject}</text>')
    canvas.legend(60, 320, names)
    return canvas.svg()
