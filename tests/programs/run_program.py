#!/usr/bin/env python3
"""Builds one small program plainly and with our driver, in several variants, and compares what it does.

Each variant runs four times: all factors off, everything on at 1 ms epochs, the same with one layout that pointers to functions
lead to, and with a layout script that places and counts as many functions as it may; output and exit code must equal those of the plain build, and the dose report must say
that functions moved, and that the script was followed. A program's first comment may hold

    flags: OPTIONS       compile and link options
    library: OPTIONS     also build a shared library, library.so, from the same source with these options
    not: OPTIONS ...     variants that hold one of these options don't apply, the reason beside it
    expect-exit: N       the exit code of the plain build (default 0)
    other-compilers: once    compiled by others, it needs STAB_CODE=once (foreign/check_foreign.py); no: it can't run at all

Exit code 0: all equal; 1: not; the message names the variant and the command that shows it.
"""
import argparse
import json
import pathlib
import re
import sys
import tempfile
import time
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import Failed, fail  # noqa: E402
import llvm  # noqa: E402
from running import run_bytes  # noqa: E402

OPTIMIZATIONS = [["-O0"], ["-O2"], ["-Os"], ["-O2", "-flto"], ["-O2", "-flto=thin"]]
KINDS = [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]]
ALL_ON = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_HEAP": "page", "STAB_EPOCH": "1ms"}
TIMEOUT_S = 60
BUSY_ATTEMPTS = 4


def directive(text, name):
    found = re.search(rf"^\W*{name}:([^\n*]*)", text, re.MULTILINE)
    return found.group(1).split() if found else []


def run(command, directory, **variables):
    return run_bytes(command, directory, None, TIMEOUT_S, **variables)


def shown(command, directory, variables=None):
    settings = "".join(f"{k}={v} " for k, v in (variables or {}).items())
    return f"(cd {directory}; {settings}{' '.join(command)})"


def build(command, directory):
    result = run(command, directory)
    if result.returncode != 0 or result.stderr:
        fail(f"build: {shown(command, directory)}\n{result.stderr.decode()}")


def compare(expected, command, directory, **variables):
    got = run(command, directory, **variables)
    if (got.returncode, got.stdout, got.stderr) != (expected.returncode, expected.stdout, expected.stderr):
        fail(f"differs: {shown(command, directory, variables)}\n"
                     f"  expected exit {expected.returncode}: {expected.stdout!r} {expected.stderr!r}\n"
                     f"  got      exit {got.returncode}: {got.stdout!r} {got.stderr!r}")


def wait_for_dose(path):
    """The helper writes the report once it has seen the program's end, up to a moment after it."""
    for _ in range(3000):
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        if lines and lines[-1].endswith("\n"):
            return lines
        time.sleep(0.01)
    return []


def check_dose(path, command, directory, has_library):
    """False: functions could move, but the helper did not come to it in the 60 ms of a run."""
    lines = wait_for_dose(path)
    if not lines:
        fail(f"no dose report from {shown(command, directory, ALL_ON)}")
    dose = json.loads(lines[0])
    if dose["code"]["functions_moved"] == 0:
        fail(f"nothing moved in {shown(command, directory, ALL_ON)}: {lines[0]}")
    if has_library != (dose["code"]["libraries_moved"] > 0) or dose["code"]["libraries_stay"] > 0:
        fail(f"libraries are miscounted in {shown(command, directory, ALL_ON)}: {lines[0]}")
    return dose["code"]["layouts_built"] >= 2


def program_variants(text):
    excluded = directive(text, "not")
    variants = [optimization + kind for optimization in OPTIMIZATIONS for kind in KINDS]
    variants += [["-O2", "-static"], ["-O2", "-static-pie", "-fPIE"],
                 ["-Oz", "-fcf-protection=full", "-fno-plt", "-Wl,--icf=all", "-fPIE", "-pie"]]
    return [v for v in variants if not any(option.startswith(tuple(excluded)) for option in v if excluded)]


def build_variant(bin_directory, source, text, options, directory):
    # Most of their functions are short ones.
    driver = [str(bin_directory / ("szc++" if source.suffix == ".cc" else "szc")), "--stab-pads=all", "-g"]
    flags = directive(text, "flags")
    library = directive(text, "library")
    if library:
        build([*driver, *[o for o in options if "pie" not in o.lower()], "-fPIC", "-shared", *library, str(source),
               "-o", "library.so", *flags], directory)
    build([*driver, *options, str(source), "-o", "program", *flags], directory)


def check_variant(bin_directory, source, text, options, expected, directory):
    build_variant(bin_directory, source, text, options, directory)
    compare(expected, ["./program"], directory)
    report = pathlib.Path(directory) / "dose.json"
    seed = str(zlib.crc32(" ".join(options).encode()))
    for _ in range(BUSY_ATTEMPTS):
        report.unlink(missing_ok=True)
        compare(expected, ["./program"], directory, STAB_REPORT=str(report), STAB_SEED=seed, **ALL_ON)
        if check_dose(report, ["./program"], directory, bool(directive(text, "library"))):
            compare(expected, ["./program"], directory, STAB_SEED=seed, **(ALL_ON | {"STAB_CODE": "direct"}))
            return check_design(bin_directory, expected, directory, seed)
    fail(f"one layout only in each of {BUSY_ATTEMPTS} runs: {shown(['./program'], directory, ALL_ON)}")


def write_script(bin_directory, directory):
    """A layout script for ./program: the first functions that move are counted, and all that there is room for placed."""
    tool = bin_directory.parent / "libexec/stab/stab-layout"
    said = run([str(tool), "./program", "--code", "shuffle", "--stack", "on", "--range", "4096", "--seed", "1", "--image", "0"],
               directory)
    if said.returncode != 0:
        fail(f"stab-layout in {directory}: {said.stderr.decode()}")
    rows = [line.split("\t") for line in said.stdout.decode().splitlines()[1:]]
    moving = [start for start, _, offset, _, _ in rows if offset != "-"]
    lines = ["stab-script 1 " + said.stdout.decode().split()[2]]
    lines += [f"place 0x{start} mod {(32, 64, 4096)[i % 3]} 16 0" for i, start in enumerate(moving[:128])]
    lines += [f"count 0x{start}" for start in moving[-8:]]
    (pathlib.Path(directory) / "script").write_text("\n".join(lines) + "\n")
    return {"placed": len(moving[:128]), "counted": len(moving[-8:])}


def write_match(bin_directory, directory):
    """A match table for ./program, in a file of that name; False where nothing of it moves."""
    said = run([str(bin_directory.parent / "libexec/stab/stab-layout"), "--match", "./program"], directory)
    if said.returncode != 0 and b"nothing in it moves" not in said.stderr:
        fail(f"stab-layout --match in {directory}: {said.stderr.decode()}")
    (pathlib.Path(directory) / "match").write_bytes(said.stdout)
    return said.returncode == 0


def check_design(bin_directory, expected, directory, seed):
    wanted = write_script(bin_directory, directory)
    report = pathlib.Path(directory) / "design.json"
    report.unlink(missing_ok=True)
    settings = ALL_ON | {"STAB_CODE": "design", "STAB_LAYOUT": str(pathlib.Path(directory) / "script"), "STAB_SEED": seed}
    compare(expected, ["./program"], directory, STAB_REPORT=str(report), **settings)
    lines = wait_for_dose(report)
    script = json.loads(lines[0])["code"].get("script", {}) if lines else {}
    if {key: script.get(key) for key in wanted} != wanted:
        fail(f"the script was not followed, expected {wanted}: {shown(['./program'], directory, settings)}: {lines}")


def plain_result(source, text, directory):
    compiler = llvm.tool("clang++") if source.suffix == ".cc" else llvm.tool("clang")
    flags = directive(text, "flags")
    library = directive(text, "library")
    if library:
        build([compiler, "-O1", "-fPIC", "-shared", *library, str(source), "-o", "library.so", *flags], directory)
    build([compiler, "-O1", str(source), "-o", "program", *flags], directory)
    result = run(["./program"], directory)
    wanted = int((directive(text, "expect-exit") or ["0"])[0])
    if result.returncode != wanted:
        fail(f"the plain build exits {result.returncode}, expected {wanted}: {result.stdout!r}")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where szc is")
    parser.add_argument("--sample", action="store_true", help="one variant, chosen by the program's name")
    parser.add_argument("--options", help="this variant alone, e.g. --options='-O2 -no-pie'")
    parser.add_argument("--half", type=int, choices=(1, 2), help="every second variant, from the first or the second on")
    parser.add_argument("--keep", type=pathlib.Path, help="build there and keep it")
    parser.add_argument("source", type=pathlib.Path)
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    text = source.read_text()
    variants = program_variants(text)
    if arguments.sample:
        variants = [variants[zlib.crc32(source.name.encode()) % len(variants)]]
    if arguments.half:
        variants = variants[arguments.half - 1::2]
    if arguments.options:
        variants = [arguments.options.split()]
    failures = 0
    with tempfile.TemporaryDirectory(prefix="stab-program-") as scratch:
        directory = arguments.keep or scratch
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
        expected = plain_result(source, text, directory)
        for options in variants:
            try:
                check_variant(arguments.bin.resolve(), source, text, options, expected, directory)
            except Failed as failure:
                failures += 1
                print(f"{source.name} {' '.join(options)}: {failure}")
    print(f"{source.name}: {len(variants) - failures} of {len(variants)} variants equal the plain build")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
