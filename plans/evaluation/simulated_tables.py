"""The simulated experiment: does the spread of a run's simulated cost fall with the number of layouts in it?

By the number of layouts in a run: trials, mean of the cost against runs of one layout, standard deviation of its logarithm, that times
the root of the number, and Shapiro-Wilk's p. Blocks that aren't whole are left out.
"""
import math
import statistics

from figures import COLOURS, Canvas, Panel
from recorded import p_text, percent, stats, table

LAYOUTS = {"0visits": 1, "15visits": 4, "4visits": 15, "2visits": 30, "1visits": 60}


def tables(recorded):
    """{block name: markdown}, {figure name: svg}."""
    blocks = whole_blocks(recorded)
    base = statistics.fmean(block["0visits"] for block in blocks)
    rows, spread = [], {}
    for level, layouts in LAYOUTS.items():
        costs = [block[level] for block in blocks]
        spread[layouts] = statistics.stdev(math.log(cost) for cost in costs)
        rows.append([layouts, len(costs), percent(statistics.fmean(costs) / base - 1, 2), percent(spread[layouts], 2),
                     percent(spread[layouts] * math.sqrt(layouts), 2), p_text(stats("shapiro-wilk", {"cost": costs})["p_value"])])
    head = ["layouts a run", "runs", "mean cost against one layout", "sd of log cost", "sd x sqrt(layouts)", "Shapiro-Wilk p"]
    return {recorded.name: f"{recorded.header()}\n\n{table(head, rows)}"}, {recorded.name: curve(spread)}


def whole_blocks(recorded):
    """[{level of epoch: simulated cost}], in the order of the blocks."""
    blocks = {}
    for trial in recorded.trials:
        blocks.setdefault(trial["block"], {})[recorded.cells[trial["cell"]]["epoch"]] = trial["simulated_cost"]
    return [block for _, block in sorted(blocks.items()) if set(block) == set(LAYOUTS)]


def curve(spread):
    """Both axes by logarithms: where the spread falls as 1/sqrt(k) it runs along the dashed line."""
    canvas = Canvas(520, 300)
    x, y = [math.log(k) for k in spread], [math.log(sd) for sd in spread.values()]
    panel = Panel(canvas, (60, 30, 430, 220), (x[0] - 0.2, x[-1] + 0.2), (min(y[-1], y[0] - x[-1] / 2) - 0.2, y[0] + 0.2))
    canvas.text(60, 22, "sd of log simulated cost by layouts in a run; dashed: 1/sqrt(layouts)")
    panel.axis_texts(x, (), lambda v: f"{math.exp(v):.0f}")
    panel.axis_texts((), y, lambda v: f"{100 * math.exp(v):.1f} %")
    panel.line([(x[0], y[0]), (x[-1], y[0] - x[-1] / 2)], "#999999", dashed=True)
    panel.line(list(zip(x, y)), COLOURS[1], 2)
    panel.dots(list(zip(x, y)), COLOURS[1], 3)
    return canvas.svg()
