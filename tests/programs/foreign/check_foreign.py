#!/usr/bin/env python3
"""What other compilers made, linked by szc --stab-move=all: outputs at 1 ms epochs, shares of text that move, reasons of the rest.

    check_foreign.py --bin DIR [NAME ...]     runs the checks named (default: all), each in a directory of its own

Exit code 0: all right; 1: not; 77: the compiler isn't installed.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]
sys.path.insert(0, str(HERE.parents[2] / "plans/benchmarks"))
from harness import Failed, expect, fail  # noqa: E402
import run_program  # noqa: E402

SETTINGS = {"STAB_CODE": "shuffle", "STAB_HEAP": "page", "STAB_EPOCH": "1ms", "STAB_SEED": "7"}
ATTEMPTS = 5
# Four fifths of a program's own text, without Stab's runtime.
WANTED_SHARE = 80.0


class Skipped(Exception):
    pass


class Workplace:
    def __init__(self, bin_directory, directory):
        self.bin = bin_directory
        self.directory = pathlib.Path(directory)

    def run(self, *command, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STAB") and k not in ("CC", "CXX", "LD")}
        environment |= {"PATH": f"{self.bin}:{environment['PATH']}", "LAB_BIN": str(self.bin)} | variables
        return subprocess.run(command, cwd=self.directory, env=environment, text=True, errors="replace", capture_output=True,
                              timeout=250, stdin=subprocess.DEVNULL)

    def must(self, *command, **variables):
        result = self.run(*command, **variables)
        expect(result.returncode == 0, f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    def info(self, program):
        """What szc says of it, without the names of the runtime's functions."""
        text = self.must("szc", "--stab-info", program).stdout
        return re.sub(r"^(runtime .*\n)(    .*\n)*", r"\1", text, flags=re.MULTILINE)

    def dose(self, program, *arguments, expected, layouts=2):
        """Runs it moving at 1 ms until it saw enough layouts, and holds what it does against the plain build's."""
        report = self.directory / "dose.json"
        for _ in range(ATTEMPTS):
            report.unlink(missing_ok=True)
            got = self.run(f"./{program}", *arguments, STAB_REPORT=str(report), **SETTINGS)
            expect((got.returncode, got.stdout, got.stderr) == (expected.returncode, expected.stdout, expected.stderr),
                    f"{program} does something else:\n  expected {expected.returncode}: {expected.stdout[:2000]!r} {expected.stderr!r}\n"
                    f"  got      {got.returncode}: {got.stdout[:2000]!r} {got.stderr!r}")
            dose = json.loads(run_program.wait_for_dose(report)[0])
            if dose["code"]["layouts_executed"] >= layouts:
                return dose
        fail(f"{program}: fewer than {layouts} layouts executed in each of {ATTEMPTS} runs")


def needs(compiler):
    found = shutil.which(compiler)
    if not found:
        raise Skipped(f"no {compiler} to be had: packaging/scripts/install --services")
    return found


def share_of(info):
    found = re.search(r"^own +([\d.]+) %", info, re.MULTILINE)
    expect(found, f"no share in:\n{info}")
    return float(found[1])


def summary(info):
    """The lines with shares, without names."""
    return "; ".join(re.sub(" +", " ", line) for line in info.splitlines()
                     if re.match(r"own |of these|\S+ +\d+ functions", line) and not line.startswith("runtime"))


def check_moves(place, program, *arguments, plain, layouts=2, binary=None):
    """Output equal to the plain build's, enough of the text moves; prints what there is. binary: what `program` runs, if it is
    a script."""
    expected = place.must(f"./{plain}", *arguments)
    expect(expected.stdout, f"{plain} prints nothing")
    off = place.must(f"./{program}", *arguments)
    expect(off.stdout == expected.stdout, f"{program} with all off: {off.stdout[:2000]!r} for {expected.stdout[:2000]!r}")
    info = place.info(binary or program)
    expect(share_of(info) >= WANTED_SHARE, f"{program}: too little moves\n{info}")
    dose = place.dose(program, *arguments, expected=expected, layouts=layouts)
    expect(dose["code"]["functions_moved"] > 0, f"{program}: nothing moved")
    print(f"{program}: {dose['code']['layouts_executed']} layouts executed, {dose['heap']['mallocs']} allocations; {summary(info)}")


# Assembly adds distances to addresses of its own, also where pointers to functions lead to copies.
def check_distances(place):
    place.must(needs("gcc"), "-c", HERE / "distances.s", "-o", "distances.o")
    place.must("szc", "--stab-move=all", "distances.o", "-o", "distances")
    info = place.info("distances")
    expect(" 3 movable" in info, f"not main, own_address and reached move:\n{info}")
    for code in ("off", "once", "shuffle", "direct"):
        got = place.run("./distances", **(SETTINGS | {"STAB_CODE": code}))
        expect(got.returncode == 37, f"exit code {got.returncode} with code {code}")


# Each reason by the functions that have it, of a program in assembly. The runtime's and the crt files' are left out.
def check_reasons(place):
    place.must(needs("gcc"), "-c", HERE / "reasons.s", "-o", "reasons.o")
    place.must("szc", "--stab-move=all", "reasons.o", "-o", "reasons")
    expect(place.run("./reasons").returncode == place.run("./reasons", **SETTINGS).returncode == 37,
            f"exit codes {place.run('./reasons').returncode}, {place.run('./reasons', **SETTINGS).returncode}")
    info = place.info("reasons")
    reason, found = "", []
    for line in info.splitlines():
        if not line.startswith("    "):
            reason = "goes on in its original" if line.startswith("of these") else line.split()[0]
        elif not re.match(r" +_|.*(tm_clones|frame_dummy|_aux)$", line):
            found.append(f"{reason}: {line.strip()}")
    golden = (HERE / "reasons.golden").read_text().splitlines()
    expect(found == golden, "reasons differ from reasons.golden:\n" + "\n".join(found))
    listed = place.must("szc", "reasons.o", "-o", "reasons") and place.info("reasons")
    expect(" 0 movable" in listed, f"without the option something moves:\n{listed}")


# What our pass compiled is described by the same bytes as ever, whatever the format can say of foreign code.
def check_unchanged(place):
    (place.directory / "prog.c").write_text(
        '#include <stdio.h>\nint pick(int x) { switch (x) { case 0: return 7; case 1: return printf("a"); case 2: return 9;\n'
        'case 3: return printf("bc"); case 4: return 1; case 5: return puts("d"); } return 3; }\n'
        'int main(void) { int sum = 0; for (int i = 0; i < 7; i++) sum += pick(i); printf("%d\\n", sum); return 0; }\n')
    place.must("szc", "-O2", "-c", "prog.c")
    sections = {}
    for name, options in (("listed", []), ("said", ["--stab-move=listed"])):
        place.must("szc", *options, "prog.o", "-o", "prog")
        place.must("objcopy", "-O", "binary", "--only-section=stab_code", "--set-section-flags", "stab_code=alloc", "prog", name)
        sections[name] = (place.directory / name).read_bytes()
    expect(sections["listed"] == sections["said"], "--stab-move=listed is not what there is without it")
    expect(sections["listed"][8] == 2, f"version {sections['listed'][8]} of stab_code, which an older runtime doesn't read")
    place.must("szc", "--stab-move=all", "prog.o", "-o", "prog")
    info = place.info("prog")
    expect(re.search(r"^system +1 functions", info, re.MULTILINE) and not re.search("^foreign", info, re.MULTILINE), f"another reason was expected:\n{info}")


# A build in two steps, as makefiles do with CC=gcc LD=szc; in PIE or not, with and without -fcf-protection and sections.
def check_gcc_builds(place):
    needs("gcc")
    shutil.copy(HERE.parent / "switches.c", place.directory)
    shutil.copy(HERE.parent / "repeat.h", place.directory)
    for options in (["-O0"], ["-O2"], ["-O3", "-ffunction-sections", "-fcf-protection=full"],
                    ["-O2", "-fno-pie", "-no-pie", "-fcf-protection=full"], ["-O1", "-fno-plt", "-fPIC"]):
        place.must("gcc", *options, "switches.c", "-o", "plain")
        place.must("gcc", *options, "-falign-functions=16", "-c", "switches.c")
        link = [option for option in options if option in ("-no-pie",)]
        place.must("szc", *link, "--stab-move=all", "switches.o", "-o", "program")
        expected = place.must("./plain")
        place.dose("program", expected=expected)
        info = place.info("program")
        expect(share_of(info) >= WANTED_SHARE, f"{options}: too little moves\n{info}")
        tables = re.search(r"^tables +(\d+) jump tables", info, re.MULTILINE)
        expect("-O0" in options or int(tables[1]) > 0, f"{options}: no jump table of gcc's was recognized\n{info}")


# gcc's objects ask for a stack that code may run on; so does one that comes out of an archive, by its path or by -l.
def check_gcc_nested(place):
    needs("gcc")
    place.must("gcc", "-O2", HERE / "nested.c", "-o", "plain")
    place.must("gcc", "-O2", "-falign-functions=16", "-c", HERE / "nested.c")
    place.must("gcc", "-O2", "-falign-functions=16", "-Dmain=inner", "-c", HERE / "nested.c", "-o", "inner.o")
    place.must("ar", "rcs", "libinner.a", "inner.o")
    (place.directory / "outer.c").write_text("int inner(void);\nint main(void) { return inner(); }\n")
    place.must("gcc", "-c", "outer.c")
    expected = place.must("./plain")
    for objects in (["nested.o"], ["outer.o", "libinner.a"], ["outer.o", "-L.", "-linner"]):
        place.must("szc", "--stab-move=all", *objects, "-o", "program")
        expect(stack_flags(place, "program") == "RWE", f"{objects}: the stack is {stack_flags(place, 'program')}")
        expect(place.must("./program").stdout == expected.stdout, f"{objects}: another output with all off")
        place.dose("program", expected=expected)
    place.must("gcc", "-c", HERE.parent / "switches.c")
    place.must("szc", "--stab-move=all", "switches.o", "-o", "program")
    expect(stack_flags(place, "program") == "RW", "a stack is executable without need")
    place.must("szc", "--stab-move=all", "-Wl,-z,noexecstack", "nested.o", "-o", "program")
    expect(stack_flags(place, "program") == "RW", "the user's choice doesn't win")


def stack_flags(place, program):
    lines = place.must("readelf", "-lW", program).stdout.splitlines()
    return next(line.split()[6] for line in lines if "GNU_STACK" in line)


# What docs/how-to/other-compilers.md says to builds that link by their compiler: a variable of automake's, and a rule of CMake's.
def check_gcc_build_systems(place):
    needs("gcc")
    for name in ("switches.c", "repeat.h"):
        shutil.copy(HERE.parent / name, place.directory)
    place.must("gcc", "-O2", "switches.c", "-o", "plain")
    expected = place.must("./plain")
    (place.directory / "Makefile").write_text("CCLD = $(CC)\nprogram: switches.o\n\t$(CCLD) $(CFLAGS) -o $@ switches.o\n")
    place.must("make", "CC=gcc", "CFLAGS=-O2", "CCLD=szc --stab-move=all")
    place.dose("program", expected=expected)
    (place.directory / "program").unlink()
    (place.directory / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nadd_executable(program switches.c)\ntarget_link_libraries(program m)\n")
    rule = "szc --stab-move=all <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>"
    place.must("cmake", "-S", ".", "-B", "built", "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_BUILD_TYPE=Release",
               f"-DCMAKE_C_LINK_EXECUTABLE={rule}")
    place.must("cmake", "--build", "built")
    place.dose("built/program", expected=expected)


def check_rust_panics(place):
    needs("rustc")
    for options in (["-O"], ["-C", "opt-level=0"]):
        place.must("rustc", "--edition", "2021", *options, HERE / "panics.rs", "-o", "plain")
        place.must("rustc", "--edition", "2021", *options, "-C", "linker=szc", "-C", "link-arg=--stab-move=all", HERE / "panics.rs",
                   "-o", "program")
        check_moves(place, "program", plain="plain")


# szc is the linker that cargo calls, of build scripts, too.
def check_rust_cargo(place):
    needs("cargo"), needs("rustc")
    package = place.directory / "package"
    (package / "src").mkdir(parents=True)
    (package / "Cargo.toml").write_text('[package]\nname = "panics"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n'
                                        '[profile.release]\ncodegen-units = 4\nstrip = true\n')
    (package / "build.rs").write_text('fn main() { println!("cargo:rerun-if-changed=build.rs"); }\n')
    shutil.copy(HERE / "panics.rs", package / "src/main.rs")
    build = ["cargo", "build", "--release", "--offline", "--quiet", "--manifest-path", package / "Cargo.toml"]
    place.must(*build, CARGO_TARGET_DIR=str(place.directory / "plain-target"))
    place.must(*build, CARGO_TARGET_DIR=str(place.directory / "target"), RUSTFLAGS="-C linker=szc -C link-arg=--stab-move=all")
    shutil.copy(place.directory / "plain-target/release/panics", place.directory / "plain")
    shutil.copy(place.directory / "target/release/panics", place.directory / "program")
    check_moves(place, "program", plain="plain")


REGISTRY = pathlib.Path("/usr/share/cargo/registry")
CONFIG = """[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "/usr/share/cargo/registry"
"""


# Markdown to HTML by pulldown-cmark: the crate, its command and what it needs from Debian's packages, without a network.
def check_rust_tool(place):
    needs("cargo"), needs("rustc")
    crates = sorted(REGISTRY.glob("pulldown-cmark-*"))
    if not crates or not list(REGISTRY.glob("getopts-*")):
        raise Skipped("no librust-pulldown-cmark-dev to be had: packaging/scripts/install --services")
    source = place.directory / "source"
    shutil.copytree(crates[-1], source, ignore=shutil.ignore_patterns(".cargo-checksum.json", "Cargo.lock"))
    # What its own tests need isn't packaged.
    manifest = (source / "Cargo.toml").read_text()
    (source / "Cargo.toml").write_text(re.sub(r"^\[(dev-dependencies\.|\[bench)[^\n]*\n([^\[\n][^\n]*\n|\n)*", "", manifest,
                                              flags=re.MULTILINE))
    (source / ".cargo").mkdir()
    (source / ".cargo/config.toml").write_text(CONFIG)
    text = "".join(f"# Part {i}\n\n* one *{i}* and `code`\n  * [link](http://example.org/{i} \"title\")\n\n"
                   f"> quoted **text** with &amp; and <b>html</b> {i * 7919 % 1000}\n\n| a | b |\n|--|:-:|\n| {i} | ~~x~~ |\n\n"
                   f"```rust\nfn f{i}() {{}}\n```\n\nA line[^{i}] \\\nbroken.\n\n[^{i}]: note\n\n" for i in range(30000))
    (place.directory / "text.md").write_text(text)
    build = ["cargo", "build", "--release", "--offline", "--quiet", "--bin", "pulldown-cmark", "--manifest-path", "Cargo.toml"]
    for name, flags in (("plain", {}), ("program", {"RUSTFLAGS": "-C linker=szc -C link-arg=--stab-move=all"})):
        target = place.directory / f"{name}-target"
        # The configuration is looked for in the working directory.
        place.must("sh", "-c", f"cd source && exec {' '.join(build)}", CARGO_TARGET_DIR=str(target), **flags)
        (place.directory / name).write_text(f'#!/bin/sh\nexec {target}/release/pulldown-cmark -T -F -S < text.md\n')
        (place.directory / name).chmod(0o755)
    check_moves(place, "program", plain="plain", binary=place.directory / "program-target/release/pulldown-cmark", layouts=10)


def check_ada_tasks(place):
    needs("gnatmake")
    for name, options in (("plain", []), ("program", ["-largs", f"--LINK={place.bin / 'szc'}", "--stab-move=all"])):
        place.must("gnatmake", "-q", "-f", "-O2", HERE / "tasks.adb", "-o", name, *options)
    check_moves(place, "program", plain="plain")


# An internal procedure that is passed on is code on the stack, too.
def check_fortran(place):
    needs("gfortran")
    place.must("gfortran", "-O2", HERE / "closures.f90", "-o", "plain")
    place.must("gfortran", "-O2", "-c", HERE / "closures.f90", "-o", "closures.o")
    place.must("szc", "--stab-move=all", "closures.o", "-lgfortran", "-lm", "-o", "program")
    check_moves(place, "program", plain="plain")


def check_d_of_gcc(place):
    gdc = shutil.which("gdc") or shutil.which("gdc-12") or needs("gdc")
    library = pathlib.Path(place.must(gdc, "-print-file-name=libgphobos.so").stdout.strip()).parent
    place.must(gdc, "-O2", HERE / "ranges.d", "-o", "plain")
    place.must(gdc, "-O2", "-c", HERE / "ranges.d", "-o", "ranges.o")
    place.must("szc", "--stab-move=all", "ranges.o", f"-L{library}", "-lgphobos", "-lm", "-o", "program")
    check_moves(place, "program", plain="plain")


def check_d_of_llvm(place):
    needs("ldc2")
    place.must("ldc2", "-O2", HERE / "ranges.d", "-of=plain")
    place.must("ldc2", "-O2", HERE / "ranges.d", "-of=program", "-Xcc=--stab-move=all", CC="szc")
    check_moves(place, "program", plain="plain")


# It would lose its stacks: all of it stays, and the dose has the reason.
def check_go(place):
    needs("go")
    build = {"GOCACHE": str(place.directory / "cache"), "GO111MODULE": "off", "HOME": str(place.directory)}
    place.must("go", "build", "-o", "plain", HERE / "collects.go", **build)
    place.must("go", "build", "-ldflags=-linkmode=external -extld=szc -extldflags=--stab-move=all", "-o", "program",
               HERE / "collects.go", **build)
    expected = place.must("./plain")
    dose = place.dose("program", expected=expected, layouts=0)
    expect(dose["code"]["functions_moved"] == 0 and dose["code"]["not_moved"].get("walks-code", 0) > 100,
            f"not all stays for the reason that was expected: {dose['code']}")
    expect(any("walks code addresses" in words for words in dose["degradations"]), f"no reason in {dose['degradations']}")
    expect("Go walks code addresses" in place.info("program"), "the runtime isn't named")


def check_small_programs(place):
    """Each program of tests/programs by gcc, objects linked by szc."""
    needs("gcc"), needs("g++")
    os.environ["LAB_BIN"] = str(place.bin)
    variants = [["-O2"], ["-O0"], ["-Os", "-fno-pie", "-no-pie"], ["-O2", "-fcf-protection=full"], ["-O2", "-fno-pie", "-no-pie"]]
    done = 0
    for source in sorted([*HERE.parent.glob("*.c"), *HERE.parent.glob("*.cc")]):
        text = source.read_text()
        flags, excluded = run_program.directive(text, "flags"), tuple(run_program.directive(text, "not"))
        compiler = "g++" if source.suffix == ".cc" else "gcc"
        # Of two objects, or with clang's own options.
        if run_program.directive(text, "library") or any(option.startswith(CLANG_ONLY) for option in flags):
            continue
        # "no": what makes it run is what the pass alone can see of a program; "once": it runs in one layout.
        other_compilers = run_program.directive(text, "other-compilers")
        if any(word in text for word in CLANGS_WORDS) or other_compilers == ["no"]:
            continue
        for options in variants:
            if excluded and any(option.startswith(excluded) for option in options):
                continue
            place.must(compiler, "-w", *options, source, "-o", "plain", *flags)
            expected = run_program.run(["./plain"], place.directory)
            place.must(HERE / "compilers" / compiler, "-w", *options, source, "-o", "program", *flags)
            run_program.compare(expected, ["./program"], place.directory)
            once = {"STAB_CODE": "once"} if other_compilers == ["once"] else {}
            run_program.compare(expected, ["./program"], place.directory, **(SETTINGS | once))
            done += 1
    expect(done > 150, f"only {done} builds")
    print(f"{done} builds of gcc's do what their plain builds do")


CLANGS_WORDS = ("musttail",)
CLANG_ONLY = ("-mllvm", "-fbasic-block-sections", "-mretpoline", "-mlvi-cfi", "-fexperimental", "-fcoroutines", "-std=c++2c", "-fsanitize=function")


def check_real_programs(place):
    """Lua, SQLite and MiniSat (C++) from Debian's sources, built by gcc and linked by szc."""
    from debian_source import Failure
    from program import Compiler, read_manifest
    needs("gcc"), needs("g++")
    os.environ["LAB_BIN"] = str(place.bin)
    report = place.directory / "dose.json"
    manifest = read_manifest()
    for name in ("lua", "sqlite3", "minisat"):
        program = manifest[name]
        try:
            binary = program.build(Compiler(str(HERE / "compilers/gcc"), "-O2"))
        except Failure as failure:
            if "apt" in str(failure):
                raise Skipped(f"no Debian sources to be had: {failure}")
            raise
        info = place.info(binary)
        expect(share_of(info) >= WANTED_SHARE, f"{name}: too little moves\n{info}")
        for run in [*program.runs, *([program.short] if program.short else [])]:
            plain = program.output(binary, run)
            run.env = {**run.env, **SETTINGS, "STAB_REPORT": str(report)}
            report.unlink(missing_ok=True)
            moved = program.output(binary, run)
            expect(plain[:2] == moved[:2], f"{name} {run.name}: another output than with all off")
            code = json.loads(run_program.wait_for_dose(report)[0])["code"]
            expect(code["layouts_executed"] >= 20, f"{name} {run.name}: {code['layouts_executed']} layouts executed")
            print(f"{name} {run.name}: {code['layouts_executed']} layouts executed, {code['functions_moved']} functions moved")
        print(f"{name}: {summary(info)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where szc is")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    checks = {name.removeprefix("check_"): function for name, function in globals().items()
              if name.startswith("check_") and name != "check_moves"}
    status = 0
    for name in arguments.names or checks:
        with tempfile.TemporaryDirectory() as directory:
            try:
                checks[name](Workplace(arguments.bin.resolve(), directory))
                print(f"ok {name}")
            except Skipped as reason:
                print(f"SKIP: {reason}")
                status = status or 77
            except Failed as failure:
                print(f"FAIL {name}: {failure}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
