#!/usr/bin/env python3
"""What the stack factor promises, measured on small programs built by szc++.

    check_stack.py --bin DIR matrix     every kind of frame, in all modes and at all optimization levels, as plain
    check_stack.py --bin DIR depth      each kind of recursion gets within 2 % as deep as in the plain build
    check_stack.py --bin DIR epochs     a leaf's local moves with each epoch, never when off or zero
    check_stack.py --bin DIR modules    pads of shared libraries are drawn, and forgotten at dlclose
    check_stack.py --bin DIR slots      one slot a function, none for what the linker drops
    check_stack.py --bin DIR starts     main and every thread start a page or more down, elsewhere in each run
    check_stack.py --bin DIR range      a function's pads are all multiples of 16 below STAB_STACK_RANGE, and no others
    check_stack.py --bin DIR promised   with -mstack-alignment=64 pads are multiples of it, and locals stay aligned
    check_stack.py --bin DIR sets       ... and is uniform over the 64 cache sets, over layouts and over runs

--sample checks fewer variants. Exit code 0: kept; 1: not, and a line says which and how to see it.
"""
import argparse
import collections
import functools
import json
import pathlib
import resource
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n]) for n in (1, 2)]
import harness  # noqa: E402
from harness import fail  # noqa: E402
import llvm  # noqa: E402
from running import environment  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CHI_SQUARE_63 = 114  # 99.99 % of uniform samples stay below, 63 degrees of freedom
STACK_BYTES = 8 << 20


def run(command, directory, timeout=60, stdin="", **settings):
    """What it prints, without ASLR: what moves is moved by us."""
    return harness.run("setarch", "-R", *command, cwd=directory, env=environment(**settings), timeout=timeout, input=stdin,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, STACK_BYTES))).stdout


def build(compiler, arguments, directory):
    """By our driver, with pads in all functions: most of those here are short."""
    run([compiler, "--stab-pads=all", *arguments], directory)


def levels_of(sample):
    return ["-O2"] if sample else ["-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -flto", "-O2 -flto=thin", "-O0 -flto=thin",
                                   "-O2 -fstack-protector-strong -fstack-clash-protection", "-O2 -static"]


def padded_output(directory, *words, **settings):
    """What ./padded says, and its dose once it has seen a second layout: a busy machine may not run the helper at all
    for the 60 ms that a feature lasts."""
    for _ in range(5):
        said = run(["./padded", *words], directory, STAB_EPOCH="1ms", STAB_REPORT="dose.json", **settings)
        stack = json.loads((pathlib.Path(directory) / "dose.json").read_text())["stack"]
        if settings["STAB_STACK"] in ("off", "zero") or stack["refills"] > 1:
            break
    return said, stack


def check_features(source, level, sample, directory):
    """All features together in each mode, with code and heap moving, too, then each alone with pads."""
    expected = run(["./plain", "once"], directory)
    for mode in ["on"] if sample else ["off", "zero", "on", "recursive"]:
        moving = {} if mode == "off" else {"STAB_CODE": "shuffle", "STAB_HEAP": "page"}
        got, stack = padded_output(directory, STAB_STACK=mode, **moving)
        if got != expected:
            fail(f"{source} {level} {mode}: expected {expected!r}, got {got!r}")
        if stack["slots"] < 2:
            fail(f"{source} {level}: only {stack['slots']} functions have a pad")
    for line in [] if sample else expected.splitlines(keepends=True):
        got, stack = padded_output(directory, line.split()[0], STAB_STACK="on", STAB_SEED="7")
        if got != line or stack["refills"] < 2:
            fail(f"{source} {level}: expected {line!r}, got {got!r}; {stack}")
    return expected.split()[::2]


FEATURES = ["frames.c", "own_frame.c", "frames_cxx.cc", "threads.c", "signals.c"]


def matrix(szcxx, directory, sample, sources=FEATURES):
    for source in sources:
        language = ["-x", "c"] if source.endswith(".c") else ["-std=c++20", "-x", "c++"]
        for level in levels_of(sample):
            options = [*level.split(), *language, HERE / source, "-x", "none"]
            run([llvm.tool("clang++"), *options, "-o", "plain"], directory)
            build(szcxx, [*options, "-o", "padded"], directory)
            names = check_features(source, level, sample, directory)
            print(f"{level}: {' '.join(names)} as plain", flush=True)


def depth(szcxx, directory, sample):
    for level in ["-O2"] if sample else ["-O2", "-O0"]:
        sources = [level, HERE / "depth.cc", HERE / "depth_there.cc"]
        run([llvm.tool("clang++"), *sources, "-o", "plain"], directory)
        build(szcxx, [*sources, "-o", "padded"], directory)
        for kind in ["self", "mutual", "cross-file", "pointer", "virtual"]:
            plain = int(run(["./plain", kind], directory).split()[1])
            for mode in ["zero", "on"]:
                for seed in range(3):
                    deep = int(run(["./padded", kind], directory, STAB_STACK=mode, STAB_SEED=str(seed)).split()[1])
                    print(f"{level} {kind} {mode}: {deep} of {plain}")
                    if deep < 0.98 * plain:
                        fail(f"{level} {kind} recursion reaches {deep} calls, {plain} in the plain build")


def promised(szcxx, directory, sample):
    for level in ["-O2"] if sample else ["-O0", "-O1", "-O2", "-O3", "-O2 -flto", "-O2 -mavx2", "-O2 -fno-omit-frame-pointer", "-O2 -static"]:
        options = [*level.split(), "-mstack-alignment=64", HERE / "promised.c"]
        run([llvm.tool("clang"), *options, "-o", "plain"], directory)
        build(szcxx.parent / "szc", [*options, "-o", "padded"], directory)
        expected = run(["./plain", "300000"], directory)
        for seed in range(1 if sample else 5):
            got, stack = padded_output(directory, "300000", "moves", STAB_STACK="on", STAB_SEED=str(seed), STAB_CODE="shuffle")
            if got != expected or stack["slots"] < 2:
                fail(f"{level}: expected {expected!r}, got {got!r}; {stack}")
        print(f"{level}: {stack['slots']} pads, and all locals aligned", flush=True)


def addresses(output):
    return [[int(word, 16) for word in line.split()] for line in output.splitlines()]


def build_depths(szcxx, directory):
    build(szcxx, ["-O2", HERE / "depths.cc", "-o", "depths"], directory)


def epochs(szcxx, directory, sample):
    build_depths(szcxx, directory)
    for mode in ["off", "zero"]:
        moved = addresses(run(["./depths", "moves", "2", "50"], directory, STAB_STACK=mode, STAB_EPOCH="1ms"))
        if len(moved) != 1:
            fail(f"{mode}: the leaf's local had {len(moved)} addresses, expected 1")
    # An epoch in which the machine let the program not run is not seen, so it is given time for more.
    moved = addresses(run(["./depths", "moves", "100", "10000"], directory, STAB_STACK="on", STAB_SEED="1",
                          STAB_EPOCH="4ms"))
    distinct = len({line[-1] for line in moved})
    print(f"on: {distinct} distinct addresses in {len(moved)} epochs")
    if len(moved) < 100 or distinct < 0.9 * len(moved):
        fail(f"on: a leaf's local had {distinct} addresses in {len(moved)} epochs, expected 90 in 100")


def starts(szcxx, directory, sample):
    for options in [[], ["-static"]]:
        build(szcxx.parent / "szc", ["-O2", HERE / "starts.c", "-o", "starts", *options], directory)

        def below_top(mode, seed):
            return [int(word) for word in run(["./starts"], directory, STAB_STACK=mode, STAB_SEED=str(seed)).split()]

        still = below_top("off", 0)
        runs = [below_top("on", seed) for seed in range(24)]
        for column, thread in enumerate(["main", "a thread", "a small thread", "a C11 thread"]):
            if abs(below_top("zero", 1)[column] - still[column]) > 256:
                fail(f"zero: {thread} starts elsewhere than off")
            # 256: the frame of the routine that the runtime puts in front.
            offsets = [run_[column] - still[column] for run_ in runs]
            if min(offsets) < 4096 - 256 or max(offsets) > 4096 + 32768 + 256 or len(set(offsets)) < 20:
                fail(f"on: {thread} starts {sorted(offsets)} bytes further down, expected 4096 to 36864, "
                             "at random")


def slots(szcxx, directory, sample):
    for level in ["-O1", "-O0"]:
        build(szcxx, [level, "-c", HERE / "slots.cc", "-o", "first.o"], directory)
        build(szcxx, [level, "-DSECOND_HALF=1", "-c", HERE / "slots.cc", "-o", "second.o"], directory)
        for options, expected in [([], 4), (["-Wl,--gc-sections"], 3)]:
            build(szcxx, ["first.o", "second.o", *options, "-o", "slots"], directory)
            run(["./slots"], directory, STAB_STACK="on", STAB_REPORT="dose.json")
            found = json.loads((pathlib.Path(directory) / "dose.json").read_text())["stack"]["slots"]
            if found != expected:
                fail(f"{level} {options}: {found} slots, expected {expected}")


def modules(szcxx, directory, sample):
    szc = szcxx.parent / "szc"
    library = ["-O2", "-fPIC", "-shared", HERE / "library.c"]
    build(szc, [*library, "-o", "liblinked.so"], directory)
    build(szc, [*library, "-o", "loaded.so"], directory)
    build(szc, ["-O2", HERE / "modules.c", "-o", "modules", "-L.", "-llinked", "-Wl,-rpath,$ORIGIN"], directory)
    for code in ["off", "shuffle"]:
        if run(["./modules", "./loaded.so"], directory, STAB_STACK="on", STAB_CODE=code) != "modules ok\n":
            fail("modules said something else")
    # A library of ours in a program that knows nothing of it.
    run([llvm.tool("clang"), "-x", "c", "-", "-o", "plain", "-L.", "-llinked", "-Wl,-rpath,$ORIGIN"], directory,
        stdin="long frame_bytes(void); int main(void) { return frame_bytes() > 200; }")
    run(["./plain"], directory)


def ranges(szcxx, directory, sample):
    build_depths(szcxx, directory)
    for bytes_ in (16, 256, 4096):
        layouts = addresses(run(["./depths", "layouts", str(12 * bytes_ // 16 + 100)], directory, STAB_STACK="on", STAB_SEED="1",
                                STAB_STACK_RANGE=str(bytes_)))
        # What one more function above the leaf takes: its frame, and its pad.
        taken = sorted({line[0] - line[1] for line in layouts})
        print(f"range {bytes_}: {len(taken)} distances, {taken[-1] - taken[0]} bytes apart at most")
        if taken != list(range(taken[0], taken[0] + bytes_, 16)):
            fail(f"range {bytes_}: a pad took {taken} bytes, expected all multiples of 16 below the range")


def check_uniform(name, lines):
    for column, frames_above in enumerate([1, 2, 4, 8, 16, 32]):
        counts = collections.Counter((line[column] >> 6) & 63 for line in lines)
        expected = len(lines) / 64
        chi_square = sum((counts[s] - expected) ** 2 / expected for s in range(64))
        print(f"{name}: below {frames_above} frames chi-square {chi_square:.0f} on 63 degrees, n {len(lines)}")
        if chi_square > CHI_SQUARE_63:
            fail(f"{name}: below {frames_above} frames chi-square is {chi_square:.0f}, expected below "
                         f"{CHI_SQUARE_63}")


def sets(szcxx, directory, sample):
    build_depths(szcxx, directory)
    layouts = addresses(run(["./depths", "layouts", "2000"], directory, STAB_STACK="on", STAB_SEED="1"))
    check_uniform("over layouts", layouts)
    runs = 384 if sample else 1000
    check_uniform("over runs", [addresses(run(["./depths", "layouts", "1"], directory, STAB_STACK="on",
                                              STAB_SEED=str(seed)))[0] for seed in range(runs)])


def main():
    checks = {"matrix": matrix, "depth": depth, "epochs": epochs, "modules": modules, "promised": promised, "slots": slots,
              "starts": starts, "range": ranges, "sets": sets}
    checks |= {f"matrix_{source.partition('.')[0]}": functools.partial(matrix, sources=[source]) for source in FEATURES}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where szc++ is")
    parser.add_argument("--sample", action="store_true", help="fewer variants")
    parser.add_argument("check", choices=checks)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stab-stack-") as directory:
        checks[arguments.check](arguments.bin.resolve() / "szc++", directory, arguments.sample)


if __name__ == "__main__":
    main()
