#!/usr/bin/env python3
"""Checks <stab/stab.h> with programs built by szc and by plain clang.

    check_api.py --bin DIR orders        every call: with layouts that change, with none, and without the runtime
    check_api.py --bin DIR fibers        pads on registered stacks
    check_api.py --bin DIR costs         a call that asks for nothing new takes at most 100 ns
    check_api.py --bin DIR loop          the same by hand: 20 repetitions, 20 layouts, each with a time
    check_api.py --bin DIR visits        layouts that last so many visits, by hand and with szc --stab-visit
    check_api.py --bin DIR debugger      under gdb a program with everything on runs and stops as any other
    check_api.py --bin DIR repetitions   Google Benchmark: each repetition sees layouts of its own

Exit code 0: kept; 1: not.
"""
import json
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n]) for n in (1, 2)]
from harness import fail, skip  # noqa: E402
import llvm  # noqa: E402
from running import output, run, run_check  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MOST_NS = 100


def said(output, expected):
    if output != expected:
        fail(f"expected {expected!r}, got {output!r}")


def orders(bin_directory, directory):
    header = bin_directory.parent / "include"
    for options in [["-O2"], ["-O0"], ["-O2", "-static"], ["-O2", "-fno-pie", "-no-pie"]]:
        run([bin_directory / "szc", "--stab-pads=all", *options, HERE / "orders.c", "-o", "orders"], directory)
        for code in ["off", "shuffle"]:
            said(output(["./orders", "on"], directory, STAB_STACK="on", STAB_CODE=code, STAB_EPOCH="5ms"), "on ok\n")
        said(output(["./orders", "still"], directory), "still ok\n")
        said(output(["./orders", "still"], directory, STAB_STACK="zero", STAB_CODE="copy"), "still ok\n")
        run([llvm.tool("clang"), "-std=c99", "-pedantic-errors", "-Wall", "-Werror", *options, "-I", header, HERE / "orders.c",
             "-o", "plain"], directory)
        said(output(["./plain", "absent"], directory), "absent ok\n")
    report = pathlib.Path(directory) / "dose.json"
    run(["./orders", "still"], directory, STAB_REPORT=report)
    region = json.loads(report.read_text())["region"]
    if region["regions"] != 2 or region["wall_ns"] < 40e6:
        fail(f"the dose report says of the regions: {region}")


def fibers(bin_directory, directory):
    run([bin_directory / "szc", "--stab-pads=all", "-O2", HERE / "fibers.c", "-o", "fibers"], directory)
    said(output(["./fibers"], directory, STAB_STACK="on", STAB_SEED="1"), "fibers ok\n")


def costs(bin_directory, directory):
    run([bin_directory / "szc", "-O2", HERE / "costs.c", "-o", "costs"], directory)
    for settings in [{}, {"STAB_STACK": "on", "STAB_CODE": "shuffle"}]:
        for line in output(["./costs"], directory, **settings).splitlines():
            call, nanoseconds = line.split()
            print(f"{settings or 'all off'}: {call} {nanoseconds} ns")
            if float(nanoseconds) > MOST_NS:
                fail(f"{call} takes {nanoseconds} ns, expected at most {MOST_NS}")


def layouts_of(output):
    runs = [run for run in json.loads(output)["benchmarks"] if run["run_type"] == "iteration"]
    return [(run["first"], run["first"] + run["layouts"]) for run in runs]


def repetitions(bin_directory, directory):
    run([bin_directory / "szc++", "-O2", HERE / "repetitions.cc", "-lbenchmark", "-o", "repetitions"], directory)
    command = ["./repetitions", "--benchmark_repetitions=12", "--benchmark_format=json"]
    everything = {"STAB_STACK": "on", "STAB_CODE": "shuffle", "STAB_HEAP": "page", "STAB_EPOCH": "10s"}
    seen = layouts_of(output(command, directory, **everything))
    if len(seen) != 12 or any(after[0] < before[1] for before, after in zip(seen, seen[1:])):
        fail(f"repetitions share layouts: {seen}")
    seen = layouts_of(output([*command, "--without"], directory, **everything))
    if len(set(seen)) != 1:
        fail(f"without new layouts, within one epoch, all repetitions see one layout, not {seen}")
    run([llvm.tool("clang++"), "-O2", "-I", bin_directory.parent / "include", HERE / "repetitions.cc", "-lbenchmark", "-o",
         "plain"], directory)
    run(["./plain", "--benchmark_repetitions=2"], directory)


def loop(bin_directory, directory):
    run([bin_directory / "szc", "-O2", HERE / "loop.c", "-o", "loop"], directory)
    everything = {"STAB_STACK": "on", "STAB_CODE": "shuffle", "STAB_HEAP": "page", "STAB_EPOCH": "1ms"}
    seen = [[int(word) for word in line.split()] for line in output(["./loop"], directory, **everything).splitlines()]
    if [layout - seen[0][0] for layout, _ in seen] != list(range(20)) or min(ns for _, ns in seen) < 50_000:
        fail(f"expected 20 layouts in a row, each with its time, got {seen}")
    run([llvm.tool("clang"), "-O2", "-I", bin_directory.parent / "include", HERE / "loop.c", "-o", "plain"], directory)
    for program, settings in [("./loop", {}), ("./plain", {})]:
        seen = [line.split() for line in output([program], directory, **settings).splitlines()]
        if [layout for layout, _ in seen] != ["0"] * 20 or min(int(ns) for _, ns in seen) < 50_000:
            fail(f"{program} without layouts says {seen}")


def visits(bin_directory, directory):
    """A hundred visits, a layout each tenth: eleven of each factor, whatever the clock says, and in the dose."""
    everything = {"STAB_STACK": "on", "STAB_CODE": "shuffle", "STAB_HEAP": "page", "STAB_SEED": "3"}
    report = pathlib.Path(directory) / "dose.json"
    named = ["--stab-visit=other,turn"]
    for options, how, said_at_end in [([], "call", "1 ok\n"), (named, "named", None), ([*named, "-O0"], "named", None),
                                      ([*named, "-flto"], "named", None), ([*named, "-static"], "named", None)]:
        run([bin_directory / "szc", "--stab-pads=all", "-O2", *options, HERE / "visits.c", "-o", "visits"], directory)
        told = output(["./visits", how], directory, STAB_EPOCH="10visits", STAB_REPORT=report, **everything)
        if said_at_end is not None:
            said(told, said_at_end)
        dose = json.loads(report.read_text())
        seen = (dose["visits"], dose["code"]["layouts_built"], dose["stack"]["refills"], dose["helper"]["ticks"])
        if seen != ({"count": 100, "layouts": 10}, 11, 11, 10):
            fail(f"{options}: the dose of 100 visits is {seen}")
    run([bin_directory / "szc", "-O2", HERE / "visits.c", "-o", "visits"], directory)
    said(output(["./visits", "timed"], directory, STAB_EPOCH="10s", **everything), "1 ok\n")
    said(output(["./visits", "timed"], directory, STAB_EPOCH="0visits", **everything), "1 ok\n")


def debugger(bin_directory, directory):
    if shutil.which("gdb") is None:
        skip("gdb is not installed; apt install gdb")
    run([bin_directory / "szc", "--stab-pads=all", "-g", "-O2", HERE / "orders.c", "-o", "orders"], directory)
    stop = ["-ex", "break stab_rt_new_layout", "-ex", "run on", "-ex", "backtrace 3", "-ex", "delete", "-ex", "continue"]
    # A breakpoint in the program keeps its code from moving, so here it has none.
    for code, orders, expected in [("off", stop, ["Breakpoint 1, stab_rt_new_layout", "check_layouts"]),
                                   ("shuffle", ["-ex", "run on"], [])]:
        told = output(["gdb", "-q", "-nx", "-batch", *orders, "./orders"], directory, STAB_STACK="on", STAB_CODE=code,
                   STAB_EPOCH="5ms")
        for words in [*expected, "on ok", "exited normally"]:
            if words not in told:
                fail(f"code {code}: gdb doesn't say {words!r}: {told}")


if __name__ == "__main__":
    run_check({"orders": orders, "fibers": fibers, "costs": costs, "loop": loop, "visits": visits, "debugger": debugger,
               "repetitions": repetitions}, __doc__)
