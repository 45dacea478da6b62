#!/usr/bin/env python3
"""Programs that live in one loop of one activation: led to new layouts they do what their plain builds do, in many layouts.

    check_loops.py --bin DIR c | cxx | fortran

Each program runs plainly, and with everything on at epochs of 1 ms, without and with STAB_LONG_LOOPS. Output must be equal.
Without, a loop has one layout, or two where the first one is over before it begins; with it, many; a function that may hold
the address of a jump table is not led, and the dose says so. Exit code 77: there is no flang.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n]) for n in (1, 2)]
from harness import fail, skip  # noqa: E402
import llvm  # noqa: E402
from running import run, run_bytes  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ALL_ON = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_HEAP": "page", "STAB_EPOCH": "1ms"}
TIMEOUT_S = 60
MANY = 10         # of the 200 or more epochs that the shortest of them lasts
ATTEMPTS = 5      # a busy machine gives the helper no CPU for a whole run at times
PIE, FIXED = ["-O2", "-fPIE", "-pie"], ["-O2", "-fno-pie", "-no-pie"]


def outcome(command, directory, **variables):
    return run_bytes(command, directory, None, TIMEOUT_S, **variables)


def dose_of(command, directory, expected, **variables):
    report = pathlib.Path(directory) / "dose.json"
    report.unlink(missing_ok=True)
    variables = ALL_ON | variables
    got = outcome(command, directory, STAB_REPORT=str(report), **variables)
    if (got.returncode, got.stdout, got.stderr) != (expected.returncode, expected.stdout, expected.stderr):
        fail(f"{command} with {variables}: expected {expected}, got {got}")
    for _ in range(500):
        if report.exists() and report.read_text().endswith("\n"):
            return json.loads(report.read_text())["code"]
        time.sleep(0.01)
    fail(f"{command} with {variables} has left no dose report")


def leads(command, directory, expected, few, holds_table=False):
    """few: without being led it has one layout, or two."""
    off = dose_of(command, directory, expected, STAB_LONG_LOOPS="0")
    if "long_loops" in off:
        fail(f"{command}: nobody asked for loops to be led: {off}")
    if few and off["layouts_executed"] > 2:
        fail(f"{command}: {off['layouts_executed']} layouts without being led: it is no test of what it is for")
    for attempt in range(ATTEMPTS):
        led = dose_of(command, directory, expected, STAB_LONG_LOOPS="1", STAB_SEED=str(attempt + 1))
        if holds_table:
            if led["long_loops"]["holds_table"] >= 1:
                return f"{command[1:]} stays: {led['layouts_executed']} layouts"
        elif led["long_loops"]["functions"] >= 1 and led["layouts_executed"] >= MANY:
            return f"{command[1:]} {off['layouts_executed']} -> {led['layouts_executed']} layouts"
    fail(f"{command}: {ATTEMPTS} times not led as it should be, last: {led}")


def check_c(tools, directory):
    kinds = {"pie": ["tight", "flags", "nested", "calls", "threads", "signals", "switches", "gotos"],
             "no-pie": ["tight", "switches", "gotos"]}
    for options in PIE, FIXED:
        run([llvm.tool("clang"), "-O2", str(HERE / "one_loop.c"), "-o", "plain", "-pthread"], directory)
        run([str(tools / "szc"), *options, str(HERE / "one_loop.c"), "-o", "program", "-pthread"], directory)
        for kind in kinds[options[-1].lstrip("-")]:
            expected = outcome(["./plain", kind], directory)
            if expected.returncode != 0 or not expected.stdout:
                fail(f"the plain build of {kind}: {expected}")
            # A register holds the table's address only where the code may lie anywhere.
            held = kind in ("switches", "gotos") and options is PIE
            print(*options, leads(["./program", kind], directory, expected, kind in ("tight", "flags", "nested"), held))


def check_cxx(tools, directory):
    run([llvm.tool("clang++"), "-O2", str(HERE / "throws.cc"), "-o", "plain"], directory)
    expected = outcome(["./plain"], directory)
    if expected.returncode != 0 or b"destroyed" not in expected.stdout:
        fail(f"the plain build of throws.cc: {expected}")
    for options in PIE, FIXED:
        run([str(tools / "szc++"), *options, str(HERE / "throws.cc"), "-o", "program"], directory)
        print(*options, leads(["./program"], directory, expected, False))


def check_fortran(tools, directory):
    flang = llvm.flang()
    if flang is None:
        skip(f"flang-{llvm.VERSION} is not installed; apt install flang-{llvm.VERSION}")
    run([flang, "-O2", str(HERE / "loop.f90"), "-o", "plain"], directory)
    expected = outcome(["./plain"], directory)
    if expected.returncode != 0 or not expected.stdout:
        fail(f"the plain build of loop.f90: {expected}")
    run([str(tools / "szflang"), "-O2", str(HERE / "loop.f90"), "-o", "program"], directory)
    print(leads(["./program"], directory, expected, True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where szc is")
    parser.add_argument("what", choices=["c", "cxx", "fortran"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stab-loops-") as directory:
        checks = {"c": check_c, "cxx": check_cxx, "fortran": check_fortran}
        checks[arguments.what](arguments.bin.resolve(), directory)


if __name__ == "__main__":
    main()
