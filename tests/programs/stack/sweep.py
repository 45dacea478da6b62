#!/usr/bin/env python3
"""Programs made by chance, which do with pads what they do without.

    sweep.py --bin DIR arguments    calls that pass values of all sizes, kinds and alignments, by all conventions
    sweep.py --bin DIR assembly     functions with inline assembly that wants many registers, or particular ones

A program checks itself. It is first built by clang, which says whether it is one to judge by; then by our driver, with pads in
all functions, and, of `arguments`, with the callers of the one and the callees of the other. --sample makes few programs;
--programs N and --seed S choose others. Exit code 0: all alike; 1: not, and a line says which and keeps the directory.
"""
import argparse
import pathlib
import random
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n]) for n in (1, 2)]
from harness import Failed, fail  # noqa: E402
import llvm  # noqa: E402
from running import output, run  # noqa: E402

LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"]
SEEDS = 3


def processor_has():
    flags = pathlib.Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split()
    return {level for level, flag in [("-mavx", "avx"), ("-mavx2", "avx2"), ("-mavx512f -mavx512vl", "avx512vl")] if flag in flags}


# -- arguments ---------------------------------------------------------------------------------------------------------

SCALARS = ["char", "int", "long", "__int128", "float", "double", "long double", "_Complex double", "void*"]
VECTORS = [8, 16, 32, 64]
CONVENTIONS = ["", "", "", "ms_abi", "sysv_abi", "regcall", "vectorcall", "preserve_most", "preserve_all", "preserve_none"]

ARGUMENTS_HEADER = """
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
typedef float V8 __attribute__((vector_size(8)));
typedef float V16 __attribute__((vector_size(16)));
typedef float V32 __attribute__((vector_size(32)));
typedef float V64 __attribute__((vector_size(64)));
extern "C" void* stack_below();
uint64_t mix(uint64_t hash, const void* bytes, size_t size);
template <typename T> T value(uint64_t seed) {
  unsigned char bytes[sizeof(T)] = {};
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<unsigned char>((seed * 37 + i * 11) % 61);
  T made;
  memcpy(&made, bytes, sizeof made);
  return made;
}
template <> inline long double value<long double>(uint64_t seed) { return seed * 0.5L; }
template <typename T> uint64_t add(uint64_t hash, const T& x) {
  if constexpr (requires { x.m; }) return mix(hash, &x.m, sizeof x.m);
  return mix(hash, &x, __is_same(T, long double) ? 10 : sizeof x);
}
template <typename T> uint64_t add_in_place(uint64_t hash, const T& x) {
  uintptr_t at = reinterpret_cast<uintptr_t>(&x);
  __asm__("" : "+r"(at));
  if (at % alignof(T) != 0) printf("misaligned by %d of %d\\n", int(at % alignof(T)), int(alignof(T))), abort();
  return add(hash, x);
}
#define NOINLINE __attribute__((noinline))
"""

ARGUMENTS_REST = """
NOINLINE uint64_t mix(uint64_t hash, const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) hash = hash * 1099511628211u + static_cast<const unsigned char*>(bytes)[i];
  return hash;
}
extern "C" NOINLINE void* stack_below() { return __builtin_frame_address(0); }
int main() {
  setvbuf(stdout, nullptr, _IONBF, 0);
  for (int round = 0; round < 3; ++round) for (auto* drive : kDrives) drive(round * 5, 4 + round);
  puts("all");
}
"""


class Signature:
    """One function: its convention, parameters, what follows them, and how it comes back."""

    def __init__(self, chance, number):
        self.number = number
        self.structs = []
        self.convention = chance.choice(CONVENTIONS)
        self.variadic = self.convention in ("", "ms_abi", "sysv_abi") and chance.random() < 0.2
        # Whose registers the unwinder puts back.
        self.throws = self.convention in ("", "sysv_abi", "regcall", "vectorcall") and chance.random() < 0.3
        self.parameters = [self.type(chance) for _ in range(chance.choice([1, 2, 3, 5, 8, 10, 12]))]
        # clang's own jumps lose structures.
        self.tail = not self.variadic and not self.throws and not self.structs and chance.random() < 0.5
        self.rest = [self.variable(chance) for _ in range(chance.randrange(1, 12))] if self.variadic else []
        self.result = "uint64_t" if self.throws or chance.random() < 0.5 else self.type(chance)
        self.local = chance.choice([0, 0, 8, 32, 64])

    def variable(self, chance):
        """A type behind the dots: promoted; and no large one in Windows' convention, where clang can't read it."""
        while True:
            made = chance.choice(["int", "long", "double", "void*"]) if self.convention == "ms_abi" else self.type(chance)
            if made not in ("char", "float"):
                return made

    def type(self, chance):
        kind = chance.random()
        if kind < 0.35:
            return chance.choice([s for s in SCALARS if s != "long double" or self.convention != "vectorcall"])  # clang fails
        if kind < 0.65:
            return f"V{chance.choice(VECTORS)}"
        name = f"S{self.number}_{len(self.structs)}"
        align = 1 << chance.randrange(8)
        member = chance.choice(["char", "int", "long", "double", "float", "V16", "V32", "V64"])
        count = chance.choice([1, 1, 2, 3, 5, 9])
        packed = "packed, " if chance.random() < 0.2 else ""
        self.structs.append(f"struct __attribute__(({packed}aligned({align}))) {name} {{ {member} m[{count}]; }};")
        return name

    def attribute(self):
        return f"__attribute__(({self.convention}))" if self.convention else ""

    def declared(self, name):
        words = [f"{t} p{i}" for i, t in enumerate(self.parameters)] + (["..."] if self.variadic else [])
        return f"{self.attribute()} {self.result} {name}({', '.join(words)})"

    def hash_in_place(self, start):
        """Alignment is a promise for what came by value; a vector may have come in a register."""
        lines = [f"  hash = add_in_place(hash, p{i});" for i in range(len(self.parameters))]
        return "\n".join([f"  uint64_t hash = {start};", *lines])

    def callee(self):
        body = [self.hash_in_place(1)]
        if self.variadic:
            list_type, prefix = ("__builtin_ms_va_list", "ms_") if self.convention == "ms_abi" else ("__builtin_va_list", "")
            body.append(f"  {list_type} rest; __builtin_{prefix}va_start(rest, p{len(self.parameters) - 1});")
            body += [f"  {{ {t} x = __builtin_va_arg(rest, {t}); hash = add(hash, x); }}" for t in self.rest]
            body.append(f"  __builtin_{prefix}va_end(rest);")
        if self.throws:
            body.append("  if (hash != 0) throw hash;")
        body.append("  return hash;" if self.result == "uint64_t" else f"  return value<{self.result}>(hash);")
        return f"NOINLINE {self.declared(f'callee{self.number}')} {{\n" + "\n".join(body) + "\n}\n"

    def middle(self):
        names = ", ".join(f"p{i}" for i in range(len(self.parameters)))
        return (f"NOINLINE {self.declared(f'middle{self.number}')} {{\n  if (!p0_is_there) stack_below();\n"
                f"  [[clang::musttail]] return callee{self.number}({names});\n}}\n")

    def caller(self):
        n = self.number
        types = self.parameters + self.rest
        local = [f"  alignas({self.local}) unsigned char local[{self.local}]; memset(local, seed + 3, sizeof local);",
                 "  mix(1, local, sizeof local);"] if self.local else []
        check_local = [f"    for (unsigned char c : local) if (c != (unsigned char)(seed + 3)) puts(\"case {n}: a local changed\"), abort();"
                       ] if self.local else []
        lines = [f"NOINLINE void drive{n}(int seed, int times) {{", *local, "  void* stack = nullptr;",
                 "  for (int i = 0; i < times; ++i) {"]
        lines += [f"    {t} a{j} = value<{t}>(seed + i + {j});" for j, t in enumerate(types)]
        lines += ["    uint64_t hash = 1;", *[f"    hash = add(hash, a{j});" for j in range(len(types))]]
        name = f"{'middle' if self.tail else 'callee'}{n}"
        call = f"{name}({', '.join(f'a{j}' for j in range(len(types)))})"
        wrong = f"puts(\"case {n}: wrong\"), abort()"
        if self.throws:
            lines.append(f"    try {{ {call}; {wrong}; }} catch (uint64_t got) {{ if (got != hash) {wrong}; }}")
        elif self.result == "uint64_t":
            lines.append(f"    if ({call} != hash) {wrong};")
        else:
            lines.append(f"    {{ {self.result} got = {call}; if (add(1, got) != add(1, value<{self.result}>(hash))) {wrong}; }}")
        lines += check_local
        lines.append(f"    void* now = stack_below(); if (stack != nullptr && now != stack) puts(\"case {n}: the stack pointer moved\"), "
                     "abort();\n    stack = now;")
        lines += ["  }", "}"]
        return "\n".join(lines) + "\n"


def write_arguments(chance, directory, cases):
    signatures = [Signature(chance, i) for i in range(cases)]
    header = ARGUMENTS_HEADER + "\n".join(s for one in signatures for s in one.structs) + "\n"
    header += "".join(f"{s.declared(f'callee{s.number}')};\n" for s in signatures)
    (directory / "arguments.h").write_text(header)
    middles = "static volatile int p0_is_there = 1;\n" + "".join(s.declared(f"middle{s.number}") + ";\n" + s.middle()
                                                                  for s in signatures if s.tail)
    drives = "static void (*const kDrives[])(int, int) = {" + ", ".join(f"drive{s.number}" for s in signatures) + "};\n"
    (directory / "callers.cc").write_text('#include "arguments.h"\n' + middles + "".join(s.caller() for s in signatures))
    (directory / "callees.cc").write_text('#include "arguments.h"\n' + "".join(s.callee() for s in signatures))
    (directory / "main.cc").write_text('#include "arguments.h"\n' + "".join(f"void drive{s.number}(int, int);\n" for s in signatures) +
                                       drives + ARGUMENTS_REST)
    return signatures


def compile_arguments(compiler, directory, prefix, levels, options):
    """Callers and callees, each at its own level, and what they share."""
    for part, level in zip(("callers", "callees", "main"), levels):
        output([*compiler, level, *options, "-c", f"{part}.cc", "-o", f"{prefix}-{part}.o"], directory)


def try_arguments(chance, tools, directory, cases):
    """One program; False: clang's own build is none to judge by."""
    write_arguments(chance, directory, cases)
    options = ["-std=c++20", "-Wno-psabi", "-w", *chance.choice(["", "", *sorted(tools.processor)]).split()]
    if chance.random() < 0.3:
        options.append("-fno-omit-frame-pointer")
    levels = chance.choice(LEVELS), chance.choice(LEVELS), "-O1"
    told = " ".join([*levels[:2], *options])
    try:
        compile_arguments([llvm.tool("clang++")], directory, "plain", levels, options)
        output([llvm.tool("clang++"), *options, "plain-main.o", "plain-callers.o", "plain-callees.o", "-o", "plain"], directory)
        expected = output(["./plain"], directory)
    except Failed as plain:
        print(f"{told}: not by clang either: {str(plain)[:200]}", flush=True)
        return False
    compile_arguments(tools.ours, directory, "ours", levels, options)
    for callers, callees in [("ours", "ours"), ("ours", "plain"), ("plain", "ours")]:
        output([*tools.ours, *options, "ours-main.o", f"{callers}-callers.o", f"{callees}-callees.o", "-o", "program"], directory)
        for settings in [{"STAB_STACK": "off"}, *({"STAB_STACK": "on", "STAB_SEED": str(i)} for i in range(SEEDS))]:
            if output(["./program"], directory, **settings) != expected:
                fail(f"(cd {directory}; STAB_STACK=on ./program) says other things than ./plain")
    print(f"{told}: as plain", flush=True)
    return True


# -- assembly ----------------------------------------------------------------------------------------------------------

ASSEMBLY_HEADER = """
#include <stdio.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
struct Many { long m[16]; };
NOINLINE long out(long x) { __asm__ volatile(""); return x * 3 + 1; }
static struct Many everyone;
NOINLINE void fill(void* at, int size, int c) { memset(at, c, size); __asm__ volatile("" ::: "memory"); }
"""
REGISTERS = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{i}" for i in range(8, 16))]
FIXED = {"a": "rax", "b": "rbx", "c": "rcx", "d": "rdx", "S": "rsi", "D": "rdi"}


def operand(chance, j, free, letters):
    """A constraint and what it is of; registers by name are taken from `free`."""
    letter = chance.choice(letters)
    if letter in FIXED:
        if FIXED[letter] not in free:
            return "m", "local.m[5]"
        free.remove(FIXED[letter])
    if letter == "m":
        return letter, chance.choice([f"many->m[{j % 16}]", f"many->m[(a + {j}) & 15]", "local.m[3]", "everyone.m[2]"])
    return letter, str(j) if letter == "i" else f"a + {j}"


def statement(text, outputs, inputs, clobbers):
    operands = ", ".join(f'"{constraint}"({value})' for constraint, value in inputs)
    return ("__asm__ volatile(" +
            " ".join(f'"{line}\\n\\t"' for line in text) + f" : {outputs} : {operands} : " +
            ", ".join(f'"{name}"' for name in [*clobbers, "cc"]) + ");")


class Assembly:
    """One function with a statement of inline assembly between calls."""

    def __init__(self, chance, number, has_frame_pointer):
        self.number = number
        self.align = chance.choice([8, 16, 32, 64])
        free = set(REGISTERS) - ({"rbp"} if has_frame_pointer or self.align > 16 else set())  # an aligned frame has one, too
        self.before = self.after = ""
        letters = ["r"] * 8 + ["q", "Q", "Q", "R", "m", "m", "rm", "g", "i", *FIXED]
        around = ([], [])
        if has_frame_pointer and chance.random() < 0.3:  # what it pushes stays a while, so no local may be found from there
            self.align = 8
            self.before = statement(["pushq %0", "pushq %0"], "", [("r", "a + i")], ["memory"])
            self.after = "{ long top; " + statement(["popq %0", "popq %0"], '"=r"(top)', [], ["memory"]) + " r += top; }"
        elif not has_frame_pointer and chance.random() < 0.3:  # used beside the constraints, so no operand may be in it
            name = "rbx" if self.align > 16 else chance.choice(["rbp", "rbx"])
            free = {"rax", "rcx", "rdx", "rsi", "rdi"}
            letters = ["m", "m", "i", *FIXED]
            around = [f"mov %%{name}, %%r11", f"mov $5, %%{name}"], [f"mov %%r11, %%{name}"]
        inputs = [operand(chance, j, free, letters) for j in range(chance.choice([0, 2, 4, 7, 9, 10, 11, 12, 13, 14]))]
        if around[0]:
            clobbers, result, outputs = ["r11"], "r10", '"+r"(r)'
        else:
            clobbers = chance.sample(sorted(free), min(len(free), chance.choice([0, 0, 0, 1, 2, 3, 5])))
        text = [f"add %{j + 1}, %0" for j in range(len(inputs))] + [f"movq $7, %%{name}" for name in clobbers if not around[0]]
        if around[0]:
            text = [*around[0], *text, *around[1]]
        self.statement = statement(text, '"+&r"(r)', [(c, v) for c, v in inputs], clobbers)
        self.inputs = inputs
        self.pinned = bool(around[0])

    def function(self):
        result = 'register long r __asm__("r10") = total;' if self.pinned else "long r = total;"
        return f"""NOINLINE long f{self.number}(long a, int n, struct Many* many) {{
  _Alignas({self.align}) struct Many local; long total = 0;
  fill(&local, sizeof local, {self.number % 100});
  for (int i = 0; i < n; i++) {{
    {self.before}
    total += out(i);
    {{ {result} {self.statement} total = r; }}
    total += out(total) + local.m[i & 15];
    {self.after.replace("r += top", "total += top")}
  }}
  return total;
}}
"""


def write_assembly(functions, directory):
    """The program; and the number of the function that each of its lines is in."""
    text = ASSEMBLY_HEADER
    lines = {}
    for one in functions:
        first = text.count("\n") + 1
        text += one.function()
        lines |= {line: one for line in range(first, text.count("\n") + 1)}
    calls = "".join(f'  printf("{f.number} %ld\\n", f{f.number}(3, 5, &everyone));\n' for f in functions)
    text += f"int main(void) {{\n  for (int i = 0; i < 16; i++) everyone.m[i] = i * 7;\n{calls}}}\n"
    (directory / "program.c").write_text(text)
    return lines


def those_that_compile(functions, directory, options):
    """Without the functions that clang has no registers for."""
    while functions:
        lines = write_assembly(functions, directory)
        done = run([llvm.tool("clang"), *options, "-ferror-limit=0", "program.c", "-o", "plain"], directory, None)
        if done.returncode == 0:
            return functions
        wrong = {lines[int(at)] for at in re.findall(r"^program\.c:(\d+):\d+: error", done.stderr, re.MULTILINE)}
        if not wrong:
            fail(done.stderr)
        functions = [one for one in functions if one not in wrong]
    fail("no function compiles")


def try_assembly(chance, tools, directory, cases):
    level = chance.choice(LEVELS)
    has_frame_pointer = level == "-O0" or chance.random() < 0.3
    options = [level, "-w", chance.choice(["-fPIE", "-fno-pie -no-pie"]),
               "-fno-omit-frame-pointer" if has_frame_pointer else "-fomit-frame-pointer", *chance.choice(["", "-mavx2"]).split()]
    options = " ".join(options).split()
    functions = [Assembly(chance, i, has_frame_pointer) for i in range(cases)]
    told = " ".join(options)
    try:
        functions = those_that_compile(functions, directory, options)
        expected = output(["./plain"], directory)
    except Failed as plain:
        print(f"{told}: not by clang either: {str(plain)[:200]}", flush=True)
        return False
    output([tools.ours[0].with_name("szc"), *tools.ours[1:], *options, "program.c", "-o", "program"], directory)
    for settings in [{"STAB_STACK": "off"}, *({"STAB_STACK": "on", "STAB_SEED": str(i)} for i in range(SEEDS))]:
        if output(["./program"], directory, **settings) != expected:
            fail(f"(cd {directory}; STAB_STACK=on ./program) says other things than ./plain")
    print(f"{told}: {len(functions)} of {cases} functions as plain", flush=True)
    return True


# ----------------------------------------------------------------------------------------------------------------------

class Tools:
    def __init__(self, bin_directory):
        self.ours = [(bin_directory / "szc++").absolute(), "--stab-pads=all"]
        self.processor = processor_has()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("what", choices=["arguments", "assembly"])
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--programs", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    attempt, cases = {"arguments": (try_arguments, 12), "assembly": (try_assembly, 24)}[given.what]
    wanted = given.programs or (2 if given.sample else 60)
    tools = Tools(given.bin)
    judged = 0
    for number in range(wanted):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="stab-sweep-"))
        try:
            judged += attempt(random.Random(f"{given.seed} {number}"), tools, directory, cases)
        except Failed as failure:
            print(f"program {number} of seed {given.seed}: {failure}", file=sys.stderr)
            return 1
        shutil.rmtree(directory)
    print(f"{judged} of {wanted} programs judged")
    if judged * 2 < wanted:
        print("too few are left to judge by", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
