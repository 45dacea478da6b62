"""What really shortening a planted loop brings, and how near a prediction came: for tests/bench/causal_real."""
import hashlib
import os
import pathlib
import statistics
import subprocess

from causal_real_programs import BUILDS
from debian_source import Failure

HEAD = """| program | planted at | less of it | real (quartiles) | predicted [95 %] | off | covered | verdict | null windows [95 %] |
|---|---|---:|---:|---:|---:|---|---|---:|"""
SHORTER = {50: "half", 100: "removed"}


def cpu_times(cpu, commands, folder, env):
    """All at once on one CPU, each in a directory of its own: by name the CPU time of each, and a digest of its output."""
    started, costs, digests = {}, {}, {}
    for name, command in commands:
        own = folder / f"{name}.run"
        own.mkdir(exist_ok=True)
        with open(folder / name, "wb") as out:
            started[name] = subprocess.Popen(["taskset", "-c", str(cpu), *command], stdout=out, cwd=own, env=os.environ | env)
    for name, process in started.items():
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
        if status != 0:
            raise Failure(f"{name} ended with status {status}")
        costs[name] = used.ru_utime + used.ru_stime
    for name in costs:
        with open(folder / name, "rb") as out:
            digests[name] = hashlib.file_digest(out, "sha256").hexdigest()
    return costs, digests


def truth(built, cpu, turns, folder):
    """By shorter build: a gain of each turn."""
    gains, digests = {name: [] for name in SHORTER.values()}, set()
    for turn in range(turns):
        order = [(name, built.command(name, "short")) for name in BUILDS]
        cost, of_turn = cpu_times(cpu, order[::-1] if turn % 2 else order, folder, built.env("short"))
        digests |= set(of_turn.values())
        for name, of_build in gains.items():
            of_build.append(1 - cost[name] / cost["planted"])
    if len(digests) > 1:
        raise Failure(f"{built.real.name}: the builds write {len(digests)} different outputs")
    return gains


def rows_of(built, gains, found):
    """A row for each of the shorter builds. found: the program's part of a report in JSON; None where nothing was predicted."""
    curve = found["curves"][0] if found and found["curves"] else None
    arms = {round(100 * arm["speedup"]): arm for arm in curve["arms"]} if curve else {}
    for percent, shorter in SHORTER.items():
        null = found["nulls"][0].get("speedup_interval") if found and found["nulls"] else None
        yield {"program": built.real.name, "line": f"{pathlib.Path(built.real.plant).name}:{built.line}", "percent": percent,
               "real": gains[shorter], "predicted": arms.get(percent, {}).get("speedup_interval"), "null": null,
               "verdict": curve["verdict"] if curve else None, "withheld": [cell["withheld"] for cell in found["cells"]] if found else []}


def points(share):
    return f"{100 * share:.1f}"


def interval_text(interval):
    return "-" if not interval else f"{points(interval['estimate'])} [{points(interval['conf_low'])}, {points(interval['conf_high'])}]"


def off_by(row):
    return abs(row["predicted"]["estimate"] - statistics.median(row["real"]))


def row_text(row):
    real, predicted = statistics.median(row["real"]), row["predicted"]
    first, _, third = statistics.quantiles(row["real"], n=4)
    covered = "-" if not predicted else "yes" if predicted["conf_low"] <= real <= predicted["conf_high"] else "no"
    return (f"| {row['program']} | {row['line']} | {row['percent']} % | {points(real)} ({points(first)}, {points(third)}) | "
            f"{interval_text(predicted)} | {points(off_by(row)) if predicted else '-'} | {covered} | {row['verdict'] or '-'} | "
            f"{interval_text(row['null'])} |")


def summary(rows):
    off = [off_by(row) for row in rows if row["predicted"]]
    if not off:
        return f"0 of {len(rows)} predictions"
    covered = [row for row in rows if row["predicted"] and
               row["predicted"]["conf_low"] <= statistics.median(row["real"]) <= row["predicted"]["conf_high"]]
    return (f"{len(off)} of {len(rows)} predictions, off by {points(statistics.mean(off))} points in the mean, {points(max(off))} at "
            f"most; {len(covered)} intervals have the truth in them")
