#!/usr/bin/env python3
"""szc as a drop-in for clang: outputs, exit codes, messages, and the compiler checks of build systems.

    check_driver.py --bin DIR [NAME ...]     runs the checks named (default: all), each in a directory of its own
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
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import Failed, expect  # noqa: E402
import llvm  # noqa: E402

HELLO = '#include <stdio.h>\nint twice(int);\nint main(void) { volatile int n = 21; printf("%d\\n", twice(n)); return 0; }\n'
TWICE = "int twice(int x) { return 2 * x; }\n"
ALL_ON = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_HEAP": "page", "STAB_EPOCH": "1ms"}
PLAIN = {"szc": llvm.tool("clang"), "szc++": llvm.tool("clang++")}


class Workplace:
    """A directory with two C files and verbs to compile in it."""

    def __init__(self, bin_directory, directory):
        self.bin = bin_directory
        self.directory = pathlib.Path(directory)
        self.write("main.c", HELLO)
        self.write("twice.c", TWICE)

    def write(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def has(self, name):
        return (self.directory / name).exists()

    def run(self, *command, stdin=None, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STAB") and k not in ("CC", "CXX")}
        environment |= {"PATH": f"{self.bin}:{environment['PATH']}"} | variables
        return subprocess.run(command, cwd=self.directory, env=environment, input=stdin, text=True,
                              capture_output=True, timeout=120)

    def must(self, *command, **variables):
        result = self.run(*command, **variables)
        expect(result.returncode == 0, f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    def moves(self, program):
        """The program runs, prints 42 under everything on, and carries movable functions."""
        expect(self.must(f"./{program}", **ALL_ON).stdout == "42\n", f"{program} prints something else")
        info = self.must("szc", "--stab-info", program).stdout
        expect("movable" in info and " 0 movable" not in info, f"nothing movable in {program}:\n{info}")
        expect("as post-link left it" in info, f"the metadata of {program} doesn't match it:\n{info}")


def check_default_output(place):
    place.must("szc", "main.c", "twice.c")
    place.moves("a.out")


def check_separate_compilation(place):
    place.must("szc", "-c", "-O2", "main.c", "twice.c", "-Werror")
    expect(place.has("main.o") and place.has("twice.o"), "-c made no objects")
    place.must("szc", "main.o", "twice.o", "-o", "prog", "-Werror")
    place.moves("prog")


def check_preprocess_assemble_and_dependencies(place):
    expect("printf" in place.must("szc", "-E", "main.c").stdout, "-E printed nothing")
    place.must("szc", "-S", "main.c", "-o", "main.s")
    place.must("szc", "-c", "-MD", "-MF", "main.d", "main.s", "-o", "main.o")
    place.must("szc", "-MD", "-MF", "twice.d", "-c", "twice.c")
    expect("twice.c" in (place.directory / "twice.d").read_text(), "-MD wrote no dependencies")
    place.must("szc", "main.o", "twice.o", "-o", "prog")
    place.moves("prog")


def check_language_option_and_stdin(place):
    (place.directory / "main.c").rename(place.directory / "main.txt")
    place.must("szc", "-x", "c", "main.txt", "twice.c", "-o", "prog")
    place.moves("prog")
    place.must("szc", "-x", "c", "-", "-o", "other", stdin=HELLO + TWICE)
    place.moves("other")


def check_response_file(place):
    place.write("options.rsp", "-O2 main.c\ntwice.c -o 'prog'\n")
    place.must("szc", "@options.rsp")
    place.moves("prog")
    place.write("compile.rsp", "-c main.c -o separate.o")
    place.must("szc", "@compile.rsp")
    expect(place.has("separate.o"), "a response file with -c made no object")


def check_large_response_file(place):
    """Options of ours beside it or in it leave it a file: its words are more than one exec takes. That is a quarter of the stack's
    limit, and a low limit makes a short list too long."""
    limit = 1 << 20
    many = "".join(f"-DNAME_{i}_OF_A_LONG_LIST_OF_DEFINITIONS={i}\n" for i in range(8000))
    narrow = ["prlimit", f"--stack={limit}:"]
    too_long = place.run(*narrow, "true", *many.split())
    expect("Argument list too long" in too_long.stderr, f"the list fits: {too_long.stderr}")
    place.write("options.rsp", many + "-O2 main.c twice.c -o prog '-DTEXT=\"it\\'s\"'\n")
    place.write("strips.rsp", many + "-O2 main.c twice.c -o prog '-DTEXT=\"it\\'s\"' --stab-pads=all -s\n")
    place.write("compiles.rsp", many + "main.c '-DTEXT=\"it\\'s\"' --stab-pads=all -s\n")
    place.write("main.c", HELLO + "extern char text[sizeof TEXT == 5 ? 1 : -1];\n"
                                  "int last = NAME_7999_OF_A_LONG_LIST_OF_DEFINITIONS;\n")
    for options, strips in ((["@options.rsp"], False), (["-s", "@options.rsp"], True), (["@strips.rsp"], True),
                            (["--stab-pads=all", "@options.rsp"], False)):
        place.must(*narrow, "szc", *options)
        place.moves("prog")
        symbols = ".symtab" in place.must("readelf", "-SW", "prog").stdout
        expect(symbols != strips, f"{options}: the symbols aren't as asked for")
        place.must("rm", "prog")
    place.must(*narrow, "szc", "-c", "@compiles.rsp", "-o", "main.o")
    expect(place.has("main.o"), "a response file of which words were taken made no object")


def check_named_pipe_among_the_words(place):
    """The value of an option may name one, whose writer never comes."""
    os.mkfifo(place.directory / "pipe")
    place.must("szc", "-O2", "main.c", "twice.c", "-Wl,-rpath", "-Wl,pipe", "-o", "prog")
    place.moves("prog")


def check_only_the_executable_is_led(place):
    """What is said of loops and pointers that can be led holds for an executable, so nothing is said of a library."""
    place.write("leads.c", "static int first(int n) { volatile int m = n; return m; }\nstatic int (*const all[])(int) = {first};\n"
                "int leads(int n) {\n  int sum = 0;\n  for (int i = 0; i < n; ++i) sum += all[i % 1](i);\n  return sum;\n}\n#ifdef MAIN\n"
                "int main(void) { return leads(1); }\n#endif\n")
    for options, led in ((["-shared", "-fPIC"], False), (["-DMAIN"], True)):
        place.must("szc", "-O0", *options, "leads.c", "-o", "led")
        lines = place.must("szc", "--stab-info", "led").stdout.splitlines()
        for word in ("loops ", "pointers "):
            expect(any(line.startswith(word) for line in lines) == led, f"{options}: {word} among {lines}")


def check_shared_library(place):
    place.must("szc", "-shared", "-fPIC", "twice.c", "-o", "libtwice.so")
    info = place.must("szc", "--stab-info", "libtwice.so").stdout
    expect("its code moves in programs that szc has linked" in info, f"nothing says when a library moves:\n{info}")
    place.must("szc", "main.c", "-L.", "-ltwice", "-Wl,-rpath,$ORIGIN", "-o", "prog")
    place.moves("prog")
    # Without -fPIC, which works in clang where nothing else needs it.
    place.write("twice.c", '#include <stdlib.h>\nint twice(int x) { return 2 * (atoi("0") + x); }\n')
    place.must("szc", "-O2", "-c", "twice.c")
    place.must("szc", "-shared", "twice.o", "-o", "libtwice.so")
    expect(place.must("./prog", **ALL_ON).stdout == "42\n", "with a library of other objects: prints something else")


def check_version_script(place):
    """A version script may name what the library has not, as with GNU ld; who forbids it is obeyed."""
    place.write("versions.map", "V1 { global: here; absent; local: *; };\n")
    place.write("library.c", "int here(void) { return 3; }\n")
    words = ["szc", "-shared", "-fPIC", "-Wl,--version-script=versions.map", "library.c", "-o", "libhere.so"]
    place.must(*words)
    expect("here@@V1" in place.must("nm", "-D", "libhere.so").stdout, "the version is not the script's")
    failed = place.run(*words, "-Wl,--no-undefined-version")
    expect(failed.returncode != 0 and "absent" in failed.stderr, f"it was linked: {failed.stderr}")


def check_library_of_data(place):
    place.write("d.c", "int answer = 42;\nint *pointer = &answer;\n")
    for options in ([], ["-fuse-ld=bfd"], ["-s"]):
        place.must("szc", "-shared", "-fPIC", "-nostartfiles", *options, "d.c", "-o", "libd.so")
        sections = place.must("readelf", "-SW", "libd.so").stdout
        expect(".rela.data" not in sections, f"{options}: kept relocations are still there:\n{sections}")
        expect((".symtab" in sections) != ("-s" in options), f"{options}: the symbols aren't as asked for:\n{sections}")
        info = place.must("szc", "--stab-info", "libd.so").stdout
        expect("no stab_code" in info, f"{options}: a library without code carries something:\n{info}")
        place.write("uses.c", '#include <stdio.h>\nextern int *pointer; int main(void) { printf("%d\\n", *pointer); return 0; }\n')
        place.must("szc", "-O1", "uses.c", "-L.", "-ld", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        expect(place.must("./prog", **ALL_ON).stdout == "42\n", f"{options}: prints something else")


def check_static_libraries(place):
    """A switch in the linker's options, not a static program: libc's own calls of malloc must reach our heap."""
    place.write("reads.c", "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                "int main(void) {\n  char *line = NULL; size_t room = 0;\n  if (getline(&line, &room, stdin) < 0) return 1;\n"
                "  char *copy = strdup(line);\n  free(line);\n  printf(\"%d\\n\", atoi(copy));\n  free(copy);\n"
                "  return 0;\n}\n")
    for linker in ("lld", "bfd"):
        place.must("szc", f"-fuse-ld={linker}", "reads.c", "-Wl,-static", "-lm", "-Wl,-Bdynamic", "-o", "prog")
        for variables in ({}, ALL_ON):
            ran = place.run("./prog", stdin="42\n", **variables)
            expect((ran.returncode, ran.stdout) == (0, "42\n"), f"{linker}, {variables}: {ran.returncode} {ran.stdout}{ran.stderr}")


def check_static_programs(place):
    for options in (["-static"], ["-static-pie", "-fPIE"]):
        place.must("szc", *options, "main.c", "twice.c", "-o", "prog")
        expect(place.must("./prog", **ALL_ON).stdout == "42\n", f"{options}: prints something else")


OWN_MALLOC = """#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
alignas(4096) static char pool[1 << 22];
static size_t used;
static int owns(void* p) { return (char*)p >= pool && (char*)p < pool + sizeof pool; }
static void* cut(size_t alignment, size_t bytes) {
  size_t start = (used + 16 + alignment - 1) / alignment * alignment;
  if (start + bytes > sizeof pool) return NULL;
  used = start + bytes;
  memcpy(pool + start - 16, &bytes, sizeof bytes);
  return pool + start;
}
void* malloc(size_t bytes) { return cut(16, bytes); }
void free(void* p) { if (p != NULL && !owns(p)) abort(); }
void* calloc(size_t n, size_t bytes) { return malloc(n * bytes); }
void* realloc(void* old, size_t bytes) {
  void* p = malloc(bytes);
  size_t had = 0;
  if (old != NULL) memcpy(&had, (char*)old - 16, sizeof had);
  if (p != NULL && old != NULL) memcpy(p, old, had < bytes ? had : bytes);
  free(old);
  return p;
}
ALIGNED
"""


def check_static_program_with_its_own_malloc(place):
    """It serves every call, ours and libc's too, whatever the heap's setting."""
    aligned = "int posix_memalign(void** out, size_t alignment, size_t bytes) { return (*out = cut(alignment, bytes)) == NULL; }\n"
    place.write("main.c", '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint owned(void* p);\nint main(void) {\n'
                '  char* text = strdup("4"); char* more = realloc(malloc(3), 99999); void* wide = NULL;\n'
                '  if (WIDE && posix_memalign(&wide, 64, 10) != 0) return 1;\n'
                '  printf("%s%d\\n", text, owned(text) && owned(more) && (!WIDE || owned(wide)) ? 2 : 0);\n'
                '  free(text); free(more); free(wide);\n  return 0;\n}\n')
    for wide in (0, 1):
        place.write("own.c", OWN_MALLOC.replace("ALIGNED", aligned * wide) + "int owned(void* p) { return owns(p); }\n")
        for linker in ("lld", "bfd"):
            for options in (["-static"], ["-static-pie", "-fPIE"]):
                place.must("szc", f"-fuse-ld={linker}", "-O1", f"-DWIDE={wide}", *options, "main.c", "own.c", "-o", "prog")
                for variables in ({}, {"STAB_HEAP": "page"}, ALL_ON):
                    ran = place.run("./prog", **variables)
                    expect((ran.returncode, ran.stdout) == (0, "42\n"),
                            f"{linker} {options} {variables}: {ran.returncode} {ran.stdout}{ran.stderr}")


WRAPS = """#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <new>
#include <string>
#define C_LINKAGE extern "C"
#else
#define C_LINKAGE
#endif
#define COUNTED(name, returns, parameters, arguments) \\
  static int calls_of_##name; \\
  C_LINKAGE returns __real_##name parameters BINDING_##name; \\
  C_LINKAGE returns __wrap_##name parameters { ++calls_of_##name; return __real_##name arguments; }
COUNTED(malloc, void*, (size_t n), (n))
COUNTED(calloc, void*, (size_t n, size_t m), (n, m))
COUNTED(realloc, void*, (void* p, size_t n), (p, n))
COUNTED(free, void, (void* p), (p))
COUNTED(memalign, void*, (size_t a, size_t n), (a, n))
COUNTED(aligned_alloc, void*, (size_t a, size_t n), (a, n))
COUNTED(posix_memalign, int, (void** p, size_t a, size_t n), (p, a, n))
#ifdef __cplusplus
COUNTED(_Znwm, void*, (size_t n), (n))
COUNTED(_Znam, void*, (size_t n), (n))
COUNTED(_ZnwmRKSt9nothrow_t, void*, (size_t n, const std::nothrow_t& t), (n, t))
COUNTED(_ZnwmSt11align_val_t, void*, (size_t n, std::align_val_t a), (n, a))
COUNTED(_ZdlPv, void, (void* p), (p))
COUNTED(_ZdlPvm, void, (void* p, size_t n), (p, n))
COUNTED(_ZdaPv, void, (void* p), (p))
#endif
// Uncounted: start files register a static program's frames with libgcc's unwinder, which since GCC 13 allocates for them. They do
// that between these two; where ours takes the unwinder's place, nothing has to be registered.
static volatile int before_start_files;  // or clang runs the constructor itself
static void remember(void) { before_start_files = calls_of_malloc; }
__attribute__((used, section(".preinit_array"))) static void (*at_first)(void) = remember;
__attribute__((constructor)) static void forget(void) { calls_of_malloc = before_start_files; }
#define SAY(name) if (calls_of_##name != 0) printf(" %s %d", #name, calls_of_##name);
int main(void) {
  void* volatile first = malloc(10);
  void* volatile second = realloc(calloc(3, 100), 5000);
  void* volatile third = memalign(64, 10);
  void* volatile fourth = aligned_alloc(64, 64);
  void* fifth = NULL;
  int wrong = posix_memalign(&fifth, 64, 10);
  char* volatile text = strdup("from libc");
  wrong += strcmp(text, "from libc") != 0;
  free(first); free(second); free(third); free(fourth); free(fifth); free(text);
#ifdef __cplusplus
  int* volatile one = new int(42);
  int* volatile many = new int[100];
  int* volatile perhaps = new (std::nothrow) int(1);
  int* volatile some = new (std::nothrow) int[10];
  struct alignas(64) Wide { int x; };
  Wide* volatile wide = new Wide;
  std::string* volatile words = new std::string(100, 'x');
  words->append("more than there was room for, so that the library makes some");
  delete one; delete[] many; delete perhaps; delete[] some; delete wide; delete words;
  SAY(_Znwm) SAY(_Znam) SAY(_ZnwmRKSt9nothrow_t) SAY(_ZnwmSt11align_val_t) SAY(_ZdlPv) SAY(_ZdlPvm) SAY(_ZdaPv)
#endif
  SAY(malloc) SAY(calloc) SAY(realloc) SAY(free) SAY(memalign) SAY(aligned_alloc) SAY(posix_memalign)
#ifdef __cplusplus
  // Uncounted: libgcc's unwinder allocates for the first exception where ours doesn't.
  try { ::operator delete(::operator new(size_t{1} << 60)); ++wrong; } catch (const std::bad_alloc&) {}
  wrong += new (std::nothrow) char[size_t{1} << 60] != nullptr;
#endif
  printf(" wrong %d\\n", wrong);
  return 0;
}
"""
C_WRAPPED = ("malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign")
CXX_WRAPPED = ("_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZdlPv", "_ZdlPvm", "_ZdaPv")


def same_wrapped_calls(place, compiler, wrapped, options, variables, *objects):
    """The wrappers of one build count what clang's count, whatever randomizes the heap."""
    source = "wraps.cc" if compiler == "szc++" else "wraps.c"
    names = [f"-DBINDING_{name}=" for name in wrapped]
    for name in C_WRAPPED + CXX_WRAPPED:
        if name not in wrapped: names += [f"-DBINDING_{name}=__attribute__((weak))", f"-D__wrap_{name}=unused_{name}"]
    place.write(source, WRAPS)
    for driver, output in (PLAIN[compiler], "plain"), (compiler, "prog"):
        place.must(driver, "-O1", "-fno-builtin", *names, "-c", source, "-o", output + ".o")
        place.must(driver, *options, output + ".o", *objects, *(f"-Wl,--wrap={name}" for name in wrapped), "-o", output)
    expected = place.must("timeout", "20", "./plain").stdout
    expect("wrong 0" in expected, f"{wrapped} {options}: clang's says {expected}")
    for settings in variables:
        ran = place.run("timeout", "20", "./prog", STAB_REPORT="dose", **settings)
        expect((ran.returncode, ran.stdout) == (0, expected),
                f"{compiler} {wrapped} {options} {settings}: clang's says {expected}, "
                f"ours {ran.returncode} {ran.stdout}{ran.stderr}")


def check_wrapped_memory(place):
    """A program that wraps functions of the heap (--wrap=malloc) keeps its wrappers, and they lead to our heap."""
    for name in C_WRAPPED:
        same_wrapped_calls(place, "szc", [name], ["-fuse-ld=lld"], [{"STAB_HEAP": "page"}])
    for linker in ("lld", "bfd", "gold"):
        same_wrapped_calls(place, "szc", [], [f"-fuse-ld={linker}"], [ALL_ON])
        for options in ([], ["-no-pie"], ["-rdynamic"], ["-static"]):
            same_wrapped_calls(place, "szc", C_WRAPPED, [f"-fuse-ld={linker}", *options], ({}, {"STAB_HEAP": "page"}, ALL_ON))
            dose = (place.directory / "dose").read_text()
            served = '"mallocs":0' not in dose and "brings a malloc" not in dose
            expect(served == ("-static" not in options), f"{linker} {options}: the heap is another's: {dose}")


def check_wrapped_operators(place):
    """Operator new calls what it calls in clang's build: a wrapper where the C++ library is linked statically."""
    for options in ([], ["-static-libstdc++"], ["-static"]):
        for wrapped in ([], ["malloc"], ["free"], ["aligned_alloc"], ["_Znwm"], ["_Znam"], ["_ZdlPv"], C_WRAPPED, CXX_WRAPPED):
            same_wrapped_calls(place, "szc++", wrapped, ["-fuse-ld=lld", *options], [{"STAB_HEAP": "page"}])
    for linker in ("lld", "bfd", "gold"):
        for options in ([], ["-static-libstdc++"], ["-static"]):
            same_wrapped_calls(place, "szc++", C_WRAPPED + CXX_WRAPPED, [f"-fuse-ld={linker}", *options], ({}, ALL_ON))


TRACES = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <initializer_list>
static int calls;
#ifndef PROGRAM_ALONE
extern "C" RESULT NAME PARAMETERS noexcept {
  ++calls;
  static RESULT (*next) PARAMETERS;
  if (next == nullptr) next = reinterpret_cast<RESULT (*) PARAMETERS>(dlsym(RTLD_NEXT, NAME_IN_QUOTES));
  return next ARGUMENTS;
}
#endif
#ifdef LIBRARY
extern "C" int calls_of_library() { return calls; }
#else
extern "C" [[gnu::weak]] int calls_of_library();
struct alignas(64) Wide { char bytes[64]; };
static char* volatile block;
static void take(void* taken) { block = static_cast<char*>(taken); block = static_cast<char*>(realloc(block, 3000)); free(block); }
int main() {
  for (const size_t bytes : {size_t{0}, size_t{10}, size_t{1000}, size_t{100000}, size_t{1000000}}) {
    take(malloc(bytes));
    take(calloc(3, bytes));
    take(aligned_alloc(64, bytes));
    take(memalign(64, bytes));
    take(reallocarray(malloc(2), 3, bytes));
    void* aligned = nullptr;
    if (posix_memalign(&aligned, 64, bytes) != 0) return 1;
    take(aligned);
    take(malloc_usable_size(block = static_cast<char*>(valloc(bytes))) >= bytes ? block : nullptr);
    take(pvalloc(bytes));
  }
  free(strdup("text"));
  for (int i = 0; i < 100; ++i) { delete new int; delete[] new int[9999]; delete new Wide; }
  printf("%d\\n", calls_of_library != nullptr ? calls_of_library() : calls);
}
#endif
"""
FAMILY = {"malloc": ("void*", "(size_t n)"), "free": ("void", "(void* p)"), "calloc": ("void*", "(size_t n, size_t m)"),
          "realloc": ("void*", "(void* p, size_t n)"), "reallocarray": ("void*", "(void* p, size_t n, size_t m)"),
          "posix_memalign": ("int", "(void** p, size_t n, size_t m)"), "memalign": ("void*", "(size_t n, size_t m)"),
          "aligned_alloc": ("void*", "(size_t n, size_t m)"), "valloc": ("void*", "(size_t n)"), "pvalloc": ("void*", "(size_t n)"),
          "malloc_usable_size": ("size_t", "(void* p)")}


def write_traces(place, name):
    """The program above, which counts the calls of one function of the family."""
    result, parameters = FAMILY[name]
    arguments = parameters.replace("size_t ", "").replace("void** ", "").replace("void* ", "")
    place.write("traces.cc", TRACES.replace("NAME_IN_QUOTES", f'"{name}"').replace("NAME", name).replace("RESULT", result)
                .replace("PARAMETERS", parameters).replace("ARGUMENTS", arguments))


def check_traced_memory(place):
    """A program that defines one function of malloc's family, and hands on to the next, is called as often as clang's."""
    for name in FAMILY:
        write_traces(place, name)
        options = ["-O1", "-fno-builtin", "traces.cc"]
        place.must(llvm.tool("clang++"), *options, "-o", "plain")
        expected = place.must("./plain").stdout
        for more in (["-fuse-ld=lld"], ["-fuse-ld=bfd", "-no-pie"]):
            place.must("szc++", *options, *more, "-o", "prog")
            info = place.must("szc", "--stab-info", "prog").stdout
            expect(f"the program's own {name} " in info, f"{name} {more}: lacks no heap:\n{info}")
            for settings in ({}, {"STAB_HEAP": "page"}, ALL_ON):
                ran = place.run("timeout", "20", "./prog", STAB_REPORT="dose", **settings)
                expect((ran.returncode, ran.stdout, ran.stderr) == (0, expected, ""),
                       f"{name} {more} {settings}: clang's says {expected}, exit {ran.returncode}: {ran.stdout}{ran.stderr}")
            expect('"mallocs":0' in (place.directory / "dose").read_text(), f"{name} {more}: the heap is randomized")
        if name in ("malloc", "free", "calloc", "realloc"):
            place.must(llvm.tool("clang++"), *options, "-DLIBRARY", "-fPIC", "-shared", "-o", "libtraces.so")
            place.must(llvm.tool("clang++"), *options, "-DPROGRAM_ALONE", "-o", "alone")
            expected = place.must("./alone", LD_PRELOAD="./libtraces.so").stdout
            place.must("szc++", *options, "-DPROGRAM_ALONE", "-o", "prog")
            for settings in ({}, ALL_ON):
                ran = place.run("timeout", "20", "./prog", LD_PRELOAD="./libtraces.so", **settings)
                expect((ran.returncode, ran.stdout, ran.stderr) == (0, expected, ""),
                       f"{name} preloaded {settings}: clang's says {expected}, exit {ran.returncode}: {ran.stdout}{ran.stderr}")
        # Not held to the number of calls: what operators call, and whether the program's function is found, is another thing there.
        for library in ("libstabheap.so", "libstabhost.so"):
            for settings in ({}, {"STAB_HEAP": "page"}):
                ran = place.run("timeout", "20", "./plain", LD_PRELOAD=str(place.bin.parent / "lib/stab" / library), **settings)
                expect((ran.returncode, ran.stderr) == (0, ""), f"{library} {name} {settings}: {ran.returncode} {ran.stdout}{ran.stderr}")


CXX_HANDLER = """#include <stdlib.h>
#include <new>
std::new_handler std::get_new_handler() noexcept { return nullptr; }
namespace std { [[noreturn]] void __throw_bad_alloc() { abort(); } }
"""
CXX_LIBRARY = """#include <stdlib.h>
#include <new>
void* operator new(size_t n) { return malloc(n); }
void* operator new[](size_t n) { return malloc(n); }
void* operator new(size_t n, std::align_val_t alignment) {
  const size_t to = size_t(alignment);
#ifdef BY_POSIX_MEMALIGN
  void* got = nullptr;
  if (posix_memalign(&got, to, n) != 0) abort();
  return got;
#else
  void* const got = aligned_alloc(to, (n + to - 1) & ~(to - 1));
  if (got == nullptr) abort();
  return got;
#endif
}
void operator delete(void* p) noexcept { free(p); }
void operator delete[](void* p) noexcept { free(p); }
void operator delete(void* p, size_t) noexcept { free(p); }
void operator delete[](void* p, size_t) noexcept { free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { free(p); }
"""


def same_aligned_memory(place, name, linked, expected):
    """A program that counts calls of that name counts so many, by clang and by szc."""
    write_traces(place, name)
    options = ["-O1", "-fno-builtin", "-fno-exceptions", "traces.cc", *linked]
    place.must(llvm.tool("clang++"), *options, "-o", "plain")
    place.must("szc++", *options, "-o", "prog")
    for program, settings in (("plain", {}), ("prog", {}), ("prog", ALL_ON)):
        ran = place.run("timeout", "20", f"./{program}", **settings)
        expect((ran.returncode, ran.stdout, ran.stderr) == (0, f"{expected}\n", ""),
               f"{linked} {name} {program} {settings}: expected {expected}, exit {ran.returncode}: {ran.stdout}{ran.stderr}")


def check_aligned_memory_of_operators(place):
    """Operator new takes aligned memory from the function that the program's C++ library takes it from, of either kind of library, also as an
    archive: from posix_memalign, as in GCC 14, or from aligned_alloc, as before and in libc++."""
    place.write("operators.cc", CXX_LIBRARY)
    place.write("handler.cc", CXX_HANDLER)  # a part of its own in archives, as in libstdc++.a
    for kind, called in (("BY_POSIX_MEMALIGN", "posix_memalign"), ("BY_ALIGNED_ALLOC", "aligned_alloc")):
        library, folder = f"lib{called}.so", place.directory / called
        compiled = ["-O1", f"-D{kind}", "-fno-builtin", "-fno-exceptions", "-fPIC", "operators.cc", "handler.cc"]
        place.must(llvm.tool("clang++"), *compiled, "-shared", "-nostdlib++", "-o", library)
        folder.mkdir()
        place.must(llvm.tool("clang++"), *compiled, "-c")
        place.must("ar", "rcs", folder / "libstdc++.a", "operators.o", "handler.o")
        for linked in (["-nostdlib++", library, "-Wl,-rpath,$ORIGIN"], ["-static-libstdc++", f"-L{folder}"]):
            for name in ("posix_memalign", "aligned_alloc"):
                same_aligned_memory(place, name, linked, 105 if name == called else 5)  # its own five, and a hundred of operators


def check_wrapped_malloc_of_the_program(place):
    """A program that has a malloc and wraps it: operator new of a shared library gets what clang's build gives it."""
    aligned = ("int posix_memalign(void** out, size_t alignment, size_t bytes) {\n"
               "  return (*out = cut(alignment, bytes)) == NULL;\n}\n"
               "void* memalign(size_t alignment, size_t bytes) { return cut(alignment, bytes); }\n"
               "void* aligned_alloc(size_t alignment, size_t bytes) { return cut(alignment, bytes); }\n")
    place.write("own.c", OWN_MALLOC.replace("ALIGNED", aligned))
    place.must("szc", "-O1", "-fno-builtin", "-ffreestanding", "-c", "own.c")
    for linker in ("lld", "bfd", "gold"):
        for wrapped in (["malloc"], ["free"], C_WRAPPED, CXX_WRAPPED):
            same_wrapped_calls(place, "szc++", wrapped, [f"-fuse-ld={linker}"], ({}, {"STAB_HEAP": "page"}, ALL_ON), "own.o")
            dose = (place.directory / "dose").read_text()
            expect('"mallocs":0' in dose, f"{linker} {wrapped}: the dose says: {dose}")


OWN_NAMES = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int threads;
int backtrace(const char* of) { return of[0]; }
#ifdef STATIC
int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* with) {
  ++threads;
  return __real_pthread_create(thread, attributes, run, with);
}
void* __real_malloc(size_t bytes);
void* __wrap_malloc(size_t bytes) { return __real_malloc(bytes); }
#else
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* with) {
  ++threads;
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, run, with);
}
#endif
__attribute__((noinline)) static void* run(void* with) { return *(int*)with == backtrace("*") ? with : NULL; }
int main(void) {
  int with = '*'; pthread_t thread; void* back = NULL;
  free(malloc(10));
  if (pthread_create(&thread, NULL, run, &with) != 0 || pthread_join(thread, &back) != 0) return 1;
  printf("%d\\n", back == &with && threads == 1 ? 42 : 0);
}
"""


def several_llvms(place):
    """An installation that is built for the default LLVM and for one in a folder of its own, which is the same LLVM by another name;
    its bin, that folder, and the other name, which is all of the version."""
    root, own = place.directory / "several", place.directory / "own llvm"
    (own / "bin").mkdir(parents=True)
    ours = place.bin.parent / "lib/stab"
    system = pathlib.Path(os.path.realpath(ours / "llvm/bin"))
    version = place.must(system / "llvm-config", "--version").stdout.strip()
    other = root / "lib/stab" / f"llvm-{version}"
    for folder in (root / "bin", other):
        folder.mkdir(parents=True)
    for name in ("clang", "clang++", "ld.lld"):
        (own / "bin" / name).symlink_to(system / name)
    for part in [*ours.glob("*.o"), *ours.glob("*.a"), ours / os.readlink(ours / "llvm")]:
        (root / "lib/stab" / part.name).symlink_to(part)
    (root / "lib/stab/llvm").symlink_to(os.readlink(ours / "llvm"))
    (other / "bin").symlink_to(own / "bin")
    (other / "libstabpass.so").symlink_to(ours / "llvm/libstabpass.so")
    for name in ("include", "libexec"):
        (root / name).symlink_to(place.bin.parent / name)
    shutil.copy2(place.bin / "szc", root / "bin/szc")
    (root / "bin/stab-postlink").symlink_to(place.bin / "stab-postlink")
    (root / f"bin/szc-{version}").symlink_to("szc")
    return root / "bin", own, version


def check_other_llvms(place):
    """The LLVM that the name says, or --stab-llvm: its compiler, its pass and, where the linker optimizes, its linker."""
    tools, own, version = several_llvms(place)
    named = tools / f"szc-{version}"
    for driver in ([named], [tools / "szc", f"--stab-llvm={version}"], [tools / "szc", f"--stab-llvm={own}"]):
        for options in (["-O1"], ["-O1", "-flto"], ["-O1", "-flto=thin"]):
            steps = place.must(*driver, *options, "-###", "main.c", "twice.c", "-o", "prog").stderr
            expect(f"/several/lib/stab/llvm-{version}/libstabpass.so" in steps, f"{driver} takes another pass: {steps}")
            place.must(*driver, *options, "main.c", "twice.c", "-o", "prog")
            place.moves("prog")
    (own / "bin/clang").unlink()
    (own / "bin/clang").write_text("#!/bin/sh\necho the own compiler\n")
    (own / "bin/clang").chmod(0o755)
    expect(place.must(named, "-c", "main.c").stdout == "the own compiler\n", "another compiler ran")
    (own / "bin/clang").unlink()
    gone = place.run(named, "main.c")
    expect(gone.returncode == 1 and f"clang-{version} is missing" in gone.stderr, f"a compiler that is gone: {gone.stderr}")
    unknown = place.run(tools / "szc", "--stab-llvm=18", "main.c")
    expect(unknown.returncode == 1 and f"not built for LLVM '18', but for {llvm.VERSION}, {version}" in unknown.stderr, f"LLVM 18: {unknown.stderr}")
    default = place.must(tools / "szc", "-###", "main.c").stderr
    expect(f"/llvm-{llvm.VERSION}/libstabpass.so" in default, f"the default is another: {default}")


def check_own_names(place):
    """A program may have functions of the names that the runtime puts before libc's."""
    place.write("names.c", OWN_NAMES)
    for linker in ("lld", "bfd", "gold"):
        for options in ([], ["-flto"], ["-DSTATIC", "-static", "-Wl,--wrap=pthread_create,--wrap=malloc"]):
            if "-flto" in options and linker != "lld": continue
            place.must("szc", f"-fuse-ld={linker}", "-O1", "-fno-builtin", *options, "names.c", "-o", "prog")
            place.moves("prog")


NAMES_OF_LIBC = """#include <stdio.h>
#include <stdlib.h>
typedef unsigned long thrd_t;
int thrd_create(thrd_t*, int (*)(void*), void*), thrd_join(thrd_t, int*), pthread_cancel(thrd_t), pause(void);
int environ = 4, getauxval = 4, sigaction = 4, dl_iterate_phdr = 4, pthread_key_create = 4, pthread_setspecific = 4;
int dlsym = 4, dlopen = 4, dlclose = 4, dlerror = 4, gnu_get_libc_version = 4, strnlen = 4, pthread_self = 4, clock_gettime = 4;
int pthread_attr_getstack = 4, pthread_attr_setstack = 4, pthread_attr_getstacksize = 4, pthread_attr_setstacksize = 4;
int pthread_attr_destroy = 4, pthread_getattr_default_np = 4, pthread_attr_init = 4, dladdr = 4, dladdr1 = 4;
static int thread(void* given) { *(int*)given = 7; return 3; }
static int cancelled(void* given) { *(int*)given = dladdr + dladdr1; for (;;) pause(); }
__attribute__((noinline)) static int thread_sum(void) {
  return gnu_get_libc_version + strnlen + pthread_self + clock_gettime + pthread_attr_getstack + pthread_attr_setstack +
         pthread_attr_getstacksize + pthread_attr_setstacksize + pthread_attr_destroy + pthread_getattr_default_np + pthread_attr_init;
}
__attribute__((noinline)) static int sum(void) {
  return environ + getauxval + sigaction + dl_iterate_phdr + pthread_key_create + pthread_setspecific + dlsym + dlopen + dlclose + dlerror;
}
int main(void) {
  void* volatile kept = realloc(malloc(100), 300000);
  free(kept);
  thrd_t other;
  int given = 0, result = 0;
  if (thrd_create(&other, thread, &given) != 0 || thrd_join(other, &result) != 0) return 1;
  if (given != 7 || result != 3 || thread_sum() != 44) return 2;
  if (thrd_create(&other, cancelled, &given) != 0 || pthread_cancel(other) != 0 || thrd_join(other, &result) != 0) return 3;
  printf("%d\\n", sum() + 2);
  return 0;
}
"""


LAMBDA = """#include <cstdio>
#include <string>
static int times(int a, const std::string& text) { return a * std::stoi(text); }
template <typename F> __attribute__((noinline)) int call(F f, int n) { return f(std::to_string(n)); }
int main() { volatile int n = 21; printf("%d\\n", call([](const std::string& text) { return times(2, text) + times(0, text + "1"); }, n)); }
"""


def check_external_assembler(place):
    """GNU as takes no section that is tied to a name in quotes, as a lambda's is; such a function stays."""
    place.write("lambda.cc", LAMBDA)
    for options in (["-fno-integrated-as"], ["-no-integrated-as", "-O2", "--stab-pads=all"], ["-fno-integrated-as", "-fintegrated-as"]):
        place.must("szc++", *options, "lambda.cc", "-o", "prog")
        place.moves("prog")
        foreign = place.must("szc", "--stab-info", "prog").stdout.partition("foreign ")[2]
        stays = any(line.strip().startswith("_Z4callIZ4mainE3$_0EiT_i") for line in foreign.splitlines())
        expect(stays == (options[-1] != "-fintegrated-as"), f"{options}: what is foreign: {foreign}")


def check_embedded_bitcode(place):
    """clang embeds bitcode in objects, and refuses -ffunction-sections beside it, which is ours."""
    for options in (["-fembed-bitcode"], ["-O2", "-fembed-bitcode=bitcode", "--stab-pads=all"], ["-O2", "-flto", "-fembed-bitcode=all"],
                    ["-fembed-bitcode", "-fembed-bitcode=off"], ["-fembed-bitcode-marker"]):
        place.must("szc", *options, "main.c", "twice.c", "-o", "prog")
        place.moves("prog")


def check_names_of_libc(place):
    """A program may have anything of a name that the runtime calls libc by, as ISO C has none of them."""
    place.write("names.c", NAMES_OF_LIBC)
    for options in ([], ["-fuse-ld=bfd"], ["-fuse-ld=gold"], ["-rdynamic", "-no-pie"], ["-static"]):
        place.must("szc", "-O1", *options, "names.c", "-o", "prog")
        expect(place.must("./prog").stdout == "42\n", f"{options}: prints something else with everything off")
        place.moves("prog")
    place.write("own.c", OWN_MALLOC.replace("ALIGNED", "int dladdr1 = 4;"))
    place.must("szc", "-O1", "-fno-builtin", "main.c", "twice.c", "own.c", "-o", "prog")
    place.moves("prog")
    place.must(PLAIN["szc"], "-O1", "names.c", "-o", "plain")
    for library in ("libstabheap.so", "libstabhost.so"):
        preloaded = {"LD_PRELOAD": str(pathlib.Path(place.bin).parent / "lib/stab" / library), "STAB_HEAP": "page"}
        expect(place.must("./plain", **preloaded).stdout == "42\n", f"with {library} it prints something else")


REGISTERS_FRAMES = """#include <stdio.h>
extern "C" void __register_frame(void*);
static unsigned none[4];
__attribute__((noinline)) static void raise(int n) { if (n > 20) throw n; }
int main() { __register_frame(none); try { raise(42); } catch (int n) { printf("%d\\n", n); } }
"""


def check_registered_frames(place):
    """libgcc_eh.a has __register_frame and the unwinder's _Unwind_Find_FDE in one object, so that stays the program's."""
    place.write("registers.cc", REGISTERS_FRAMES)
    for options in ([], ["-static-libgcc"], ["-static-libgcc", "-static-libstdc++"], ["-static"]):
        place.must("szc++", "-O1", *options, "registers.cc", "-o", "prog")
        expect(place.must("./prog", STAB_REPORT="dose", **ALL_ON).stdout == "42\n", f"{options}: prints something else")
        dose = (place.directory / "dose").read_text()
        stays = "-static-libgcc" in options
        expect(("holds an unwinder" in dose) == stays and ('"functions_moved":0' in dose) == stays, f"{options}: the dose says: {dose}")


def check_library_with_malloc(place):
    """It serves every call, whether linked, linked by another library, or preloaded; the dose says so."""
    place.write("own.c", OWN_MALLOC.replace("ALIGNED", "void* memalign(size_t alignment, size_t bytes) { return cut(alignment, bytes); }\n")
                + "int owned(void* p) { return owns(p); }\nvoid* own_malloc(size_t bytes) { return malloc(bytes); }\n"
                + "void own_free(void* p) { free(p); }\n")
    place.write("uses.c", '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint owned(void*); void* own_malloc(size_t); void own_free(void*);\n'
                'int main(void) {\n  char* text = strdup("4"); char* more = realloc(malloc(3), 99999); void* wide = aligned_alloc(64, 64);\n'
                '  free(own_malloc(10)); own_free(malloc(10));\n'
                '  printf("%s%d\\n", text, owned(text) && owned(more) && owned(wide) ? 2 : 0);\n  free(text); free(more); free(wide);\n}\n')
    place.must("szc", "-O1", "-fno-builtin", "-shared", "-fPIC", "own.c", "-o", "libown.so")
    here = ["-L.", "-Wl,-rpath,$ORIGIN"]
    place.must("szc", "-O1", "-fno-builtin", "uses.c", *here, "-lown", "-o", "prog")
    place.must("szc", "main.c", "twice.c", "-o", "other")
    for command, variables in ((["./prog"], {}), (["./other"], {"LD_PRELOAD": "./libown.so"})):
        for settings in ({}, {"STAB_HEAP": "page"}, ALL_ON):
            ran = place.run(*command, STAB_REPORT="dose", **variables, **settings)
            expect((ran.returncode, ran.stdout) == (0, "42\n"), f"{command} {settings}: {ran.returncode} {ran.stdout}{ran.stderr}")
            dose = (place.directory / "dose").read_text()
            expect(("brings a malloc" in dose) == ("STAB_HEAP" in settings), f"{command} {settings}: the dose says: {dose}")
    # What happens without memory its operator new decides.
    place.write("new.cc", "#include <stdlib.h>\nvoid* operator new(size_t bytes) {\n  void* p = malloc(bytes);\n  if (p == nullptr) throw 42;\n"
                "  return p;\n}\nvoid operator delete(void* p) noexcept { free(p); }\n")
    place.write("asks.cc", '#include <stdio.h>\n#include <new>\nint main() {\n  delete new int;\n'
                '  try { ::operator new(1 << 30); } catch (int n) { printf("%d\\n", n); } catch (const std::bad_alloc&) { puts("bad_alloc"); }\n}\n')
    place.must("szc", "-O1", "-fno-builtin", "-fPIC", "-c", "own.c")
    place.must("szc++", "-O1", "-fno-builtin", "-shared", "-fPIC", "new.cc", "own.o", "-o", "libnew.so")
    place.must("szc++", "-O1", "-fno-builtin", "asks.cc", *here, "-lnew", "-o", "prog")
    for settings in ({}, ALL_ON):
        expect(place.must("./prog", **settings).stdout == "42\n", f"{settings}: another operator new")


# Counts and marks what it makes: its memory is nobody else's to free.
REPLACES = """#include <stdio.h>
#include <stdlib.h>
#include <new>
static char memory[1 << 16] __attribute__((aligned(64)));
static size_t used;
static int made, freed;
static void* cut(size_t bytes) { ++made; void* p = memory + used; used += (bytes + 63) / 64 * 64; return used > sizeof memory ? nullptr : p; }
static void take(void* p) { if (p == nullptr) return; ++freed; if ((char*)p < memory || (char*)p >= memory + sizeof memory) puts("not ours"); }
void* operator new(size_t bytes) { return cut(bytes); }
void operator delete(void* p) noexcept { take(p); }
#ifdef SIZED
void operator delete(void* p, size_t) noexcept { take(p); freed += 100; }
#endif
#ifdef ARRAYS
void* operator new[](size_t bytes) { made += 1000; return cut(bytes); }
void operator delete[](void* p) noexcept { freed += 1000; take(p); }
#endif
#ifdef ALIGNED
void* operator new(size_t bytes, std::align_val_t) { made += 10000; return cut(bytes); }
void operator delete(void* p, std::align_val_t) noexcept { freed += 10000; take(p); }
#endif
void* direct() { return cut(8); }
void tell() { printf("%d made, %d freed\\n", made, freed); }
"""
USES_ALL_FORMS = """#include <new>
#include <string>
#include <vector>
void* direct();
void tell();
struct alignas(128) Wide { char text[128]; ~Wide() { text[0] = 0; } };
template <typename T> void forms() {
  delete new T; tell(); delete[] new T[3]; tell();
  delete new (std::nothrow) T; tell(); delete[] new (std::nothrow) T[3]; tell();
  void* p = operator new(8, std::nothrow); operator delete(p, std::nothrow); tell();
  p = operator new[](8, std::nothrow); operator delete[](p, std::nothrow); tell();
}
int main() {
  forms<int>();
  forms<std::string>();
#ifdef ALIGNED
  forms<Wide>();
#endif
  delete static_cast<long*>(direct());
  tell();
  std::vector<std::string> all;
  for (int i = 0; i < 20; ++i) all.push_back(std::string(40, 'x'));
  all.clear(); all.shrink_to_fit();
  tell();
}
"""


def check_library_replaces_operators(place):
    """Operators new and delete of a linked library serve all of the program, as they do in clang's build."""
    place.write("replaces.cc", REPLACES)
    place.write("uses.cc", USES_ALL_FORMS)
    heap = str(place.bin.parent / "lib/stab/libstabheap.so")
    here = ["-L.", "-Wl,-rpath,$ORIGIN", "-lreplaces"]
    for compiler, options in (("szc++", []), (llvm.tool("clang++"), ["-DSIZED", "-DARRAYS", "-DALIGNED"])):
        place.must(compiler, "-O1", "-fno-builtin", "-shared", "-fPIC", *options, "replaces.cc", "-o", "libreplaces.so")
        place.must(llvm.tool("clang++"), "-std=c++20", "-fno-builtin", *options, "uses.cc", *here, "-o", "plain")
        expected = place.must("./plain").stdout
        place.must("szc++", "-std=c++20", "-fno-builtin", *options, "uses.cc", *here, "-o", "prog")
        for command, settings in (("./prog", {}), ("./prog", {"STAB_HEAP": "page"}), ("./prog", ALL_ON), ("./plain", {"LD_PRELOAD": heap}),
                                  ("./plain", {"LD_PRELOAD": heap, "STAB_HEAP": "page"}), ("./prog", {"LD_PRELOAD": heap})):
            ran = place.run(command, **settings)
            expect((ran.returncode, ran.stdout) == (0, expected),
                   f"{compiler} {options}, {command} {settings}: {ran.returncode} {ran.stdout}{ran.stderr}, expected {expected}")


# The loader's lock is held while a library's constructors run.
WAITS_FOR_ITS_THREAD = """#include <pthread.h>
static void* work(void*) { delete new int; return nullptr; }
__attribute__((constructor)) static void begin() { pthread_t t; pthread_create(&t, nullptr, work, nullptr); pthread_join(t, nullptr); }
"""
LOADS_IT = """#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char**) { if (argc > 1) delete new int; puts(dlopen("./libwaits.so", RTLD_NOW) ? "42" : dlerror()); }
"""


def check_first_new_while_loading(place):
    """The program's first operator new may be a thread's for which a library's constructor waits."""
    place.write("waits.cc", WAITS_FOR_ITS_THREAD)
    place.write("loads.cc", LOADS_IT)
    place.must(llvm.tool("clang++"), "-fno-builtin", "-shared", "-fPIC", "waits.cc", "-o", "libwaits.so")
    place.must(llvm.tool("clang++"), "loads.cc", "-o", "plain")
    place.must("szc++", "loads.cc", "-o", "prog")
    preloads = [str(place.bin.parent / f"lib/stab/{name}.so") for name in ("libstabheap", "libstabhost")]
    for command, settings in (("./prog", {}), ("./prog", ALL_ON), *(("./plain", {"LD_PRELOAD": preload}) for preload in preloads)):
        ran = place.run("timeout", "20", command, **settings)
        expect((ran.returncode, ran.stdout) == (0, "42\n"), f"{command} {settings}: {ran.returncode} {ran.stdout}{ran.stderr}")


# Each of its functions asks for libc's when it is first called, free included.
ASKS_LATE = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
static void* (*real_malloc)(size_t);
static void (*real_free)(void*);
void* malloc(size_t bytes) { if (!real_malloc) real_malloc = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc"); return real_malloc(bytes); }
void free(void* at) { if (!real_free) real_free = (void (*)(void*))dlsym(RTLD_NEXT, "free"); real_free(at); }
"""
# Stands in each stub of a call into a library.
AUDITS = """#define _GNU_SOURCE
#include <link.h>
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map* map, Lmid_t space, uintptr_t* cookie) { (void)map; (void)space; (void)cookie; return LA_FLG_BINDTO | LA_FLG_BINDFROM; }
uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned index, uintptr_t* from, uintptr_t* to, unsigned* flags, const char* name) {
  (void)index; (void)from; (void)to; (void)flags; (void)name; return symbol->st_value; }
Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym* symbol, unsigned index, uintptr_t* from, uintptr_t* to, La_x86_64_regs* registers,
                                  unsigned* flags, const char* name, long* frame) {
  (void)index; (void)from; (void)to; (void)registers; (void)flags; (void)name; *frame = 0; return symbol->st_value; }
"""
ASKS_FOR_ERRORS = """#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) { const char* error = dlerror(); void* volatile at = malloc(10); free(at); puts(error ? error : "no error"); }
"""


def check_asked_by_the_loader(place):
    """What the runtime asks the loader for leaves no error behind, and works next to libraries that stand before libc's functions."""
    for name, text in (("late.c", ASKS_LATE), ("audits.c", AUDITS), ("main.c", ASKS_FOR_ERRORS)):
        place.write(name, text)
    for name in ("late", "audits"):
        place.must(llvm.tool("clang"), "-O2", "-fno-builtin", "-shared", "-fPIC", f"{name}.c", "-o", f"{name}.so")
    place.must("szc", "-O2", "-fno-builtin", "main.c", "-o", "prog")
    for settings in ({}, {"LD_PRELOAD": "./late.so"}, {"LD_AUDIT": "./audits.so"}):
        for factors in ({}, ALL_ON):
            ran = place.run("timeout", "20", "./prog", **settings, **factors)
            expect((ran.returncode, ran.stdout) == (0, "no error\n"), f"{settings} {factors}: {ran.returncode} {ran.stdout}{ran.stderr}")


WAITS_A_WHILE = """#include <stdio.h>
#include <time.h>
__attribute__((noinline)) static int twice(int x) { return 2 * x; }
int (*volatile called)(int) = twice;
int main(void) { long sum = 0; for (clock_t end = clock() + CLOCKS_PER_SEC / 20; clock() < end;) sum += called(21) != 42; printf("%d\\n", sum == 0 ? 42 : 0); }
"""


def check_started_by_the_loader(place):
    """ld.so started with a program's name: /proc/self/exe is ld.so then, and the program moves as otherwise."""
    place.write("main.c", WAITS_A_WHILE)
    for options in (["-pie"], ["-no-pie"], ["-fuse-ld=bfd"]):
        place.must("szc", "-O1", *options, "main.c", "-o", "prog")
        for start in ([], ["/lib64/ld-linux-x86-64.so.2"], ["/lib64/ld-linux-x86-64.so.2", "--argv0", "other"]):
            for _ in range(5):  # on a busy machine the helper may have no turn within 50 ms
                (place.directory / "dose").unlink(missing_ok=True)
                ran = place.run(*start, "./prog", STAB_REPORT="dose", **ALL_ON)
                expect((ran.returncode, ran.stdout, ran.stderr) == (0, "42\n", ""), f"{start}: {ran.returncode} {ran.stdout}{ran.stderr}")
                dose = json.loads((place.directory / "dose").read_text().splitlines()[0])
                if dose["helper"]["ticks"] > 0:
                    break
            moves = dose["code"]["functions_moved"] > 0 and dose["code"]["layouts_built"] > 1
            expect(moves and dose["settings"]["heap"] == "page", f"{options} {start}: {dose}")


def check_without_proc(place):
    """Without /proc the program runs unmoved, and its dose says so with the cure."""
    inside = ["unshare", "--mount", "--map-root-user"]
    if place.run(*inside, "true").returncode != 0:
        return
    place.write("main.c", WAITS_A_WHILE)
    place.must("szc", "-O1", "main.c", "-o", "prog")
    for factors in ({}, ALL_ON, {"STAB_CODE": "shuffle"}):
        (place.directory / "dose").unlink(missing_ok=True)
        ran = place.run(*inside, "sh", "-c", "mount -t tmpfs none /proc && ./prog", STAB_REPORT="dose", **factors)
        expect((ran.returncode, ran.stdout, ran.stderr) == (0, "42\n", ""), f"{factors}: {ran.returncode} {ran.stdout}{ran.stderr}")
        for _ in range(1000):
            dose = (place.directory / "dose").read_text() if place.has("dose") else ""
            if dose.endswith("\n"):
                break
            time.sleep(0.01)
        expect(not factors or "mount /proc" in dose, f"{factors}: the dose says: {dose}")
        expect(dose.endswith("\n"), f"{factors}: there is no dose")


def check_objects_for_libraries(place):
    """In an executable they are part of it, and no library."""
    place.must("szc", "-O1", "-fno-inline", "-fPIC", "main.c", "twice.c", "-o", "prog")
    place.moves("prog")
    place.must("./prog", STAB_REPORT="dose", **ALL_ON)
    dose = (place.directory / "dose").read_text()
    expect('"libraries_moved":0,"libraries_stay":0' in dose and "pads of a shared library" not in dose, f"the dose says: {dose}")


THROWS = """#include <stdio.h>
__attribute__((noinline)) static void raise(int n) { if (n > 20) throw n; }
int main() { try { raise(42); } catch (int n) { printf("%d\\n", n); } return 0; }
"""


def check_llvm_unwinder(place):
    """Exceptions work because nothing moves, and the dose says so."""
    place.write("throws.cc", THROWS)
    for options in ([], ["-static-libgcc"]):
        place.must("szc++", "--rtlib=compiler-rt", "--unwindlib=libunwind", *options, "throws.cc", "-o", "prog")
        expect(place.must("./prog", STAB_REPORT="dose", **ALL_ON).stdout == "42\n", f"{options}: prints something else")
        dose = (place.directory / "dose").read_text()
        expect("LLVM's libunwind" in dose and '"functions_moved":0' in dose, f"{options}: the dose doesn't say why: {dose}")


# Of each hundred calls fifty throw, for a while, through functions whose images change.
THROWS_ON = """#include <stdio.h>
#include <time.h>
static double now() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
struct Guard { int* count; ~Guard() { ++*count; } };
__attribute__((noinline)) static int leaf(int n) { if (n % 2) throw n; return n; }
__attribute__((noinline)) static int middle(int n, int* left) { Guard guard{left}; return leaf(n) + 1; }
int main() {
  int left = 0, caught = 0, calls = 0;
  for (const double end = now() + 0.1; now() < end;)
    for (int i = 0; i < 100; ++i, ++calls) try { middle(i, &left); } catch (int) { ++caught; }
  printf("%d\\n", caught * 2 == calls && left == calls ? 42 : 0);
}
"""
BRINGS_UNWINDER = "a library brings an unwinder"
UNWINDER_CAME = "a library was loaded that brings an unwinder"


def find_library(place, name):
    return place.must(llvm.tool("clang"), "-print-file-name=" + name).stdout.strip()


def check_other_libunwind(place):
    """It looks code up in files, in front of libgcc_s, so code stays, and the dose says so."""
    place.write("throws.cc", THROWS_ON)
    other = find_library(place, "libunwind.so.8")
    place.must("szc++", "-O2", "throws.cc", "-o", "prog")
    place.must("szc++", "-O2", "throws.cc", "-Wl,--no-as-needed", other, "-o", "linked")
    for program, variables, stays in (("prog", {}, False), ("linked", {}, True), ("prog", {"LD_PRELOAD": other}, True)):
        for code in ("copy", "once", "shuffle"):
            ran = place.must(f"./{program}", STAB_CODE=code, STAB_EPOCH="1ms", STAB_REPORT="dose", **variables)
            expect(ran.stdout == "42\n", f"{program} {variables} {code}: prints {ran.stdout}")
            dose = (place.directory / "dose").read_text()
            expect((BRINGS_UNWINDER in dose) == stays == ('"functions_moved":0,' in dose), f"{program} {variables} {code}: {dose}")
    # Its interface for all processes is another archive, which a program may be linked with alone.
    place.write("walks.c", "int _Ux86_64_init_local(void* cursor, void* context) { return cursor == context; }\n")
    place.must("szc", "-O2", "-c", "walks.c")
    place.must("szc++", "-O2", "throws.cc", "walks.o", "-o", "walks")
    ran = place.must("./walks", STAB_CODE="shuffle", STAB_EPOCH="1ms", STAB_REPORT="dose")
    dose = (place.directory / "dose").read_text()
    expect(ran.stdout == "42\n" and BRINGS_UNWINDER in dose and '"functions_moved":0,' in dose, f"walks: {ran.stdout} {dose}")


PLUGIN = """extern "C" void plug_throw(int n) { if (n % 2) throw n; }
extern "C" int plug_run(void (*through)(int), int n) { try { through(n); return -1; } catch (int thrown) { return thrown; } }
"""
HOST = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void (*thrower)(int);
static int passed;
__attribute__((noinline)) static void inner(int n) { thrower(n); ++passed; }
__attribute__((noinline)) static void through(int n) { inner(n); ++passed; }
int main(int argc, char** argv) {
  const int apart = !strcmp(argv[2], "dlmopen");
  void* plugin = apart ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW)
                       : dlopen(argv[1], RTLD_NOW | (!strcmp(argv[2], "deep") ? RTLD_DEEPBIND : 0));
  if (!plugin) { puts(dlerror()); return 2; }
  thrower = (void (*)(int))dlsym(plugin, "plug_throw");
  int (*run)(void (*)(int), int) = (int (*)(void (*)(int), int))dlsym(plugin, "plug_run");
  int wrong = 0;
  for (const double end = now() + 0.1; now() < end;)
    for (int i = 0; i < 100; ++i) wrong += run(through, i) != (i % 2 ? i : -1);
  printf("%d\\n", wrong ? 0 : 42);
}
"""
CATCHING_HOST = """#include <dlfcn.h>
#include <stdio.h>
int main(int, char** argv) {
  void (*thrower)(int) = (void (*)(int))dlsym(dlopen(argv[1], RTLD_NOW), "plug_throw");
  try { thrower(21); } catch (int thrown) { printf("%d\\n", 2 * thrown); }
}
"""


def check_unwinders_of_plugins(place):
    """What a library brings, that is loaded while code moves: libgcc's, hidden, is served; for others the code goes home."""
    place.write("plugin.cc", PLUGIN)
    place.write("host.c", HOST)
    place.write("catches.cc", CATCHING_HOST)
    own = ["-static-libgcc", "-static-libstdc++"]
    llvm = find_library(place, "libunwind.a")
    plugins = {"shared": [], "own": own, "own_llvm": [*own, "-Wl,--whole-archive", llvm, "-Wl,--no-whole-archive,--exclude-libs,ALL"],
               "other": ["-Wl,--no-as-needed", find_library(place, "libunwind.so.8")],
               "llvm": ["-Wl,--no-as-needed", find_library(place, "libunwind.so.1")]}
    for name, options in plugins.items():
        place.must("g++", "-O2", "-shared", "-fPIC", "plugin.cc", *options, "-o", name + ".so")
    place.must("szc", "-O2", "host.c", "-o", "prog")
    served = {("shared", "now"), ("shared", "deep"), ("own", "now"), ("own", "deep")}
    # In a namespace of its own a plain build of the others ends, too: their unwinder sees that one's files alone.
    cases = [(name, way) for name in plugins for way in ("now", "deep", "dlmopen") if way != "dlmopen" or name in ("shared", "own")]
    for name, way in cases:
        for code in ("copy", "shuffle"):
            ran = place.run("./prog", f"./{name}.so", way, STAB_CODE=code, STAB_EPOCH="1ms", STAB_REPORT="dose")
            expect((ran.returncode, ran.stdout) == (0, "42\n"), f"{name} {way} {code}: {ran.returncode} {ran.stdout}{ran.stderr}")
            dose = (place.directory / "dose").read_text()
            expect((UNWINDER_CAME not in dose) == ((name, way) in served), f"{name} {way} {code}: the dose says: {dose}")
            expect('"functions_moved":0,' not in dose, f"{name} {way} {code}: nothing moved before")
    place.must("szc++", "-O2", "catches.cc", "-o", "catches")
    ran = place.run("./catches", "./own.so", STAB_CODE="shuffle")
    expect((ran.returncode, ran.stdout) == (0, "42\n"), f"main doesn't catch what a plugin throws: {ran.stdout}{ran.stderr}")


def holders_of(path):
    """The processes that execute a file, or have it mapped."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.path.samefile(process / "exe", path) or str(path) in (process / "maps").read_text():
                found.add(int(process.name))
        except OSError:
            pass  # it has ended, or is a kernel's
    return found


def check_file_is_free_at_the_end(place):
    """The helper, which outlives its program by a moment, does not keep the file from being written."""
    place.write("waits.c", '#include <stdio.h>\nint main(void) { puts("42"); fflush(stdout); return getchar() != EOF; }\n')
    place.must("szc", "-O1", "waits.c", "-o", "prog")
    program = place.directory / "prog"
    environment = os.environ | ALL_ON
    for end in (subprocess.Popen.kill, lambda running: running.stdin.close()) * 10:
        running = subprocess.Popen([program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        expect(running.stdout.readline() == b"42\n", "prints something else")
        held = holders_of(program)
        expect(held == {running.pid}, f"{held - {running.pid}} hold the program's file, too")
        end(running)
        expect(running.stdout.read() == b"", "prints more")
        running.wait()
        os.close(os.open(program, os.O_WRONLY))


def check_small_limits(place):
    """What the runtime writes and opens under limits that it meets first ends or changes no program; nor does where its dose goes."""
    place.must("szc", "-O1", "main.c", "twice.c", "-o", "prog")
    limits = [("FSIZE", n) for n in (0, 1, 4096, 100000, 1 << 20)] + [("NOFILE", n) for n in (*range(3, 14), 20)]
    limits += [(name, 1 << n) for name in ("AS", "DATA") for n in (20, 22, 24, 27)]
    # With 16 KiB of stack clang's own program, too, dies now and then, by where the kernel begins its stack.
    limits += [("STACK", n << 10) for n in (0, 32, 64, 256)] + [("MEMLOCK", 0), ("NPROC", 1), ("CPU", 1), ("CORE", 0)]
    on = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_EPOCH": "1ms", "STAB_REPORT": "dose"}
    for name, value in limits:
        command = ["prlimit", f"--{name.lower()}={value}:{value}", "./prog"]
        plain, ran = place.run(*command), place.run(*command, **on)
        expect((ran.returncode, ran.stdout, ran.stderr) == (plain.returncode, plain.stdout, plain.stderr),
                f"{name} {value}: {ran.returncode} {ran.stdout}{ran.stderr}, and without anything switched on {plain.returncode} {plain.stdout}")
    # The dose names the limit that took the images away.
    for option, name in ("fsize=100000", "ulimit -f"), ("nofile=5", "ulimit -n"):
        (place.directory / "dose").unlink(missing_ok=True)
        place.must("prlimit", f"--{option}", "./prog", **on)
        dose = json.loads((place.directory / "dose").read_text())
        expect(dose["code"]["layouts_built"] == 0 and any(name in words for words in dose["degradations"]), f"{option}: the dose says {dose}")
    os.mkfifo(place.directory / "fifo")
    for report in ("/dev/full", "fifo", ".", "nowhere/dose", "/dev/null"):
        for command in (["./prog"], ["prlimit", "--fsize=0", "./prog"]):
            ran = place.run(*command, **on | {"STAB_REPORT": report})
            expect((ran.returncode, ran.stdout, ran.stderr) == (0, "42\n", ""), f"{report}: {ran.returncode} {ran.stdout}{ran.stderr}")
    # Who opens the other end in time gets all of it, whatever comes first.
    reader = subprocess.Popen(["cat", "fifo"], cwd=place.directory, stdout=subprocess.PIPE, text=True)
    ran = place.run("./prog", **on | {"STAB_REPORT": "fifo"})
    expect(ran.stdout == "42\n" and '"end":"exit"' in reader.communicate(timeout=60)[0], "a reader of a FIFO gets no dose")


def check_left_out_symbols(place):
    """The list of what our pass compiled has the functions that no symbol names any more."""
    place.write("many.c", '#include <stdio.h>\n#include <stdlib.h>\n__attribute__((noinline)) static int half(volatile int n) { return n / 2; }\n'
                '__attribute__((noinline)) static int twice(volatile int n) { return 2 * half(n) + half(n) * 2; }\n'
                'int main(void) { printf("%d\\n", twice(atoi("21")) + 2); return 0; }\n')
    for command in (["szc", "-O1", "-Wl,-x", "many.c", "-o", "prog"], ["szc", "-O1", "-fuse-ld=bfd", "-Wl,-x", "many.c", "-o", "prog"]):
        place.must(*command)
        expect(" half" not in place.must("nm", "prog").stdout, f"{command}: the symbol is there")
        place.must("./prog", STAB_REPORT="dose", **ALL_ON)
        expect('"functions_moved":3,' in (place.directory / "dose").read_text(), f"{command}: static functions don't move")
        place.moves("prog")
        expect("symbols were left out" in place.must("szc", "--stab-info", "prog").stdout, f"{command}: nobody says that names are missing")
    # Assembly whose name is gone may switch stacks all the same.
    place.write("switch.s", ".text\n.type change,@function\nchange: push %rbp\nmov %rsp, (%rdi)\nmov %rsi, %rsp\npop %rbp\nret\n"
                ".size change, .-change\n.section .note.GNU-stack,\"\",@progbits\n")
    place.must("szc", "-O1", "-Wl,-x", "many.c", "switch.s", "-o", "prog")
    expect("switches stacks" in place.must("szc", "--stab-info", "prog").stdout, "a nameless switch of stacks isn't seen")
    # What the runtime puts in front of libc is no part of the program, and each of its functions is in each program.
    place.write("alone.c", "int main(void) { volatile int sum = 0; for (int i = 0; i < 99; i++) sum += i * i; return sum == 0; }\n")
    place.must("szc", "-O1", "alone.c", "-o", "prog")
    info = place.must("szc", "--stab-info", "prog").stdout
    foreign = re.search(r"^foreign .*\n((?:    .*\n)*)", info, re.MULTILINE)[1].split()
    expect("_start" in foreign and not {"malloc", "dlopen", "_Znwm"} & set(foreign), f"the runtime's functions are foreign:\n{info}")
    expect("stab_rt_epoch" not in info, f"the runtime's functions are listed:\n{info}")
    # What has no size is a part of the code all the same.
    place.write("wide.s", ".text\n.globl wide\nwide: .fill 5000, 1, 0x90\nret\n.section .note.GNU-stack,\"\",@progbits\n")
    place.must("szc", "-O1", "many.c", "wide.s", "-o", "prog")
    info = place.must("szc", "--stab-info", "prog").stdout
    share = re.search(r"^own +([\d.]+) % .*\nof these +5\d\d\d bytes lie in no function with a size", info, re.MULTILINE)
    expect(share and float(share[1]) < 5, f"assembly without a size counts for nothing:\n{info}")


def check_relocations_of_the_user(place):
    """--emit-relocs is ours where nobody asked for it, and stays where somebody did."""
    def relocations(*options):
        place.must("szc", "-O1", *options, "main.c", "twice.c", "-o", "prog")
        place.moves("prog")
        return place.must("readelf", "-rW", "prog").stdout
    for options in (["-Wl,-q"], ["-Wl,--emit-relocs"], ["-Wl,-q", "-fuse-ld=bfd"]):
        listed = relocations(*options)
        expect(".rela.text" in listed and "twice" in listed, f"{options}: the relocations are gone:\n{listed}")
    expect(".rela.text" not in relocations(), "our own relocations are left")


def check_static_layouts(place):
    """A static program has as many layouts as a dynamic one: libc's variable arrays switch no stacks."""
    place.write("spins.c", '#include <stdio.h>\n#include <time.h>\n__attribute__((noinline)) static int step(int n) { volatile int m = n; return m + 1; }\n'
                'int main(void) {\n  const clock_t end = clock() + CLOCKS_PER_SEC / 2;\n  while (clock() < end) for (int i = 0; i < 1000; ++i) step(i);\n  puts("42");\n}\n')
    for options in (["-static"], ["-static-pie"]):
        place.must("szc", "-O1", *options, "spins.c", "-o", "prog")
        expect("switches stacks" not in place.must("szc", "--stab-info", "prog").stdout, f"{options}: taken for one that switches stacks")
        place.must("./prog", STAB_CODE="shuffle", STAB_EPOCH="1ms", STAB_REPORT="dose")
        dose = (place.directory / "dose").read_text()
        expect("switches stacks" not in dose and '"ticks_held":0,' in dose, f"{options}: {dose}")
    # gcc's own variable arrays in a dynamic program, beside ours.
    place.write("array.c", 'int use(char*);\nint array(int n) {\n  int sum = 0;\n  for (int i = 1; i < n; ++i) { char a[i]; sum += use(a); }\n  return sum;\n}\n')
    place.write("uses.c", '#include <stdio.h>\nint array(int);\nint use(char* a) { *a = 1; return *a; }\nint main(void) { printf("%d\\n", array(43)); return 0; }\n')
    place.must("gcc", "-O2", "-c", "array.c")
    place.must("szc", "-O1", "uses.c", "array.o", "-o", "prog")
    expect("switches stacks" not in place.must("szc", "--stab-info", "prog").stdout, "gcc's variable array is taken for a switch of stacks")
    place.moves("prog")


def check_stack_of_an_intrinsic(place):
    """Who puts the stack pointer where it was goes back on its stack; who puts another there by llvm.stackrestore switches stacks."""
    place.write("change.ll", "target triple = \"x86_64-pc-linux-gnu\"\ndeclare void @llvm.stackrestore(ptr)\n"
                "define void @change(ptr %to, ptr %body) noinline {\n  call void @llvm.stackrestore(ptr %to)\n  call void %body()\n  unreachable\n}\n")
    place.write("changes.c", "#include <stdlib.h>\nvoid change(void* to, void (*body)(void));\nstatic void body(void) { exit(0); }\n"
                "static _Alignas(16) char stack[65536];\nint main(void) { change(stack + sizeof(stack), body); }\n")
    place.write("array.c", "#include <stdio.h>\n__attribute__((noinline)) static int use(char* a) { *a = 1; return *a; }\nint main(void) {\n"
                "  int sum = 0;\n  for (int i = 1; i < 43; ++i) { char a[i]; sum += use(a); }\n  printf(\"%d\\n\", sum);\n  return 0;\n}\n")
    for options in (["-O0"], ["-O2"], ["-O2", "-flto"]):
        place.must("szc", *options, "changes.c", "change.ll", "-o", "prog")
        expect("switches stacks" in place.must("szc", "--stab-info", "prog").stdout, f"{options}: a switch by an intrinsic isn't seen")
        place.must("./prog", STAB_CODE="shuffle")
        place.must("szc", *options, "array.c", "-o", "prog")
        expect("switches stacks" not in place.must("szc", "--stab-info", "prog").stdout, f"{options}: taken for a switch")


def check_stack_maps(place):
    """A runtime that looks return addresses up in LLVM's stack maps finds them, whoever compiled the code."""
    place.write("maps.ll", "target triple = \"x86_64-pc-linux-gnu\"\nmodule asm \".globl __LLVM_StackMaps\"\ndeclare void @safepoint()\n"
                "declare token @llvm.experimental.gc.statepoint.p0(i64 immarg, i32 immarg, ptr, i32 immarg, i32 immarg, ...)\n"
                "define void @collected() gc \"statepoint-example\" {\n"
                "  %1 = call token (i64, i32, ptr, i32, i32, ...) @llvm.experimental.gc.statepoint.p0(i64 7, i32 0, "
                "ptr elementtype(void ()) @safepoint, i32 0, i32 0, i32 0, i32 0)\n  ret void\n}\n")
    # One function and one record: its distance from the function's start lies behind the record's number.
    place.write("looks.c", "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\nextern const unsigned char __LLVM_StackMaps[];\n"
                "void collected(void);\nstatic int lost;\nvoid safepoint(void) {\n  uint64_t start;\n  uint32_t distance;\n"
                "  memcpy(&start, __LLVM_StackMaps + 16, 8);\n  memcpy(&distance, __LLVM_StackMaps + 48, 4);\n"
                "  lost += (uintptr_t)__builtin_return_address(0) != start + distance;\n}\n"
                "int main(void) {\n  for (int i = 0; i < 1000000; ++i) collected();\n  printf(\"%d\\n\", lost);\n  return 0;\n}\n")
    place.must(llvm.tool("clang"), "-O1", "-c", "maps.ll", "-o", "foreign.o")
    for code in (["maps.ll"], ["--stab-move=all", "maps.ll"], ["--stab-move=all", "foreign.o"]):
        place.must("szc", "-O1", "-no-pie", *code, "looks.c", "-o", "prog")
        for mode in ("shuffle", "direct"):
            lost = place.must("./prog", STAB_CODE=mode, STAB_EPOCH="1ms").stdout
            expect(lost == "0\n", f"{code} {mode}: {lost} return addresses are in no map")


def check_fault_maps(place):
    """A handler that looks up in LLVM's fault maps which load of a null pointer has faulted finds it, whoever compiled the code."""
    place.write("maps.ll", "target triple = \"x86_64-pc-linux-gnu\"\nmodule asm \".globl __LLVM_FaultMaps\"\n"
                "define i32 @value_of(ptr %p) noinline uwtable {\n  %1 = icmp eq ptr %p, null\n  br i1 %1, label %absent, label %present, !make.implicit !0\n"
                "absent:\n  ret i32 -1\npresent:\n  %2 = load i32, ptr %p\n  %3 = add i32 %2, 1\n  ret i32 %3\n}\n!0 = !{}\n")
    # One function and one record of it: the distances of the load and of what handles its fault lie behind the record's kind.
    place.write("looks.c", "#define _GNU_SOURCE\n#include <signal.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n#include <ucontext.h>\n"
                "#include <unistd.h>\nextern const unsigned char __LLVM_FaultMaps[];\nint value_of(const int*);\n"
                "static void on_fault(int number, siginfo_t* info, void* context) {\n  uint64_t start;\n  uint32_t load, absent;\n"
                "  greg_t* at = &((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];\n  (void)number, (void)info;\n"
                "  memcpy(&start, __LLVM_FaultMaps + 8, 8);\n  memcpy(&load, __LLVM_FaultMaps + 28, 4);\n  memcpy(&absent, __LLVM_FaultMaps + 32, 4);\n"
                "  if ((uint64_t)*at != start + load) _exit(3);\n  *at = (greg_t)(start + absent);\n}\n"
                "int main(void) {\n  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};\n  const int one = 1;\n"
                "  int sum = 0;\n  sigaction(SIGSEGV, &action, NULL);\n  for (int i = 0; i < 100000; ++i) sum += value_of(i % 10 ? &one : NULL);\n"
                "  printf(\"%d\\n\", sum);\n  return 0;\n}\n")
    implicit = ["-O1", "-mllvm", "-enable-implicit-null-checks"]
    place.must(llvm.tool("clang"), *implicit, "-c", "maps.ll", "-o", "foreign.o")
    for code in (["maps.ll"], ["--stab-move=all", "foreign.o"]):
        place.must("szc", *implicit, "-no-pie", *code, "looks.c", "-o", "prog")
        for mode in ("shuffle", "direct"):
            sum_of = place.run("./prog", STAB_CODE=mode, STAB_EPOCH="1ms")
            expect(sum_of.stdout == "170000\n", f"{code} {mode}: ends with {sum_of.returncode}, {sum_of.stdout}")


def check_lists_of_others(place):
    """Code that -fexperimental-sanitize-metadata lists stays, its list is that of a clang build, and the link says why."""
    place.write("work.c", "__attribute__((noinline)) int twice_of(int n) { return 2 * n; }\nint main(void) { return twice_of(21) - 42; }\n")
    lists = "-fexperimental-sanitize-metadata=covered"
    unresolved = "-Wl,--unresolved-symbols=ignore-all"
    for options in ([], ["-flto"]):
        sizes = set()
        for compiler in (llvm.tool("clang"), "szc"):
            linked = place.must(compiler, "-O1", "-fuse-ld=lld", *options, lists, "work.c", unresolved, "-o", "prog")
            sizes |= set(re.findall(r"sanmd_covered\S*\s+PROGBITS\s+\S+\s+\S+\s+(\S+)", place.must("readelf", "-SW", "prog").stdout))
        expect(len(sizes) == 1, f"{options}: lists of {sizes} bytes")
        # With link-time optimization what tells a tool of the list is made before and moves.
        expect(options or "-fexperimental-sanitize-metadata" in linked.stderr, f"{options}: {linked.stderr}")
    place.must(llvm.tool("clang"), "-O1", lists, "-c", "work.c", "-o", "foreign.o")
    linked = place.must("szc", "--stab-move=all", "foreign.o", unresolved, "-o", "prog")
    expect("-fexperimental-sanitize-metadata" in linked.stderr, f"of another compiler's: {linked.stderr}")


def check_traces_of_sanitizers(place):
    """UBSan's stack trace names functions and lines as in clang's build, whatever copy of them it was called from."""
    place.write("adds.c", "#include <limits.h>\n__attribute__((noinline)) int adds(int a, int b) {\n  return a + b;\n}\n"
                "__attribute__((noinline)) int asks(int a) {\n  volatile int sum = adds(a, INT_MAX);\n  return sum;\n}\n")
    place.write("calls.c", "int adds(int, int), asks(int);\nint main(void) {\n  volatile int sum = 0;\n"
                "  for (int i = 0; i < 50000000; ++i) sum = adds(i & 7, 1);\n  sum = asks(sum);\n  return sum;\n}\n")
    undefined = ["-O1", "-g", "-fsanitize=undefined", "-fno-sanitize-recover"]
    options = f"print_stacktrace=1:external_symbolizer_path={shutil.which(llvm.tool('llvm-symbolizer'))}"
    library = ["-fPIC", "-shared", "-fno-sanitize-link-runtime", "adds.c", "-o", "libadds.so"]

    def names(compiler, kind, **settings):
        code = ["calls.c", "adds.c"]
        if kind == "library":
            place.must(compiler, *undefined, *library)
            code = ["calls.c", "-L.", "-ladds", "-Wl,-rpath,$ORIGIN"]
        place.must(compiler, *undefined, *([] if kind == "library" else [kind]), *code, "-o", "prog")
        failed = place.run("./prog", UBSAN_OPTIONS=options, **settings)
        expect("signed integer overflow" in failed.stderr and "memfd" not in failed.stderr, f"{kind}: {failed.stderr}")
        return re.findall(r" in (adds|asks|main) .*/(\w+\.c:\d+)", failed.stderr)

    for kind in ("-pie", "-static", "-flto", "library"):
        expected = names(llvm.tool("clang"), kind)
        expect(expected == [("adds", "adds.c:3"), ("asks", "adds.c:6"), ("main", "calls.c:5")], f"{kind}: clang's names {expected}")
        for mode in ("shuffle", "direct"):
            found = names("szc", kind, STAB_CODE=mode, STAB_STACK="on", STAB_EPOCH="1ms")
            expect(found == expected, f"{kind} {mode}: {found}")


def check_data_before_functions(place):
    """Who has a pointer to a function may read the data that LLVM puts in front of it."""
    place.write("data.ll", "target triple = \"x86_64-pc-linux-gnu\"\ndeclare i32 @use(i32)\ndefine internal i32 @described(i32 %n) prefix i64 4242 {\n"
                "  %1 = call i32 @use(i32 %n)\n  %2 = call i32 @use(i32 %1)\n  %3 = add i32 %1, %2\n  ret i32 %3\n}\n"
                "@functions = constant [1 x ptr] [ptr @described]\n")
    place.write("reads.c", "#include <stdio.h>\nextern int (*const functions[1])(int);\nint use(int n) { return n + 1; }\n"
                "int main(void) {\n  int (*volatile f)(int) = functions[0];\n"
                "  const volatile long* data = (const volatile long*)(const void*)f;\n  printf(\"%ld %d\\n\", data[-1], f(1));\n  return 0;\n}\n")
    for options in (["-O0"], ["-O2"], ["-O2", "-flto"]):
        place.must("szc", *options, "-fPIE", "reads.c", "data.ll", "-o", "prog")
        for mode in ("shuffle", "direct"):
            read = place.must("./prog", STAB_CODE=mode, STAB_EPOCH="1ms").stdout
            expect(read == "4242 5\n", f"{options} {mode}: {read}")


def check_partial_and_bare_links(place):
    place.must("szc", "-c", "main.c", "twice.c")
    place.must("szc", "-r", "main.o", "twice.o", "-o", "both.o")
    place.must("szc", "both.o", "-o", "prog")
    place.moves("prog")
    place.write("bare.c", 'void _start(void) { __asm__ volatile("mov $60, %eax; mov $7, %edi; syscall"); }')
    place.must("szc", "-nostdlib", "-static", "bare.c", "-o", "bare")
    expect(place.run("./bare").returncode == 7, "a program without libc doesn't run")
    place.must("szc", "-nostdlib", "-static", "-s", "bare.c", "-o", "bare")
    expect(".symtab" not in place.must("readelf", "-SW", "bare").stdout, "-s left symbols in a program without libc")


def check_without_libgcc(place):
    """The runtime needs libc alone."""
    for options in ([], ["-fuse-ld=bfd"]):
        place.must("szc", "-O2", "-nodefaultlibs", *options, "main.c", "twice.c", "-lc", "-o", "prog")
        place.moves("prog")


def check_freestanding(place):
    """Nobody has set up the thread-local storage that pads read."""
    place.write("bare.c", 'int g(int*);\nint f(int x) { int y = x; return g(&y) + 1; }\n__attribute__((noreturn)) void _start(void) {\n'
                '  __asm__ volatile("syscall" : : "a"(60), "D"(f(5)));\n  __builtin_unreachable();\n}\n'
                '__attribute__((noinline)) int g(int* x) { return *x + 1; }\n')
    bare = ["--stab-pads=all", "-O2", "-fno-inline", "-fno-stack-protector", "-nostdlib", "-static"]
    for options in (["-ffreestanding"], [], ["-ffreestanding", "-flto"]):
        place.must("szc", *options, *bare, "bare.c", "-o", "bare")
        expect(place.run("./bare").returncode == 7, f"{options}: a bare program with calls doesn't run")
    for options, warned in (["-ffreestanding"], False), ([], True):
        place.must("szc", *bare[:4], *options, "-c", "bare.c")
        linked = place.must("szc", *bare, "bare.o", "-o", "bare")
        expect(("compile them with -ffreestanding" in linked.stderr) == warned, f"{options}: {linked.stderr!r}")
    place.must("szc", *bare, "-ffreestanding", "-fno-pie", "-mcmodel=kernel", "-c", "bare.c")


def check_hidden_names(place):
    """The runtime is found though archives are hidden. Where all is, exceptions work because nothing moves, and the
    dose says so."""
    place.write("throws.cc", '#include <stdio.h>\n#include <stdexcept>\n__attribute__((noinline)) static void raise(int n) {\n'
                '  if (n > 20) throw std::runtime_error("");\n}\n'
                'int main() { try { raise(42); } catch (const std::exception&) { puts("42"); } }\n')
    place.write("lines.c", '#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n  size_t bytes = 8;\n'
                '  char* line = malloc(bytes);\n  FILE* file = fopen("lines.c", "r");\n  if (getline(&line, &bytes, file) < 8) return 1;\n'
                '  free(line);\n  puts("42");\n}\n')
    place.write("hides", "{ local: *; };\n")
    for option, hidden in ("-Wl,--exclude-libs,ALL", False), ("-Wl,--version-script=hides", True):
        place.must("szc++", "-O2", "throws.cc", option, "-o", "prog")
        expect(place.must("./prog", STAB_REPORT="dose", STAB_CODE="copy").stdout == "42\n", f"{option}: prints something else")
        dose = (place.directory / "dose").read_text()
        expect(("don't find the runtime's names" in dose, '"functions_moved":0' in dose) == (hidden, hidden), f"{option}: the dose says: {dose}")
        if not hidden:
            place.must("./prog", STAB_REPORT="dose", STAB_CODE="copy", LD_DYNAMIC_WEAK="1")
            dose = (place.directory / "dose").read_text()
            expect("don't find the runtime's names" in dose and "without LD_DYNAMIC_WEAK" in dose, f"{option}: the dose says: {dose}")
        # libc's getline enlarges what the program has allocated.
        place.must("szc", "-O2", "lines.c", option, "-o", "prog")
        expect(place.must("./prog", STAB_REPORT="dose", STAB_HEAP="shuffle").stdout == "42\n", f"{option}: prints something else")
        dose = (place.directory / "dose").read_text()
        expect(("don't find the runtime's names" in dose) == hidden, f"{option}: the heap's dose says: {dose}")


def check_library_hides_stack(place):
    """A library whose link hides stab_stack has pads all the same, by the mark that post-link leaves; without the mark the dose says so."""
    place.write("where.c", "#include <stdint.h>\n__attribute__((noinline)) static uintptr_t inner(volatile char* p) {\n"
                "  volatile char here = *p;\n  uintptr_t at = (uintptr_t)&here;\n  return at;\n}\n"
                "uintptr_t where(int x) { volatile char y = (char)x; uintptr_t at = inner(&y); return at + 0 * y; }\n")
    place.write("places.c", "#include <stdint.h>\n#include <stdio.h>\n#include <time.h>\nuintptr_t where(int);\nint main(void) {\n"
                "  uintptr_t seen[200];\n  int count = 0;\n  char here;\n  for (int i = 0; i < 200; ++i) {\n"
                "    uintptr_t at = (uintptr_t)&here - where(i);\n    int k = 0;\n    while (k < count && seen[k] != at) ++k;\n"
                "    if (k == count) seen[count++] = at;\n    nanosleep(&(struct timespec){0, 500000}, 0);\n  }\n"
                '  printf("%d\\n", count);\n}\n')
    place.write("exports", "{ global: where; local: *; };\n")

    def places_of(**variables):
        return int(place.must("./prog", STAB_REPORT="dose", STAB_EPOCH="1ms", **variables).stdout)

    def dose():
        return (place.directory / "dose").read_text()
    hiding = "-Wl,--version-script=exports"
    for linker in ("lld", "bfd", "gold"):
        for options in ([], [hiding], [hiding, "-s"], [hiding, "-Wl,-z,norelro"], ["-Wl,-Bsymbolic"]):
            place.must("szc", f"-fuse-ld={linker}", "-O1", "--stab-pads=all", "-fPIC", "-shared", "where.c", *options, "-o", "libwhere.so")
            place.must("szc", "places.c", "-L.", "-lwhere", "-Wl,-rpath,$ORIGIN", "-o", "prog")
            expect(places_of(STAB_STACK="on") > 10 and "a stab_stack of its own" not in dose(), f"{linker} {options}: no pads: {dose()}")
            expect(places_of(STAB_STACK="off") == 1, f"{linker} {options}: pads though the stack is off")
    build = ["szc", "-O1", "--stab-pads=all", "-fPIC", "-shared", "where.c", hiding, "-o", "libwhere.so"]
    place.must(*build, "-flto")
    expect(places_of(STAB_STACK="on") > 10, f"LTO: no pads: {dose()}")
    place.must(*build)
    # A program that szc hasn't linked has no pads of its own, and those of its libraries are drawn anew all the same.
    place.must(llvm.tool("clang"), "places.c", "-L.", "-lwhere", "-Wl,-rpath,$ORIGIN", "-o", "prog")
    expect(places_of(STAB_STACK="on", LD_PRELOAD=f"{place.bin}/../lib/stab/libstabhost.so") > 10, f"in a host: no pads: {dose()}")
    place.must("szc", "places.c", "-L.", "-lwhere", "-Wl,-rpath,$ORIGIN", "-o", "prog")
    library, mark = place.directory / "libwhere.so", b"stabword"
    expect(library.read_bytes().count(mark) == 1, "the library has no mark, or several")
    whole = library.read_bytes()
    at = whole.index(mark) - 16   # the relocation's place
    library.write_bytes(whole[:at] + (1 << 40).to_bytes(8, "little") + whole[at + 8:])
    expect(places_of(STAB_STACK="on") == 1 and "a stab_stack of its own" in dose(), f"a place outside of the library: {dose()}")
    library.write_bytes(whole.replace(mark, bytes(len(mark))))
    expect(places_of(STAB_STACK="on") == 1 and "a stab_stack of its own" in dose(), f"without the mark: {dose()}")


def check_library_in_a_plain_program(place):
    """What its pads read takes no static thread-local storage, of which a program has room for a hundred libraries or one buffer."""
    place.write("twice.c", "#ifdef BUFFER\nstatic __thread char buffer[BUFFER];\n#else\nstatic char buffer[1];\n#endif\n"
                "__attribute__((noinline)) static int add(int* x) { return *x + *x; }\n"
                "int twice(int x) { buffer[0] = (char)x; return add(&x) + buffer[0] - x; }\n")
    place.write("loads.c", "#include <dlfcn.h>\n#include <stdio.h>\nint main(int count, char** names) {\n  int sum = 0;\n"
                "  for (int i = 1; i < count; ++i) {\n    void* library = dlopen(names[i], RTLD_NOW);\n"
                "    if (library == NULL) return puts(dlerror());\n    sum += ((int (*)(int))dlsym(library, \"twice\"))(21);\n  }\n"
                "  printf(\"%d\\n\", sum / (count - 1));\n  return 0;\n}\n")
    place.write("versions", "ONE { global: twice; stab_stack; };\n")
    place.write("exports", "{ global: twice; local: *; };\n")
    place.must(llvm.tool("clang"), "loads.c", "-o", "plain")
    place.must("szc", "loads.c", "-o", "prog")
    for linker in ("lld", "bfd", "gold"):
        for options in ([], ["-Wl,--version-script=versions"], ["-Wl,--version-script=exports"], ["-Wl,-Bsymbolic"], ["-s"]):
            library = ["szc", f"-fuse-ld={linker}", "--stab-pads=all", "-fPIC", "-shared", *options, "twice.c"]
            place.must(*library, "-DBUFFER=8192", "-o", "libtwice.so")
            place.must(*library, "-o", "copy0.so")
            copies = [f"./copy{i}.so" for i in range(150)]
            for copy in copies[1:]: shutil.copy(place.directory / "copy0.so", place.directory / copy)
            for program, variables in (("./plain", {}), ("./prog", {}), ("./prog", ALL_ON)):
                for libraries in (["./libtwice.so"], copies):
                    said = place.run(program, *libraries, **variables).stdout
                    expect(said == "42\n", f"{linker} {options}: {program} with {len(libraries)} libraries says {said}")
            for user in ("szc", llvm.tool("clang")):
                place.must(user, "-fuse-ld=lld", "main.c", "-L.", "-ltwice", "-Wl,-rpath,$ORIGIN", "-o", "linked")
                expect(place.must("./linked").stdout == "42\n", f"{linker} {options}: linked by {user} it says something else")


def check_strip(place):
    for number, option in enumerate(("-s", "-Wl,-s", "-Wl,--strip-all,-O1")):
        program = f"prog{number}"
        place.must("szc", "-g", option, "main.c", "twice.c", "-o", program)
        place.moves(program)
        expect(".symtab" not in place.must("readelf", "-SW", program).stdout, f"{option} left symbols")
    place.must("szc", "-g", "main.c", "twice.c", "-o", "prog")
    place.must("strip", "prog")
    place.moves("prog")


def check_link_time_optimization(place):
    def pads():
        return [line for line in place.must("szc", "--stab-info", "prog").stdout.splitlines() if line.startswith("pads")]

    options = ["--stab-pads=all", "-O2", "-fno-inline"]
    place.must("szc", *options, "main.c", "twice.c", "-o", "prog")
    without = pads()
    expect("none" not in without[0], "no function has a pad")
    for option in ("-flto", "-flto=thin"):
        place.must("szc", *options, option, "-c", "main.c", "twice.c")
        place.must("szc", "main.o", "twice.o", "-o", "prog")
        place.moves("prog")
        # One pad for each padded function, not one for the compilation and one for the link.
        expect(pads() == without, f"{option}: {pads()}, without {without}")


def check_link_time_optimization_of_unoptimized_code(place):
    """Linkers optimize what was compiled without, too: a function whose argument is always one number is exchanged for one without it."""
    place.write("constant.c", "#include <stdio.h>\nint next(int x) { return x + 1; }\n"
                "int sum(int most, int from) { for (int i = 0; i < most; i++) from = next(from); return from; }\n"
                "int main(int count, char** words) { printf(\"%d\\n\", sum(41, count) + sum(41, words != 0) - 42); return 0; }\n")
    for option in ("-flto", "-flto=thin"):
        for at_link in ([], ["-O0"], ["-O2"], ["-Wl,--lto-O3"]):
            place.must("szc", "-O0", option, "-c", "constant.c")
            place.must("szc", *at_link, option, "constant.o", "-o", "prog")
            place.moves("prog")


def check_bitcode(place):
    """What compiles it gives it pads; an optimizer that comes behind pads would leave frames that don't give them back."""
    def pads(program):
        return [line for line in place.must("szc", "--stab-info", program).stdout.splitlines() if line.startswith("pads")]

    options = ["--stab-pads=all", "-O2", "-fno-inline"]
    place.must("szc", *options, "main.c", "twice.c", "-o", "prog")
    without = pads("prog")
    expect("none" not in without[0], "no function has a pad")
    place.must("szc", *options, "-emit-llvm", "-c", "main.c", "-o", "main.bc")
    place.must("szc", *options, "-emit-llvm", "-S", "twice.c", "-o", "twice.ll")
    place.must(llvm.tool("llvm-link"), "main.bc", "twice.ll", "-o", "both.bc")
    place.must(llvm.tool("opt"), "-passes=default<O3>", "both.bc", "-o", "optimized.bc")
    for inputs in (["main.bc", "twice.ll"], ["both.bc"], ["optimized.bc"]):
        for level in ("-O0", "-O2"):
            place.must("szc", level, *inputs, "-o", "prog")
            place.moves("prog")
            expect(level == "-O0" or pads("prog") == without, f"{inputs}: {pads('prog')}, without {without}")
    place.must("szc", *options, "-c", "-Xclang", "-emit-llvm-bc", "main.c", "-o", "padded.bc")
    refused = place.run("szc", "-O2", "padded.bc", "twice.ll", "-o", "refused")
    expect(refused.returncode != 0 and "has stack pads already" in refused.stderr, f"bitcode with pads: {refused.stderr}")
    place.must("szc", "-O0", "padded.bc", "twice.ll", "-o", "prog")
    place.moves("prog")


def check_other_linker(place):
    # A recursive function: its pad is marked in the file, and lies in the text segment here.
    place.write("twice.c", "int twice(int x) { return x <= 0 ? 0 : 2 + twice(x - 1); }\n")
    for options in (["-fuse-ld=bfd"], ["-fuse-ld=bfd", "-Wl,-z,noseparate-code"], ["-fuse-ld=gold"]):
        place.must("szc", *options, "main.c", "twice.c", "-o", "prog")
        place.moves("prog")
    place.write("many.c", "int unused(int x);\nint dropped(int x) { return unused(x) + 1; }\nint unused(int x) { return x ? dropped(x) : 0; }\n")
    for linker in ("gold", "bfd", "lld"):
        for options in (["-Wl,--gc-sections"], ["-Wl,--gc-sections", "-Wl,--icf=all"]):
            if linker == "bfd" and len(options) > 1: continue
            linked = place.must("szc", f"-fuse-ld={linker}", *options, "main.c", "twice.c", "many.c", "-o", "prog")
            expect(("--gc-sections" in linked.stderr) == (linker == "gold"), f"{linker} {options}: {linked.stderr!r}")
            place.moves("prog")
    # Only lld takes libgcc_eh.a's _Unwind_Find_FDE for the weak name that the runtime has for it.
    place.write("throws.cc", THROWS)
    for options in (["-fuse-ld=bfd", "-static"], ["-fuse-ld=bfd", "-static-pie", "-fPIE"], ["-fuse-ld=gold", "-static"]):
        place.must("szc++", "-O1", *options, "throws.cc", "-o", "prog")
        expect(place.must("./prog").stdout == "42\n", f"{options}: prints something else")
        place.moves("prog")


SWITCH_FILE = """	.text
	.globl change_stacks
	.type change_stacks, @function
change_stacks:
	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp
	ret
	.size change_stacks, . - change_stacks
	.section .note.GNU-stack, "", @progbits
"""
STACK_ARRAYS = """#include <string.h>
#include "repeat.h"
enum { kStack = 12288, kAround = 4096 };
void change_stacks(void** saved, void* to);
static void *home, *rests;
static long sum;
struct step { long (*call)(const struct step*, long); };
#define STEP(name)                                                                      \\
  NOINLINE static long name(const struct step* next, long number) {                     \\
    volatile char frame[64];                                                            \\
    memset((char*)frame, 7, sizeof frame);                                              \\
    const long below = next->call != NULL ? next->call(next + 1, number + 1) : number;  \\
    if (next->call == NULL) change_stacks(&rests, home);                                \\
    for (size_t i = 0; i < sizeof frame; ++i) CHECK(frame[i] == 7);                     \\
    return below * 3 + number;                                                          \\
  }
STEP(first) STEP(second) STEP(third) STEP(fourth) STEP(fifth) STEP(sixth) STEP(seventh) STEP(last)
static const struct step steps[] = {{second}, {third}, {fourth}, {fifth}, {sixth}, {seventh}, {last}, {NULL}};
static void body(void) { for (;;) sum = (sum * 5 + first(steps, 1)) & 0xffff; }
NOINLINE static void take_turns(void) {
  struct { _Alignas(16) char low[kAround]; char stack[kStack]; } stacks;
  memset(stacks.low, 1, kAround);
  void** top = (void**)(stacks.stack + kStack - 64);
  *--top = NULL;
  *--top = (void*)body;
  rests = top - 6;
  REPEAT {
    change_stacks(&home, rests);
    for (int i = 0; i < kAround; ++i) CHECK(stacks.low[i] == 1);
  }
}
int main(void) { take_turns(); puts("42"); return 0; }
"""


def check_stack_arrays_of_assembly_files(place):
    """A file of assembly switches to an array in a frame of another function than main: no pads are taken, as they had no room. Other
    programs with such an array have theirs."""
    place.write("change.s", SWITCH_FILE)
    place.write("arrays.c", STACK_ARRAYS)
    place.write("repeat.h", (pathlib.Path(__file__).resolve().parent / "repeat.h").read_text())
    for options in (["-O2"], ["-O0"], ["-O2", "-flto"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-static"]):
        place.must("szc", "--stab-pads=all", *options, "arrays.c", "change.s", "-o", "prog")
        place.moves("prog")
    place.write("alone.c", "void takes(char* array) { (void)array; }\n")
    place.write("uses.c", "#include <stdio.h>\nvoid takes(char*);\n__attribute__((noinline)) static int uses(int n) { char array[4096]; takes(array);\n"
                          "  return array[0] != 1 || n; }\nint main(int n, char** w) { (void)w; puts(uses(n) ? \"42\" : \"0\"); }\n")
    place.must("szc", "--stab-pads=all", "alone.c", "uses.c", "-o", "prog")
    place.moves("prog")
    info = place.must("szc", "--stab-info", "prog").stdout
    expect("switches stacks" not in info, f"a program without such assembly counts as one:\n{info}")


def check_unaligned_functions(place):
    """A build that wants small code asks for no alignment; what may move is aligned as far as moving needs."""
    place.write("small.c", "int printf(const char*, ...);\n#define F(n) __attribute__((noinline)) int f##n(int a) { return a / 3 + g##n; }\n"
                + "".join(f"volatile int g{n};\nF({n})\n" for n in range(20))
                + "int main(void) { printf(\"%d\\n\", 42 + " + " + ".join(f"f{n}(0)" for n in range(20)) + "); }\n")
    for options in (["-Os", "-falign-functions=1"], ["-Oz", "-fno-align-functions"], ["-Os", "-flto", "-falign-functions=1"]):
        place.must("szc", *options, "small.c", "-o", "prog")
        place.moves("prog")
        info = place.must("szc", "--stab-info", "prog").stdout
        expect("entry-crosses-8" not in info, f"{options}: functions stay as they aren't aligned:\n{info}")


def check_code_models(place):
    """What szc compiled is known in each model, and in programs of objects of several."""
    for model in ("small", "medium", "large"):
        place.write(f"{model}.c", "static volatile int zero;\n" + "".join(
            f"__attribute__((noinline)) int {model}{n}(int a) {{ return a / 3 + zero + {n}; }}\n" for n in range(7)))
        place.must("szc", "-O2", "-fPIE", f"-mcmodel={model}", "-c", f"{model}.c")
    names = {model: [f"{model}{n}" for n in range(7)] for model in ("small", "medium", "large")}
    for models in (["large"], ["medium"], ["large", "small"], ["small", "large", "medium"], ["medium", "small", "large"]):
        wanted = [name for model in models for name in names[model]]
        place.write("all.c", "int printf(const char*, ...);\n" + "".join(f"int {name}(int);\n" for name in wanted)
                    + 'int main(void) { int sum = 0; for (int i = 0; i < 9; i++) sum += '
                    + " + ".join(f"{name}(i)" for name in wanted) + '; return printf("%d\\n", sum) < 0; }\n')
        for linker in ("lld", "bfd"):
            place.must("szc", f"-fuse-ld={linker}", "-O2", "-fPIE", "-pie", "all.c",
                       *(f"{model}.o" for model in models), "-o", "prog")
            expected = place.must("./prog", STAB_CODE="off").stdout
            for code in ("shuffle", "direct"):
                expect(place.must("./prog", STAB_CODE=code).stdout == expected, f"{models}, {linker}, {code}: another output")
            info = place.must("szc", "--stab-info", "prog").stdout
            staying = set(re.findall(r"^    (\S+)$", info, re.MULTILINE))
            expect(not staying & {"main", *wanted}, f"{models}, {linker}: functions of szc's stay:\n{info}")
    # Of the large model no call tells whom it calls: it may be who switches stacks, or who returns twice.
    place.write("calls.c", "int printf(const char*, ...);\nint large0(int);\nint main(void) { printf(\"%d\\n\", large0(126)); }\n")
    for options in (["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]):
        place.must("szc", "-O2", "-mcmodel=large", *options, "calls.c", "large.c", "-o", "prog")
        expect(place.must("./prog", **ALL_ON).stdout == "42\n", f"{options}: another output")
        info = place.must("szc", "--stab-info", "prog").stdout
        expect("unresolved-field 1 functions" in info and "    main\n" in info and "switches stacks" in info,
               f"{options}: what main calls is taken as known:\n{info}")


def check_mixed_objects(place):
    compiler = shutil.which("gcc") or shutil.which(llvm.tool("clang"))
    place.must(compiler, "-O2", "-c", "twice.c")
    place.must("szc", "main.c", "twice.o", "-o", "prog")
    place.moves("prog")
    info = place.must("szc", "--stab-info", "prog").stdout
    expect("    twice\n" in info.split("foreign", 1)[1], "a foreign object's function isn't listed as foreign")


def check_other_compiler(place):
    """stab-postlink alone makes a program of another compiler and linker movable."""
    runtime = place.bin.parent / "lib/stab/libstabrt.a"
    for options in (["-O0"], ["-O2"], ["-O2", "-fno-pie", "-no-pie"]):
        place.must("gcc", *options, "main.c", "twice.c", "-Wl,--emit-relocs", "-o", "prog",
                   f"-Wl,--whole-archive,{runtime},--no-whole-archive")
        place.must("stab-postlink", "prog")
        place.moves("prog")
        info = place.must("szc", "--stab-info", "prog").stdout
        expect("runtime  " in info, f"our runtime isn't kept still:\n{info}")


def check_other_targets(place):
    """Code for other machines is clang's, byte for byte; a program for -m32 is refused with the reason."""
    place.write("f.c", "int g(int*);\nint many[10];\nint f(int x) { int y = x; return g(&y) + 1; }\n"
                "int h(int x) {\n  for (int i = 0; i < x; i++) many[i] += f(i);\n"
                "  switch (x) { case 1: return f(7); case 2: return g(many);\n"
                "    case 3: return 5; case 4: return f(9) + g(many); default: return x; } }\n")
    targets = ("--target=wasm32", "--target=i386-linux-gnu", "--target=aarch64-linux-gnu", "--target=x86_64-w64-mingw32",
               "--target=x86_64-apple-macos", "--target=x86_64-linux-gnux32", "-m32", "-mx32", "-m16")
    for target in targets:
        for options in (["-O2", "-c"], ["-O0", "-S"], ["-O2", "-S", "-emit-llvm"], ["-O2", "-c", "-flto"],
                        ["-c", "--stab-pads=all", "-s"]):
            place.must("szc", target, *options, "f.c", "-o", "ours")
            place.must(llvm.tool("clang"), target, *[o for o in options if o[:7] not in ("-s", "--stab-")], "f.c", "-o", "plain")
            ours, plain = ((place.directory / name).read_bytes() for name in ("ours", "plain"))
            expect(ours == plain, f"{target} {options}: not what clang makes")
            expect(b"stab_" not in ours, f"{target} {options}: a section of ours")
    place.must("szc", "--target=aarch64-linux-gnu", "-fsanitize=address", "-c", "f.c")
    place.must("szc", "-m32", "--target=x86_64-pc-linux-gnu", "-m64", "-O2", "-c", "f.c", "-o", "ours")
    expect(b"stab_" in (place.directory / "ours").read_bytes(), "-m64 behind -m32 isn't ours")
    # Links: of other targets clang's; on top of this machine's libc refused.
    place.write("wasm.c", "int run(void) { return 42; }\n")
    link = ["--target=wasm32", "-nostdlib", "-Wl,--no-entry,--export-all", "-s", "wasm.c", "-o"]
    ours, plain = place.run("szc", *link, "ours.wasm"), place.run(llvm.tool("clang"), *link, "plain.wasm")
    expect((ours.returncode, ours.stderr) == (plain.returncode, plain.stderr), f"wasm: {ours.stderr}, clang: {plain.stderr}")
    if plain.returncode == 0:
        ours, plain = ((place.directory / f"{name}.wasm").read_bytes() for name in ("ours", "plain"))
        expect(ours == plain, "wasm: not what clang links")
    refused = place.run("szc", "-m32", "main.c", "twice.c", "-o", "prog")
    expect(refused.returncode == 1 and "'-m32' can't be used with Stab" in refused.stderr and "plain clang" in refused.stderr,
            f"a program for -m32 isn't refused with the reason: {refused.stderr}")
    place.must("szc", "-m32", "-r", "-nostdlib", "-fuse-ld=lld", "f.c", "-o", "narrow.o")


def check_precompiled_header(place):
    place.write("all.h", "#include <stdio.h>\nint twice(int);\n")
    place.must("szc", "-x", "c-header", "all.h", "-o", "all.h.pch")
    place.write("main.c", 'int main(void) { printf("%d\\n", twice(21)); return 0; }')
    place.must("szc", "-include-pch", "all.h.pch", "main.c", "twice.c", "-o", "prog")
    place.moves("prog")


def check_profiles(place):
    place.must("szc", "-O2", "-fprofile-generate=profile", "main.c", "twice.c", "-o", "train")
    expect(place.must("./train", **ALL_ON).stdout == "42\n", "the instrumented program prints something else")
    raw = [str(path) for path in (place.directory / "profile").glob("*.profraw")]
    expect(raw, "no profile was written")
    place.must(llvm.tool("llvm-profdata"), "merge", "-o", "merged.profdata", *raw)
    place.must("szc", "-O2", "-fprofile-use=merged.profdata", "main.c", "twice.c", "-o", "prog")
    place.moves("prog")


def check_seeded_links(place):
    place.write("many.c", "".join(f"int f{i}(int x) {{ return x + {i}; }}\n" for i in range(40)))
    orders = []
    for seed in ("1", "2", "1"):
        place.must("szc", "main.c", "twice.c", "many.c", "-o", "prog", STAB_LINK_SEED=seed)
        place.moves("prog")
        symbols = place.must("nm", "-n", "prog").stdout.splitlines()
        orders.append([line.split()[2] for line in symbols if line.split()[-1].startswith("f")])
    expect(orders[0] == orders[2] and orders[0] != orders[1], "the link order doesn't follow the seed")


LAYOUT = "stab-layout 1\nprogram {program}\ncpu {cpu}\n{lines}"


def check_layout_files(place):
    """Functions start where a layout file wants them, whatever links them; what isn't obeyed is said."""
    def write(lines, program="prog", cpu="any", name="a.layout"):
        place.write(name, LAYOUT.format(program=program, cpu=cpu, lines=lines))

    def address(function, program="prog"):
        lines = place.must("nm", program).stdout.splitlines()
        (found,) = [int(line.split()[0], 16) for line in lines if line.split()[-1] == function]
        return found

    sources = ("main.c", "twice.c")
    for places in (((64, 48), (4096, 2064)), ((32, 16), (64, 0))):
        write("".join(f"place {f} mod {m} at {at}\n" for f, (m, at) in zip(("main", "twice"), places)))
        for options in ((), ("-flto",), ("-flto=thin",), ("-static",), ("-fno-pie", "-no-pie"), ("-fuse-ld=bfd",), ("-s", "-O2")):
            for seed in ({}, {"STAB_LINK_SEED": "7"}) if "-fuse-ld=bfd" not in options else ({},):
                place.must("szc", "-O0", *options, "--stab-layout=a.layout", *sources, "-o", "prog", **seed)
                if "-s" not in options:
                    for function, (modulus, remainder) in zip(("main", "twice"), places):
                        expect(address(function) % modulus == remainder, f"{options}: {function} is at {address(function):#x}")
                place.moves("prog")
    # An environment does what the option does, and the option comes before it.
    write("place twice mod 256 at 240\n", name="b.layout")
    place.must("szc", "-O0", *sources, "-o", "prog", STAB_LINK_LAYOUT="b.layout")
    expect(address("twice") % 256 == 240, "STAB_LINK_LAYOUT is not obeyed")

    write("order twice\norder main\n", name="order.layout")
    place.must("szc", "-O0", "--stab-layout=order.layout", *sources, "-o", "prog", STAB_LINK_SEED="1")
    first = address("twice"), address("main")
    write("order main\norder twice\n", name="order.layout")
    place.must("szc", "-O0", "--stab-layout=order.layout", *sources, "-o", "prog", STAB_LINK_SEED="1")
    expect(first[0] < first[1] and address("main") < address("twice"), "the order is not obeyed")

    def refused(words, *command, left_out=True):
        result = place.run(*command)
        expect(result.returncode != 0 and words in result.stderr, f"{command}: exit {result.returncode}, {result.stderr}")
        expect(not (left_out and place.has("prog")), f"{command} leaves its output")

    refused("which lld alone does", "szc", "-fuse-ld=bfd", "--stab-layout=order.layout", *sources, "-o", "prog", left_out=False)
    place.must("rm", "prog")
    refused("No such file", "szc", "--stab-layout=none.layout", *sources, "-o", "prog")
    write("place twice mod 48 at 0\n", name="wrong.layout")
    refused("wrong.layout:4:17: mod 48 is no power of two", "szc", "--stab-layout=wrong.layout", *sources, "-o", "prog")
    write("place twice mod 64 at 0\n", cpu="Another Model 7", name="cpu.layout")
    refused("was measured on 'Another Model 7'", "szc", "--stab-layout=cpu.layout", *sources, "-o", "prog")
    write("place twice mod 64 at 0\nplace vanished mod 64 at 0\n", name="gone.layout")
    refused("has no 'vanished'", "szc", "-O0", "--stab-layout=gone.layout", *sources, "-o", "prog")
    # Objects that were compiled without the file.
    place.must("szc", "-c", "twice.c")
    write("place twice mod 4096 at 2064\n", name="late.layout")
    refused("'twice' at 2064 mod 4096", "szc", "--stab-layout=late.layout", "main.c", "twice.o", "-o", "prog")
    # The file is of one program: others, such as a build's own tools and configure's tests, may lack its functions.
    other = place.must("szc", "-O0", "--stab-layout=gone.layout", *sources, "-o", "tool")
    expect("not held to that" in other.stderr and address("twice", "tool") % 64 == 0, f"tool: {other.stderr}")
    place.write("alone.c", "int main(void) { return 0; }\n")
    expect(place.must("szc", "--stab-layout=b.layout", "alone.c", "-o", "conftest").stderr == "", "a test of configure's says something")
    write("place twice mod 64 at 0 bytes 9999\n", name="size.layout")
    warned = place.must("szc", "-O0", "--stab-layout=size.layout", *sources, "-o", "prog").stderr
    expect("and when 'size.layout' was measured it had 9999" in warned, f"another size: {warned}")

    # The name of a constructor is an alias of another function's.
    place.write("made.cc", "struct Made { int x; Made(int); };\n__attribute__((noinline)) Made::Made(int v) : x(v) {}\n"
                           "int main(int count, char**) { Made made(count); return made.x - 1; }\n")
    write("place _ZN4MadeC1Ei mod 256 at 48\n", name="made.layout")
    place.must("szc++", "-O0", "--stab-layout=made.layout", "made.cc", "-o", "prog")
    expect(address("_ZN4MadeC1Ei") % 256 == 48, f"a constructor is at {address('_ZN4MadeC1Ei'):#x}")
    # Of two functions of one name either may be the one that was measured.
    for source, body in (("one.c", "return x + 1;"), ("two.c", "return x % 3 ? x * x : x / 7;")):
        place.write(source, f"__attribute__((noinline)) static int same(int x) {{ {body} }}\nint {source[:3]}(int x) {{ return same(x); }}\n")
    place.write("both.c", "int one(int), two(int);\nint main(int count, char** words) { return one(count) + two(count) - 3; }\n")
    place.must("szc", "-O0", "one.c", "two.c", "both.c", "-o", "prog")
    sizes = [int(line.split()[1], 16) for line in place.must("nm", "-S", "prog").stdout.splitlines() if line.split()[-1] == "same"]
    expect(len(set(sizes)) == 2, f"functions of one name: {sizes}")
    for bytes_of in sizes:
        write(f"place same mod 64 at 32 bytes {bytes_of}\n", name="same.layout")
        warned = place.must("szc", "-O0", "--stab-layout=same.layout", "one.c", "two.c", "both.c", "-o", "prog").stderr
        expect(warned == "", f"functions of one name: {warned}")


def check_questions(place):
    for question in (["--version"], ["-print-search-dirs"], ["-dumpmachine"], ["-print-file-name=libc.so"], ["-v"]):
        ours, plain = place.run("szc", *question), place.run(llvm.tool("clang"), *question)
        expect((ours.returncode, ours.stdout) == (plain.returncode, plain.stdout), f"{question} differs")
    for question in (["--version"], ["-v"]) if llvm.flang() else ():
        ours, plain = place.run("szflang", *question), place.run(llvm.flang(), *question)
        expect((ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr), f"flang's {question} differs: {ours.stderr}")
    steps = place.run("szc", "-###", "main.c", "twice.c", "-o", "prog")
    expect(steps.returncode == 0 and "stab-postlink" in steps.stderr.splitlines()[-1], "-### misses our step")
    expect(not place.has("prog"), "-### linked something")
    expect("stab-postlink" in place.must("szc", "-v", "main.c", "twice.c", "-o", "prog").stderr, "-v misses our step")


def check_links_that_write_nothing(place):
    """Build systems ask a linker for its version, where a file of an earlier link may lie."""
    place.write("a.out", "not ours")
    for question in ("-Wl,--version", "-Wl,--help"):
        place.must("szc", question)
        expect((place.directory / "a.out").read_text() == "not ours", f"{question}: a.out is another")
    place.must("szc", "main.c", "twice.c", "-Wl,-o,told")
    place.moves("told")
    place.must("szc", "main.c", "twice.c")
    place.must("szc", "-Wl,--version")
    place.moves("a.out")
    place.must("szc", "main.c", "twice.c")
    place.moves("a.out")


def check_failures(place):
    place.write("broken.c", "int main(void) { return undeclared; }\n")
    place.write("undefined.c", "int missing(void); int main(void) { return missing(); }\n")
    for command in (["broken.c"], ["-c", "broken.c"], ["nofile.c"], [], ["undefined.c", "-o", "prog"]):
        ours, plain = place.run("szc", *command), place.run(llvm.tool("clang"), "-fuse-ld=lld", *command)
        expect(ours.returncode == plain.returncode != 0, f"{command}: exit {ours.returncode}, clang {plain.returncode}")
        first = [line for line in plain.stderr.splitlines() if "error" in line][0].split("/tmp")[0]
        expect(first in ours.stderr, f"{command}: clang says {first!r}, we {ours.stderr!r}")
    expect(not place.has("prog") and not place.has("a.out"), "a failed link left an output")
    raw = place.run("szc", "main.c", "twice.c", "-Wl,--omagic", "-static", "-o", "raw")
    expect(raw.returncode != 0 and "text segment is writable" in raw.stderr and not place.has("raw"),
            f"post-link's failure isn't passed on: {raw.returncode} {raw.stderr}")
    refused = place.run("szc", "-fsanitize=address", "main.c", "twice.c")
    expect(refused.returncode == 1 and "-fsanitize=address" in refused.stderr, "a sanitizer isn't refused")
    expect(place.run("szc", "main.c", "twice.c", "-o", "/dev/null").returncode == 0, "linking to /dev/null fails")


CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.20)
project(sample C CXX)
include(CheckFunctionExists)
include(CheckCXXSourceRuns)
check_function_exists(printf HAVE_PRINTF)
check_cxx_source_runs("int main() { try { throw 1; } catch (int) { return 0; } return 1; }" THROWS)
find_package(Threads REQUIRED)
if(NOT HAVE_PRINTF OR NOT THROWS)
  message(FATAL_ERROR "checks fail")
endif()
add_library(twice SHARED twice.c)
add_executable(prog main.c)
target_link_libraries(prog twice Threads::Threads)
"""


def check_cmake(place):
    place.write("CMakeLists.txt", CMAKE_PROJECT)
    place.must("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_C_COMPILER=szc", "-DCMAKE_CXX_COMPILER=szc++")
    place.must("cmake", "--build", "build")
    place.moves("build/prog")


def check_cmake_toolchain_file(place):
    """What it builds moves, also when it is installed without symbols."""
    place.write("CMakeLists.txt", CMAKE_PROJECT + "install(TARGETS prog twice)\n")
    toolchain = place.bin.parent / "lib/cmake/Stab/stab-toolchain.cmake"
    place.must("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "--toolchain", str(toolchain), "-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib")
    place.must("cmake", "--build", "build")
    place.moves("build/prog")
    place.must("cmake", "--install", "build", "--strip", "--prefix", str(place.directory / "installed"))
    place.moves("installed/bin/prog")


def check_cmake_package(place):
    place.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(sample C CXX)\nfind_package(Stab REQUIRED)\n"
                "add_library(parts STATIC twice.c)\nadd_executable(prog main.c)\nadd_executable(other main.c)\n"
                "target_link_libraries(prog parts)\ntarget_link_libraries(other parts)\n"
                "stab_instrument(parts)\nstab_instrument(prog)\n")
    (place.directory / "a prefix").symlink_to(place.bin.parent)
    configure = ["cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DStab_DIR={place.directory}/a prefix/lib/cmake/Stab"]
    clang = [f"-DCMAKE_C_COMPILER={llvm.tool('clang')}", f"-DCMAKE_CXX_COMPILER={llvm.tool('clang++')}"]
    gcc = place.run(*configure, "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++")
    expect(gcc.returncode != 0 and f"expected Clang {llvm.VERSION}" in gcc.stderr, "gcc isn't refused with the reason")
    shutil.rmtree(place.directory / "build")
    place.must(*configure, *clang)
    place.must("cmake", "--build", "build")
    place.moves("build/prog")
    place.must(*configure[:3], "-B", "made", "-G", "Unix Makefiles", configure[-1], *clang)
    place.must("cmake", "--build", "made")
    place.moves("made/prog")
    expect(place.must("build/other").stdout == "42\n", "an untouched target changed")
    expect("no stab_code" in place.must("szc", "--stab-info", "build/other").stdout, "an untouched target is movable")


def check_autoconf(place):
    place.write("configure.ac", "AC_INIT([sample], [1])\nAC_PROG_CC\nAC_PROG_CXX\nAC_CHECK_FUNCS([malloc_usable_size])\n"
                "AC_CHECK_SIZEOF([long])\nAC_C_BIGENDIAN\nAC_SEARCH_LIBS([pow], [m])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n")
    place.write("Makefile.in", "prog: main.c twice.c\n\t@CC@ @CFLAGS@ main.c twice.c -o prog @LIBS@\n")
    place.must("autoconf")
    place.must("./configure", "CC=szc", "CXX=szc++")
    place.must("make")
    place.moves("prog")


def check_meson(place):
    place.write("meson.build", "project('sample', 'c', 'cpp')\ncc = meson.get_compiler('c')\n"
                "assert(cc.has_function('printf'))\nassert(cc.sizeof('long') == 8)\n"
                "executable('prog', 'main.c', 'twice.c', dependencies : dependency('threads'))\n")
    place.must("meson", "setup", "build", CC="szc", CXX="szc++")
    place.must("ninja", "-C", "build")
    place.moves("build/prog")


CHECKS = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*", choices=[[], *CHECKS])
    arguments = parser.parse_args()
    failures = 0
    for name in arguments.names or CHECKS:
        with tempfile.TemporaryDirectory(prefix="stab-driver-") as directory:
            try:
                CHECKS[name](Workplace(arguments.bin.resolve(), directory))
                print(f"{name}: ok")
            except Failed as failure:
                failures += 1
                print(f"{name}: FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
