#!/usr/bin/env python3
"""Checks layout scripts and samples by function with a small real program whose calls and shares of time are known.

    check_scripts.py --bin DIR calls     every call is counted once, from wherever, in every mode
    check_scripts.py --bin DIR places    a program that says where it runs is where the script wants it, at 1 ms epochs
    check_scripts.py --bin DIR refusals  a script that can't be obeyed ends the program, with its line and why
    check_scripts.py --bin DIR samples   samples lie in the functions that take the time, and tell who stays in an old image

Exit code 0: kept; 1: not; 77: skipped, and says why.
"""
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent.parent
sys.path[:0] = [str(REPOSITORY / "plans/benchmarks"), str(HERE.parent), str(REPOSITORY / "tests")]
sys.dont_write_bytecode = True
from harness import Failed, fail, skip  # noqa: E402
import llvm  # noqa: E402
from launcher_settings import launcher_settings  # noqa: E402
from running import run, run_check  # noqa: E402
from served import read_samples, served  # noqa: E402
from times import in_time  # noqa: E402

CALLS, THREADS, CHILDREN = 30000, 4, 3
COUNTED = {"function:counted": (3 + THREADS + CHILDREN) * CALLS, "function:recursive": 100 * 100}


def dose_of(command, directory, **settings):
    path = pathlib.Path(directory) / "dose.json"
    run(command, directory, STAB_REPORT=str(path), **settings)
    return json.loads(path.read_text())


def build(tools, directory, *options):
    run([tools / "szc", "-O2", *options, "-pthread", HERE / "entries.c", "-o", "entries"], directory)


def script(directory, *lines):
    path = pathlib.Path(directory) / "script"
    path.write_text("\n".join(["stab-script 1 any", *lines]) + "\n")
    return str(path)


def calls(tools, directory):
    for options in [[], ["-static"], ["-fno-pie", "-no-pie"], ["-flto"]]:
        build(tools, directory, *options)
        for code in ["copy", "once", "shuffle", "pad", "design"]:
            counts = ["count counted", "count recursive", "count brief"]
            places = ["place counted mod 64 0 16 32 48"] if code == "design" else []
            dose = dose_of(["./entries", "calls"], directory, STAB_CODE=code, STAB_EPOCH="500us", STAB_STACK="on", STAB_SEED="5",
                           STAB_LAYOUT=script(directory, *counts, *places))
            said = {point["name"]: point["visits"] for point in dose["progress"]["points"] if point["kind"] == "progress"}
            if said != COUNTED | {"function:brief": 0}:
                fail(f"{options} {code}: expected {COUNTED}, got {said}")
            if {key: dose["code"]["script"][key] for key in ("placed", "counted")} != {"placed": len(places), "counted": 3}:
                fail(f"{options} {code}: the script in the dose: {dose['code']['script']}")
    # Without a script nothing is counted, and nothing is said of one.
    dose = dose_of(["./entries", "calls"], directory, STAB_CODE="shuffle", STAB_EPOCH="1ms")
    if "progress" in dose or "script" in dose["code"]:
        fail(f"without a script: {dose}")


def places(tools, directory):
    """tests/programs/addresses.c would do, but its functions are many: the image itself says where they are."""
    build(tools, directory)
    wanted = {"brief": (64, [0, 16, 32, 48]), "counted": (1024, [1008, 0]), "tail": (64, [48])}
    path = script(directory, *[f"place {name} mod {modulus} {' '.join(map(str, levels))}" for name, (modulus, levels) in wanted.items()])
    layout = [tools.parent / "libexec/stab/stab-layout", "./entries", "--code", "design", "--stack", "off", "--range", "4096"]
    starts = {line.split("\t")[4]: line.split("\t")[0] for line in
              run([*layout, "--seed", 1, "--script", path], directory).stdout.splitlines()[1:]}
    lines = run([*layout, "--seed", 77, "--script", path, "--through", 999, *[starts[name] for name in wanted]], directory).stdout
    for place, (name, (modulus, levels)) in enumerate(wanted.items()):
        told = [int(line.split("\t")[1 + place]) - int(starts[name], 16) % 16 for line in lines.splitlines()[1:]]
        for begin in range(0, 1000 - len(levels) + 1, len(levels)):
            if sorted(offset % modulus for offset in told[begin:begin + len(levels)]) != sorted(levels):
                fail(f"{name}: images {begin} on are at {told[begin:begin + len(levels)]} mod {modulus}, wanted {levels}")
        if len(levels) > 1 and len({tuple(offset % modulus for offset in told[i:i + len(levels)])
                                    for i in range(0, 998, len(levels))}) < len(levels):
            fail(f"{name}: levels come in one order")
    # One image that is asked for alone is the one of the series.
    for image in [0, 7, 123]:
        alone = {line.split("\t")[4]: line.split("\t")[2] for line in
                 run([*layout, "--seed", 77, "--script", path, "--image", image], directory).stdout.splitlines()[1:]}
        if [alone[name] for name in wanted] != lines.splitlines()[1 + image].split("\t")[1:1 + len(wanted)]:
            fail(f"image {image}: {alone} is not {lines.splitlines()[1 + image]}")
    # It goes on working where layouts change all the time.
    for seed in range(5):
        for _ in range(5):  # the helper may have had no CPU in a run that is so short
            dose = dose_of(["./entries", "works", "0.1"], directory, STAB_CODE="design", STAB_EPOCH="1ms", STAB_SEED=str(seed),
                           STAB_LAYOUT=path)
            if dose["code"]["layouts_built"] >= 2:
                break
        if dose["settings"]["code"] != "design" or dose["code"]["layouts_built"] < 2:
            fail(f"a run of 0.2 s at 1 ms: {dose}")


def refusals(tools, directory):
    build(tools, directory)
    hashed = run([tools.parent / "libexec/stab/stab-layout", "./entries", "--code", "off", "--stack", "off", "--range", "16", "--seed",
                  "1"], directory).stdout.split()[2]
    path = pathlib.Path(directory) / "script"
    for text, code, words in [
            ("stab-script 1 any\ncount nothing_like_it\n", "copy", "script, line 2: there is no function of this name"),
            ("stab-script 1 any\n\nplace main mod 64 5\n", "design", "script, line 3: a level is a multiple of 16"),
            ("stab-script 1 any\nplace main mod 64 0\n", "shuffle", "script, line 2: 'place' and 'rest' need STAB_CODE=design"),
            ("stab-script 1 0x1234\n", "design", "script, line 1: the script is for another binary"),
            ("stab-script 1 any\ncount _start\n", "once", "script, line 2: the function never moves"),
            ("stab-script 2 any\n", "design", "script, line 1: expected 'stab-script 1 any'"),
            ("", "design", "script: expected 'stab-script 1 any'")]:
        path.write_text(text)
        done = run(["./entries"], directory, 125, STAB_CODE=code, STAB_LAYOUT="script")
        if not done.stderr.startswith("stab: " + words) or done.stdout:
            fail(f"{text!r} under {code}: expected '{words}', got {done.stderr!r} {done.stdout!r}")
    path.write_text(f"stab-script 1 {hashed}\ncount main\n")
    if dose_of(["./entries"], directory, STAB_CODE="copy", STAB_LAYOUT="script")["progress"]["points"][0]["visits"] != 1:
        fail("the script of the right binary")
    for settings, words in [({"STAB_CODE": "design"}, "needs STAB_LAYOUT"), ({"STAB_LAYOUT": "script"}, "needs a STAB_CODE"),
                            ({"STAB_CODE": "copy", "STAB_LAYOUT": "absent"}, "absent: it can't be opened for reading"),
                            ({"STAB_CODE": "copy", "STAB_LAYOUT": "/dev/zero"}, "/dev/zero: the script can't be read")]:
        done = run(["./entries"], directory, 125, **settings)
        if words not in done.stderr:
            fail(f"{settings}: {done.stderr}")
    # What a launched program executes inherits its settings, and has no script to miss; one with a helper that lacks it has.
    run(["./entries"], directory, STAB=launcher_settings("d", 7, 2_000_000))
    try:
        served(tools, directory, ["./entries"], "d")
    except Failed as refused:
        if "exit status 125, expected 0" not in str(refused):
            raise
    else:
        fail("design without a script runs beside a launched helper")
    # A program that no compiler of ours has made has no code to place.
    run([llvm.tool("clang"), "-O2", "-pthread", HERE / "entries.c", "-o", "plain"], directory)
    run(["./plain"], directory, STAB_CODE="copy", STAB_LAYOUT="script")


def samples(tools, directory):
    build(tools, directory)
    layout = run([tools.parent / "libexec/stab/stab-layout", "./entries", "--code", "shuffle", "--stack", "off", "--range", "4096", "--seed",
                  "7"], directory).stdout.splitlines()[1:]
    names = [line.split("\t")[4] for line in layout]
    dose, rest = served(tools, directory, ["./entries", "works", "1"], "s", "--samples", "1")
    totals, functions, stayed, _ = read_samples(rest, names)
    if totals["period_ns"] == 0:
        if not any("functions could not be sampled" in words for words in dose["degradations"]):
            fail(f"nothing was sampled, and the dose doesn't say why: {dose['degradations']}")
        skip("the kernel refuses its clock: " + "; ".join(dose["degradations"]))
    told = sum(totals[key] for key in ("newest", "older", "original", "elsewhere", "kernel"))
    by_function = [sum(counts[i] for counts in functions.values()) for i in range(3)]
    if by_function != [totals[key] for key in ("newest", "older", "original")]:
        fail(f"sums {by_function} of {totals}")
    # 2 s of CPU time at one in a millisecond; the clock of a loaded machine may be late, and then has one for many, never early.
    if not 400 <= told + totals["lost"] <= 2200 or totals["lost"] > 20:
        fail(f"{told} samples of 2 s of CPU time: {totals}")
    if not in_time(told + totals["lost"] >= 1600, f"{told} samples of 2 s of CPU time: {totals}"):
        fail("few samples")
    brief, brief_too, stays = (functions.get(name, (0, 0, 0)) for name in ("brief", "brief_too", "stays"))
    whole = sum(brief) + sum(brief_too)
    if not 0.65 * whole < sum(brief) < 0.85 * whole or not 200 < whole < 1200 or not 200 < sum(stays) < 1200:
        fail(f"brief {brief}, brief_too {brief_too}, stays {stays}")
    if not in_time(whole > 800 and sum(stays) > 800, f"brief {brief}, brief_too {brief_too}, stays {stays}"):
        fail("few samples of a half")
    # What returns within some microseconds is in the newest image; what never returns is there for one epoch.
    if not in_time(brief[1] <= 0.05 * sum(brief) and stays[0] <= 0.2 * sum(stays), f"brief {brief}, stays {stays}"):
        fail(f"brief {brief} should be in the newest image, stays {stays} in an old one")
    longest = max(((last - first, image) for name, image, first, last in stayed if name == "stays"), default=(0, 0))
    if longest[0] < 50 or not any(name == "main" for name, *_ in stayed) or any(name == "brief" and last - first > 200
                                                                                for name, _, first, last in stayed):
        fail(f"of 1 s in one loop at 2 ms epochs, what stays: {stayed}")
    if not in_time(all(last - first <= 20 for name, _, first, last in stayed if name == "brief"), f"brief stays: {stayed}"):
        fail("what is brief stays")
    # Epochs have their shares, and everything adds up.
    dose, rest = served(tools, directory, ["./entries", "works", "0.3"], "s", "--epochs", "1", "--samples", "1")
    count = struct.unpack_from("<8sII", rest)[2]
    last = rest[920 + 112 * (count - 1):920 + 112 * count]
    newest, older, elsewhere = struct.unpack_from("<3I", last, 96)
    totals, functions, _, _ = read_samples(rest[920 + 112 * count:], names)
    if (newest, older, elsewhere) != (totals["newest"], totals["older"], totals["original"] + totals["elsewhere"] + totals["kernel"]):
        fail(f"the last record says {newest}, {older}, {elsewhere}, the sums {totals}")
    if newest < 40 or older < 40 or not in_time(newest >= 150 and older >= 150, f"of 0.6 s: {totals}"):
        fail(f"of 0.6 s: {totals}")
    # Code that stays has no image: nothing is sampled, and the part says so.
    dose, rest = served(tools, directory, ["./entries", "works", "0.1"], "-", "--samples", "1")
    totals, functions, stayed, _ = read_samples(rest, names)
    if totals["period_ns"] != 0 or functions or stayed:
        fail(f"code is off: {totals} {functions}")


if __name__ == "__main__":
    run_check({"calls": calls, "places": places, "refusals": refusals, "samples": samples}, __doc__)
