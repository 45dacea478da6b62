"""Layouts against the source order, from the trials of one plan: how far each is from it where code stays, and where it moves.

A block has one trial of each cell, minutes apart at most, so what the machine does to a block is out of the differences within it.
Three numbers a layout, each a mean of logarithms over blocks with Student's interval, by `stabctl stats`:

stays   log(time of the layout / time of the source order), code off
moves   the same with code shuffled: the place that a build gave is left at once
of place  stays - moves: what went when places did

p is of `stays` or of `of place`, each adjusted by Holm over the layouts.
"""
import csv
import io
import json
import math
import subprocess
import tempfile

BASELINE = "source"


def interval(values, stabctl):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("value\n" + "".join(f"{value!r}\n" for value in values))
        file.flush()
        done = subprocess.run([stabctl, "stats", "one-sample-t", file.name, "--response", "value", "--json"], capture_output=True,
                              text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def holm(p_values):
    adjusted, largest, order = [0.0] * len(p_values), 0.0, sorted(range(len(p_values)), key=lambda i: p_values[i])
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def logarithms(text, response):
    """{(layout, code): {block: log of the response}}"""
    cells = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["excluded"] or not row.get(response):
            continue
        cells.setdefault((row["placing"], row["code"]), {})[row["block"]] = math.log(float(row[response]))
    return cells


def differences(cells, layout, code):
    here, baseline = cells.get((layout, code), {}), cells.get((BASELINE, code), {})
    return {block: value - baseline[block] for block, value in here.items() if block in baseline}


def compared(text, layouts, stabctl, response="task-clock"):
    """Of report --csv's text, in the order of `layouts`: [{layout, stays, moves, place, p_stays, p_place}]; moves and place are None for what can't be shuffled."""
    cells = logarithms(text, response)
    rows = []
    for layout in layouts:
        if layout == BASELINE:
            continue
        stays, moves = (differences(cells, layout, code) for code in ("off", "shuffle"))
        both = [stays[block] - moves[block] for block in stays if block in moves]
        if len(stays) < 2:
            raise ValueError(f"layout '{layout}' has {len(stays)} blocks beside '{BASELINE}', two are needed")
        rows.append({"layout": layout, "stays": interval(list(stays.values()), stabctl),
                     "moves": interval(list(moves.values()), stabctl) if len(moves) > 1 else None,
                     "place": interval(both, stabctl) if len(both) > 1 else None})
    for what in ("stays", "place"):
        known = [row for row in rows if row[what]]
        for row, p in zip(known, holm([row[what]["p_value"] for row in known])):
            row[f"p_{what}"] = p
    return rows


def percent(value):
    return f"{100 * math.expm1(value):+.2f}"


def words(found):
    if not found:
        return "-"
    return f"{percent(found['estimate'])} % [{percent(found['conf_low'])}, {percent(found['conf_high'])}]"


def table(name, rows, blocks):
    """Markdown."""
    lines = [f"CPU time to the source order's, {name}, {blocks} blocks:", "",
             "| layout | code stays | p | code moves | of place | p |", "|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        p = [f"{row[key]:.2g}" if key in row else "-" for key in ("p_stays", "p_place")]
        lines.append(f"| {row['layout']} | {words(row['stays'])} | {p[0]} | {words(row['moves'])} | {words(row['place'])} | {p[1]} |")
    return "\n".join(lines) + "\n"
