#!/usr/bin/env python3
"""Links of which nothing, or not all, comes: they say so, --stab-strict fails them, and the dose names what a run shows.

    check_strict.py --bin DIR [NAME ...]     runs the checks named (default: all), each in a directory of its own
"""
import argparse
import json
import pathlib
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n]) for n in (1, 2)]
from check_driver import ALL_ON, OWN_MALLOC, Workplace  # noqa: E402
from harness import Failed, expect  # noqa: E402
import llvm  # noqa: E402

MUSL = pathlib.Path("/usr/lib/x86_64-linux-musl")
LTO = ["-O2", "-flto=thin", "-fno-inline", "--stab-pads=all"]

HELD = """#include <setjmp.h>
#include <stdio.h>
struct call { jmp_buf left; } first;
struct call* volatile now = &first;
void leaves(void) { longjmp(now->left, 1); }
void (*volatile runs)(void) = leaves;
int main(void) {
#ifdef TELLS_APART
  if (setjmp(now->left)) puts("left"); else runs();
#else
  if (!setjmp(now->left)) runs();
#endif
  puts("goes on");
}
"""


class Skipped(Exception):
    pass


def refused(place, words, *command, left="prog", **variables):
    """The command fails with these words, and leaves no output."""
    result = place.run(*command, **variables)
    expect(result.returncode not in (0, 77) and words in result.stderr, f"{command} {variables}: exit {result.returncode}, {result.stderr!r}")
    expect(not place.has(left), f"{command} leaves its output")


def warned(place, words, *command, **variables):
    stderr = place.must(*command, **variables).stderr
    expect(words in stderr if words else stderr == "", f"{command} says {stderr!r}")


def info(place, program):
    """What --stab-info says, by the first word of its lines."""
    lines = {}
    for line in place.must("szc", "--stab-info", program).stdout.splitlines():
        if line and not line.startswith(" "): lines.setdefault(line.split()[0], []).append(line.split(maxsplit=1)[-1])
    return lines


def movable(place, program):
    lines = info(place, program)
    if "functions" not in lines: return 0
    return int(lines["functions"][0].split(", ")[1].split()[0])


def has_pads(place, program):
    return not info(place, program)["pads"][0].startswith("none")


def check_code(place):
    place.must(llvm.tool("clang"), "-c", "main.c", "twice.c")
    link = ["main.o", "twice.o", "-o", "prog"]
    warned(place, "'prog': no function moves; what szc has not compiled stays", "szc", *link)
    expect(any("code: no function moves" in line for line in info(place, "prog")["lacks"]), f"{info(place, 'prog')}")
    place.must("rm", "prog")
    refused(place, "code: no function moves", "szc", "--stab-strict=code", *link)
    place.must("szc", "--stab-strict=code", "--stab-move=all", *link)
    place.moves("prog")
    # It compares return addresses with those of the original, whoever compiled it.
    place.must(llvm.tool("clang"), "-O1", "-mspeculative-load-hardening", "-c", "main.c", "twice.c")
    place.must("szc", "--stab-move=all", *link)
    expect(place.must("./prog", **ALL_ON).stdout == "42\n", "hardened code moved")
    place.must("szc", "-O1", "-mspeculative-load-hardening", "-c", "main.c", "twice.c")
    warned(place, "know their places and stay, as -mspeculative-load-hardening and", "szc", *link)
    # A table in a section of its own holds places in each function with a branch.
    place.write("branch.c", "extern void twice(void);\nint main(int n, char** v) { if (n > 1) twice(); return v == 0; }\n")
    warned(place, "-fsanitize-coverage=pc-table make them", "szc", "-O1", "-fsanitize-coverage=trace-pc-guard,pc-table", "branch.c",
           "-o", "prog", "-Wl,--unresolved-symbols=ignore-all")
    place.must(llvm.tool("clang"), "-c", "main.c", "twice.c")
    # One function of ours is enough, as in the trial's dose.
    place.must("szc", "-c", "twice.c")
    warned(place, "", "szc", "--stab-strict=code", *link)
    place.write("hides", "{ local: *; };\n")
    place.must("rm", "prog")
    refused(place, "hides the runtime's names", "szc", "--stab-strict=code", "main.c", "twice.c", "-Wl,--version-script=hides", "-o", "prog")
    refused(place, "names 'cod', expected a list of 'code', 'stack' and 'heap'", "szc", "--stab-strict=cod", *link)
    refused(place, "is linked without glibc", "szc", "--stab-strict", "-nostdlib", "-static", "twice.c", "-Wl,-e,twice", "-o", "prog")


def check_stack(place):
    place.write("leaf.c", "int main(void) { return 0; }\n")
    refused(place, "stack: no function has a pad", "szc", "--stab-strict=stack", "leaf.c", "-o", "prog")
    refused(place, "stack: no function has a pad", "szc", "--stab-strict=stack", "-O2", "-ffreestanding", "main.c", "twice.c", "-o", "prog")
    warned(place, "", "szc", "--stab-strict", "--stab-pads=all", "-O2", "-fno-inline", "main.c", "twice.c", "-o", "prog")
    expect("lacks" not in info(place, "prog"), f"{info(place, 'prog')}")
    # A shell's function is left by longjmp, and what follows is what follows its return: so it is with coroutines on one stack.
    place.write("held.c", HELD)
    held = ["--stab-pads=all", "-O1", "-fno-inline", "held.c", "-o", "prog"]
    place.must("rm", "prog")
    refused(place, "stack: all pads stay 0, as its calls of setjmp may switch", "szc", "--stab-strict=stack", *held)
    place.must("szc", *held)
    expect(info(place, "prog")["pads"][0].endswith("all 0, as its calls of setjmp may switch between coroutines that lie on one stack"),
           f"{info(place, 'prog')}")
    warned(place, "", "szc", "--stab-strict=stack", "-DTELLS_APART", *held)
    # A library says nothing of its program.
    place.must("szc", "--stab-strict", "-shared", "-fPIC", "twice.c", "-o", "libtwice.so")


def check_heap(place):
    place.write("own.c", OWN_MALLOC.replace("ALIGNED", ""))
    calls = ["-O1", "-fno-builtin", "main.c", "twice.c", "own.c"]
    served = {}
    for options in ([], ["-no-pie", "-fno-pie"], ["-static"], ["-fuse-ld=bfd"]):
        place.must("rm", "-f", "prog")
        refused(place, "heap: the program's own malloc serves all calls", "szc", "--stab-strict=heap", *options, *calls, "-o", "prog")
        warned(place, "", "szc", "--stab-strict=heap", *options, "main.c", "twice.c", "-o", "prog")
        place.must("./prog", STAB_HEAP="page", STAB_REPORT="dose")
        served["ours"] = json.loads((place.directory / "dose").read_text())
        place.must("szc", *options, *calls, "-o", "prog")
        expect(any("heap: the program's own malloc" in line for line in info(place, "prog")["lacks"]), f"{info(place, 'prog')}")
        place.must("./prog", STAB_HEAP="page", STAB_REPORT="dose")
        served["its"] = json.loads((place.directory / "dose").read_text())
        expect([served[whose]["heap"]["served_by"] for whose in ("ours", "its")] == ["stab", "program"], f"{options}: {served}")
        expect(served["ours"]["heap"]["mallocs"] > 0 and not served["ours"]["degradations"], f"{options}: {served['ours']}")
        expect(["brings a malloc of its own" in words for words in served["its"]["degradations"]] == [True], f"{options}: {served['its']}")
    # Of a library only the run tells.
    place.must("szc", "-O1", "-fno-builtin", "-shared", "-fPIC", "own.c", "-o", "libown.so")
    place.must("szc", "main.c", "twice.c", "-o", "prog")
    place.must("./prog", STAB_HEAP="page", STAB_REPORT="dose", LD_PRELOAD="./libown.so")
    dose = json.loads((place.directory / "dose").read_text())
    expect(dose["heap"]["served_by"] == "library" and "a library of the program brings" in dose["degradations"][0], f"{dose}")
    place.must("./prog", STAB_REPORT="dose", LD_PRELOAD="./libown.so")
    expect("served_by" not in json.loads((place.directory / "dose").read_text())["heap"], "heap is off, and somebody looked")


def check_environment(place):
    """As a plan's builds have it: what is measured is held to it, and nothing else."""
    place.must(llvm.tool("clang"), "-c", "main.c", "twice.c")
    place.must("mkdir", "out")
    strict = {"STAB_LINK_STRICT": "code,stack", "STAB_LINK_PROGRAM": "other:prog"}
    refused(place, "STAB_LINK_STRICT asks for code,stack", "szc", "main.o", "twice.o", "-o", "out/prog", left="out/prog", **strict)
    place.must("szc", "main.o", "twice.o", "-o", "conftest", **strict)
    refused(place, "code: no function moves", "szc", "main.o", "twice.o", "-o", "conftest2", left="conftest2", STAB_LINK_STRICT="code")
    refused(place, "STAB_LINK_STRICT=on", "szc", "main.o", "twice.o", "-o", "prog", STAB_LINK_STRICT="on")
    place.must("szc", "--stab-strict=heap", "main.o", "twice.o", "-o", "prog", **strict)  # the option comes first


def check_linkers(place):
    """A link is known by what it is told: a wrapper may have any name, and ld may be any linker."""
    wrapper = "#!/bin/sh\nexec {} \"$@\"\n"
    for name, linker in (("wrapper", llvm.tool("ld.lld")), ("links", llvm.tool("ld.lld")), ("ld", "ld.bfd"), ("wild", "ld.gold")):
        place.write(name, wrapper.format(shutil.which(linker)))
        (place.directory / name).chmod(0o755)
        place.must("szc", "--stab-strict", "--stab-pads=all", f"--ld-path=./{name}", "main.c", "twice.c", "-o", "prog")
        place.moves("prog")
        if "lld" not in linker: continue
        # Code that the linker makes has its pads there.
        place.must("szc", "--stab-strict", *LTO, f"--ld-path=./{name}", "main.c", "twice.c", "-o", "prog")
        place.moves("prog")
    place.write("fails", "#!/bin/sh\nexit 3\n")
    (place.directory / "fails").chmod(0o755)
    expect(place.run("szc", "--ld-path=./fails", "main.c", "twice.c", "-o", "none").returncode != 0, "a linker that fails")


def check_old_linker(place):
    """To an lld of another LLVM our pass is not given, and code that it makes has none."""
    place.write("old", f"#!/bin/sh\n[ \"$1\" = --version ] && echo 'LLD 14.0.6 (compatible with GNU linkers)' && exit\n"
                       f"case \"$*\" in *pass-plugin*) exit 9; esac\nexec {shutil.which(llvm.tool('ld.lld'))} \"$@\"\n")
    (place.directory / "old").chmod(0o755)
    place.must("szc", "--stab-strict", "--stab-pads=all", "--ld-path=./old", "main.c", "twice.c", "-o", "prog")
    place.moves("prog")
    place.must("rm", "prog")
    refused(place, "no function moves", "szc", "--stab-strict", *LTO, "--ld-path=./old", "main.c", "twice.c", "-o", "prog")
    warned(place, "no function moves", "szc", *LTO, "--ld-path=./old", "main.c", "twice.c", "-o", "prog")


def check_libc(place):
    """Also under another name: by its file, by its path, by a link to it."""
    libc = place.must(llvm.tool("clang"), "-print-file-name=libc.so.6").stdout.strip()
    (place.directory / "libours.so").symlink_to(libc)
    for words in (["-l:libc.so.6"], [libc], ["-L.", "-lours"], ["-lc"]):
        for linker in ("lld", "bfd"):
            place.must("szc", "--stab-strict", "--stab-pads=all", f"-fuse-ld={linker}", "-nodefaultlibs", "main.c", "twice.c", *words, "-o", "prog")
            place.moves("prog")
    place.must("rm", "prog")
    place.write("none.c", "void _start(void) { for (;;) {} }\n")
    none = ["-nostdlib", "-fno-stack-protector", "none.c", "-o", "prog"]
    refused(place, "is linked without glibc", "szc", "--stab-strict", *none)
    warned(place, "'prog' is linked without glibc, which Stab's runtime needs: nothing in it is randomized", "szc", *none)
    warned(place, "", "szc", "-static", *none)


def check_musl(place):
    if not (MUSL / "libc.a").exists(): raise Skipped("no musl-dev to be had: packaging/scripts/install")
    start, end = [str(MUSL / name) for name in ("crt1.o", "crti.o")], [f"-L{MUSL}", "-lc", str(MUSL / "crtn.o")]
    place.write("main.c", "int puts(const char*); int twice(int);\nint main(void) { volatile int n = 21; if (twice(n) == 42) puts(\"42\"); return 0; }\n")
    musl = ["--target=x86_64-linux-musl", "--stab-pads=all", "-O1", "-fno-pie"]
    place.must("szc", *musl, "-c", "main.c", "twice.c")
    expect(b"stab_" not in (place.directory / "main.o").read_bytes(), "an object for musl has a section of ours")
    for options in ([*musl, "-static"], ["-static", "-fno-pie"], ["-no-pie", "-Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1"]):
        place.must("szc", *options, "--stab-pads=all", "-O1", "-c", "main.c", "twice.c")
        link = ["-nostdlib", *start, "main.o", "twice.o", *end, "-o", "prog"]
        refused(place, "glibc", "szc", *options, "--stab-strict", *link)
        warned(place, "Stab's runtime needs glibc: nothing in it is randomized", "szc", *options, *link)
        if "-static" in options: expect(place.must("./prog").stdout == "42\n", f"{options}: prints something else")
        place.must("rm", "prog")


def check_thin_cache(place):
    """Neither does a plain link get what our pass made, nor ours what it didn't."""
    place.write("main.c", '#include <stdio.h>\nint twice(int);\n__attribute__((noinline)) static int call(int n) { return twice(n) + twice(n); }\n'
                "int main(void) { volatile int n = 21; printf(\"%d\\n\", call(n) - twice(n)); return 0; }\n")
    for compiler, options in ((llvm.tool("clang"), LTO[:-1]), ("szc", LTO)):
        for name in ("main", "twice"): place.must(compiler, *options, "-c", f"{name}.c", "-o", f"{name}.{compiler}.o")
    made = []
    for order in ((llvm.tool("clang"), "szc"), ("szc", llvm.tool("clang"))):
        shutil.rmtree(place.directory / "cache", ignore_errors=True)
        for linker in order * 2:
            for objects in order:
                place.must(linker, "-fuse-ld=lld", "-O2", f"main.{objects}.o", f"twice.{objects}.o", "-Wl,--thinlto-cache-dir=cache", "-o", "cached")
                place.must(linker, "-fuse-ld=lld", "-O2", f"main.{objects}.o", f"twice.{objects}.o", "-o", "fresh")
                states = [(movable(place, name), has_pads(place, name)) for name in ("cached", "fresh")]
                expect(states[0] == states[1], f"{order}: {linker} links {objects}'s objects: with a cache {states[0]}, without {states[1]}")
                expect(linker == "szc" or not states[0][1], f"{order}: a plain link has pads")
                made.append((linker, objects, states[0]))
    expect(("szc", "szc", (2, True)) in made, f"{made}")
    # It is used, and functions' places are part of what an entry is of.
    entries = sorted(path.name for path in (place.directory / "cache").glob("llvmcache-*"))
    place.must("szc", "-O2", "main.szc.o", "twice.szc.o", "-Wl,--thinlto-cache-dir=cache", "-o", "cached")
    expect(sorted(path.name for path in (place.directory / "cache").glob("llvmcache-*")) == entries, "a second link finds nothing in the cache")
    place.write("a.layout", "stab-layout 1\nprogram placed\ncpu any\nplace twice mod 256 at 240\n")
    place.must("szc", "--stab-layout=a.layout", "-O2", "main.szc.o", "twice.szc.o", "-Wl,--thinlto-cache-dir=cache", "-o", "placed")


def check_partial_link(place):
    """-r with bitcode optimizes, and is the last to."""
    for option in ("-flto", "-flto=thin"):
        place.must("szc", "-O2", "-fno-inline", "--stab-pads=all", option, "-c", "main.c", "twice.c")
        place.must("szc", option, "-r", "main.o", "twice.o", "-o", "both.o")
        place.must("szc", "--stab-strict", "both.o", "-o", "prog")
        place.moves("prog")
        expect(movable(place, "prog") > 0 and has_pads(place, "prog"), f"{option}: {info(place, 'prog')}")


def check_thin_backend(place):
    """clang loads no pass there; that is said."""
    place.must("szc", *LTO, "-c", "main.c", "twice.c")
    place.must(llvm.tool("clang"), "-fuse-ld=lld", "-flto=thin", "-Wl,--thinlto-index-only", "main.o", "twice.o", "-o", "unused")
    backend = ["-O2", "-c", "-x", "ir", "main.o", "-fthinlto-index=main.o.thinlto.bc", "-o", "native.o"]
    refused(place, "-fthinlto-index=", "szc", "--stab-strict", *backend, left="native.o")
    warned(place, "these functions have no pads and stay", "szc", *backend)
    warned(place, "", "szc", *backend[:-3], "-fthinlto-index=/dev/null", "-o", "alone.o")


PROBE = '''#include <stdio.h>
#define PROBE(name) __asm__ volatile( \\
  "990: nop\\n.pushsection .note.stapsdt,\\"?\\",\\"note\\"\\n.balign 4\\n.4byte 992f-991f,994f-993f,3\\n991: .asciz \\"stapsdt\\"\\n" \\
  "992: .balign 4\\n993: .8byte 990b\\n.8byte 0\\n.8byte 0\\n.asciz \\"app\\"\\n.asciz \\"" name "\\"\\n.asciz \\"\\"\\n994: .balign 4\\n.popsection\\n")
__attribute__((noinline)) int work(int n) { PROBE("begin"); return 2 * n; }
int main(void) { volatile int n = 21; printf("%d\\n", work(n)); return 0; }
'''


def check_probes(place):
    """A tracer's breakpoint lies where nobody comes by. In code that stays it works."""
    place.write("probed.c", PROBE)
    for options in ([], ["-static"], ["-fuse-ld=bfd", "-no-pie", "-fno-pie"]):
        warned(place, "1 probe, app:begin, in code that moves", "szc", *options, "probed.c", "-o", "prog")
        place.moves("prog")
        expect("app:begin" in info(place, "prog")["probes"][0], f"{options}: {info(place, 'prog')}")
    warned(place, "", "szc", "-static", "main.c", "twice.c", "-o", "prog")  # libc.a has probes of its own
    place.must(llvm.tool("clang"), "-c", "probed.c")
    place.write("moves.c", "int moves(int x) { return x; }\n")
    warned(place, "", "szc", "moves.c", "probed.o", "-o", "prog")


def check_stubs(place):
    for options, without in (["-fuse-ld=lld"], True), (["-fuse-ld=bfd"], False):
        place.must("szc", *options, "main.c", "twice.c", "-o", "prog")
        expect(("stubs" in info(place, "prog")) == without, f"{options}: {info(place, 'prog')}")


def check_names(place):
    """A driver is called by a link of any name that clang would know itself by."""
    place.write("throws.cc", '#include <iostream>\nvoid fail() { throw 42; }\nint main() { try { fail(); } catch (int n) { std::cout << n << "\\n"; } }\n')
    for name in ("g++-12", "x86_64-linux-gnu-g++-12", "c++", llvm.tool("clang++")):
        (place.directory / name).symlink_to(place.bin / "szc++")
        place.must(f"./{name}", "throws.cc", "-o", "prog")
        place.moves("prog")
    for name in ("gcc-12", "x86_64-linux-gnu-gcc"):
        (place.directory / name).symlink_to(place.bin / "szc")
        place.must(f"./{name}", "main.c", "twice.c", "-o", "prog")
        place.moves("prog")
    (place.directory / "aarch64-linux-gnu-gcc").symlink_to(place.bin / "szc")
    place.must("./aarch64-linux-gnu-gcc", "-c", "twice.c")
    expect("AArch64" in place.must("readelf", "-h", "twice.o").stdout, "the name's target is not obeyed")


def check_inner_commands(place):
    for command in (["-cc1", "-version"], ["-cc1as", "-version"], ["-cc1", "-emit-obj", "twice.c", "-o", "inner.o"]):
        ours, plain = place.run("szc", *command), place.run(llvm.tool("clang"), *command)
        expect((ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr) and ours.returncode == 0,
                f"{command}: {ours.stderr}")


def check_mold(place):
    if not shutil.which("mold"): raise Skipped("no mold to be had: packaging/scripts/install")
    place.write("unused.c", "int unused = 3;\n")
    discards = ["-g", "-fdata-sections", "-Wl,--gc-sections", "unused.c"]
    for options in ([], ["-static"], discards):
        warned(place, "is linked without --gc-sections, because mold" if options == discards else "", "szc", "-fuse-ld=mold",
               "--stab-strict", "--stab-pads=all", *options, "main.c", "twice.c", "-o", "prog")
        place.moves("prog")


WITHOUT_CLOCK = """#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char** words) {
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (count < 2 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 9;
  execv(words[1], words + 1);
  return 8;
}
"""


def check_clock(place):
    """A filter that refuses clocks keeps the first layout in place, which the dose says; and the helper doesn't spin."""
    place.write("filters.c", WITHOUT_CLOCK)
    place.must(llvm.tool("clang"), "filters.c", "-o", "filters")
    place.write("main.c", "#include <stdio.h>\n#include <sys/times.h>\n#include <unistd.h>\nint twice(int);\n"
                "int main(void) { volatile int n = 0; usleep(300000); for (int i = 0; i < 21; i++) n += twice(1); printf(\"%d\\n\", n); return 0; }\n")
    place.must("szc", "main.c", "twice.c", "-o", "prog")
    expect(place.must("./filters", "./prog", STAB_CODE="shuffle", STAB_EPOCH="1ms", STAB_REPORT="dose").stdout == "42\n", "prints something else")
    dose = json.loads((place.directory / "dose").read_text())
    expect(dose["code"]["layouts_built"] == 1 and any("clock_gettime was refused" in words for words in dose["degradations"]), f"{dose}")
    expect(dose["helper"]["minor_faults"] < 5000 and dose["helper"]["ticks"] == 0, f"{dose}")


def check_configuration(place):
    """A linker that a configuration file of clang's chooses is the user's choice, too."""
    place.write("links.cfg", "-fuse-ld=bfd\n")
    place.must("szc", "--config", "./links.cfg", "main.c", "twice.c", "-o", "prog")
    place.moves("prog")
    expect("LLD" not in place.must("readelf", "-p", ".comment", "prog").stdout, "the configuration file's linker is not obeyed")
    place.write("other.cfg", "-O1\n")
    place.must("szc", "--config", "./other.cfg", "main.c", "twice.c", "-o", "prog")
    expect("LLD" in place.must("readelf", "-p", ".comment", "prog").stdout, "without a choice it isn't lld")


CHECKS = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*", choices=[[], *CHECKS])
    arguments = parser.parse_args()
    status = 0
    for name in arguments.names or CHECKS:
        with tempfile.TemporaryDirectory(prefix="stab-strict-") as directory:
            try:
                CHECKS[name](Workplace(arguments.bin.resolve(), directory))
                print(f"{name}: ok")
            except Skipped as reason:
                print(f"SKIP: {reason}")
                status = status or 77
            except Failed as failure:
                print(f"{name}: FAILED: {failure}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
