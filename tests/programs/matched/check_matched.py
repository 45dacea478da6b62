#!/usr/bin/env python3
"""Checks that two builds of a program, one of which has a changed function, draw the same layout from one seed.

    check_matched.py --bin DIR alike       what both builds have is at the same places: in images, on the stack, on the heap
    check_matched.py --bin DIR epochs      the same epochs have the same layouts, whatever was missed, and end by CPU time
    check_matched.py --bin DIR alone       what can't be matched is drawn alone, and the dose says so
    check_matched.py --bin DIR identities  names that compilers number are the same function in both builds

Exit code 0: kept; 1: not; 77: skipped, and says why.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[n]) for n in (0, 1)]
sys.dont_write_bytecode = True
from harness import fail, skip  # noqa: E402
from running import run, run_bytes, run_check  # noqa: E402
from served import launched  # noqa: E402
from times import in_time  # noqa: E402

EPOCH_HEADER, EPOCH_RECORD = 920, struct.Struct("<QQ64xIIIBB2x16x")
EPOCH_END = 1


def layout_tool(tools):
    return tools.parent / "libexec/stab/stab-layout"


def build(tools, directory, *options):
    """Names of one length, so that the stack begins at one place."""
    for name, changed in (("one", []), ("two", ["-DCHANGED"])):
        run([tools / "szc", "-O2", "-fno-inline", "--stab-pads=all", *options, *changed, HERE / "matched.c", "-o", name], directory)


def match(tools, directory, *programs):
    path = pathlib.Path(directory) / "match"
    path.write_bytes(run_bytes([layout_tool(tools), "--match", *programs], directory).stdout)
    return path


def without_aslr():
    if shutil.which("setarch") is None or subprocess.run(["setarch", "-R", "true"], check=False).returncode != 0:
        skip("setarch -R is refused, so addresses are the kernel's draws")
    return ["setarch", "-R"]


def places(program, directory, seed, **settings):
    said = run([*without_aslr(), f"./{program}"], directory, STAB_STACK="on", STAB_HEAP="page", STAB_SEED=str(seed), **settings)
    return said.stdout.splitlines()


def alike(tools, directory):
    for options in [[], ["-fno-pie", "-no-pie"], ["-flto"], ["-static"]]:
        build(tools, directory, *options)
        script = str(match(tools, directory, "one", "two"))
        drawn = set()
        for seed in range(1, 6):
            for code in ["once", "shuffle"]:
                one, two = (places(p, directory, seed, STAB_CODE=code, STAB_EPOCH="3600s", STAB_LAYOUT=script) for p in ("one", "two"))
                if one != two or len(one) != 40 + 2 * 4:
                    fail(f"{options} {code} seed {seed}: {sorted(set(one) ^ set(two))} of {len(one)} differ")
            drawn.add(tuple(line for line in one if line.startswith("code")))
        if len(drawn) < 5:
            fail(f"{options}: five seeds have {len(drawn)} layouts")
        apart = [places(p, directory, 1, STAB_CODE="once") for p in ("one", "two")]
        if apart[0] == apart[1]:
            fail(f"{options}: without a match table the builds are alike, so this test shows nothing")
        # Pads of code that stays where it is, or that only gets gaps.
        for code in ["off", "pad", "copy"]:
            path = pathlib.Path(directory) / "pads"
            path.write_text("stab-script 1 any\nmatch pads\n")
            one, two = ([line for line in places(p, directory, 3, STAB_CODE=code, STAB_EPOCH="3600s", STAB_LAYOUT=str(path))
                         if not line.startswith("code")] for p in ("one", "two"))
            if one != two:
                fail(f"{options} {code}: {sorted(set(one) ^ set(two))} differ")


def series(tools, directory, program, epoch_ns, script, *arguments):
    """As the engine runs it: what the program printed, its dose, and the records of its epochs."""
    said, dose, rest = launched(tools, directory, [f"./{program}", *arguments], "s", "--epochs", 1, epoch_ns=epoch_ns, script=script)
    count = struct.unpack_from("<8sII", rest)[2]
    records = [EPOCH_RECORD.unpack_from(rest, EPOCH_HEADER + i * EPOCH_RECORD.size) for i in range(count)]
    keys = ["start_ns", "cpu_ns", "epoch", "image", "refill", "slot", "flags"]
    return said.split(), dose, [dict(zip(keys, record)) for record in records]


def epochs(tools, directory):
    build(tools, directory)
    script = match(tools, directory, "one", "two")
    offsets = {}
    for program in ("one", "two"):
        layout = [layout_tool(tools), f"./{program}", "--code", "shuffle", "--stack", "off", "--range", "4096", "--seed", "7", "--script",
                  script]
        starts = {line.split("\t")[4]: line.split("\t")[0] for line in
                  run([*layout, "--image", 0], directory).stdout.splitlines()[1:] if line.split("\t")[2] != "-"}
        common = ["chooses", "leaf", "main", "middle", "outer", "tell", "where"]
        lines = run([*layout, "--through", 2000, *[starts[name] for name in common]], directory).stdout.splitlines()[1:]
        offsets[program] = [line.split("\t")[1:1 + len(common)] for line in lines]
        if "only_here" in starts and program == "one":
            fail("the unchanged build has a function of the other")
    if offsets["one"] != offsets["two"]:
        different = [i for i, (a, b) in enumerate(zip(offsets["one"], offsets["two"])) if a != b]
        fail(f"images {different[:5]} of {len(different)} differ: {offsets['one'][different[0]]} {offsets['two'][different[0]]}")
    for program in ("one", "two"):
        said, dose, records = series(tools, directory, program, 1_000_000, script, "series", "0.4")
        if dose["code"]["script"]["matched"] < 8 or dose["helper"]["epochs_by"] != "cpu" or dose["degradations"][1:]:
            fail(f"{program}: {dose}")
        # Where the function says that it was is where the image of that number has it. It tells from behind its first instruction.
        slot, where = dose["code"]["slot_bytes"], [int(row[6]) for row in offsets[program]]
        if slot % (2 << 20) != 0 or dose["code"]["ring_address"] % (2 << 20) != 0:
            fail(f"the ring at {dose['code']['ring_address']:x} in slots of {slot:x}")
        wanted = [where[record["image"]] for record in records if not record["flags"] & EPOCH_END]
        behind = int(said[0], 16) - wanted[0]
        if len(set(said)) < 10:
            fail(f"{program}: in 400 epochs it was at {said} alone")
        at = 0
        for place in (int(word, 16) - behind for word in said):
            while at < len(wanted) and wanted[at] != place:
                at += 1
            if at == len(wanted):
                fail(f"{program}: it was at {place}, which is none of {wanted} in that order")
        # Numbers are CPU time: layout n is in place from n ms on, as soon as the helper has a CPU.
        late = [record["cpu_ns"] / 1e6 - records[0]["cpu_ns"] / 1e6 - record["image"] for record in records[1:-1]
                if not record["flags"]]
        if len(late) < 20 or min(late) < -1.5 or not in_time(sorted(late)[len(late) // 2] < 1, f"late by {sorted(late)} ms"):
            fail(f"{program}: of 400 epochs {len(late)} had layouts, late by {late} ms")
    # One that sleeps has no epochs.
    source = pathlib.Path(directory) / "sleeps.c"
    source.write_text("#include <unistd.h>\nint main(void) { for (int i = 0; i < 30; ++i) usleep(10000); return 0; }\n")
    run([tools / "szc", "-O2", source, "-o", "sleeps"], directory)
    _, dose, records = series(tools, directory, "sleeps", 20_000_000, match(tools, directory, "sleeps"))
    if dose["helper"]["ticks"] > 3 or dose["helper"]["epochs_by"] != "cpu":
        fail(f"0.3 s of sleep are no epochs of 20 ms of CPU time: {dose['helper']}")


def alone(tools, directory):
    build(tools, directory)
    path = pathlib.Path(directory) / "match"
    dose = pathlib.Path(directory) / "dose.json"

    def dose_of(program, **settings):
        run([f"./{program}"], directory, STAB_REPORT=str(dose), STAB_CODE="once", STAB_STACK="on", STAB_SEED="3",
            STAB_LAYOUT=str(path), **settings)
        return json.loads(dose.read_text())

    # The other build has a function without a row.
    match(tools, directory, "one")
    said = dose_of("two")
    if said["code"]["script"]["matched"] != 0 or not any("the match table lacks a function" in words for words in said["degradations"]):
        fail(f"a table of another build: {said['code']['script']} {said['degradations']}")
    if dose_of("one")["degradations"] != [] or dose_of("one")["code"]["script"]["matched"] < 8:
        fail(f"its own table: {said}")
    path.write_text("stab-script 1 any\nmatch pads\n")
    if not any("no table of places could be made" in words for words in dose_of("one")["degradations"]):
        fail("'match pads' of code that is shuffled")
    # A damaged or missing table is obeyed by nobody.
    whole = match(tools, directory, "one", "two").read_bytes()
    text, table = whole.split(b"\0", 1)
    for damaged, code, words in [
            (text, "once", "script, line 2: the table that 'match' names does not follow"),
            (text + b"\0" + table[:-1], "once", "script, line 2: the table that 'match' names does not follow"),
            (text + b"\0" + bytes([table[0] ^ 1]) + table[1:], "once", "script, line 2: the table that 'match' names does not follow"),
            (whole, "pad", "script, line 2: 'match' with a table needs STAB_CODE=once"),
            (b"stab-script 1 any\nmatch 0 0x1\n", "once", "script, line 2: the table that 'match' names does not follow"),
            (b"stab-script 1 any\nmatch -1 0x1\n", "once", "script, line 2: expected 'match pads'"),
            (b"stab-script 1 any\nmatch pads\nmatch pads\n", "once", "script, line 3: the function is placed or counted"),
            (b"stab-script 1 any\nmatch pads\n\0", "once", "script: a layout script has at most 65536 bytes, none of them 0")]:
        path.write_bytes(damaged)
        done = run(["./one"], directory, 125, STAB_CODE=code, STAB_LAYOUT="match")
        if not done.stderr.startswith("stab: " + words.replace("script", "match", 1)) or done.stdout:
            fail(f"{damaged[:60]!r} under {code}: expected '{words}', got {done.stderr!r}")
    # Of many functions.
    many = "".join(f"__attribute__((noinline)) int f{i}(int x) {{ return x * {i + 100} ^ {i}; }}\n" for i in range(300))
    source = pathlib.Path(directory) / "many.c"
    source.write_text(many + "int main(int n, char** v) { (void)v; return (" + " + ".join(f"f{i}(n)" for i in range(300)) + ") == 77; }\n")
    run([tools / "szc", "-O1", source, "-o", "many"], directory)
    rows = int(match(tools, directory, "many").read_bytes().split()[4])
    if rows < 290 or dose_of("many")["code"]["script"]["matched"] != rows:  # one may be too short to move
        fail(f"of 301 functions {rows} are in the table, and matched: {dose.read_text()}")
    # It is stripped of its symbols, and not of its identities.
    match(tools, directory, "one", "two")
    run(["strip", "one"], directory)
    if dose_of("one")["code"]["script"]["matched"] < 8:
        fail("a stripped program is not matched")


def identities(tools, directory):
    """Namesakes in several files, anonymous namespaces, hidden and promoted names."""
    sources = {
        "a.cc": "namespace { __attribute__((noinline)) int own(int x) { return x * SIZE_A; } }\n"
                "static __attribute__((noinline)) int same(int x) { return x * 77 + 1; }\n"
                "int a(int x) { return own(x) + same(x); }\n",
        "b.cc": "namespace { __attribute__((noinline)) int own(int x) { return x ^ 9; } }\n"
                "static __attribute__((noinline)) int same(int x) { return x * 99 + 2; }\n"
                "int b(int x) { return own(x) + same(x); }\n",
        "main.cc": "int a(int); int b(int);\nint main(int n, char**) { return a(n) + b(n) == -1; }\n"}
    sources["a.cc"] = "#ifndef SIZE_A\n#define SIZE_A x\n#endif\n" + sources["a.cc"]
    for name, text in sources.items():
        (pathlib.Path(directory) / name).write_text(text)
    for options in [[], ["-flto"], ["-flto=thin"]]:
        offsets = []
        for program, files, more in [("one", ["a.cc", "b.cc", "main.cc"], []),
                                     ("two", ["main.cc", "b.cc", "a.cc"], ["-DSIZE_A=x*(x+7)/(x*x+3)*(x-5)"])]:
            run([tools / "szc++", "-O2", "-fno-inline", *options, *more, *files, "-o", program], directory)
        script = match(tools, directory, "one", "two")
        rows = int(script.read_bytes().split()[4])
        for program in ("one", "two"):
            lines = run([layout_tool(tools), f"./{program}", "--code", "once", "--stack", "off", "--range", "16", "--seed", "5", "--script",
                         script, "--image", "0"], directory).stdout.splitlines()[1:]
            offsets.append(sorted(line.split("\t")[2] for line in lines if line.split("\t")[2] != "-"))
        # a, b, main, and own and same of each file: as many rows as functions says that each has its counterpart.
        if len(offsets[0]) != 7 or (options == [] and (offsets[0] != offsets[1] or rows != 7)):
            fail(f"{options}: {rows} rows of {offsets}")


if __name__ == "__main__":
    run_check({"alike": alike, "epochs": epochs, "alone": alone, "identities": identities}, __doc__)
