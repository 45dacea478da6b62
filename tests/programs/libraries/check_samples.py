#!/usr/bin/env python3
"""Samples in shared libraries are told by file and function: of libraries that move and of others, in programs of szc's and in
hosts, of libraries that come and go.

    check_samples.py --bin DIR CHECK

Exit code 0: kept; 1: not, and a line says what was told; 77: skipped, and says why.
"""
import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]
sys.dont_write_bytecode = True
from harness import expect, run, skip  # noqa: E402
import llvm  # noqa: E402
from served import read_samples, served  # noqa: E402

# Each spends as many steps as it is told, which take the same time anywhere.
STEPS = "unsigned {name}(unsigned x, int n) {{ while (--n) x = (x ^ (x >> 3)) * 2654435761u; return x; }}\n"
HIDDEN = "__attribute__((noinline)) static " + STEPS.format(name="inner")
ROUNDS = "100000"  # some 1,200 samples on a fast processor, of which a share of 0.4 errs by 0.014: `near` allows six times as much


class Place:
    def __init__(self, directory, tools):
        self.directory, self.tools = pathlib.Path(directory), tools
        self.host = tools.parent / "lib/stab/libstabhost.so"

    def must(self, *words):
        return run(*words, cwd=self.directory, env=os.environ | {"PATH": f"{self.tools}:{os.environ['PATH']}"}).stdout

    def write(self, name, text):
        (self.directory / name).write_text(text)

    def library(self, name, text, *words, compiler="szc"):
        self.write("library.c", text)
        self.must(compiler, "-O2", "-fPIC", "-shared", *words, "library.c", "-o", name)

    def names(self, program):
        done = subprocess.run([self.tools.parent / "libexec/stab/stab-layout", program, "--code", "shuffle", "--stack", "off", "--range",
                               "4096", "--seed", "7"], cwd=self.directory, capture_output=True, text=True)
        return [line.split("\t")[4] for line in done.stdout.splitlines()[1:]]

    def sampled(self, *command, code="s", **settings):
        """Sums, functions of the executable with their samples, and what is told of each file."""
        dose, rest = served(self.tools, self.directory, command, code, "--samples", "1", **settings)
        totals, functions, _, files = read_samples(rest, self.names(command[0]))
        if totals["period_ns"] == 0:
            skip("the kernel refuses its clock: " + "; ".join(dose["degradations"]))
        told = sum(totals[key] for key in ("newest", "older", "original", "elsewhere", "kernel"))
        expect(told >= 200, f"{told} samples only: {totals}")
        # What moved is in the sums of what moves, what stayed is elsewhere; nothing is told twice.
        for keys, moved in ((("newest", "older", "original"), True), (("elsewhere",), False)):
            own = sum(map(sum, functions.values())) if moved else 0
            counted = own + sum(sum(file["counts"]) for file in files.values() if file["moved"] == moved)
            most = sum(totals[key] for key in keys)
            expect(counted == most if moved else counted <= most, f"{counted} told, {most} counted: {totals} {functions} {files}")
        for name, file in files.items():
            for kind in range(3):
                named = sum(function["counts"][kind] for function in file["functions"].values())
                expect(named <= file["counts"][kind], f"{name} has fewer samples than its functions: {file}")
        return totals, functions, files


def share_of(function, totals):
    all_of_it = sum(totals[key] for key in ("newest", "older", "original", "elsewhere"))
    return sum(function) / all_of_it


def near(what, share, wanted, told):
    expect(abs(share - wanted) < 0.08, f"{what} has {100 * share:.1f} % of the samples, expected {100 * wanted:.0f} %: {told}")


# Of 10 parts of the steps `inner` takes 4, `opened` and `foreign` 2 each, `bare` and `own` 1 each. How many steps a round has is drawn:
# rounds of one length could come in time with the sampling clock, and some functions would have more samples than their share.
MAIN = """#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
unsigned linked(unsigned, int), foreign(unsigned, int), bare(unsigned, int);
static __attribute__((noinline)) """ + STEPS.format(name="own") + """
int main(int count, char** words) {
  void* library = dlopen("./libopened.so", RTLD_NOW);
  if (!library) { fprintf(stderr, "%s\\n", dlerror()); return 1; }
  unsigned (*opened)(unsigned, int) = (unsigned (*)(unsigned, int))dlsym(library, "opened");
  unsigned x = (unsigned)count;
  for (int i = atoi(words[1]); i > 0; --i) {
    int n = 500 + (x >> 8) % 1001;
    x = linked(x, 4 * n); x = opened(x, 2 * n); x = foreign(x, 2 * n); x = bare(x, n); x = own(x, n);
  }
  printf("%u\\n", x & 1);
  return 0;
}
"""


def versioned(place, name, text, **options):
    """As packages have them: a file of a version, a soname, and links."""
    place.library(f"{name}.so.4.5", text, f"-Wl,-soname,{name}.so.4", **options)
    for link in (f"{name}.so.4", f"{name}.so"):
        (place.directory / link).symlink_to(f"{name}.so.4.5")


def build_all(place, compiler):
    versioned(place, "liblinked", HIDDEN + "unsigned linked(unsigned x, int n) { return inner(x, n) + 1; }\n")
    place.library("libopened.so", STEPS.format(name="opened"))
    versioned(place, "libforeign", STEPS.format(name="foreign"), compiler=llvm.tool("clang"))
    place.library("libbare.so", STEPS.format(name="bare"))
    place.must("strip", "libbare.so")
    place.write("main.c", MAIN)
    place.must(compiler, "-O2", "main.c", "-L.", "-llinked", "-lforeign", "-lbare", "-Wl,-rpath,$ORIGIN", "-o", "prog")


def drawn_by(name):
    """FNV-1a of 64 bits of the file's name by which the loader knows it."""
    known = 0xcbf29ce484222325
    for byte in name.encode():
        known = (known ^ byte) * 0x100000001b3 % 2**64
    return known


def told_of(files, name, moved, function):
    expect(name in files and files[name]["moved"] == moved, f"{name} is not told, or not as {moved=}: {files}")
    expect(files[name]["text_hash"] != 0, f"{name}: {files[name]}")
    expect(function in files[name]["functions"], f"{name}!{function} is not told: {files}")
    return files[name]["functions"][function]


def check_shares(place):
    """A program of szc's: linked and opened libraries of szc's, a stripped one, and one of another compiler's."""
    build_all(place, "szc")
    for code in ("s", "1"):  # shuffled, and copied
        totals, functions, files = place.sampled("./prog", ROUNDS, code=code)
        for name, moved, function, wanted in (("liblinked.so.4", True, "inner", 0.4), ("libopened.so", True, "opened", 0.2),
                                              ("libforeign.so.4", False, "foreign", 0.2), ("libbare.so", True, "bare", 0.1)):
            near(f"{name}!{function}", share_of(told_of(files, name, moved, function)["counts"], totals), wanted, files)
        near("own", share_of(functions.get("own", (0, 0, 0)), totals), 0.1, functions)
        linked = {line.split()[2]: int(line.split()[0], 16) for line in place.must("nm", "liblinked.so").splitlines() if len(line.split()) == 3}
        expect(files["liblinked.so.4"]["path"] == str(place.directory.resolve() / "liblinked.so.4.5"), f"another path: {files}")
        expect(files["liblinked.so.4"]["drawn_by"] == drawn_by("liblinked.so.4"), f"drawn by another number: {files}")
        inner = files["liblinked.so.4"]["functions"]["inner"]
        expect(inner["linked"] == linked["inner"], f"inner is at {linked['inner']:#x}: {inner}")
        expect(inner["counts"][0] > 0.9 * sum(inner["counts"]), f"it should be in the newest image: {inner}")


def check_hosts(place):
    """A host of another compiler's, with the runtime preloaded: its own functions are told as those of a file that stays."""
    build_all(place, llvm.tool("clang"))
    totals, functions, files = place.sampled("./prog", ROUNDS, LD_PRELOAD=str(place.host))
    expect(not functions, f"of a host without metadata no function is known by number: {functions}")
    near("inner", share_of(told_of(files, "liblinked.so.4", True, "inner")["counts"], totals), 0.4, files)
    near("own", share_of(told_of(files, "prog", False, "own")["counts"], totals), 0.1, files)


def check_plugins(place):
    """Libraries that come and go, one in the place of another: each keeps what was sampled of it."""
    for name in ("first", "second", "third"):
        place.library(f"{name}.so", STEPS.format(name=name))
    place.write("main.c", """#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  const char* names[] = {"first", "second", "third"};
  unsigned x = 1;
  for (int round = 0; round < 60; ++round) {
    char file[32];
    sprintf(file, "./%s.so", names[round % 3]);
    void* library = dlopen(file, RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\\n", dlerror()); return 1; }
    unsigned (*work)(unsigned, int) = (unsigned (*)(unsigned, int))dlsym(library, names[round % 3]);
    x = work(x, 5000000);
    dlclose(library);
  }
  printf("%u\\n", x & 1);
  return 0;
}
""")
    place.must("szc", "-O2", "main.c", "-o", "prog")
    totals, _, files = place.sampled("./prog")
    for name in ("first", "second", "third"):
        near(name, share_of(told_of(files, f"{name}.so", True, name)["counts"], totals), 1 / 3, files)


# Of an ELF file: where a section's fields lie in its header, by name.
FIELDS = {"type": (4, "<I"), "offset": (24, "<Q"), "size": (32, "<Q"), "link": (40, "<I")}


def damage(file, section, field, value):
    """Writes a number into the header of the first section of this type; the loader looks at none of them."""
    held = bytearray(file.read_bytes())
    table, = struct.unpack_from("<Q", held, 40)
    entry, count = struct.unpack_from("<HH", held, 58)
    at = next(table + i * entry for i in range(count) if struct.unpack_from("<I", held, table + i * entry + 4)[0] == section)
    offset, form = FIELDS[field]
    struct.pack_into(form, held, at + offset, value)
    file.write_bytes(held)


def check_damaged(place):
    """Whatever section headers and symbols say, samples are told: of a file whose symbols can't be read by the file alone."""
    build_all(place, "szc")
    whole = {name: (place.directory / name).read_bytes() for name in ("libforeign.so", "liblinked.so")}
    symbols, strings, dynamic = 2, 3, 6
    rounds = "60000"  # some 840 samples, of which a share of 0.4 errs by 0.017: a dozen runs are all within what `near` allows

    def counts_of(files, name):
        """By the soname, or where that can't be read by the file's own name."""
        return files[f"{name}.so.4" if f"{name}.so.4" in files else f"{name}.so.4.5"]["counts"]

    for section, field, value in ((symbols, "size", 1 << 40), (symbols, "size", (1 << 64) - 1), (symbols, "offset", (1 << 64) - 8),
                                  (symbols, "link", 0xfffffff0), (symbols, "link", 1), (strings, "size", 1),
                                  (strings, "offset", 1 << 62), (dynamic, "size", 1 << 40), (dynamic, "offset", (1 << 64) - 8),
                                  (dynamic, "link", 0xfffffff0), (dynamic, "link", 1)):
        for name, held in whole.items():
            (place.directory / name).write_bytes(held)
            damage(place.directory / name, section, field, value)
        totals, _, files = place.sampled("./prog", rounds)
        near(f"libforeign.so, {field} {value:#x}", share_of(counts_of(files, "libforeign"), totals), 0.2, files)
        near(f"liblinked.so, {field} {value:#x}", share_of(counts_of(files, "liblinked"), totals), 0.4, files)
    # Symbols that lie: names behind the end of theirs, functions that end behind all addresses.
    for name, held in whole.items():
        held = bytearray(held)
        table, = struct.unpack_from("<Q", held, 40)
        entry, count = struct.unpack_from("<HH", held, 58)
        for at in (table + i * entry for i in range(count)):
            kind, offset, size = (struct.unpack_from(form, held, at + place_of)[0] for place_of, form in (FIELDS["type"], FIELDS["offset"],
                                                                                                    FIELDS["size"]))
            for symbol in range(offset, offset + size, 24) if kind == symbols else ():
                struct.pack_into("<I", held, symbol, 0xffffffff if symbol // 24 % 2 else 1)
                struct.pack_into("<Q", held, symbol + 16, 0xffffffff)
        (place.directory / name).write_bytes(held)
    totals, _, files = place.sampled("./prog", rounds)
    near("libforeign.so, whose symbols lie", share_of(counts_of(files, "libforeign"), totals), 0.2, files)


def main():
    checks = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where szc is")
    parser.add_argument("check", choices=sorted(checks))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stab-library-samples-") as directory:
        checks[arguments.check](Place(directory, arguments.bin.resolve()))
    print(f"{arguments.check}: kept")


if __name__ == "__main__":
    main()
