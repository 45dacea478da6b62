// selftest causal: two threads that meet at a barrier on one CPU, each doing half of a round's work. What half of one thread's
// time is worth is known, and so is what a window in which everybody pauses is worth. Each comparison is a program of the plan;
// how many there are is fixed before the first trial.
#include "stabctl/selftest/causal_selftest_run.h"

#include <cstdio>

#include "analysis/commands/selftest/causal_selftest.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabctl/selftest/selftest_run.h"
#include "stabctl/terminal/terminal.h"
#include "stabd/engine/results/load_causal.h"

namespace stab::ctl {
namespace {

// Of a comparison: its build, a preflight and a pilot trial, and its trials, on a machine that does other work.
constexpr double kSecondsPerComparison = 16;
constexpr int kTrials = 5;

// Rounds of 2 x 240000 steps of some ns: about a second of CPU time. The two functions differ, or the compiler would make one of
// them.
constexpr char kSource[] = R"(#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stab/progress.h>

#define PART(name, by)                                                                                                   \
  __attribute__((noinline, aligned(64))) static uint64_t name(uint64_t x) {                                              \
    for (long i = 0; i < 240000; ++i) __asm__ volatile("imul %1,%0\n\tadd $" #by ",%0" : "+r"(x) : "r"(x | 1));          \
    return x;                                                                                                            \
  }
PART(work, 1)
PART(other, 3)

static pthread_barrier_t barrier;
static long rounds;

static void* beside(void* seed) {
  uint64_t x = (uintptr_t)seed;
  for (long i = 0; i < rounds; ++i) {
    x = other(x);
    pthread_barrier_wait(&barrier);
  }
  return (void*)(uintptr_t)x;
}

int main(int argc, char** argv) {
  rounds = atol(argv[argc - 1]);
  uint64_t x = 1;
  void* y = NULL;
  pthread_t thread;
  if (pthread_barrier_init(&barrier, NULL, 2) != 0 || pthread_create(&thread, NULL, beside, (void*)2) != 0) return 1;
  for (long i = 0; i < rounds; ++i) {
    x = work(x);
    pthread_barrier_wait(&barrier);
    STAB_PROGRESS("round");
  }
  pthread_join(thread, &y);
  printf("%lu\n", (unsigned long)(x ^ (uintptr_t)y));
  return 0;
}
)";

// A block is one window with the line sped up, one null window and one baseline. By so wide a margin no control trial follows:
// how many windows there are is fixed before.
std::string plan_text(int comparisons, uint64_t seed) {
  std::string text = "[experiment]\nname = \"selftest-causal\"\nseed = " + std::to_string(seed) +
                     "\nreplicates = " + std::to_string(kTrials) +
                     "\nmargin = \"50%\"\n[machine]\ncpus = \"auto\"\n[causal]\nunit = \"function\"\ncandidates = [\"work\"]\n"
                     "scope = [\"work.c\"]\nprogress = [\"round\"]\nspeedups = [\"50%\"]\ncontrols = [\"null\"]\n"
                     "explore = \"0%\"\n"
                     "window = \"50ms\"\ncooloff = \"1ms\"\npilot = 1\n";
  for (int i = 1; i <= comparisons; ++i)
    text += "[[program]]\nname = \"aa" + std::to_string(i) + "\"\nsource = \"source\"\nshell = true\n" +
            "build = 'cc -g -O2 -I \"$(dirname \"$(command -v szc)\")/../include\" work.c -o work -lpthread'\n"
            "run = [\"./work\", \"1000\"]\ntimeout = \"60s\"\nexpect = { same_stdout = true }\n";
  return text;
}

}  // namespace

bool is_causal_selftest(const store::ExperimentRow& row) { return row.name.starts_with("selftest-causal"); }

int judge_causal_selftest(store::Store& store, const store::ExperimentRow& row, const Arguments& arguments) {
  const auto programs = engine::load_causal(store, row);
  if (!programs) return complain_of_no_answer(programs.error());
  return print(commands::run_causal_selftest(*programs, {.json = arguments.json}));
}

int causal_selftest(const Arguments& arguments) {
  return run_selftest({kSource, "selftest-causal.toml",
                       [&](uint64_t seed) { return plan_text(comparisons_of(arguments, kSecondsPerComparison), seed); },
                       [&](store::Store& store, const store::ExperimentRow& row) {
                         return judge_causal_selftest(store, row, arguments);
                       }},
                      arguments);
}

}  // namespace stab::ctl
