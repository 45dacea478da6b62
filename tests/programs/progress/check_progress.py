#!/usr/bin/env python3
"""Checks <stab/progress.h> and <stab/coz.h> with small real programs whose visits are known.

    check_progress.py --bin DIR counts     every visit is counted once: kinds, threads, forks, signals, destructors
    check_progress.py --bin DIR limits     more points, threads and longer names than the board holds are said
    check_progress.py --bin DIR coz        programs written for COZ, with its own header and with ours
    check_progress.py --bin DIR libraries  points in libraries, also of other compilers
    check_progress.py --bin DIR absent     without the runtime: compiles, links, runs, in C99 to C++20, with gcc and clang

Exit code 0: kept; 1: not; 77: skipped, and says why.
"""
import json
import pathlib
import shutil
import sys
import time

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n]) for n in (1, 2)]
from harness import fail  # noqa: E402
import llvm  # noqa: E402
from running import output, run, run_check  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
EVERYTHING = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_HEAP": "page", "STAB_EPOCH": "500us", "STAB_SEED": "7"}


def dose_of(command, directory, expected=0, **settings):
    path = pathlib.Path(directory) / "dose.json"
    run(command, directory, expected, STAB_REPORT=str(path), **settings)
    for _ in range(1000):  # of a program that was killed the helper writes it later
        if path.read_text().endswith("\n"):
            return json.loads(path.read_text())
        time.sleep(0.01)
    fail(f"{command} left no dose report within 10 s")


def visits(dose):
    return {(point["kind"], point["name"]): point["visits"] for point in dose.get("progress", {}).get("points", [])}


def same(found, expected, what):
    if found != expected:
        fail(f"{what}: expected {expected}, got {found}")


def counts(tools, directory):
    for options in [["-O2"], ["-O0"], ["-O2", "-static"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-flto"]]:
        run([tools / "szc", *options, "-pthread", HERE / "counts.c", "-o", "counts"], directory)
        for settings in [{}, EVERYTHING]:
            def check(word, expected, code=0):
                dose = dose_of(["./counts", word], directory, code, **settings)
                same(visits(dose), expected, f"{options} {settings} {word}")
                progress = dose.get("progress", {})
                same((progress.get("points_dropped", 0), progress.get("visits_dropped", 0)), (0, 0), f"{word}: dropped")
                return dose
            check("nothing", {})
            check("kinds", {("arrival", "job"): 5, ("begin", "job"): 5, ("end", "job"): 4, ("progress", "job"): 10,
                            ("progress", "line??of?text"): 3})
            same(check("threads", {("progress", "work"): 800000})["progress"]["rows"] <= 8, True, "rows of 8 threads")
            # Threads one after the other hand one row on.
            same(check("short", {("progress", "work"): 30000})["progress"]["rows"], 1, "rows of 3000 threads in turn")
            check("forks", {("progress", "work"): 1 + 7 * 100000 + 3 * 200000})
            check("signals", {("progress", "work"): 2000 * 51})
            check("destructors", {("progress", "work"): 100, ("progress", "late"): 300})
            check("filtered", {("progress", "work"): 17})
            check("killed", {("progress", "work"): 100000}, -9)


def limits(tools, directory):
    run([tools / "szc", "-O2", "-pthread", HERE / "counts.c", "-o", "counts"], directory)
    dose = dose_of(["./counts", "points"], directory)
    progress = dose["progress"]
    same([point["visits"] for point in progress["points"]], [5] * 62, "the first 62 points")
    same((progress["points_dropped"], progress["visits_dropped"]), (9, 45), "8 points and a long name")
    same(sum("progress points" in words for words in dose["degradations"]), 1, f"words in {dose['degradations']}")
    dose = dose_of(["./counts", "many"], directory)
    same(visits(dose), {("progress", "work"): 1 + 1100 * 11}, "1100 threads at once beside main")
    same((dose["progress"]["rows"], dose["progress"]["threads_sharing"]), (1024, 77), "rows and threads beside them")
    same(sum("shared cells" in words for words in dose["degradations"]), 1, f"words in {dose['degradations']}")
    # No file, memory that is shared included, may be as long as the board: the program runs, and what is missed is said.
    short = ["bash", "-c", 'ulimit -f 300; exec "$0" "$@"', "./counts"]
    dose = dose_of([*short, "kinds"], directory, **EVERYTHING)
    same("progress" in dose, False, "points without a board")
    same(sum("no memory for the board" in words for words in dose["degradations"]), 1, f"words in {dose['degradations']}")
    same(sum("board" in words for words in dose_of([*short, "nothing"], directory)["degradations"]), 0, "nobody misses it")
    # Where nothing is too much, nothing is said.
    same(dose_of(["./counts", "kinds"], directory)["degradations"], [], "degradations of five points")


def coz(tools, directory):
    expected = {("begin", "request"): 4500, ("progress", "served"): 4500, ("end", "request"): 4500}
    for own in [["-DOWN_HEADER"], []]:
        for options in [[], ["-static"]]:
            if own and options:
                continue  # a static program has no dlsym to look names up by
            run([tools / "szc++", "-O2", *own, *options, "-pthread", HERE / "coz.cc", "-o", "coz"], directory)
            for settings in [{}, EVERYTHING]:
                same(visits(dose_of(["./coz"], directory, **settings)), expected, f"{own} {options} {settings}")
    run([llvm.tool("clang++"), "-O2", "-DOWN_HEADER", "-pthread", HERE / "coz.cc", "-o", "plain"], directory)
    same(output(["./plain"], directory), "done\n", "COZ's header without anybody")


def libraries(tools, directory):
    include = tools.parent / "include"
    for made_by in [[tools / "szc"], [llvm.tool("clang"), "-I", include], ["gcc", "-I", include]]:
        if shutil.which(str(made_by[0])) is None:
            continue
        for name in ["linked", "loaded"]:
            run([*made_by, "-O2", "-fPIC", "-shared", HERE / "library.c", "-o", f"lib{name}.so"], directory)
        run([tools / "szc", "-O2", HERE / "uses_library.c", "-L.", "-llinked", "-Wl,-rpath,$ORIGIN", "-o", "uses"], directory)
        for settings in [{}, EVERYTHING]:
            same(visits(dose_of(["./uses", "./libloaded.so"], directory, **settings)),
                 {("progress", "in library"): 12, ("progress", "in program"): 1}, f"{made_by} {settings}")
        # The other way round: the program is nobody's.
        run([llvm.tool("clang"), "-I", include, "-O2", HERE / "uses_library.c", "-L.", "-llinked", "-Wl,-rpath,$ORIGIN", "-o", "plain"],
            directory)
        same(output(["./plain", "./libloaded.so"], directory), "done\n", f"a plain program with a library by {made_by}")


def absent(tools, directory):
    include = tools.parent / "include"
    warnings = ["-Wall", "-Wextra", "-Werror", "-I", include]
    for compiler in [llvm.tool("clang"), "gcc"]:
        if shutil.which(compiler) is None:
            continue
        for options in [["-std=gnu99", "-O2"], ["-std=c11", "-O0"], ["-std=c17", "-O2", "-static"], ["-O2", "-fno-pie", "-no-pie"]]:
            run([compiler, *warnings, *options, "-D_GNU_SOURCE", "-pthread", HERE / "counts.c", "-o", "plain"], directory)
            for word in ["kinds", "threads", "points"]:
                same(output(["./plain", word], directory), "done\n", f"{compiler} {options} {word}")
    for compiler in [llvm.tool("clang++"), "g++"]:
        if shutil.which(compiler) is None:
            continue
        for options in [["-std=c++11", "-O2"], ["-std=c++20", "-O0"], ["-std=c++20", "-O2", "-static"]]:
            run([compiler, *warnings, *options, "-pthread", HERE / "coz.cc", "-o", "plain"], directory)
            same(output(["./plain"], directory), "done\n", f"{compiler} {options}")
    # Two objects of which only one was made by szc, linked by it: both count.
    run([llvm.tool("clang"), "-I", include, "-O2", "-fPIE", "-c", HERE / "library.c", "-o", "plain.o"], directory)
    run([tools / "szc", "-O2", HERE / "uses_library.c", "plain.o", "-o", "mixed"], directory)
    same(visits(dose_of(["./mixed"], directory)), {("progress", "in library"): 7, ("progress", "in program"): 1}, "mixed objects")
    # Nobody wants a report and nothing is on: there is no board, and nothing happens.
    same(output(["./mixed"], directory), "done\n", "no board")


if __name__ == "__main__":
    run_check({"counts": counts, "limits": limits, "coz": coz, "libraries": libraries, "absent": absent}, __doc__)
