#!/usr/bin/env python3
"""Builds Fortran programs with szflang and with flang, runs them with everything on, and compares.

    check_fortran.py --bin DIR

Exit code 0: all equal, and functions, pads and heap had their doses; 1: not; 77: no flang is installed.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import llvm  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ALL_ON = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_HEAP": "page", "STAB_EPOCH": "1ms"}


class Failed(Exception):
    pass


def run(command, directory, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STAB")} | settings
    done = subprocess.run([str(word) for word in command], cwd=directory, env=environment, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=120)
    if done.returncode != 0 or done.stderr:
        raise Failed(f"(cd {directory}; {' '.join(map(str, command))}) exits {done.returncode}: {done.stdout[-500:]}"
                     f"{done.stderr[-2000:]}")
    return done.stdout


def check(source, level, flang, szflang, directory):
    run([flang, level, source, "-o", "plain"], directory)
    expected = run(["./plain"], directory)
    run([szflang, level, "-c", source, "-o", "part.o"], directory)  # apart, as build systems do
    run([szflang, "part.o", "-o", "apart"], directory)
    run([szflang, level, source, "-o", "together"], directory)
    for program in ["./apart", "./together"]:
        if run([program], directory) != expected:
            raise Failed(f"{source.name} {level} {program} with all off differs")
        # A busy machine may give the helper no time in a run of some milliseconds.
        for _ in range(5):
            got = run([program], directory, STAB_REPORT="dose.json", **ALL_ON)
            if got != expected:
                raise Failed(f"{source.name} {level} {program}: expected {expected!r}, got {got!r}")
            dose = json.loads((pathlib.Path(directory) / "dose.json").read_text())
            if dose["code"]["functions_moved"] >= 3 and dose["heap"]["mallocs"] > 0 and dose["stack"]["refills"] >= 3:
                break
        else:
            raise Failed(f"{source.name} {level} {program}: not everything has a dose: {dose}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where szflang is")
    arguments = parser.parse_args()
    flang = llvm.flang()
    if flang is None:
        print(f"SKIP: flang-{llvm.VERSION} is not installed; apt install flang-{llvm.VERSION}")
        return 77
    with tempfile.TemporaryDirectory(prefix="stab-fortran-") as directory:
        try:
            for source in ["numeric.f90", "legacy.f"]:
                for level in ["-O0", "-O2"]:
                    check(HERE / source, level, flang, arguments.bin.resolve() / "szflang", directory)
        except Failed as failure:
            print(f"failed: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
