#!/usr/bin/env python3
"""Runs the small programs for as long as asked, several at once, under random settings; any difference is shown.

    stress.py --bin DIR [--seconds 60] [--jobs 6] [--seed N] [PROGRAM ...]

Each program is built once in a variant drawn at random; then programs, modes, epochs and seeds are drawn until the
time is over. More jobs than CPUs are wanted: most faults of concurrent code need preemption. The same --seed draws the
same; scheduling differs. Exit code 1 if any run differed from the plain build.
"""
import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import run_program  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MODES = {"STAB_CODE": ["shuffle", "shuffle", "design", "pad", "once", "direct", "copy", "off"], "STAB_STACK": ["on", "on", "zero", "off"],
         "STAB_HEAP": ["page", "shuffle", "base", "off"], "STAB_EPOCH": ["100us", "300us", "1ms", "5ms"],
         "STAB_LONG_LOOPS": ["1", "1", "0"]}


class Built:
    def __init__(self, source, options, bin_directory, directory):
        self.source, self.directory = source, directory
        directory.mkdir()
        text = source.read_text()
        self.expected = run_program.plain_result(source, text, directory)
        run_program.build_variant(bin_directory, source, text, options, directory)
        run_program.write_script(bin_directory, directory)
        self.matches = run_program.write_match(bin_directory, directory)
        self.name = f"{source.name} {' '.join(options)}"


def run_once(program, variables):
    try:
        variables = dict(variables)
        matched = variables.pop("matched") and program.matches
        if variables["STAB_CODE"] == "design":
            variables["STAB_LAYOUT"] = str(program.directory / "script")
        elif matched and variables["STAB_CODE"] in ("once", "direct", "shuffle"):
            variables["STAB_LAYOUT"] = str(program.directory / "match")
        run_program.compare(program.expected, ["./program"], program.directory, **variables)
        return None
    except run_program.Failed as failure:
        return f"{program.name}: {failure}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("programs", nargs="*", help="names such as threads.c; default: all")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    sources = [HERE / name for name in arguments.programs] or sorted([*HERE.glob("*.c"), *HERE.glob("*.cc")])
    with tempfile.TemporaryDirectory(prefix="stab-stress-") as scratch:
        built = [Built(source, draw.choice(run_program.program_variants(source.read_text())), arguments.bin.resolve(),
                       pathlib.Path(scratch) / source.name) for source in sources]
        end, runs, failures = time.monotonic() + arguments.seconds, 0, 0
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            pending = set()
            while time.monotonic() < end or pending:
                while len(pending) < arguments.jobs and time.monotonic() < end:
                    settings = {name: draw.choice(words) for name, words in MODES.items()}
                    settings |= {"STAB_SEED": str(draw.randrange(1 << 32)), "matched": draw.random() < 0.4}
                    pending.add(pool.submit(run_once, draw.choice(built), settings))
                done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
                for result in done:
                    runs += 1
                    if result.result():
                        failures += 1
                        print(result.result(), flush=True)
    print(f"{runs} runs, {failures} differ from the plain build")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (run_program.Failed, subprocess.TimeoutExpired) as failure:
        print(failure)
        sys.exit(1)
