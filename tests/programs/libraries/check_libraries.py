#!/usr/bin/env python3
"""Shared libraries of ours in programs of ours: what a program prints is what it prints with everything off, and its dose says
which libraries moved.

    check_libraries.py --bin DIR CHECK

Exit code 0: kept; 1: not, and a line says which and how to see it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from harness import expect, fail  # noqa: E402
import llvm  # noqa: E402

ALL_ON = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_HEAP": "shuffle", "STAB_EPOCH": "500us", "STAB_SEED": "11"}
UNREAD = "could not read a shared library's file"
NO_MEMORY = "no memory for a shared library's images"
OUT_OF_REACH = "no room for a shared library's images within 2 GiB of it"
UNDRAWN = "pads of a shared library could not be drawn"
DROPPED = "more than 48 shared libraries"
SWITCHES = "switches stacks"

# A loop that lasts about 60 epochs, and as long without any.
REPEAT = """#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef __cplusplus
extern "C" {
#endif
static double seconds_now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
#ifdef __cplusplus
}
#endif
#define REPEAT for (double end_ = seconds_now() + 0.06; seconds_now() < end_;)
#define CHECK(c) do { if (!(c)) { printf("%s:%d: %s is false\\n", __FILE__, __LINE__, #c); exit(1); } } while (0)
"""


class Place:
    def __init__(self, directory, bin_directory):
        self.directory = pathlib.Path(directory)
        self.path = f"{bin_directory}:{os.environ['PATH']}"
        self.runtime = bin_directory.parent / "lib/stab"
        self.write("repeat.h", REPEAT)

    def write(self, name, text):
        (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (self.directory / name).write_text(text)

    def run(self, *command, **settings):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STAB")} | settings | {"PATH": self.path}
        try:
            return subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True, timeout=150)
        except subprocess.TimeoutExpired:
            fail(f"{self.shown(command, settings)}: doesn't end")

    def shown(self, command, settings):
        return f"(cd {self.directory}; {' '.join(f'{k}={v}' for k, v in settings.items())} {' '.join(command)})"

    def must(self, *command, **settings):
        done = self.run(*command, **settings)
        expect(done.returncode == 0, f"{self.shown(command, settings)} exits {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def library(self, name, *words, compiler="szc"):
        self.must(compiler, "-O2", "-g", "-fPIC", "-shared", *words, "-o", name)

    def dose(self):
        for _ in range(1000):
            text = (self.directory / "dose").read_text() if (self.directory / "dose").exists() else ""
            if text.endswith("\n"):
                return json.loads(text.splitlines()[0])
            time.sleep(0.01)
        fail("there is no dose")

    def alike(self, *command, moved, stay=0, degraded=(), times=3, preloaded=None):
        """With everything on it does what it does with everything off; so many libraries move, and what else is told. A run that a busy
        machine gave one layout only is asked again."""
        plain = self.must(*command)
        settings = ALL_ON | {"STAB_REPORT": "dose"} | ({"LD_PRELOAD": str(preloaded)} if preloaded else {})
        for _ in range(times):
            for _ in range(5):
                dose = self.alike_once(command, settings, plain, moved, stay, degraded)
                if dose["code"]["layouts_built"] >= 2:
                    break
            else:
                fail(f"{self.shown(command, settings)}: one layout only, five times")
        return dose

    def alike_once(self, command, settings, plain, moved, stay, degraded):
        (self.directory / "dose").unlink(missing_ok=True)
        ran = self.run(*command, **settings)
        expect((ran.returncode, ran.stdout, ran.stderr) == (0, plain.stdout, plain.stderr),
                f"{self.shown(command, settings)} exits {ran.returncode}: {ran.stdout[-500:]}{ran.stderr[-500:]}\n"
                f"expected: {plain.stdout[-500:]}{plain.stderr[-500:]}")
        dose = self.dose()
        code = dose["code"]
        expect((code["libraries_moved"], code["libraries_stay"]) == (moved, stay),
                f"{self.shown(command, settings)}: {code['libraries_moved']} move and {code['libraries_stay']} stay, "
                f"expected {moved} and {stay}: {dose['degradations']}")
        for words in (UNREAD, NO_MEMORY, OUT_OF_REACH, DROPPED, SWITCHES):
            said = any(words in text for text in dose["degradations"])
            expect(said == (words in degraded), f"{self.shown(command, settings)}: the dose says {dose['degradations']}")
        return dose


THROWS = """#include <stdexcept>
int throws(int n, int (*call)(int)) { if (n % 3 == 0) throw std::runtime_error("three"); if (n % 5 == 0) throw n; return call(n); }
"""
PASSES = """#include <vector>
int throws(int, int (*)(int));
struct Guard { int* at; ~Guard() { ++*at; } };
int passed;
int passes(int n, int (*call)(int)) {
  Guard guard{&passed};
  std::vector<int> all(n % 7 + 1, n);
  switch (n % 6) { case 0: all.push_back(1); break; case 1: all.push_back(2); break; case 2: all.pop_back(); break;
    case 3: all.assign(3, 3); break; case 4: all[0] = 9; break; default: break; }
  return throws(n, call) + (int)all.size();
}
"""
CATCHES = """#include <stdexcept>
#include <string>
int passes(int, int (*)(int));
int catches(int n, int (*call)(int)) {
  std::string text(n % 30, 'x');
  try { return passes(n, call) + (int)text.size(); } catch (const std::runtime_error& error) { return (int)std::string(error.what()).size(); }
}
"""
MAIN_CATCHES = """#include <sys/wait.h>
#include <unistd.h>
#include <thread>
#include <vector>
#include "repeat.h"
int catches(int, int (*)(int));
static int call(int n) { if (n % 7 == 0) throw "seven"; return n; }
static long run() {
  long sum = 0;
  for (int n = 1; n < 500; ++n) try { sum += catches(n, call); } catch (int) { sum += 1000; } catch (const char*) { sum += 7; }
  return sum;
}
int main() {
  const long wanted = run();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([=] { REPEAT CHECK(run() == wanted); });
  REPEAT {
    const pid_t child = fork();
    if (child == 0) { for (int i = 0; i < 5; ++i) if (run() != wanted) _exit(3); _exit(0); }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  for (std::thread& thread : threads) thread.join();
  printf("%ld\\n", wanted);
}
"""


def check_exceptions(place):
    """Thrown and caught in three libraries and the program, in threads and forked children."""
    for name, text in (("throws.cc", THROWS), ("passes.cc", PASSES), ("catches.cc", CATCHES), ("main.cc", MAIN_CATCHES)):
        place.write(name, text)
    place.library("libthrows.so", "throws.cc", compiler="szc++")
    place.library("libpasses.so", "passes.cc", "./libthrows.so", compiler="szc++")
    place.library("libcatches.so", "catches.cc", "./libpasses.so", compiler="szc++")
    for kind in (["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]):
        place.must("szc++", "-O2", *kind, "main.cc", "./libcatches.so", "./libpasses.so", "./libthrows.so", "-pthread", "-o", "prog")
        place.alike("./prog", moved=3)


PLUGIN = """#include <stdlib.h>
static int deep(int n) { return n <= 0 ? 1 : deep(n - 1) + n % 3; }
int work(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += deep(i % 50); return sum; }
__attribute__((constructor)) static void comes(void) { if (work(3) != 7) abort(); }
__attribute__((destructor)) static void goes(void) { if (work(3) != 7) abort(); }
"""
HOST = """#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
static volatile int stop;
static int (*load(const char* file, void** library))(int) {
  *library = dlopen(file, RTLD_NOW);
  if (*library == NULL) puts(dlerror());
  CHECK(*library != NULL);
  return (int (*)(int))dlsym(*library, "work");
}
static int mappings(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  int lines = 0;
  for (int c; (c = getc(maps)) != EOF;) lines += c == '\\n';
  fclose(maps);
  return lines;
}
static void* works(void* wanted) {
  void* library;
  int (*work)(int) = load("./kept.so", &library);
  while (!stop) CHECK(work(200) == *(int*)wanted);
  return wanted;
}
int main(int count, char** words) {
  const int times = atoi(words[1]), threads = atoi(words[2]), children = atoi(words[3]);
  void* library;
  int wanted = load("./kept.so", &library)(200);
  dlclose(library);
  pthread_t thread[8];
  for (int i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, works, &wanted);
  long sum = 0;
  for (int i = 0; i < times; ++i) {
    int (*work)(int) = load(i % 2 ? "./one.so" : "./other.so", &library);
    sum += work(100);
    const pid_t child = i < children ? fork() : -1;
    if (child == 0) { REPEAT CHECK(work(200) == wanted); _exit(0); }
    sum += work(100);
    CHECK(dlclose(library) == 0);
    /* The next one comes elsewhere, while the child stays. */
    for (int k = 0; child > 0 && k < 64; ++k) mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  /* What each of them takes would be found in the end. */
  CHECK(mappings() < 200 + 80 * children);
  stop = 1;
  for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
  for (int status; wait(&status) > 0;) CHECK(status == 0);
  printf("%ld\\n", sum);
}
"""


def build_plugins(place):
    place.write("plugin.c", PLUGIN)
    place.write("host.c", HOST)
    for name in ("one.so", "other.so", "kept.so"):
        place.library(name, "plugin.c")
    place.must("szc", "-O2", "host.c", "-o", "host", "-pthread")


def check_plugins(place):
    """Loaded and unloaded 2000 times."""
    build_plugins(place)
    place.alike("./host", "2000", "0", "0", moved=2001, times=1)


def check_ten_thousand_loads(place):
    """Loaded and unloaded 10,000 times, while a thread runs in another library: nothing of them is left."""
    build_plugins(place)
    place.alike("./host", "10000", "1", "0", moved=10002, times=1)


def check_plugins_with_threads(place):
    """The same while threads run in another library."""
    build_plugins(place)
    place.alike("./host", "500", "3", "0", moved=502, times=1)


def check_plugins_with_children(place):
    """Forked children go on in libraries that their parent has unloaded, while it loads them again at other addresses."""
    build_plugins(place)
    dose = None
    for children in ("20", "300"):
        plain = place.must("./host", "300", "1", children)
        ran = place.must("./host", "300", "1", children, **ALL_ON, STAB_REPORT="dose")
        expect(ran.stdout == plain.stdout, f"{ran.stdout} instead of {plain.stdout}")
        dose = place.dose()
        expect(dose["code"]["libraries_moved"] > 30, f"nothing moves beside children: {dose['code']}")


BY_HAND = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
pid_t _Fork(void);
static int (*load(const char* file, void** library))(int) {
  *library = dlopen(file, RTLD_NOW);
  CHECK(*library != NULL);
  return (int (*)(int))dlsym(*library, "work");
}
static pid_t make(int kind) { return kind == 0 ? _Fork() : kind == 1 ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork(); }
int main(void) {
  const double end = seconds_now() + 1;
  for (int i = 0; seconds_now() < end; ++i) {
    void* library;
    int (*work)(int) = load("./one.so", &library);
    const int wanted = work(500);
    for (int child = 0; child < 4; ++child) {
      if (make(i % 3) != 0) continue;
      const double over = seconds_now() + 0.03;
      while (seconds_now() < over) if (work(500) != wanted) _exit(3);
      _exit(0);
    }
    dlclose(library);
    for (int k = 0; k < 8; ++k) {
      CHECK(load(k % 2 ? "./other.so" : "./one.so", &library)(500) == wanted);
      dlclose(library);
    }
    for (int status; wait(&status) > 0;) CHECK(status == 0);
  }
  puts("done");
}
"""
WORKS = """#include <stdio.h>
#include <stdlib.h>
static int half(int n) { return n / 2; }
static int more(int n) { return n * 3 + 1; }
static int (*const table[])(int) = {more, half};
__attribute__((noinline)) static int chosen(int k, int n) {
  switch (k) { case 0: return n + 1; case 1: return n * 2; case 2: return n ^ 5; case 3: return n - 7; case 4: return n | 3;
    case 5: return n * n; case 6: return ~n; case 7: return n >> 1; default: return 0; }
}
int work(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) { sum = chosen(i & 7, sum + i); sum = table[sum & 1](sum) & 0xffffff; }
  char* text = malloc(n % 100 + 1);
  snprintf(text, n % 100 + 1, "%d", sum);
  free(text);
  return sum;
}
"""


# A child that stays while its parent loads a library 60 times.
BY_HAND_ONCE = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
pid_t _Fork(void);
int main(int count, char** words) {
  const pid_t child = count > 1 ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) for (;;) pause();
  (void)words;
  for (int i = 0; i < 60; ++i) dlclose(dlopen("./one.so", RTLD_NOW));
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  puts("done");
}
"""


def check_children_by_hand(place):
    """The same of children that no hook of fork() announces: what they may run in is not used again."""
    place.write("plugin.c", WORKS)
    place.write("main.c", BY_HAND)
    place.write("once.c", BY_HAND_ONCE)
    for name in ("one.so", "other.so"):
        place.library(name, "plugin.c")
    place.must("szc", "-O2", "main.c", "-o", "prog")
    place.must("szc", "-O2", "once.c", "-o", "once")
    for words in ([], ["fork"]):
        (place.directory / "dose").unlink(missing_ok=True)
        # The helper looks for children of its own accord once an epoch.
        place.must("./once", *words, **ALL_ON | {"STAB_EPOCH": "100s", "STAB_REPORT": "dose"})
        expect(any(DROPPED in text for text in place.dose()["degradations"]), f"once {words}: places are used again next to a child: {place.dose()}")
    for number in range(12):
        place.must("./prog", **ALL_ON | {"STAB_EPOCH": "200us" if number % 2 else "1ms", "STAB_SEED": str(number)})


def check_start_constructors(place):
    """Constructors of what is loaded at the start run beside a thread of an earlier one, which loads libraries, too."""
    count = 25
    place.write("plugin.c", PLUGIN)
    place.write("first.c", '#include <dlfcn.h>\n#include <pthread.h>\n#include "repeat.h"\nstatic volatile int stop, loads; static pthread_t thread;\n'
                           "static void* churns(void* unused) { for (; !stop; ++loads) {\n"
                           '  void* library = dlopen(loads % 2 ? "./one.so" : "./other.so", RTLD_NOW); CHECK(library != NULL);\n'
                           '  CHECK(((int (*)(int))dlsym(library, "work"))(3) == 7); dlclose(library); } return unused; }\n'
                           "__attribute__((constructor)) static void begins(void) { pthread_create(&thread, NULL, churns, NULL); }\n"
                           "void first_stops(void) { stop = 1; pthread_join(thread, NULL); CHECK(loads > 0); }\n")
    place.write("late.c", "void first_stops(void);\nstatic int deep(int n) { return n <= 0 ? 1 : deep(n - 1) + n % 3; }\nstatic int seen;\n"
                          "__attribute__((constructor)) static void comes(void) { for (int i = 0; i < 300; ++i) seen += deep(i % 50); }\n"
                          "int NAME(void) { return seen; }\nvoid* after = (void*)first_stops;\n")
    place.write("main.c", '#include "repeat.h"\nvoid first_stops(void);\n' + "".join(f"int late{i}(void);\n" for i in range(count)) +
                "int main(void) { int sum = 0; REPEAT sum = " + " + ".join(f"late{i}()" for i in range(count)) + ';\n  first_stops(); printf("%d\\n", sum); }\n')
    for name in ("one.so", "other.so"):
        place.library(name, "plugin.c")
    place.library("libfirst.so", "first.c", "-pthread")
    libraries = [f"./liblate{i}.so" for i in range(count)]
    for i, name in enumerate(libraries):
        place.library(name, "late.c", f"-DNAME=late{i}", "./libfirst.so")
    place.must("szc", "-O2", "main.c", "./libfirst.so", *libraries, "-o", "prog", "-pthread")
    plain = place.must("./prog")
    for number in range(30):
        ran = place.must("./prog", **ALL_ON | {"STAB_SEED": str(number)})
        expect(ran.stdout == plain.stdout, f"{ran.stdout} instead of {plain.stdout}")


def check_sudden_ends(place):
    """A program that ends while the helper writes pads of its libraries, or reads one that another thread loads: no fault of the run."""
    build_plugins(place)
    place.write("deep.c", "int other(int);\nint deep(int n) { volatile int at[90]; at[n % 90] = n; return other(n) + at[n % 90]; }\n")
    place.write("main.c", '#include <dlfcn.h>\n#include <pthread.h>\n#include <unistd.h>\n#include "repeat.h"\n'
                          "int deep(int);\nint other(int n) { return n * 3; }\n"
                          "static void* loads(void* unused) { for (;;) dlclose(dlopen(\"./one.so\", RTLD_NOW)); return unused; }\n"
                          "int main(int count, char** words) { pthread_t thread; (void)words;\n"
                          "  if (count > 1) pthread_create(&thread, NULL, loads, NULL);\n"
                          "  const double end = seconds_now() + 0.003; while (seconds_now() < end) CHECK(deep(7) == 28);\n  _exit(0); }\n")
    place.library("libdeep.so", "deep.c", "--stab-pads=all")
    place.must("szc", "-O2", "main.c", "./libdeep.so", "-o", "prog", "-pthread")
    settings = ALL_ON | {"STAB_EPOCH": "100us", "STAB_REPORT": "dose"}
    moved = 0
    for number in range(1200):
        (place.directory / "dose").unlink(missing_ok=True)
        command = ["./prog"] + ["loads"] * (number % 2)
        place.must(*command, **settings)
        dose = place.dose()
        moved += dose["code"]["libraries_moved"]
        for words in (UNDRAWN, UNREAD):
            expect(not any(words in text for text in dose["degradations"]),
                   f"{place.shown(command, settings)}, the {number + 1}th time: the dose says {dose['degradations']}")
        if number >= 399 and moved > number + 31: break  # each has one, and threads have loaded more
    expect(moved > number + 31, f"{moved} libraries moved in {number + 1} runs")


PADS = """__attribute__((noinline)) int depth(int n) { volatile int at = n; return (int)((__UINTPTR_TYPE__)&at >> 4 & 0xff); }
int deep(int n) { volatile int at[90]; at[n % 90] = n; return depth(n) + 0 * at[n % 90]; }
"""
MAIN_OF_PADS = """#include "repeat.h"
int deep(int);
int main(void) {
  const int first = deep(7);
  int other_places = 0;
  REPEAT other_places += deep(7) != first;
  puts(other_places > 0 ? "elsewhere" : "at one place");
}
"""


def run_of_pads(place, **settings):
    """MAIN_OF_PADS with everything on, again where a busy machine gave the helper no time; and its layout report."""
    for _ in range(3):
        (place.directory / "dose").unlink(missing_ok=True)
        ran = place.run("./prog", **ALL_ON, **settings, STAB_REPORT="dose")
        if ran.stdout == "elsewhere\n": break
    return ran, place.dose()


def check_pads_among_code(place):
    """Pads of a library whose linker puts read-only data onto the pages of its code are drawn anew while the code moves."""
    place.write("pads.c", PADS)
    place.write("main.c", MAIN_OF_PADS)
    for words in (["-Wl,--no-rosegment"], ["-fuse-ld=bfd", "-Wl,-z,noseparate-code"], ["-fuse-ld=gold"]):
        place.library("libpads.so", "pads.c", "--stab-pads=all", *words)
        place.must("szc", "-O2", "main.c", "./libpads.so", "-o", "prog")
        ran, dose = run_of_pads(place)
        expect(ran.stdout == "elsewhere\n" and not any(UNDRAWN in text for text in dose["degradations"]) and
               dose["code"]["libraries_moved"] == 1, f"{words}: {ran.stdout}{dose['degradations']}")


def check_pads_of_libraries_alone(place):
    """Pads are drawn where all code of a program is in a library, and the report counts them."""
    place.write("pads.c", PADS)
    place.write("main.c", MAIN_OF_PADS)
    for compiler, words, pads in (("szc", ["--stab-pads=all"], True), (llvm.tool("clang"), [], False)):
        place.library("libpads.so", "pads.c", "main.c", *words, compiler=compiler)
        place.must("szc", "./libpads.so", "-o", "prog")
        ran, dose = run_of_pads(place)
        expect(dose["stack"]["slots"] == 0 and (dose["stack"]["library_slots"] >= 2) == pads, f"{compiler}: the report counts {dose['stack']}")
        expect(any("no function has a pad" in text for text in dose["degradations"]) != pads, f"{compiler}: the report says {dose['degradations']}")
        expect(ran.stdout == "elsewhere\n" or not pads, f"{compiler}: {ran.stdout}{ran.stderr}")


def check_initialized_first(place):
    """A library that the loader initializes before the runtime, and the next one that comes before a preloaded runtime then."""
    place.write("pads.c", PADS)
    place.write("simple.c", SIMPLE)
    place.write("main.c", MAIN_OF_PADS.replace("{\n", "{\n  CHECK(work(41) == 83);\n", 1).replace("int deep(int);", "int deep(int), work(int);"))
    place.library("libsimple.so", "simple.c")
    place.library("libpads.so", "pads.c", "--stab-pads=all", "-Wl,-z,initfirst")
    for compiler, preloaded in (("szc", {}), (llvm.tool("clang"), {"LD_PRELOAD": str(place.runtime / "libstabhost.so")})):
        place.must(compiler, "-O2", "main.c", "./libpads.so", "./libsimple.so", "-o", "prog")
        ran, dose = run_of_pads(place, **preloaded)
        code = dose["code"]
        expect((ran.stdout, code["libraries_moved"], code["libraries_stay"]) == ("elsewhere\n", 2, 0), f"{compiler}: {ran.stdout}{code}")


def check_late_threads(place):
    """A thread that was there before a library, and stays in it while layouts pass."""
    place.write("loops.c", '#include "repeat.h"\nstatic int step(int n) { return n * 31 % 1009; }\n'
                           "int loops(int n) { REPEAT n = step(n); return n < 1009; }\n")
    place.write("main.c", '#include <dlfcn.h>\n#include <pthread.h>\n#include "repeat.h"\nstatic int (*volatile loops)(int);\n'
                          "static void* runs(void* unused) { while (loops == NULL) {} for (int i = 0; i < 5; ++i) CHECK(loops(i)); return unused; }\n"
                          "int main(void) { pthread_t thread; pthread_create(&thread, NULL, runs, NULL);\n"
                          '  void* library = dlopen("./loops.so", RTLD_NOW); CHECK(library != NULL);\n'
                          '  loops = (int (*)(int))dlsym(library, "loops"); pthread_join(thread, NULL); dlclose(library); puts("done"); }\n')
    place.library("loops.so", "loops.c", "-fno-inline")
    place.must("szc", "-O2", "main.c", "-o", "prog", "-pthread")
    place.alike("./prog", moved=1)


def check_many_libraries(place):
    """More at a time than can move: the others stay, and all work."""
    place.write("plugin.c", PLUGIN)
    place.library("first.so", "plugin.c")
    for i in range(60):
        place.must("cp", "first.so", f"number{i}.so")
    place.write("main.c", '#include <dlfcn.h>\n#include "repeat.h"\nint main(void) { int (*work[60])(int); char name[32];\n'
                          '  for (int i = 0; i < 60; ++i) { snprintf(name, sizeof name, "./number%d.so", i);\n'
                          '    void* library = dlopen(name, RTLD_NOW); CHECK(library != NULL); work[i] = (int (*)(int))dlsym(library, "work"); }\n'
                          '  REPEAT for (int i = 0; i < 60; ++i) CHECK(work[i](50) == work[0](50));\n  puts("done"); }\n')
    place.must("szc", "-O2", "main.c", "-o", "prog")
    place.alike("./prog", moved=48, stay=12, degraded=[DROPPED])


def check_large_libraries(place):
    """Libraries of 4 MB each move, as many as there are."""
    place.write("large.c", "int work(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum = sum * 3 + i; return sum; }\n"
                           'void never(void) { __asm__ volatile(".rept 450000; nopl 0x10000(%rax,%rax); .endr"); }\n')
    for i in range(12):
        place.library(f"large{i}.so", "large.c") if i == 0 else (place.directory / f"large{i}.so").write_bytes(
            (place.directory / "large0.so").read_bytes())
    place.write("main.c", '#include <dlfcn.h>\n#include "repeat.h"\nint main(void) {\n  int (*work[12])(int);\n'
                          "  for (int i = 0; i < 12; ++i) { char name[20]; sprintf(name, \"./large%d.so\", i); void* library = dlopen(name, RTLD_NOW);\n"
                          '    CHECK(library != NULL); work[i] = (int (*)(int))dlsym(library, "work"); }\n'
                          "  REPEAT for (int i = 0; i < 12; ++i) CHECK(work[i](50) == work[0](50));\n  puts(\"done\"); }\n")
    place.must("szc", "-O2", "main.c", "-o", "prog")
    place.alike("./prog", moved=12, times=1)


def check_same_name(place):
    """One name in two folders, one after the other and both at a time: each is itself."""
    place.write("plugin.c", "int helper(int n) { return n * FACTOR; }\nint work(int n) { return helper(n) + FACTOR; }\n" + "\n".join(
        f"int more{i}(int n) {{ return n + {i} * FACTOR; }}" for i in range(50)))
    for factor in (3, 5):
        (place.directory / str(factor)).mkdir()
        place.library(f"{factor}/plugin.so", "plugin.c", f"-DFACTOR={factor}", "-fno-inline", *(["-O0"] if factor == 5 else []))
    place.write("main.c", '#include <dlfcn.h>\n#include "repeat.h"\nstatic int ask(const char* file, int keep) {\n'
                          "  void* library = dlopen(file, RTLD_NOW); CHECK(library != NULL);\n"
                          '  const int found = ((int (*)(int))dlsym(library, "work"))(10); if (!keep) dlclose(library); return found; }\n'
                          'int main(void) { for (int i = 0; i < 40; ++i) { CHECK(ask("3/plugin.so", 0) == 33); CHECK(ask("5/plugin.so", 0) == 55); }\n'
                          '  REPEAT { CHECK(ask("3/plugin.so", 1) == 33); CHECK(ask("5/plugin.so", 1) == 55); }\n  puts("done"); }\n')
    place.must("szc", "-O2", "main.c", "-o", "prog")
    place.alike("./prog", moved=82)


# Its first function may put another file in its place, before the runtime opens it.
TABLED = """#include <stdio.h>
#include <stdlib.h>
int begins(void) { return getenv("REPLACED_BY") != NULL && rename(getenv("REPLACED_BY"), "replaced.so") != 0; }
__attribute__((noinline)) int chosen(int k, int n) {
  switch (k) { case 0: return n + 1; case 1: return n * 2; case 2: return n ^ 5; case 3: return n - 7; case 4: return n | 3;
    case 5: return n * n; case 6: return ~n; case 7: return n >> 1; default: return 0; }
}
int work(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum = chosen(i & 7, sum + i) & 0xffffff; return sum; }
int through(int n) { return work(n) + 1; }
#define EIGHT(x) x, x, x, x, x, x, x, x
const int far_from_code[] = {EIGHT(EIGHT(EIGHT(EIGHT(1))))};
"""
TABLED_HOST = """#include <dlfcn.h>
#include <string.h>
#include "repeat.h"
static int ask(const char* file) {
  void* library = dlopen(file, RTLD_NOW);
  CHECK(library != NULL);
  int (*work)(int) = (int (*)(int))dlsym(library, "work");
  const int found = work(100);
  if (strcmp(file, "./replaced.so") == 0) REPEAT CHECK(work(100) == found);
  CHECK(work(100) == found);
  dlclose(library);
  return found;
}
int main(int count, char** files) {
  for (int i = 0; i < 20; ++i)
    for (int k = 1; k < count; ++k) printf("%d\\n", ask(files[k]));
}
"""


def build_tabled(place):
    """Builds of a library in folders one, other and renamed, with the same text: jump tables of the second lead elsewhere, and a
    function of the third has another name."""
    place.write("tabled.c", TABLED)
    place.write("host.c", TABLED_HOST)
    place.must("szc", "-O1", "-fPIC", "-S", "tabled.c", "-o", "one.s")
    lines = (place.directory / "one.s").read_text().split("\n")
    entries = [i for i, line in enumerate(lines) if line.split()[:1] == [".long"] and "-.LJTI" in line]
    expect(len(entries) == 8, f"a jump table of eight entries has {len(entries)}")
    turned = dict(zip(entries, entries[3:] + entries[:3]))
    place.write("other.s", "\n".join(lines[turned.get(i, i)] for i in range(len(lines))))
    place.write("renamed.s", "\n".join(lines).replace("through", "passage"))
    for name in ("one", "other", "renamed"):
        (place.directory / name).mkdir()
        place.must("szc", "-shared", "-Wl,-init,begins", "-Wl,-z,separate-code", f"{name}.s", "-o", f"{name}/tabled.so")
    place.must("szc", "-O2", "host.c", "-o", "host")


def check_same_text(place):
    """Builds with one name and the same text, whose tables or names differ: each is itself, one after the other, also in perf's map."""
    build_tabled(place)
    place.alike("./host", "./one/tabled.so", "./other/tabled.so", moved=40)
    place.must("sh", "-c", "echo $$ > pid; exec ./host ./one/tabled.so ./renamed/tabled.so", **ALL_ON, STAB_PERF_MAP="1", STAB_REPORT="dose")
    place.dose()  # the helper has ended
    perf_map = pathlib.Path(f"/tmp/perf-{(place.directory / 'pid').read_text().strip()}.map")
    names = {line.split()[-1] for line in perf_map.read_text().splitlines()}
    perf_map.unlink()
    for name in ("through", "passage"):
        expect(any(name in known for known in names), f"perf's map does not have {name}: {sorted(names)}")


def check_replaced(place):
    """A file that another is put in the place of, between its loading and its constructor, is not taken for what was loaded."""
    build_tabled(place)

    def host(**settings):
        for name, source in (("replaced.so", "one"), ("comes.so", "other")):
            (place.directory / name).write_bytes((place.directory / source / "tabled.so").read_bytes())
        return place.must("./host", "./replaced.so", "./one/tabled.so", **settings).stdout
    plain = host(REPLACED_BY="comes.so")
    found = host(REPLACED_BY="comes.so", STAB_REPORT="dose", **ALL_ON)
    expect(found == plain, f"{found.split()[:6]} instead of {plain.split()[:6]}")
    dose = place.dose()
    expect(any(UNREAD in text for text in dose["degradations"]), f"the layout report says {dose['degradations']}")


OWN_NAMES = """#include <stdlib.h>
#include <string.h>
int compute(int n) { return n * 3 + 1; }
static int (*volatile called)(int) = compute;
char* work(int n) {
  char* text = strdup("a text that libc copies");
  text = realloc(text, 1000 + n);
  for (int i = 0; i < n; ++i) text[i] = 'a' + (char)(called(i) % 26);
  text[n] = 0;
  return text;
}
void drop(char* text) { free(text); }
"""
DEEP_HOST = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include "repeat.h"
int compute(int n) { return -n; }
int main(void) {
  for (int i = 0; i < 2; ++i) {
    const int mode = RTLD_NOW | RTLD_DEEPBIND;
    void* library = i ? dlmopen(LM_ID_BASE, "./own.so", mode) : dlopen("./own.so", mode);
    CHECK(library != NULL);
    char* (*work)(int) = (char* (*)(int))dlsym(library, "work");
    void (*drop)(char*) = (void (*)(char*))dlsym(library, "drop");
    REPEAT { char* text = work(50); CHECK(strlen(text) == 50 && text[1] == 'a' + 4); i ? drop(text) : free(text); drop(strdup("other")); }
    puts(work(60));
    dlclose(library);
  }
}
"""


def check_deep_binding(place):
    """A library that is loaded with RTLD_DEEPBIND gets its own function of a name that the program has, too, and one heap."""
    place.write("own.c", OWN_NAMES)
    place.write("host.c", DEEP_HOST)
    place.library("own.so", "own.c")
    for compiler, preloaded in (("szc", None), (llvm.tool("clang"), place.runtime / "libstabhost.so")):
        place.must(compiler, "-O2", "-rdynamic", "host.c", "-o", "host")
        place.alike("./host", moved=2, preloaded=preloaded)


OWN_UNWINDER = """#include <stdexcept>
#include <string>
static int alive;
struct Guard { Guard() { ++alive; } ~Guard() { --alive; } };
static __attribute__((noinline)) int deep(int n) {
  Guard guard;
  if (n == 0) throw std::runtime_error("bottom");
  return deep(n - 1) + n;
}
static int caught(int n) {
  try { return deep(n); } catch (const std::exception& error) { return (int)std::string(error.what()).size() + alive; }
}
static const int at_start = caught(7);
extern "C" void fails(int n) { Guard guard; if (n % 2 == 0) throw n; deep(n % 5); }
extern "C" int work(int n, void (*call)(int)) {
  try { call(n); } catch (int thrown) { return thrown + at_start + alive; } catch (const std::exception&) { return caught(n % 9) + alive; }
  return 0;
}
"""
UNWOUND_HOST = """#define _GNU_SOURCE
#include <dlfcn.h>
#include "repeat.h"
static void (*fails)(int);
__attribute__((noinline)) static void calls_back(int n) { if (n >= 0) fails(n); puts("not thrown"); }
static void (*volatile called)(int) = calls_back;
/* Before the library comes, functions of the program run in copies. */
__attribute__((noinline)) static int before(int n) { for (volatile int i = 0; i < 3; ++i) n += i; return n; }
int main(int count, char** words) {
  (void)words;
  REPEAT CHECK(before(1) == 4);
  for (int i = 0; i < 2; ++i) {
    const int mode = RTLD_NOW | (count > 1 ? RTLD_DEEPBIND : 0);
    void* library = i ? dlmopen(LM_ID_BASE, "./also.so", mode) : dlopen("./unwinds.so", mode);
    if (library == NULL) puts(dlerror());
    CHECK(library != NULL);
    int (*work)(int, void (*)(int)) = (int (*)(int, void (*)(int)))dlsym(library, "work");
    fails = (void (*)(int))dlsym(library, "fails");
    int n = 0;
    REPEAT { CHECK(work(n, called) == (n % 2 == 0 ? n + 6 : 6)); n = (n + 1) % 100; }
    dlclose(library);
  }
  puts("done");
}
"""


def check_deep_binding_unwinder(place):
    """A library with an unwinder of its own that is loaded with RTLD_DEEPBIND: what it throws passes its copies and the program's, from
    its constructors on."""
    place.write("unwinds.cc", OWN_UNWINDER)
    place.write("host.c", UNWOUND_HOST)
    place.library("unwinds.so", "unwinds.cc", "-static-libgcc", "-static-libstdc++", compiler="szc++")
    (place.directory / "also.so").write_bytes((place.directory / "unwinds.so").read_bytes())
    for compiler, preloaded in (("szc", None), (llvm.tool("clang"), place.runtime / "libstabhost.so")):
        place.must(compiler, "-O2", "-fexceptions", "host.c", "-o", "host")
        for words in ([], ["deep"]):
            place.alike("./host", *words, moved=2, preloaded=preloaded)


def check_names(place):
    """dladdr and backtrace know functions of libraries by their names while they run in images."""
    place.write("names.c", '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <execinfo.h>\n#include <string.h>\n#include "repeat.h"\n'
                           "__attribute__((noinline)) int inner(void) { void* at[8]; const int count = backtrace(at, 8); Dl_info info;\n"
                           "  int known = 0;\n"
                           '  for (int i = 0; i < count; ++i) known += dladdr(at[i], &info) && info.dli_sname && (!strcmp(info.dli_sname, "inner") || !strcmp(info.dli_sname, "outer"));\n'
                           "  return known; }\n"
                           "__attribute__((noinline)) int outer(void) { return inner() + (inner() != 2); }\n")
    place.write("main.c", '#include "repeat.h"\nint outer(void);\nint main(void) { REPEAT CHECK(outer() == 2); puts("done"); }\n')
    place.library("libnames.so", "names.c")
    place.must("szc", "-O2", "main.c", "./libnames.so", "-o", "prog")
    place.alike("./prog", moved=1)


def check_callers(place):
    """What libc looks at its caller for: the search path of a library that loads another, and the next definition of a name."""
    place.write("hidden.c", "int hidden(int n) { return n + 40; }\n")
    place.write("loads.c", '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stddef.h>\n#include <stdlib.h>\nstatic int calls;\n'
                           "static void* find(const char* file) { return dlopen(file, RTLD_NOW); }\n"
                           'int loads(int n) { void* library = find("hidden.so"); if (library == NULL) return -1;\n'
                           '  const int found = ((int (*)(int))dlsym(library, "hidden"))(n); dlclose(library); return found; }\n'
                           "int getpagesize(void) { ++calls; int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, \"getpagesize\"); return next ? next() : -1; }\n"
                           "int moves(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i * i % 7; return sum; }\n")
    place.write("main.c", '#include <unistd.h>\n#include "repeat.h"\nint loads(int); int moves(int);\n'
                          'int main(void) { for (int i = 0; i < 50; ++i) { CHECK(loads(2) == 42); CHECK(getpagesize() == 4096); CHECK(moves(41) == 83); }\n'
                          '  REPEAT CHECK(loads(2) == 42 && getpagesize() == 4096);\n  puts("done"); }\n')
    (place.directory / "sub").mkdir()
    place.library("sub/hidden.so", "hidden.c")
    place.library("libloads.so", "loads.c", "-fno-inline", "-Wl,-rpath,$ORIGIN/sub", "-Wl,--enable-new-dtags")
    place.must("szc", "-O2", "main.c", "./libloads.so", "-o", "prog")
    info = place.must("szc", "--stab-info", "libloads.so").stdout
    told = info[info.index("asks-caller"):].splitlines()[1:4]
    expect({line.strip() for line in told} == {"find", "loads", "getpagesize"}, f"other functions ask who calls: {info}")
    plain = place.must("./prog")
    ran = place.must("./prog", **ALL_ON, STAB_REPORT="dose")
    expect(ran.stdout == plain.stdout == "done\n", ran.stdout)
    expect(place.dose()["code"]["libraries_moved"] >= 51 and place.dose()["code"]["libraries_stay"] == 0,
            f"they don't move: {place.dose()['code']}")


def check_callers_by_jumps_and_pointers(place):
    """The same where the call is a jump, as wrappers end in, and where it goes through a pointer."""
    place.write("hidden.c", "int hidden(int n) { return n + 40; }\n")
    place.write("finds.c", '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stddef.h>\n#define APART __attribute__((noinline))\n'
                           "#ifdef POINTERS\nstatic void* (*volatile symbol)(void*, const char*) = dlsym;\n"
                           "static void* (*volatile open)(const char*, int) = dlopen;\n"
                           "#else\n#define symbol dlsym\n#define open dlopen\n#endif\n"
                           "APART static void* next(const char* name) { return symbol(RTLD_NEXT, name); }\n"
                           "APART void* next_of(int n, const char* name) { return next(name + n); }\n"
                           "APART static void* load(const char* file) { return open(file, RTLD_NOW); }\n"
                           'int getpagesize(void) { int (*found)(void) = (int (*)(void))next("getpagesize"); return found ? found() : -1; }\n'
                           'int getdtablesize(void) { int (*found)(void) = (int (*)(void))next_of(1, " getdtablesize"); return found ? found() > 0 : -1; }\n'
                           'int loads(void) { void* library = load("hidden.so"); if (library != NULL) dlclose(library); return library != NULL; }\n'
                           "int moves(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i * i % 7; return sum; }\n")
    place.write("main.c", '#include <unistd.h>\n#include "repeat.h"\nint loads(void); int moves(int);\n'
                          "int main(void) { REPEAT CHECK(getpagesize() == 4096 && getdtablesize() == 1 && loads() && moves(41) == 83);\n"
                          '  puts("done"); }\n')
    (place.directory / "sub").mkdir()
    place.library("sub/hidden.so", "hidden.c", "-nostartfiles", compiler=llvm.tool("clang"))
    for options in ([], ["-DPOINTERS"], ["-fno-plt"], ["-fno-plt", "-DPOINTERS"]):
        place.library("libfinds.so", "finds.c", *options, "-Wl,-rpath,$ORIGIN/sub", "-Wl,--enable-new-dtags")
        place.must("szc", "-O2", "main.c", "./libfinds.so", "-o", "prog")
        info = place.must("szc", "--stab-info", "libfinds.so").stdout
        expect("\n    moves\n" not in info, f"{options}: all of it stays: {info}")
        place.alike("./prog", moved=1)


SWITCHES_STACKS = ('#include <ucontext.h>\n#include "repeat.h"\nstatic ucontext_t home, other; static char stack[65536]; static int steps;\n'
                   "static void runs(void) { for (;;) { ++steps; swapcontext(&other, &home); } }\n"
                   "int switches(int n) { if (steps == 0) { getcontext(&other); other.uc_stack.ss_sp = stack; other.uc_stack.ss_size = sizeof stack;\n"
                   "    makecontext(&other, runs, 0); } const int before = steps; for (int i = 0; i < n; ++i) swapcontext(&home, &other); return steps - before; }\n")


def check_switches_stacks(place):
    """A library that does: from then on no image is used again."""
    place.write("switches.c", SWITCHES_STACKS)
    place.write("work.c", WORK)
    place.write("main.c", '#include "repeat.h"\nint switches(int); int work(int);\n'
                          'int main(void) { for (int i = 0; i < 8; ++i) REPEAT CHECK(switches(10) == 10 && work(41) == 83); puts("done"); }\n')
    place.library("libswitches.so", "switches.c", "work.c")
    place.must("szc", "-O2", "main.c", "./libswitches.so", "-o", "prog")
    place.alike("./prog", moved=1, degraded=[SWITCHES])


def check_others_switch_stacks(place):
    """The same of a library of gcc's, linked or loaded: functions of the program may rest on its stacks."""
    place.write("switches.c", SWITCHES_STACKS)
    place.write("work.c", WORK)
    place.write("main.c", '#include <dlfcn.h>\n#include "repeat.h"\nint work(int);\n#ifdef LINKED\nint switches(int);\n#endif\n'
                          "int main(void) {\n#ifndef LINKED\n  int (*switches)(int) = "
                          '(int (*)(int))dlsym(dlopen("./libswitches.so", RTLD_NOW), "switches");\n#endif\n'
                          '  for (int i = 0; i < 8; ++i) REPEAT CHECK(switches(10) == 10 && work(41) == 83);\n  puts("done"); }\n')
    place.must("gcc", "-O2", "-fPIC", "-shared", "switches.c", "-o", "libswitches.so")
    for options in (["-DLINKED", "./libswitches.so"], []):
        place.must("szc", "-O2", "main.c", "work.c", *options, "-o", "prog")
        place.alike("./prog", moved=0, degraded=[SWITCHES])


# A host that switches stacks, with frames of a library on those that wait.
SWITCHING_HOST = """#include <ucontext.h>
#include "repeat.h"
int calls_back(int depth, void (*call)(void));
int work(int n);
enum { kCount = 20 };
static ucontext_t home, waits[kCount];
static int now, done;
static void call(void) { swapcontext(&waits[now], &home); }
static void body(void) { for (;;) { calls_back(20, call); ++done; } }
int main(void) {
  for (int i = 0; i < kCount; ++i) {
    getcontext(&waits[i]);
    waits[i].uc_stack.ss_sp = malloc(65536);
    waits[i].uc_stack.ss_size = 65536;
    makecontext(&waits[i], body, 0);
    now = i;
    swapcontext(&home, &waits[i]);
  }
  for (int round = 0; round < 8; ++round) REPEAT { CHECK(work(41) == 83); now = (now + 7) % kCount; swapcontext(&home, &waits[now]); }
  puts(done > 0 ? "done" : "never done");
}
"""
CALLS_BACK = ("__attribute__((noinline)) int calls_back(int depth, void (*call)(void)) {\n"
              "  if (depth == 0) { call(); return 1; }\n  return calls_back(depth - 1, call) + 1; }\n")


def hosted(place, words, **settings):
    """A run of ./host with the preloaded runtime, and its dose: again where a busy machine gave it too few layouts to come to these
    words."""
    for _ in range(5):
        (place.directory / "dose").unlink(missing_ok=True)
        ran = place.must("./host", **ALL_ON | settings | {"STAB_REPORT": "dose", "LD_PRELOAD": str(place.runtime / "libstabhost.so")})
        dose = place.dose()
        if any(words in text for text in dose["degradations"]):
            break
    return ran, dose


def check_hosts_of_stacks(place):
    """A program that szc has not linked and that switches stacks itself, by what it takes from libc: from the start no image is used
    again."""
    place.write("host.c", SWITCHING_HOST)
    place.write("calls.c", CALLS_BACK)
    place.write("work.c", WORK)
    place.library("libcalls.so", "calls.c", "work.c")
    place.must(llvm.tool("clang"), "-O2", "host.c", "./libcalls.so", "-o", "host")
    plain = place.must("./host")
    for epoch in ("1ms", "200us"):
        ran, dose = hosted(place, SWITCHES, STAB_EPOCH=epoch)
        expect(ran.stdout == plain.stdout and any(SWITCHES in text for text in dose["degradations"]) and dose["code"]["libraries_moved"] == 1,
               f"{epoch}: {ran.stdout}{dose['degradations']} {dose['code']}")


# Coroutines by assembly that no name tells, in a program or a library of another compiler's.
HIDDEN_SWITCH = """#include "repeat.h"
__asm__(".text\\n.type swap_stacks, @function\\nswap_stacks: push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\\n"
        "mov %rsp, (%rdi); mov %rsi, %rsp\\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret\\n.size swap_stacks, . - swap_stacks");
void swap_stacks(void** kept, void* other);
enum { kCount = 20, kBytes = 65536 };
static void *home, *waits[kCount];
static int now, done;
static int (*deep)(int, void (*)(void));
static void rest(void) { swap_stacks(&waits[now], home); }
static void body(void) { for (;;) { deep(20, rest); ++done; } }
int take_turns(int (*calls_back)(int, void (*)(void)), int (*work)(int)) {
  deep = calls_back;
  for (int i = 0; i < kCount; ++i) {
    void** top = (void**)((char*)malloc(kBytes) + kBytes - 64);
    *--top = NULL;
    *--top = (void*)body;
    for (int k = 0; k < 6; ++k) *--top = NULL;
    waits[i] = top;
  }
  for (int round = 0; round < 10; ++round) {
    for (now = 0; now < kCount; ++now) swap_stacks(&home, waits[now]);
    REPEAT CHECK(work(41) == 83);
  }
  return done;
}
"""


def check_others_switch_by_assembly(place):
    """Switches that nothing tells but their bytes: in a host that szc has not linked, and in a library of gcc's: no image is used again."""
    place.write("switch.c", HIDDEN_SWITCH)
    place.write("calls.c", CALLS_BACK)
    place.write("work.c", WORK)
    place.write("main.c", '#include <stdio.h>\nint calls_back(int, void (*)(void));\nint work(int);\n'
                          "int take_turns(int (*)(int, void (*)(void)), int (*)(int));\n"
                          'int main(void) { printf("%d\\n", take_turns(calls_back, work)); }\n')
    place.library("libcalls.so", "calls.c", "work.c")
    place.must(llvm.tool("clang"), "-O2", "main.c", "switch.c", "./libcalls.so", "-o", "host")
    place.must("gcc", "-O2", "-fPIC", "-shared", "switch.c", "-o", "libswitch.so")
    place.must("szc", "-O2", "main.c", "calls.c", "work.c", "./libswitch.so", "-o", "prog")
    for program, moved, preloaded in (("./host", 1, place.runtime / "libstabhost.so"), ("./prog", 0, None)):
        place.alike(program, moved=moved, degraded=[SWITCHES], preloaded=preloaded)


# As a language's runtime has it: what a library calls back runs on a stack of its own, while frames of the library rest on the thread's.
CALLED_BACK = """#include <pthread.h>
#include "repeat.h"
int calls_back(int depth, void (*call)(void));
int work(int n);
void NAME(void) {}
char* other_stack;
__attribute__((noinline)) void runs(void) { for (volatile int i = 0; i < 60000000; ++i) {} }
void runs_on_other(void);
__asm__(".text\\n.type runs_on_other, @function\\nruns_on_other:\\n push %rbx\\n mov %rsp, %rbx\\n mov other_stack(%rip), %rsp\\n"
        " call runs\\n mov %rbx, %rsp\\n pop %rbx\\n ret\\n.size runs_on_other, . - runs_on_other\\n");
static volatile int ended;
static void* body(void* sum) {
  for (int i = 0; i < 3; ++i) *(int*)sum += calls_back(3, runs_on_other);
  ended = 1;
  return NULL;
}
int main(void) {
  other_stack = (char*)malloc(65536) + 65536 - 64;
  pthread_t thread;
  int sum = 0;
  CHECK(pthread_create(&thread, NULL, body, &sum) == 0);
  while (!ended) CHECK(work(41) == 83);
  CHECK(pthread_join(thread, NULL) == 0);
  printf("%d\\n", sum);
}
"""


def check_hosts_known_by_name(place):
    """The same of one that switches stacks by assembly, which a name tells that it defines."""
    place.write("host.c", CALLED_BACK)
    place.write("calls.c", CALLS_BACK)
    place.write("work.c", WORK)
    place.library("libcalls.so", "calls.c", "work.c")
    for name in ("jump_fcontext", "_cgo_topofstack", "fiber_switchContext"):
        place.must("gcc", "-O2", "-rdynamic", f"-DNAME={name}", "host.c", "./libcalls.so", "-o", "host", "-pthread")
        ran, dose = hosted(place, SWITCHES)
        expect(ran.stdout == "12\n" and any(SWITCHES in text for text in dose["degradations"]) and dose["code"]["libraries_moved"] == 1,
               f"{name}: {ran.stdout}{dose['degradations']} {dose['code']}")


WORK = "int work(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i * i % 7; return sum; }\n"
SIMPLE = "int unused(int n) { return n * 3 + 1; }\n" + WORK
CALLS = '#include "repeat.h"\nint work(int);\nint main(void) { REPEAT CHECK(work(41) == 83); puts("done"); }\n'


def build_simple(place):
    place.write("simple.c", SIMPLE)
    place.write("main.c", CALLS)
    place.library("libsimple.so", "simple.c")
    place.must("szc", "-O2", "main.c", "./libsimple.so", "-o", "prog")


def check_damaged(place):
    """A library that was edited after its link: its code stays, and the dose says so."""
    build_simple(place)
    file = place.directory / "libsimple.so"
    address = next(int(line.split()[0], 16) for line in place.must("nm", "libsimple.so").stdout.splitlines() if line.endswith(" unused"))
    segment = next(line.split() for line in place.must("readelf", "-lW", "libsimple.so").stdout.splitlines()
                   if line.split()[:1] == ["LOAD"] and " R E " in line)
    offset = int(segment[1], 16) + address - int(segment[2], 16)
    held = bytearray(file.read_bytes())
    held[offset] ^= 1
    file.write_bytes(held)
    place.alike("./prog", moved=0, stay=1, degraded=[UNREAD])


def check_stripped(place):
    """A stripped one moves; one without metadata stays, without a complaint."""
    build_simple(place)
    place.must("strip", "libsimple.so")
    place.alike("./prog", moved=1)
    place.must("objcopy", "-R", "stab_code", "libsimple.so")
    place.alike("./prog", moved=0, stay=1)


def check_text_relocations(place):
    """A library that the loader writes addresses into stays, each time that it comes, and is counted once."""
    place.write("taken.s", ".text\n.globl work\n.type work, @function\nwork: movabs $worked, %rax\n jmp *%rax\n.size work, . - work\n")
    place.write("work.c", WORK.replace("int work(", "int worked("))
    place.write("main.c", '#include <dlfcn.h>\n#include "repeat.h"\n__attribute__((noinline)) static int own(int n) { return n + 1; }\n'
                          'int main(void) { for (int i = 0; i < 3; ++i) { void* file = dlopen("./libtaken.so", RTLD_NOW);\n'
                          '  int (*work)(int) = (int (*)(int))dlsym(file, "work"); REPEAT CHECK(work(41) == 83 && own(2) == 3); dlclose(file); } }\n')
    place.must("szc", "-O2", "main.c", "-o", "prog")
    for options in ([], ["--stab-move=all"]):
        place.library("libtaken.so", "work.c", "taken.s", "-Wl,-z,notext", "-Wno-unused-command-line-argument", *options)
        place.alike("./prog", moved=0, stay=3, times=1)


def check_no_room(place):
    """Where address space ends, libraries stay and the program goes on."""
    build_simple(place)
    said = set()
    for mebibytes in (8, 16, 32, 64, 128, 256, 512, 1024):
        for name in ("as", "data"):
            command = ["prlimit", f"--{name}={mebibytes << 20}", "./prog"]
            plain, ran = place.run(*command), place.run(*command, **ALL_ON | {"STAB_HEAP": "off"})
            expect((ran.returncode, ran.stdout, ran.stderr) == (plain.returncode, plain.stdout, plain.stderr),
                    f"{' '.join(command)}: {ran.returncode} {ran.stdout}{ran.stderr}")
            said.add(ran.stdout)
    expect("done\n" in said, "it never ran")


FILLS = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>
#include "repeat.h"
enum { kHole = 160 << 10, kSmallest = 4 << 10, kLargest = 32 << 20 };
#define FILLED (UINT64_C(2250) << 20)
static void fill(char* at, size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap(at, bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED || bytes <= kSmallest) return;
  fill(at, bytes / 2);
  fill(at + bytes / 2, bytes / 2);
}
static int (*load(const char* file))(int) {
  void* library = dlopen(file, RTLD_NOW);
  if (library == NULL) puts(dlerror());
  CHECK(library != NULL);
  return (int (*)(int))dlsym(library, "work");
}
/* The one gap that is left holds the second library, and is too small for its images. */
int main(void) {
  int (*first)(int) = load("./libsimple.so");
  char* const hole = mmap(NULL, kHole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(hole != MAP_FAILED);
  char* const below_stack = (char*)__builtin_frame_address(0) - (64 << 20);
  for (char* at = hole - FILLED; at < hole + FILLED && at < below_stack; at += kLargest) fill(at, kLargest);
  CHECK(munmap(hole, kHole) == 0);
  int (*second)(int) = load("./libother.so");
  CHECK((char*)second - hole >= 0 && (char*)second - hole < kHole);
  REPEAT CHECK(first(41) == 83 && second(41) == 83);
  puts("done");
}
"""


def check_out_of_reach(place):
    """Where other mappings take all that a library's code reaches, it stays and the report says so. No limit is to blame."""
    build_simple(place)
    place.write("fills.c", FILLS)
    place.must("szc", "-O2", "fills.c", "-o", "fills")
    (place.directory / "libother.so").write_bytes((place.directory / "libsimple.so").read_bytes())
    dose = place.alike("./fills", moved=1, stay=1, degraded=[OUT_OF_REACH], times=1)
    expect(not any("ulimit" in text for text in dose["degradations"]), f"the report blames a limit: {dose['degradations']}")


def check_static_program(place):
    """Objects of a library in an executable, dynamic and static: they are part of it, and no library."""
    place.write("simple.c", SIMPLE)
    place.write("main.c", CALLS)
    for options in ([], ["-static"], ["-static-pie"]):
        place.must("szc", "-O2", "-fPIC", *options, "main.c", "simple.c", "-o", "prog")
        place.alike("./prog", moved=0)


def check_executed(place):
    """A program that does everything in a library is in a new layout in each epoch."""
    place.write("simple.c", SIMPLE)
    place.write("main.c", "int runs(void);\nint main(void) { return runs(); }\n")
    place.write("runs.c", CALLS.replace("int main", "int runs").replace('puts("done"); }', 'puts("done"); return 0; }'))
    place.library("libruns.so", "simple.c", "runs.c")
    place.must("szc", "-O2", "main.c", "./libruns.so", "-o", "prog")
    code = place.alike("./prog", moved=1)["code"]
    expect(0 < code["library_functions_moved"] <= code["library_functions"], f"the report counts {code}")
    built, entered = code["layouts_built"], code["layouts_executed"]
    expect(built >= 8 and entered >= 0.75 * built, f"{entered} layouts of {built} were entered")   # on a busy machine fewer are built


def check_other_linkers(place):
    """A library that a program opens, and that its link doesn't know, moves whoever has linked the program."""
    place.write("simple.c", SIMPLE)
    place.write("main.c", '#include <dlfcn.h>\n#include "repeat.h"\nint main(void) { void* library = dlopen("./simple.so", RTLD_NOW);\n'
                          '  CHECK(library != NULL); int (*work)(int) = (int (*)(int))dlsym(library, "work");\n'
                          '  REPEAT CHECK(work(41) == 83);\n  puts("done"); }\n')
    for linker in ("lld", "bfd", "gold"):
        place.library("simple.so", "simple.c", f"-fuse-ld={linker}")
        place.must("szc", "-O2", f"-fuse-ld={linker}", "main.c", "-o", "prog")
        place.alike("./prog", moved=1)


def check_other_compilers(place):
    """A library of gcc's, linked by szc --stab-move=all, moves; so does one of which szc has compiled a part."""
    place.write("simple.c", SIMPLE)
    place.write("more.c", "int more(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i % 5; return sum; }\n")
    place.write("main.c", CALLS)
    place.must("gcc", "-O2", "-fPIC", "-falign-functions=16", "-c", "simple.c")
    place.must("szc", "-O2", "-fPIC", "-c", "more.c")
    for objects in (["simple.o"], ["simple.o", "more.o"]):
        place.must("szc", "--stab-move=all", "-shared", *objects, "-o", "libsimple.so")
        place.must("szc", "-O2", "main.c", "./libsimple.so", "-o", "prog")
        for _ in range(5):  # where it waits for a CPU it enters few
            code = place.alike("./prog", moved=1)["code"]
            if code["layouts_executed"] >= 10: break
        expect(code["layouts_executed"] >= 10, f"{objects}: nothing of it runs in images: {code}")
    # Where it isn't asked for, gcc's code stays, and the library with it.
    place.must("szc", "-shared", "simple.o", "-o", "libsimple.so")
    place.alike("./prog", moved=0)


def check_debugged(place):
    """gdb with our script: functions of libraries have names, lines and complete backtraces in images."""
    place.write("aborts.c", "#include <stdlib.h>\n"
                            "__attribute__((noinline)) int inner(int n) { if (n == 900000) abort(); return n * 3; }\n"
                            "__attribute__((noinline)) int middle(int n, int* at) { int all[20]; for (int i = 0; i < 20; ++i) all[i] = inner(n + i);\n"
                            "  *at = all[3]; return all[5]; }\n"
                            "int outer(int n) { int other; const int one = middle(n, &other); return one + other; }\n")
    place.write("main.c", "int outer(int);\nint main(void) { int sum = 0; for (int i = 0; i < 1000000; ++i) sum += outer(i); return sum; }\n")
    place.library("libaborts.so", "aborts.c")
    place.must("szc", "-O2", "-g", "main.c", "./libaborts.so", "-o", "prog")
    script = place.runtime.parents[1] / "share/stab/stab-gdb.py"
    said = place.must("gdb", "-q", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", f"source {script}", "-ex", "break outer",
                      "-ex", "delete", "-ex", "run", "-ex", "backtrace", "./prog", STAB_CODE="shuffle", STAB_EPOCH="1ms").stdout
    frames = [line for line in said.splitlines() if line.startswith("#")]
    for name, where in (("inner", "aborts.c:2"), ("middle", "aborts.c:3"), ("outer", "aborts.c:5"), ("main", "main.c:2")):
        expect(any(f" {name} (" in frame and where in frame for frame in frames), f"no frame of {name} at {where}:\n{said}")


def check_matched(place):
    """In matched runs two builds of a library have each function at the same place of its line, wherever the linker put it: also
    of a program that has no code of its own, and so no row in the match table."""
    place.write("where.c", "#include <stdint.h>\n#include <stdio.h>\n"
                           "__attribute__((noinline)) static uintptr_t here(void) { return (uintptr_t)__builtin_return_address(0); }\n"
                           "__attribute__((noinline)) uintptr_t first(void) { return here() + 1; }\n"
                           "__attribute__((noinline)) uintptr_t second(void) { return here() + 2; }\n"
                           'void tells(void) { printf("%d %d\\n", (int)(first() & 63), (int)(second() & 63)); }\n')
    place.write("more.c", WORK)
    place.write("main.c", "void tells(void);\nint main(void) { tells(); return 0; }\n")
    for source in ("where", "more", "main"):
        place.must("szc", "-O2", "-fPIC", "-c", f"{source}.c")
    for in_library, in_program in ((["where.o", "more.o"], ["main.o"]), (["where.o", "more.o", "main.o"], [])):
        for name, order in (("old", in_library), ("new", in_library[::-1])):
            (place.directory / name).mkdir(exist_ok=True)
            place.must("szc", "-shared", *order, "-o", f"{name}/libwhere.so")
            place.must("szc", *in_program, f"-L{name}", "-lwhere", f"-Wl,-rpath,{place.directory}/{name}", "-o", f"{name}/prog")
        expect_matched(place, in_program != [])


def expect_matched(place, program_moves):
    table = subprocess.run([place.runtime.parents[1] / "libexec/stab/stab-layout", "--match", "old/prog", "new/prog"], cwd=place.directory,
                           capture_output=True, check=True).stdout
    (place.directory / "match").write_bytes(table)
    expect(table.startswith(b"stab-script 1 any\nmatch 0 ") != program_moves, f"the table is {table[:60]}")

    def told(side, seed, **settings):
        return place.must(f"./{side}/prog", STAB_CODE="once", STAB_SEED=str(seed), **settings).stdout

    seeds = range(1, 13)
    matched = [[told(side, seed, STAB_LAYOUT="match") for seed in seeds] for side in ("old", "new")]
    expect(matched[0] == matched[1], f"matched, they lie at {matched[0]} and {matched[1]}")
    expect(len(set(matched[0])) >= 5, f"12 seeds have the places {set(matched[0])}")
    apart = [[told(side, seed) for seed in seeds] for side in ("old", "new")]
    expect(apart[0] != apart[1], "they lie alike without being matched, so this tests nothing")


def check_hosts(place):
    """In programs that szc has not linked the preloaded runtime moves libraries that it made: linked at start, and opened."""
    host = place.runtime / "libstabhost.so"
    place.write("simple.c", SIMPLE)
    place.write("main.c", CALLS)
    place.library("libsimple.so", "simple.c")
    for compiler in ("gcc", llvm.tool("clang")):
        place.must(compiler, "-O2", "main.c", "./libsimple.so", "-o", "prog")
        place.alike("./prog", moved=1, preloaded=host)
    # The loader is asked to run it, as wrappers do that bring a loader.
    place.alike("/lib64/ld-linux-x86-64.so.2", "./prog", moved=1, times=1, preloaded=host)
    build_plugins(place)
    place.must("gcc", "-O2", "host.c", "-o", "host", "-pthread")
    place.alike("./host", "200", "2", "0", moved=202, times=1, preloaded=host)
    for name, text in (("throws.cc", THROWS), ("passes.cc", PASSES), ("catches.cc", CATCHES), ("main.cc", MAIN_CATCHES)):
        place.write(name, text)
    place.library("libthrows.so", "throws.cc", compiler="szc++")
    place.library("libpasses.so", "passes.cc", "./libthrows.so", compiler="szc++")
    place.library("libcatches.so", "catches.cc", "./libpasses.so", compiler="szc++")
    place.must("g++", "-O2", "main.cc", "./libcatches.so", "./libpasses.so", "./libthrows.so", "-pthread", "-o", "prog")
    place.alike("./prog", moved=3, preloaded=host)
    script = ("import ctypes, time\nwork = ctypes.CDLL('./libsimple.so').work\nend = time.monotonic() + 0.1\n"
              "while time.monotonic() < end: assert work(41) == 83\nprint('done')\n")
    place.alike("/usr/bin/python3", "-c", script, moved=1, preloaded=host)
    # In a program of szc's its own runtime serves.
    place.must("szc", "-O2", "main.c", "./libsimple.so", "-o", "prog")
    code = place.alike("./prog", moved=1, preloaded=host)["code"]
    expect(code["functions_moved"] > 0, f"the program's own runtime doesn't serve: {code}")


def check_hosts_by_dynamic_weak(place):
    """LD_DYNAMIC_WEAK leads libraries past the preloaded runtime's names, so all stays, and the report says to leave it out. A host has
    no version script of szc's."""
    build_simple(place)
    place.must("gcc", "-O2", "main.c", "./libsimple.so", "-Wl,--no-as-needed", "-lgcc_s", "-o", "prog")
    host = str(place.runtime / "libstabhost.so")
    ran = place.must("./prog", **ALL_ON | {"STAB_REPORT": "dose", "LD_PRELOAD": host, "LD_DYNAMIC_WEAK": "1"})
    dose = place.dose()
    said = dose["degradations"]
    expect((ran.stdout, dose["code"]["libraries_moved"]) == ("done\n", 0), f"it prints {ran.stdout}, and the report has {dose['code']}")
    expect(any("without LD_DYNAMIC_WEAK" in text for text in said), f"the report says {said}")
    expect(not any(words in text for text in said for words in ("version script", "static-libgcc", "preload", "malloc of its own")), f"the report says {said}")
    place.alike("./prog", moved=1, times=1, preloaded=host)


def check_hosts_without_proc(place):
    """Without /proc libraries stay in a host, and the layout report says so with the cure."""
    inside = ["unshare", "--mount", "--map-root-user"]
    if place.run(*inside, "true").returncode != 0:
        return
    place.write("simple.c", SIMPLE)
    place.write("main.c", CALLS)
    place.library("libsimple.so", "simple.c")
    place.must("gcc", "-O2", "main.c", "./libsimple.so", "-o", "prog")
    host = place.runtime / "libstabhost.so"
    ran = place.must(*inside, "sh", "-c", f"mount -t tmpfs none /proc && LD_PRELOAD={host} exec ./prog", **ALL_ON | {"STAB_REPORT": "dose"})
    dose = place.dose()
    expect((ran.stdout, ran.stderr) == ("done\n", ""), f"it prints {ran.stdout}{ran.stderr}")
    expect(dose["code"]["libraries_stay"] == 1 and any(UNREAD in text and "/proc" in text for text in dose["degradations"]),
           f"the dose says {dose['code']} {dose['degradations']}")
    expect(dose["end"] == "exit" and dose["helper"]["ticks"] > 1, f"the helper left a program that it couldn't look at: {dose}")


PLACED = """#include <stdint.h>
__attribute__((noinline)) static uintptr_t here(void) { return (uintptr_t)__builtin_return_address(0); }
__attribute__((noinline)) int placed(void) { return (int)(here() & 4095); }
__attribute__((noinline)) int other(void) { return (int)(here() & 4095); }
"""
WHERE = """#include "repeat.h"
#include <dlfcn.h>
#include <string.h>
__attribute__((noinline)) static int own(int n) { for (volatile int i = 0; i < 3; ++i) n += i; return n; }
/* The places that a library's functions are seen at, each once, in the order of their numbers. */
int main(int count, char** words) {
  static char placed_at[4096], other_at[4096];
  for (int load = 0; load < 2; ++load) {
    void* file = dlopen(words[1], RTLD_NOW);
    CHECK(file);
    int (*placed)(void) = (int (*)(void))dlsym(file, "placed"), (*other)(void) = (int (*)(void))dlsym(file, "other");
    REPEAT { placed_at[placed()] = 1; other_at[other()] = 1; own(1); }
    dlclose(file);
  }
  for (int i = 0; i < 4096; ++i) if (placed_at[i]) printf("placed %d\\n", i);
  for (int i = 0; i < 4096; ++i) if (other_at[i]) printf("other %d\\n", i);
  return 0;
}
"""


def check_places_by_script(place):
    """A layout script places functions of a library, by name or address, whenever it comes; what can't be obeyed ends the program."""
    place.write("placed.c", PLACED)
    place.write("where.c", WHERE)
    place.library("libplaced-7.so", "placed.c", "-Wl,-soname,libplaced.so.7")
    place.must("szc", "-O2", "where.c", "-o", "where", "-ldl")

    def ran(*lines, library="./libplaced-7.so", code=0, program="./where", more={}):
        place.write("script", "\n".join(("stab-script 1 any", *lines)) + "\n")
        (place.directory / "dose").unlink(missing_ok=True)
        settings = {"STAB_CODE": "design", "STAB_LAYOUT": "script", "STAB_EPOCH": "500us", "STAB_SEED": "3", "STAB_REPORT": "dose"}
        done = place.run(program, library, **settings | more)
        expect(done.returncode == code, f"{lines}: exits {done.returncode}, expected {code}: {done.stdout}{done.stderr}")
        if code != 0:
            return done.stderr
        seen = [line.split() for line in done.stdout.splitlines()]
        return [[int(at) for name, at in seen if name == wanted] for wanted in ("placed", "other")]

    def levels(places):
        """Of what returns into a function, some bytes behind its start."""
        return sorted({at // 16 * 16 for at in places})

    placed, other = ran("rest still", "place libplaced.so.7!placed mod 4096 64 2048")
    expect(levels(placed) == [64, 2048], f"it was wanted at 64 and 2048, and was seen at {placed}")
    expect(len(other) == 1, f"the rest is still, and was seen at {other}")
    script = place.dose()["code"]["script"]
    expect((script["placed"], script["placed_in_libraries"]) == (0, 1), f"the dose says {script}")
    placed, other = ran("place libplaced.so.7!placed mod 64 32", "place own mod 64 0")
    expect({at % 64 // 16 * 16 for at in placed} == {32} and len(placed) > 8, f"it was wanted at 32 mod 64, and was seen at {placed}")
    expect(len(other) > 8, f"the rest is shuffled, and was seen at {other}")

    symbols = place.must("nm", "-D", "libplaced-7.so").stdout.splitlines()
    address = next(int(line.split()[0], 16) for line in symbols if line.endswith(" other"))
    place.must("strip", "-s", "libplaced-7.so", "-o", "stripped.so")
    _, other = ran("rest still", f"place libplaced.so.7!{address:#x} mod 4096 1024", library="./stripped.so")
    expect(levels(other) == [1024], f"it was wanted at 1024, and was seen at {other}")

    # So it is in a program that szc has not linked.
    place.must("gcc", "-O2", "where.c", "-o", "plain", "-ldl")
    preloaded = {"LD_PRELOAD": str(place.runtime / "libstabhost.so")}
    placed, other = ran("rest still", "place libplaced.so.7!placed mod 4096 64 2048", program="./plain", more=preloaded)
    expect(levels(placed) == [64, 2048] and len(other) == 1, f"in a host it was seen at {placed}, the rest at {other}")
    expect(place.dose()["code"]["script"]["placed_in_libraries"] == 1, f"the dose says {place.dose()['code']}")
    said = ran("place own mod 64 0", program="./plain", more=preloaded, code=125)
    expect("nothing moves in this program" in said, said)

    # A library that a script has no line about stays, and one that never comes is told.
    placed, _ = ran("rest still", "place libmissing.so!placed mod 4096 64")
    expect(len(placed) == 1, f"it was to stay, and was seen at {placed}")
    dose = place.dose()["code"]
    expect((dose["script"]["placed_in_libraries"], dose["libraries_stay"]) == (0, 2), f"the dose says {dose}")

    for line, words in (("place libplaced.so.7!nothere mod 64 0", "line 2: there is no function of this name or address"),
                        ("count libplaced.so.7!placed", "line 2: calls of a shared library's function can't be counted")):
        said = ran(line, code=125)
        expect(words in said, f"{line}: {said}")


DRAWN = """#include <stdint.h>
__attribute__((noinline)) static uintptr_t here(void) { return (uintptr_t)__builtin_return_address(0); }
#define DRAWN(name) uintptr_t name(int n) { volatile uintptr_t at = here(); while (n-- > 0) at += 4096; return at % 4096; }
DRAWN(first) DRAWN(second) DRAWN(third)
"""
DRAWS = """#include <stab/stab.h>
#include <stdint.h>
#include <stdio.h>
uintptr_t first(int), second(int), third(int);
int main(void) {
  for (int i = 0; i < 12; ++i) {
    printf("%d %d %d\\n", (int)first(i), (int)second(i), (int)third(i));
    stab_new_layout();
  }
  return 0;
}
"""
DRAWN_FUNCTIONS = ("first", "second", "third")


def drawn_by(name):
    """What a library's layouts are drawn by: FNV-1a of 64 bits of the name that the loader knows it by."""
    known = 0xcbf29ce484222325
    for byte in name.encode():
        known = (known ^ byte) * 0x100000001b3 % 2**64
    return known


def check_places_as_drawn(place):
    """stab-layout computes from a library's file where its functions lay in each layout of a run."""
    place.write("drawn.c", DRAWN)
    place.write("draws.c", DRAWS)
    place.library("libdrawn.so.3.1", "drawn.c", "-Wl,-soname,libdrawn.so.3")
    for link in ("libdrawn.so.3", "libdrawn.so"):
        (place.directory / link).symlink_to("libdrawn.so.3.1")
    place.must("szc", "-O2", "draws.c", "-L.", "-ldrawn", "-Wl,-rpath,$ORIGIN", "-o", "draws")
    tool = str(place.runtime.parents[1] / "libexec/stab/stab-layout")

    def seen(**settings):
        return [[int(at) for at in line.split()] for line in place.must("./draws", **settings).stdout.splitlines()]

    linked = {line.split()[2]: int(line.split()[0], 16) for line in place.must("nm", "-D", "libdrawn.so").stdout.splitlines()
              if len(line.split()) == 3}
    starts = [linked[name] for name in DRAWN_FUNCTIONS]
    behind = [(at - start) % 4096 for at, start in zip(seen(STAB_CODE="off")[0], starts)]  # of each call of here() its function's start
    script = ["stab-script 1 any", "place libdrawn.so.3!second mod 64 0 16 32 48", ""]
    place.write("script", "\n".join(script))
    for code, more in (("shuffle", {}), ("once", {}), ("design", {"STAB_LAYOUT": "script"})):
        layouts = seen(STAB_CODE=code, STAB_SEED="77", STAB_EPOCH="3600s", **more)
        told = place.must(tool, "libdrawn.so", "--library", f"{drawn_by('libdrawn.so.3'):#x}", "--code", code, "--stack", "off", "--range", "4096",
                          "--seed", "77", *(["--script", "script"] if more else []), "--through", "11", *(f"{start:x}" for start in starts))
        rows = [line.split("\t") for line in told.stdout.splitlines()[1:]]
        for number, (ran, row) in enumerate(zip(layouts, rows)):
            row = rows[0] if code == "once" else row
            computed = [(int(offset) + there) % 4096 for offset, there in zip(row[1:4], behind)]
            expect(computed == ran, f"{code}, layout {number}: at {ran}, computed {computed}")
        expect(len(layouts) == 12 and len({tuple(at) for at in layouts}) > (0 if code == "once" else 9), f"{code}: too few layouts: {layouts}")
    refused = place.run(tool, "libdrawn.so", "--library", "1", "--code", "shuffle", "--stack", "on", "--range", "4096", "--seed", "7", "--image", "0")
    expect(refused.returncode == 2, f"pads of a library were told: {refused.stdout}{refused.stderr}")


def main():
    checks = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where szc is")
    parser.add_argument("--keep", type=pathlib.Path, help="build there and keep it")
    parser.add_argument("check", choices=sorted(checks))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stab-libraries-") as scratch:
        directory = arguments.keep or scratch
        pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
        checks[arguments.check](Place(directory, arguments.bin.resolve()))
    print(f"{arguments.check}: kept")


if __name__ == "__main__":
    main()
