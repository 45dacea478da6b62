"""Experiments about effects that are known to be there: injected slowdowns, and a layout optimization as control."""
import itertools
import statistics

from figures import COLOURS, Canvas, Panel
from recorded import answer, p_text, percent, ratio, table, units

RESPONSES = {"wall_ns": "wall time", "task-clock": "CPU time"}
POWER = "0.8"


def change(found):
    return f"{percent(found['estimate'] - 1, 2)} [{percent(found['conf_low'] - 1, 2)}, {percent(found['conf_high'] - 1, 2)}]"


def sensitivity(recorded):
    """What it takes to see a slowdown: with random layouts, with seeded links, and with one link a side."""
    levels = sorted({cell["slow"] for cell in recorded.cells}, key=float)
    blocks = {}
    for response, name in RESPONSES.items():
        rows = []
        for subject, slow in itertools.product(recorded.subjects, levels[1:]):
            sides = {cc: [recorded.where(subject, cc=cc, slow=level) for level in (slow, levels[0])] for cc in ("szc", "clang-19")}
            row = [subject, f"{slow} %"]
            for trials in sides.values():
                times = [units(side, response) for side in trials]
                found = ratio(*times)
                row += [change(found), p_text(found["p_value"]), needed(times, float(slow) / 100)]
            means = [units(side, response) for side in sides["clang-19"]]
            pairs = list(itertools.product(*means))
            rows.append([*row, f"{sum(slowed < plain for slowed, plain in pairs)} of {len(pairs)}"])
        blocks[response] = f"By {name}:\n\n" + table(
            ["program", "injected", "randomized: seen [95 %]", "p", "trials a side", "seeded links: seen [95 %]", "p", "links a side",
             "one link a side: wrong sign"], rows)
    return {"sensitivity": "\n\n".join([recorded.header(), *blocks.values()])}, {}


def needed(times, change_share):
    """How many a side find this change with 80 % probability, given the spread that was seen."""
    spread = statistics.fmean((statistics.stdev(side) / statistics.fmean(side)) ** 2 for side in times) ** 0.5
    return answer(["power-t", "--delta", repr(change_share), "--sd", repr(spread), "--power", POWER])["n_whole"]


def control(recorded):
    """An order of functions is an effect where the order is kept, and none where it is shuffled."""
    orders = [o for o in ("hot", "scattered") if any(cell["order"] == o for cell in recorded.cells)]
    rows, bars = [], []
    for subject in recorded.subjects:
        for order in orders:
            row = [subject, order]
            for code in ("pad", "shuffle"):
                for response in RESPONSES:
                    found = ratio(*([t[response] for t in recorded.where(subject, code=code, order=o)] for o in (order, "source")))
                    row += [change(found), p_text(found["p_value"])]
                    if response == "task-clock":
                        bars.append((f"{subject} {order}", code, found))
            rows.append(row)
    head = ["program", "order"] + [word for code in ("pad", "shuffle") for name in RESPONSES.values()
                                   for word in (f"{code}, {name} [95 %]", "p")]
    seen = {code: sum(found["p_value"] < 0.05 for _, c, found in bars if c == code) for code in ("pad", "shuffle")}
    total = len(bars) // 2
    text = (f"{recorded.header()}\n\nDifferences to the source's order that a t-test sees at 5 %, in CPU time: {seen['pad']} of {total} "
            f"where the order is kept, {seen['shuffle']} of {total} where it is shuffled.\n\n{table(head, rows)}")
    return {"control": text}, {"control": intervals(bars)}


def intervals(bars):
    """Each difference with its interval, pad beside shuffle."""
    names = list(dict.fromkeys(name for name, _, _ in bars))
    most = max(abs(bound - 1) for _, _, found in bars for bound in (found["conf_low"], found["conf_high"])) * 1.05
    canvas = Canvas(640, 60 + 34 * len(names))
    panel = Panel(canvas, (190, 20, 430, 34 * len(names)), (-most, most), (0, len(names)))
    panel.line([(0, 0), (0, len(names))], "#999999", dashed=True)
    panel.axis_texts((-most, 0, most), (), lambda v: percent(v))
    for name, code, found in bars:
        y = len(names) - names.index(name) - (0.35 if code == "pad" else 0.65)
        colour = COLOURS[0] if code == "pad" else COLOURS[1]
        panel.line([(found["conf_low"] - 1, y), (found["conf_high"] - 1, y)], colour, 2)
        panel.dots([(found["estimate"] - 1, y)], colour, 3)
        if code == "pad":
            canvas.text(184, panel.at(0, y - 0.2)[1], name, "end")
    canvas.legend(200, 52 + 34 * len(names), ("pad", "shuffle"))
    return canvas.svg()
