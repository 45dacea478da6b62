#!/usr/bin/env python3
"""Known answers of causal profiles: what windows predict against the same program with really less work.

    check_causal.py --bin DIR --runner FILE one-cpu PROGRAM [--cpu N]   in CPU time, so it holds on a loaded machine
    ... two-cpus PROGRAM    wall time on two CPUs, as a real-time process: for a machine that nobody else needs meanwhile
    ... mirror -            what a program sees of itself, its masks, stacks, descriptors and children, is as without a profile
    ... habits -            signals, forks, execs, refusals: the output is the plain program's, and what is missing is said
    ... same-output -       the programs of tests/programs print under a profile what they print without
    ... shares PROGRAM      forked workers, a library that comes later, latency
    ... waits io            sleep is sped up, too; time-outs, timers, and writes that find no room are waits for the world
    ... no-waits -          time in the kernel and children are not
    ... in-step -           threads that make way for each other as often as samples come
    ... short-threads -     threads that end before they have had a period
    ... callers -           samples in libc count for their callers
    ... moving -            code and stack move, a new layout for each window

Truth is measured, too: runs of the plain program and of one whose line has so much less to do, in turns, CPU time over rounds.
Prints a line for each case. Exit code 0: every prediction is near the truth; 1: not; 77: skipped, and says why.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from harness import expect, expect_in_time, fail, skip  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "runtime/include"
# Points of program speedup: omnitrace's tests allow as much.
MOST_WRONG = 5
MOST_WRONG_IN_THE_MEAN = 3
# Windows of 10 ms, a correction by shares that are measured themselves: seen are 1.0 to 4.2 points.
MOST_WRONG_IN_PHASES = 6


class Skipped(Exception):
    pass


def build(compiler, program, directory):
    out = pathlib.Path(directory) / program
    command = [compiler, "-O2", "-g", f"-I{INCLUDE}", HERE / f"{program}.c", "-o", out, "-pthread"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{program} does not compile: {done.stderr}")
    return out


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("STAB")}


def windows(tools, program, arguments, options, check=True, **settings):
    """What run_windows prints, as a list of words for each line."""
    runner = tools.runner if isinstance(tools.runner, list) else [tools.runner]
    command = [*runner, "--lib", tools.bin.parent / "lib/stab/libstabcausal.so",
               "--companion", tools.bin.parent / "libexec/stab/stab-causal", *options, "--", program, *arguments]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=550,
                          env=environment() | settings, stdin=subprocess.DEVNULL)
    if check and done.returncode != 0:
        fail(f"{command} exits {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    lines = [line.split() for line in done.stdout.splitlines()]
    if ["degraded", "no-samples"] in lines or ["degraded", "coarse-samples"] in lines:
        raise Skipped("perf_event_open is refused here, so samples are coarse")
    return lines


def arms(lines):
    """(kind, region, permille) to gain and its standard error, in points."""
    return {(line[1], int(line[3]), int(line[5])): (float(line[-3]), float(line[-1])) for line in lines if line[:1] == ["arm"]}


def words_of(lines, what):
    """The line that begins so, as a dictionary of its pairs."""
    line = next(line for line in lines if line[0] == what)
    return dict(zip(line[1::2], line[2::2]))


def rounds_per_us(program):
    return subprocess.run([program, "--rounds"], capture_output=True, text=True, check=True).stdout.strip()


def cost_of_round(program, cpu, arguments):
    """CPU time in ms, of the program's own doing: a system under load gives others' no share of it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["taskset", "-c", str(cpu), program, *arguments], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * spent / int(done.stdout.split()[0])


def truth(program, cpu, common, line, percent, turns=4, seconds="0.4"):
    """Gain in per cent by really doing less, from pairs in turns."""
    gains = []
    for turn in range(turns):
        order = [("plain", []), ("real", ["--real", f"{line}={percent}"])]
        cost = {name: cost_of_round(program, cpu, [*common, "--seconds", seconds, *more])
                for name, more in (order if turn % 2 == 0 else reversed(order))}
        gains.append(100 * (1 - cost["real"] / cost["plain"]))
    return statistics.median(gains)


# (line, its number as a region) and what is asked. phases needs whole cycles, and windows that are short beside a phase.
CASES = [(1, "line_a", 500), (1, "line_a", 750), (2, "line_b", 500)]


def corrected(gain, lines, region, base):
    """A line that lives in a part of the run: windows were opened there alone (dissertation of C. Curtsinger, equation 5.8)."""
    own = [dict(zip(line[3::2], line[4::2])) for line in lines if line[0] == "window" and line[2] == "speedup"]
    own = [window for window in own if int(window["region"]) == region and int(window["flags"]) == 0]
    t_obs = sum(float(window["effective_ms"]) + float(window["growth_ms"]) for window in own)
    s_obs = sum(float(window["region_ms"]) for window in own)
    whole = next(line for line in lines if line[0] == "region" and int(line[1]) == region)
    total = 1000 * float(words_of(lines, "state")["cpu_s"])
    return gain * (t_obs / s_obs) * (float(whole[-1]) / total)


def middle_half(values):
    low, _, high = statistics.quantiles(values)
    return high - low


def are_null_windows_as_long_without_their_pauses(lines):
    """Else they would end in a pause, which is in the line always, more often than elsewhere."""
    as_long = True
    null = [dict(zip(line[3::2], line[4::2])) for line in lines if line[0] == "window" and line[2] == "null"]
    for region in ("1", "2"):
        own = [window for window in null if window["region"] == region and int(window["flags"]) == 0]
        without, with_pauses = (middle_half([float(window[name]) for window in own]) for name in ("effective_ms", "cpu_ms"))
        print(f"{len(own)} null windows of line {region} differ by {without:.2f} ms without their pauses, by {with_pauses:.2f} ms with them")
        as_long = as_long and without < with_pauses
    return as_long


def one_cpu(tools, name, directory):
    program = build(tools.cc, name, directory)
    common = ["--rounds-per-us", rounds_per_us(program), "--scale", "0.25" if name != "phases" else "1"]
    # Windows are long beside what a queue can hand on without being filled: 8 of 70 rounds are no small part of 40 ms.
    window = "200" if name == "pipeline" else "40"
    options = ["--region", "a=line_a", "--region", "b=line_b", "--speedups", "500,750", "--kinds", "null", "--window-ms", window, "--cool-ms", "1",
               "--period-us", "250", "--cpus", tools.cpu, "--baselines", "2", "--windows"]
    if name == "phases":
        options += ["--skip-ms", "5", "--window-ms", "10", "--cool-ms", "0"]
    lines = windows(tools, program, [*common, "--seconds", str(tools.seconds)], options)
    if words_of(lines, "state")["pauses"] != "cpu-time":
        fail("one CPU, and virtual time is not CPU time")
    if name in ("barrier_pair", "lock"):  # those that have many
        # Where the helper waits for a CPU at the end of every fourth window, what differs is the machine. It is asked again.
        for _ in range(3):
            if are_null_windows_as_long_without_their_pauses(lines):
                break
            lines = windows(tools, program, [*common, "--seconds", str(tools.seconds)], options)
        else:
            fail("null windows are not as long without their pauses, three times")
    found = arms(lines)
    wrong = []
    for region, line, permille in CASES:
        gain, error = found["speedup", region, permille]
        if name == "phases":
            gain = corrected(gain, lines, region, found)
        real = truth(program, tools.cpu, common, line, permille / 10, 4 if name != "phases" else 2)
        wrong.append(abs(gain - real))
        print(f"{name} {line} {permille / 10:.0f} %: predicted {gain:.1f} (se {error:.1f}), real {real:.1f}, off by {wrong[-1]:.1f}")
    for region in (1, 2):
        gain, error = found["null", region, 750]
        print(f"{name} null of line {region}: {gain:.1f} (se {error:.1f})")
        expect_in_time(abs(gain) <= MOST_WRONG + 2 * error, f"a null window's effect is {gain:.1f} points")
    print(f"{name}: off by {statistics.mean(wrong):.1f} points in the mean, {max(wrong):.1f} at most")
    most = MOST_WRONG_IN_PHASES if name == "phases" else MOST_WRONG
    expect_in_time(max(wrong) <= most and statistics.mean(wrong) <= (MOST_WRONG_IN_THE_MEAN if name != "phases" else most),
                   "predictions are not near the truth")


def short_threads(tools, name, directory):
    """Threads that end before a period of theirs is over: by whole periods alone none of them would have a sample."""
    program = build(tools.cc, "short_threads", directory)
    lines = windows(tools, program, ["--rounds-per-us", rounds_per_us(program), "--seconds", "4"], [
        "--region", "a=line_a", "--region", "b=line_b", "--pilot", "--cpus", tools.cpu])
    rounds = visits_of(lines, "round")
    of_line = {line[2]: float(line[-1]) for line in lines if line[0] == "region"}
    per_round, share = sum(of_line.values()) / rounds, of_line["a"] / sum(of_line.values())
    print(f"short threads: samples of {per_round:.2f} ms a round, by their work 1.50; {100 * share:.1f} % of them in line_a, by its work 60")
    expect(per_round > 0.5, "threads that end within a period are not seen")
    expect_in_time(abs(per_round - 1.5) <= 0.25 and abs(share - 0.6) <= 0.05, "threads that end within a period are not seen as they should be")


def build_with(compiler, program, directory, *options):
    out = pathlib.Path(directory) / ("_".join([program, *[option.strip("-") for option in options]]))
    done = subprocess.run([str(word) for word in [compiler, "-O2", f"-I{INCLUDE}", HERE / f"{program}.c", "-o", out, "-pthread",
                                                  *options]], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{program} does not compile: {done.stderr}")
    return out


def two_cpus(tools, name, directory):
    """The longer of two threads at a barrier counts, the shorter does not."""
    program = build(tools.cc, name, directory)
    tools.runner = ["chrt", "-f", "10", tools.runner] if os.geteuid() == 0 else [tools.runner]
    options = ["--region", "a=line_a", "--region", "b=line_b", "--speedups", "750", "--window-ms", "60", "--period-us", "500",
               "--cpus", "0,1"]
    found = arms(windows(tools, program, ["--seconds", str(tools.seconds)], options))
    for region, truth_of in ((1, 20.0), (2, 0.0)):
        gain, error = found["speedup", region, 750]
        print(f"{name} on two CPUs, line {region}: predicted {gain:.1f} (se {error:.1f}), real {truth_of:.1f}")
        expect_in_time(abs(gain - truth_of) <= MOST_WRONG + 2 * error, "predictions on two CPUs are not near the truth")


def status_of(lines):
    return os.waitstatus_to_exitcode(int(next(line for line in lines if line[0] == "status")[1]))


def waits(tools, name, directory):
    """2 ms of sleep and 1 ms of work: the work is sped up, and the wait as well. As a real-time process, since time in which it
    waits for a CPU would count as waiting for the world."""
    if subprocess.run(["chrt", "-f", "10", "true"], capture_output=True).returncode != 0:
        raise Skipped("no real-time scheduling is to be had")
    program = build(tools.cc, "io", directory)
    tools.runner = ["chrt", "-f", "10", tools.runner]
    options = ["--region", "a=line_a", "--region", "b=line_b", "--speedups", "500", "--window-ms", "60", "--period-us", "500", "--cpus",
               tools.cpu, "--flags", "8"]
    found = arms(windows(tools, program, ["--seconds", "1"], options))
    for region, truth_of in ((1, 100 / 6), (2, 100 / 3)):
        gain, error = found["speedup", region, 500]
        print(f"{name}, line {region} at 50 %: predicted {gain:.1f} (se {error:.1f}), real {truth_of:.1f}")
        expect_in_time(abs(gain - truth_of) <= MOST_WRONG + 2 * error, "predictions of waits are not near the truth")
    program = build(tools.cc, "waiting", directory)
    for kind, truth_of in (("condition", 100 / 6), ("semaphore", 100 / 6), ("signal", 100 / 6), ("helper", 100 / 6), ("lines", 100 / 6),
                           ("bytes", 100 / 6), ("full-pipe", 0)):
        found = arms(windows(tools, program, [kind, "--seconds", "1"], [
            "--region", "a=line_a", "--speedups", "500", "--window-ms", "60", "--period-us", "500", "--cpus", tools.cpu]))
        gain, error = found["speedup", 1, 500]
        print(f"{kind}: half of the work: predicted {gain:.1f} (se {error:.1f}), real {truth_of:.1f}")
        expect_in_time(abs(gain - truth_of) <= MOST_WRONG + 2 * error, f"{kind}: predictions beside a wait are not near the truth")


def no_waits(tools, _, directory):
    """Time in the kernel that is no wait, and children of the family that are waited for: CPU time all of it."""
    program = build(tools.cc, "waiting", directory)
    common = ["--rounds-per-us", rounds_per_us(program)]
    for kind, seconds in (("kernel", "3"), ("child", "1")):
        lines = windows(tools, program, [kind, *common, "--seconds", seconds], [
            "--region", "a=line_a", "--speedups", "500", "--window-ms", "60", "--period-us", "250", "--cpus", tools.cpu])
        gain, error = arms(lines)["speedup", 1, 500]
        expect(["degraded", "processes-full"] not in lines, "children found no place, although others had ended")
        if kind == "child":
            expect_in_time(int(words_of(lines, "state")["attached"]) > 300, "there were fewer children than places for them")
        real = truth(program, tools.cpu, [kind, *common], "line_a", 50)
        print(f"{kind}: half of the work: predicted {gain:.1f} (se {error:.1f}), real {real:.1f}")
        expect_in_time(abs(gain - real) <= MOST_WRONG + 2 * error, f"{kind}: predictions are not near the truth")


def callers(tools, _, directory):
    """memcpy counts for whoever calls it: line_a has three quarters of it, line_b one."""
    program = build_with(tools.cc, "outside", directory, "-fno-builtin")
    options = ["--region", "a=line_a", "--region", "b=line_b", "--speedups", "500", "--window-ms", "40", "--period-us", "250", "--cpus",
               tools.cpu, "--flags", "1"]
    lines = windows(tools, program, ["--seconds", "4"], options)
    state = words_of(lines, "state")
    expect(int(state["in_ranges"]) > 0.9 * int(state["samples"]), "samples in libc were not found in their callers")
    for region, truth_of in ((1, 37.5), (2, 12.5)):
        gain, error = arms(lines)["speedup", region, 500]
        print(f"callers, line {region} at 50 %: predicted {gain:.1f} (se {error:.1f}), by its share {truth_of:.1f}")
        expect_in_time(abs(gain - truth_of) <= MOST_WRONG + 2 * error, "predictions of callers are not near the truth")
    lines = windows(tools, program, ["--seconds", "0.5"], [*options, "--flags", "0"])
    state = words_of(lines, "state")
    expect(int(state["in_ranges"]) < 0.1 * int(state["samples"]), "callers counted although nobody asked for them")


# One CPU, half of a line: gains in points by the line's share of the work.
SHARES = {"workers": (30, 20), "plugin": (25, 25), "latency": (12.5, 37.5)}


def in_step(tools, _, directory):
    """Two threads make way for each other about as often as samples come: each has its samples all the same."""
    program = build(tools.cc, "barrier_pair", directory)
    common = ["--rounds-per-us", rounds_per_us(program), "--scale", "0.25"]
    lines = windows(tools, program, [*common, "--seconds", "6"], [
        "--region", "a=line_a", "--region", "b=line_b", "--speedups", "1000", "--baselines", "2", "--window-ms", "100", "--period-us",
        "1000", "--cpus", tools.cpu])
    a, b = (int(line[4]) for line in lines if line[0] == "region")
    print(f"in step: line_a has {100 * a / (a + b):.1f} % of {a + b} samples, by its work 55.6")
    expect(a + b > 3000, "there were few samples")
    expect_in_time(abs(100 * a / (a + b) - 100 * 2000 / 3600) < 1.2, "samples were in step with the threads")
    gain, error = arms(lines)["speedup", 1, 1000]
    real = truth(program, tools.cpu, common, "line_a", 100)
    print(f"in step: all of line_a: predicted {gain:.1f} (se {error:.1f}), real {real:.1f}")
    expect_in_time(abs(gain - real) <= MOST_WRONG_IN_THE_MEAN + 2 * error, "predictions of threads in step are not near the truth")


def shares(tools, name, directory):
    """Forked processes with one clock; a library that is loaded while the program runs; latency beside throughput."""
    program, arguments, second = build_with(tools.cc, name, directory, "-ldl"), [], "line_b"
    if name == "plugin":
        library = build_with(tools.cc, name, directory, "-shared", "-fPIC", "-DLIBRARY")
        arguments, second = [library], f"line_b@{library}"
    options = ["--region", "a=line_a", "--region", f"b={second}", "--speedups", "500", "--window-ms", "40", "--period-us", "250",
               "--cpus", tools.cpu]
    lines = windows(tools, program, [*arguments, "--seconds", "4"], options)
    for region, truth_of in enumerate(SHARES[name], 1):
        gain, error = arms(lines)["speedup", region, 500]
        print(f"{name}, line {region} at 50 %: predicted {gain:.1f} (se {error:.1f}), by its share {truth_of:.1f}")
        expect_in_time(abs(gain - truth_of) <= MOST_WRONG + 2 * error, "predictions are not near the truth")
    expect(["degraded", "regions-not-loaded"] not in lines, "a library was loaded, and its ranges were not found")
    if name == "workers":
        expect(words_of(lines, "state")["attached"] == "2", "the forked worker did not join")
    if name == "latency":
        latency = {(line[2], int(line[4])): float(line[-1]) for line in lines if line[0] == "latency"}
        base = latency["baseline", 0]
        for region, truth_of in ((1, 0.5), (2, 1.0)):
            ratio = latency["speedup", region] / base
            print(f"latency with line {region} at 50 %: {ratio:.2f} of {base:.2f} ms, by its work {truth_of:.2f}")
            expect_in_time(abs(ratio - truth_of) < 0.15, "latency is not what the work says")


HABITS = ["interrupted", "own-trap", "deadly-trap", "blocks-signals", "forks", "executes", "descriptors", "takes-descriptors", "short", "silent",
          "sandboxed", "asks-for-sandbox", "clones", "times-out", "keeps-dlerror", "resets-all", "once-only", "jumps-out",
          "small-stack", "ends-in-sandbox"]


def as_without_profile(tools, program, what, seen):
    """Its output and its status are those of the plain program; what run_windows says is kept."""
    quick = ["--speedups", "500", "--window-ms", "20", "--kinds", "null,slowdown", "--region", "a=line_a"]
    plain = subprocess.run([program, what], capture_output=True, text=True)
    expect(plain.returncode == 0 or what == "deadly-trap", f"{what}: without a profile it ends with {plain.returncode}")
    lines = windows(tools, program, [what], quick, check=False)
    own = [" ".join(line) for line in lines if line[0] not in ("state", "degraded", "region", "arm", "point", "status")]
    seen[what] = lines
    expect("\n".join(own) == "\n".join(" ".join(line.split()) for line in plain.stdout.splitlines()),
           f"{what}: prints {own}, without a profile {plain.stdout!r}")
    status = status_of(lines)
    expect(status == plain.returncode, f"{what}: ends with {status}, not {plain.returncode}")
    print(f"{what}: as without a profile")


def number(lines, what):
    return int(words_of(lines, "state")[what])


def visits_of(lines, name):
    return sum(int(line[-1]) for line in lines if line[0] == "point" and line[2] == name)


MIRRORED = ["masks", "waiting-trap", "stacks", "closes", "other-forks", "traces-child", "commands", "stops-itself"]


def mirror(tools, _, directory):
    """What a program sees of itself is what it sees without a profile, and it is sampled all the same."""
    program, seen = build_with(tools.cc, "mirror", directory), {}
    for what in MIRRORED:
        as_without_profile(tools, program, what, seen)
    expect(number(seen["waiting-trap"], "foreign_traps") == 2, "SIGTRAPs of its own were lost, or came twice")
    expect(number(seen["stacks"], "samples") > 30, "there were hardly any samples after it gave its stack back")
    expect(number(seen["closes"], "samples") > 100 and ["degraded", "no-samples"] not in seen["closes"],
           "samples ended as the program closed what it did not open")
    expect(number(seen["other-forks"], "attached") == 4 and visits_of(seen["other-forks"], "round") == 300,
           "children that were forked behind libc's back did not join")
    expect(["degraded", "traced"] not in seen["traces-child"], "a child that has a tracer was taken for the whole program")
    expect(number(seen["stops-itself"], "samples") > 300, "there were hardly any samples after a jump out of a pause")

    habit, tools_with = build_with(tools.cc, "habits", directory), argparse.Namespace(**vars(tools))
    tools_with.runner = ["env", "--block-signal=TRAP", tools.runner]
    lines = windows(tools_with, habit, ["silent"], ["--region", "a=line_a", "--pilot"])
    expect(number(lines, "samples") > 60 and number(lines, "late") == 0, "whoever started the program blocked SIGTRAP, and no sample came")
    print("started with SIGTRAP blocked: sampled")
    tools_with.runner = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", tools.runner]
    as_without_profile(tools_with, habit, "descriptors", seen)
    expect(number(seen["descriptors"], "samples") > 10, "with few descriptors there were no samples")


def habits(tools, _, directory):
    program = build_with(tools.cc, "habits", directory)
    quick = ["--speedups", "500", "--window-ms", "20", "--kinds", "null,slowdown", "--region", "a=line_a"]
    seen = {}
    for habit in HABITS:
        as_without_profile(tools, program, habit, seen)

    expect(["0", "calls", "ended", "with", "EINTR"] in seen["interrupted"], "calls were interrupted")
    expect(number(seen["interrupted"], "samples") > 100, "the thread that computes had hardly a sample")
    expect_in_time(number(seen["interrupted"], "samples") > 300, "the thread that computes had few samples")
    expect(["degraded", "shared-sigtrap"] in seen["own-trap"] and number(seen["own-trap"], "foreign_traps") == 50,
           "traps of the program's own were not told apart")
    expect(number(seen["blocks-signals"], "samples") > 30, "SIGTRAP was blocked by a mask of the program's")
    # What the hypervisor takes away is one sample late.
    expect_in_time(["degraded", "late-traps"] not in seen["blocks-signals"] and number(seen["blocks-signals"], "samples") > 150,
                   "samples came late, or were few")
    visits = visits_of(seen["forks"], "round")
    expect(number(seen["forks"], "attached") == 5 and visits == 400, f"forked children did not join: {visits} visits")
    expect(number(seen["takes-descriptors"], "samples") > 100 and ["degraded", "no-samples"] not in seen["takes-descriptors"],
           "samples ended as the program took the numbers of descriptors")
    expect(number(seen["short"], "samples") <= 1 and not any(line[0] == "point" for line in seen["silent"]),
           "points that nobody visited")

    expect(["degraded", "sandboxed"] in seen["sandboxed"] and number(seen["sandboxed"], "samples") > 30,
           "a sandbox was not noticed, or samples did not come before it")
    expect(["degraded", "sandboxed"] not in seen["asks-for-sandbox"] and number(seen["asks-for-sandbox"], "samples") > 100,
           "a program that only asked for a sandbox was left alone")
    expect(number(seen["clones"], "samples") > 60, "a thread by clone had no samples")

    static = build_with(tools.cc, "habits", directory, "-static")
    lines = windows(tools, static, ["short"], quick[:-2], check=False)
    expect(int(words_of(lines, "state")["finished"]) == 2, "a static program was not said to have stayed away")
    print("static: nobody came, and that is said")
    # The tracer is static, so that its child is the first that could be sampled; the area is handed on to it.
    lines = windows(tools, static, ["traced"], quick[:-2], HABIT_PROGRAM=str(program))
    expect(["degraded", "traced"] in lines and ["ended", "0", "after", "1", "traps"] in lines,
           f"a tracer was not noticed, or saw samples: {lines}")
    print("traced: not sampled, and that is said")
    refused = build_with(tools.cc, "without_perf", directory)
    tools.runner = [refused, tools.runner]
    try:
        windows(tools, program, ["silent"], quick[:-2])
    except Skipped:
        print("perf refused: coarse samples, and that is said")
    else:
        fail("perf was refused, and nothing is said")


PROGRAMS = ["threads.c", "signals.c", "fork.c", "exceptions.cc", "setjmp.c", "spawn.c", "waits.c", "fibers.c", "terminate.cc",
            "many_threads.c", "signal_stack_coroutines.c", "coroutines.cc", "thread_local.cc"]


def same_output(tools, _, directory):
    """Of any compiler under each kind of pause; of ours with everything moving each millisecond, and samples each 0.1 ms."""
    moved = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_HEAP": "shuffle", "STAB_EPOCH": "1ms"}
    for name in PROGRAMS:
        compare_outputs(tools, name, directory, tools.cc, tools.cxx, ("spin", "cpu-time", "thread"), {})
        print(f"{name}: the same")
    for name in PROGRAMS[:4]:
        compare_outputs(tools, name, directory, tools.bin / "szc", tools.bin / "szc++", ("spin",), moved)
        print(f"{name}, moving: the same")


def compare_outputs(tools, name, directory, cc, cxx, all_pauses, settings):
    source = HERE.parent / name
    out = pathlib.Path(directory) / source.stem
    command = [cxx, "-std=c++20"] if source.suffix == ".cc" else [cc]
    done = subprocess.run([str(word) for word in [*command, "-O1", "-w", f"-I{INCLUDE}", f"-I{HERE.parent}", source, "-o", out, "-pthread",
                                                  "-ldl"]], capture_output=True, text=True)
    expect(done.returncode == 0, f"{name} does not compile: {done.stderr[-500:]}")
    plain = subprocess.run([out], capture_output=True, text=True, env=environment(), timeout=120)
    for pauses in all_pauses:
        lines = windows(tools, out, [], ["--window-ms", "5", "--cool-ms", "1", "--pauses", pauses, "--region", "main=main",
                                         "--speedups", "500", "--kinds", "null", "--period-us", "100"], check=False, **settings)
        own = [" ".join(line) for line in lines if line[0] not in ("state", "degraded", "region", "arm", "point", "status")]
        expect(own == [" ".join(line.split()) for line in plain.stdout.splitlines() if line.strip()],
               f"{name}, {pauses}: prints {own[-3:]}, without a profile {plain.stdout[-300:]!r}")
        expect(status_of(lines) == plain.returncode, f"{name}, {pauses}: ends with {status_of(lines)}, not {plain.returncode}")
        expect(int(words_of(lines, "state")["attached"]) >= 1, f"{name}: nobody attached")


def moving(tools, _, directory):
    """szc's program in new layouts: samples are found in its functions, and each window has a layout of its own."""
    program = build_with(tools.bin / "szc", "barrier_pair", directory)
    report = pathlib.Path(directory) / "dose.json"
    lines = windows(tools, program, ["--seconds", "3"],
                    ["--region", "a=line_a", "--region", "b=line_b", "--speedups", "500,750", "--window-ms", "40", "--period-us", "250",
                     "--cpus", tools.cpu, "--flags", "2", "--windows"],
                    STAB_CODE="shuffle", STAB_STACK="on", STAB_EPOCH="0visits", STAB_REPORT=str(report), STAB_SEED="7")
    state = words_of(lines, "state")
    expect(state["moving"] == "1", "its code did not move")
    expect(int(state["in_ranges"]) > 0.9 * int(state["samples"]), "samples in moved code were not found in their functions")
    layouts = [line[-1] for line in lines if line[0] == "window"][:-1]  # the last is the whole run
    expect(len(set(layouts)) >= len(layouts) - 2, f"windows share layouts: {layouts}")
    dose = json.loads(report.read_text())
    built = dose["code"]["layouts_built"]
    expect(built >= 2, "no other layout was built")
    expect_in_time(built > 10, f"{built} layouts were built, which {len(layouts)} windows asked for")
    rounds = int(next(line for line in lines if line[1:] == ["rounds"])[0])
    points = {point["name"]: point["visits"] for point in dose["progress"]["points"]}
    expect(points == {"round": rounds}, f"the dose report has {points}, not {rounds} rounds")
    gain, error = arms(lines)["speedup", 1, 750]
    print(f"moving: {len(layouts)} windows, line_a 75 %: predicted {gain:.1f} (se {error:.1f}), by its work 41.7")
    expect_in_time(abs(gain - 41.7) <= MOST_WRONG + 2 * error, "predictions are not near the truth")


CHECKS = {"one-cpu": one_cpu, "two-cpus": two_cpus, "habits": habits, "mirror": mirror, "same-output": same_output, "moving": moving,
          "waits": waits, "no-waits": no_waits, "callers": callers, "in-step": in_step, "shares": shares, "short-threads": short_threads}


def idlest_cpu(seconds=0.3):
    """Where nobody else runs for the moment: two of these tests on one CPU take twice as long while the other one idles."""
    allowed = os.sched_getaffinity(0)

    def idle_ticks():
        lines = (line.split() for line in pathlib.Path("/proc/stat").read_text().splitlines())
        return {int(words[0][3:]): int(words[4]) for words in lines if re.fullmatch(r"cpu\d+", words[0])}
    before = idle_ticks()
    time.sleep(seconds)
    after = idle_ticks()
    return max(sorted(allowed, reverse=True), key=lambda cpu: after.get(cpu, 0) - before.get(cpu, 0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cpu", type=int, help="default: the one with least to do")
    parser.add_argument("--seconds", type=float, default=10, help="of CPU time, under the script")
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("program")
    tools = parser.parse_args()
    tools.cpu = idlest_cpu() if tools.cpu is None else tools.cpu
    directory = tempfile.mkdtemp(prefix="causal")
    try:
        CHECKS[tools.check](tools, tools.program, directory)
    except Skipped as skipped:
        skip(skipped)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print("PASS")


if __name__ == "__main__":
    main()
