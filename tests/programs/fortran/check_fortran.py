#!/usr/bin/env python3
"""Builds Fortran programs with szflang and with flang, runs them with everything on, and compares.

    check_fortran.py --bin DIR

Exit code 0: all equal, and functions, pads and heap had their doses; 1: not; 77: no flang is installed.
"""
import argparse
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n]) for n in (1, 2)]
from harness import expect, fail, skip  # noqa: E402
import llvm  # noqa: E402
import running  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ALL_ON = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_HEAP": "page", "STAB_EPOCH": "1ms"}


def run(command, directory, **settings):
    """What it prints. It must not complain."""
    done = running.run(command, directory, **settings)
    expect(not done.stderr, f"{command} in {directory} says {done.stderr[-2000:]}")
    return done.stdout


def compare(source, level, flang, szflang, directory, plain=(), lto=()):
    run([flang, level, *plain, source, "-o", "plain"], directory)
    expected = run(["./plain"], directory)
    run([szflang, level, *lto, "-c", source, "-o", "part.o"], directory)  # apart, as build systems do
    run([szflang, *lto, "part.o", "-o", "apart"], directory)
    run([szflang, level, *lto, source, "-o", "together"], directory)
    for program in ["./apart", "./together"]:
        if run([program], directory) != expected:
            fail(f"{source.name} {level} {program} with all off differs")
        # A busy machine may give the helper no time in a run of some milliseconds.
        for _ in range(5):
            got = run([program], directory, STAB_REPORT="dose.json", **ALL_ON)
            if got != expected:
                fail(f"{source.name} {level} {program}: expected {expected!r}, got {got!r}")
            dose = json.loads((pathlib.Path(directory) / "dose.json").read_text())
            if dose["code"]["functions_moved"] >= 3 and dose["heap"]["mallocs"] > 0 and dose["stack"]["refills"] >= 3:
                break
        else:
            fail(f"{source.name} {level} {program}: not everything has a dose: {dose}")


LIBRARY = """subroutine sums(n, total)
  integer, intent(in) :: n
  double precision, intent(out) :: total
  double precision :: part(64)
  integer :: i
  total = 0
  do i = 1, n
    part = dble(i)
    call add(part, total)
  end do
end subroutine
subroutine add(part, total)
  double precision, intent(in) :: part(64)
  double precision, intent(inout) :: total
  total = mod(total + sum(part), 1048573d0)
end subroutine
"""
MAIN = """program main
  double precision :: total, all
  integer :: i
  all = 0
  do i = 1, 4000
    call sums(1000, total)
    all = all + total
  end do
  print '(f0.0)', all
end program
"""


def compare_library(flang, szflang, directory):
    """A library's code moves, and its functions have pads, in a program of szflang's."""
    for name, text in (("sums", LIBRARY), ("main", MAIN)):
        (pathlib.Path(directory) / f"{name}.f90").write_text(text)
    for level in ["-O0", "-O2"]:
        for compiler in (flang, szflang):
            run([compiler, level, "-fPIC", "-shared", "sums.f90", "-o", "libsums.so"], directory)
            run([compiler, level, "main.f90", "./libsums.so", "-o", "program"], directory)
            if compiler == flang:
                expected = run(["./program"], directory)
        for _ in range(5):
            expect(run(["./program"], directory, STAB_REPORT="dose.json", **ALL_ON) == expected, f"the library at {level} prints something else")
            dose = json.loads((pathlib.Path(directory) / "dose.json").read_text())
            if dose["code"]["libraries_moved"] == 1 and dose["code"]["layouts_executed"] > 1 and dose["stack"]["library_slots"] > 0:
                break
        else:
            fail(f"the library at {level} is not randomized: {dose}")


# flang makes code on the stack to pass an internal procedure as an argument.
def compare_closures(flang, szflang, directory):
    source = HERE.parent / "foreign/closures.f90"
    for level in ["-O0", "-O2"]:
        compare(source, level, flang, szflang, directory, plain=["-fuse-ld=lld", "-Wl,-z,execstack"])
    run([flang, "-c", source, "-o", "plain.o"], directory)
    run([szflang, "--stab-move=all", "plain.o", "-o", "foreign"], directory)
    expect(run(["./foreign"], directory) == run(["./plain"], directory), "an object of flang's that szflang links differs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where szflang is")
    arguments = parser.parse_args()
    flang = llvm.flang()
    if flang is None:
        skip(f"flang-{llvm.VERSION} is not installed; apt install flang-{llvm.VERSION}")
    with tempfile.TemporaryDirectory(prefix="stab-fortran-") as directory:
        for source in ["numeric.f90", "legacy.f"]:
            for level in ["-O0", "-O2"]:
                compare(HERE / source, level, flang, arguments.bin.resolve() / "szflang", directory)
        for level in ["-O0", "-O2"]:
            compare(HERE / "numeric.f90", level, flang, arguments.bin.resolve() / "szflang", directory, lto=["-flto"])
        compare_library(flang, arguments.bin.resolve() / "szflang", directory)
        compare_closures(flang, arguments.bin.resolve() / "szflang", directory)


if __name__ == "__main__":
    main()
