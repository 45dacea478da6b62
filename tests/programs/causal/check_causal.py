#!/usr/bin/env python3
"""Known answers of causal profiles: what windows predict against the same program with really less work.

    check_causal.py --bin DIR --runner FILE one-cpu PROGRAM [--cpu N]   in CPU time, so it holds on a loaded machine

Truth is measured, too: runs of the plain program and of one whose line has so much less to do, in turns, CPU time over rounds.
Prints a line for each case. Exit code 0: every prediction is near the truth; 1: not; 77: skipped, and says why.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "include"
# Points of program speedup: omnitrace's tests allow as much.
MOST_WRONG = 5
MOST_WRONG_IN_THE_MEAN = 3


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def build(compiler, program, directory):
    out = pathlib.Path(directory) / program
    command = [compiler, "-O2", "-g", f"-I{INCLUDE}", HERE / f"{program}.c", "-o", out, "-pthread"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{program} does not compile: {done.stderr}")
    return out


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("STAB")}


def windows(tools, program, arguments, options, check=True, **settings):
    """What run_windows prints, as a list of words for each line."""
    command = [tools.runner, "--lib", tools.bin.parent / "lib/stab/libstabcausal.so",
               "--companion", tools.bin.parent / "libexec/stab/stab-causal", *options, "--", program, *arguments]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=550,
                          env=environment() | settings, stdin=subprocess.DEVNULL)
    if check and done.returncode != 0:
        raise Failed(f"{command} exits {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
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


def one_cpu(tools, name, directory):
    program = build(tools.cc, name, directory)
    common = ["--rounds-per-us", rounds_per_us(program), "--scale", "0.25" if name != "phases" else "1"]
    options = ["--region", "a=line_a", "--region", "b=line_b", "--speedups", "500,750", "--kinds", "null", "--window-ms", "40",
               "--cool-ms", "1", "--period-us", "250", "--cpus", tools.cpu, "--baselines", "2", "--windows"]
    if name == "phases":
        options += ["--skip-ms", "5", "--window-ms", "10", "--cool-ms", "0"]
    lines = windows(tools, program, [*common, "--seconds", str(tools.seconds)], options)
    if words_of(lines, "state")["pauses"] != "cpu-time":
        raise Failed("one CPU, and virtual time is not CPU time")
    found = arms(lines)
    wrong = []
    for region, line, permille in CASES:
        gain, error = found["speedup", region, permille]
        if name == "phases":
            gain = corrected(gain, lines, region, found)
        real = truth(program, tools.cpu, common, line, permille / 10)
        wrong.append(abs(gain - real))
        print(f"{name} {line} {permille / 10:.0f} %: predicted {gain:.1f} (se {error:.1f}), real {real:.1f}, off by {wrong[-1]:.1f}")
    for region in (1, 2):
        gain, error = found["null", region, 750]
        print(f"{name} null of line {region}: {gain:.1f} (se {error:.1f})")
        if abs(gain) > MOST_WRONG:
            raise Failed(f"a null window's effect is {gain:.1f} points")
    print(f"{name}: off by {statistics.mean(wrong):.1f} points in the mean, {max(wrong):.1f} at most")
    if max(wrong) > MOST_WRONG or statistics.mean(wrong) > MOST_WRONG_IN_THE_MEAN:
        raise Failed("predictions are not near the truth")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=10, help="of CPU time, under the script")
    parser.add_argument("check", choices=["one-cpu"])
    parser.add_argument("program")
    tools = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="causal")
    try:
        one_cpu(tools, tools.program, directory)
    except Failed as failed:
        print(f"FAIL: {failed}")
        return 1
    except Skipped as skipped:
        print(f"SKIP: {skipped}")
        return 77
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print("PASS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
