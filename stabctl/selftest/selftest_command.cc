// selftest: an A/A experiment of our own. A small program, whose functions the linker can put anywhere, is linked
// afresh for both sides of each comparison: what differs is luck, so every alarm is a false one. Each comparison is a
// program of the plan, so that its blocks interleave with those of the others. Blocks are sliced, as where gate and compare
// ask: a block's two builds share a CPU. How many comparisons there are is fixed before the first trial; nothing is looked at
// on the way.
#include <cstdio>

#include "analysis/commands/selftest/selftest.h"
#include "base/architecture.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabctl/selftest/causal_selftest_run.h"
#include "stabctl/selftest/nightly_control.h"
#include "stabctl/selftest/selftest_run.h"
#include "stabctl/terminal/terminal.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::ctl {
namespace {

// What a build and a trial of the program below take on a slow machine, with all that the engine does around them.
constexpr double kSecondsPerBuild = 0.5, kSecondsPerTrial = 0.08;
constexpr int kFunctions = 64;

double seconds_of_comparison(const Arguments& arguments) {
  return 2 * arguments.links * (kSecondsPerBuild + kSecondsPerTrial);
}

// 64 functions of different lengths, called in turn through their addresses' order of definition: where the linker puts
// them decides which share cache sets and predictor entries.
std::string source_text() {
  std::string text = "#include <stdio.h>\n#include <stdlib.h>\n";
  for (int i = 0; i < kFunctions; ++i) {
    const std::string n = std::to_string(i);
    text += "__attribute__((noinline)) static unsigned f" + n + "(unsigned x) {\n";
    for (int line = 0; line <= i % 7; ++line)
      text += "  x = (x ^ (x >> " + std::to_string(3 + (i + line) % 11) + ")) * " +
              std::to_string(2654435761u - 2 * static_cast<unsigned>(97 * i + line)) + "u;\n  if (x & " +
              std::to_string(1 << (line + i % 5)) + ") x += " + n + "u;\n";
    text += "  return x;\n}\n";
  }
  text += "int main(int argc, char** argv) {\n  unsigned x = 1;\n  for (long i = atol(argv[argc - 1]); i > 0; --i) {\n";
  for (int i = 0; i < kFunctions; ++i) text += "    x = f" + std::to_string(i * 29 % kFunctions) + "(x);\n";
  return text + "  }\n  printf(\"%u\\n\", x);\n  return 0;\n}\n";
}

// Each build's seed for the linker is its own: comparison, side and link go into it.
std::string plan_text(int comparisons, int links, uint64_t seed) {
  std::string text = "[experiment]\nname = \"selftest\"\nseed = " + std::to_string(seed) +
                     "\nreplicates = " + std::to_string(links) +
                     "\nresponse = \"cpu_time\"\nblocks = \"sliced\"\nalone = \"0%\"" +  // a link runs once: none to spare
                     "\n[factors]\nbuild = [1, 2]\nlink = { seeds = " + std::to_string(links) + " }\n";
  for (int i = 1; i <= comparisons; ++i)
    text += "[[program]]\nname = \"aa" + std::to_string(i) + "\"\nsource = \"source\"\nshell = true\n" +
            "build = \"STAB_LINK_SEED=$(( ({link} + 48611 * {build} + 611953 * " + std::to_string(i) +
            ") % 2147483647 )) szc -O2 work.c -o work\"\nrun = [\"./work\", \"20000\"]\ntimeout = \"60s\"\nexpect = { "
            "same_stdout = true }\n";
  return text;
}

int judge(store::Store& store, const store::ExperimentRow& row, const Arguments& arguments) {
  const auto samples = engine::load_samples(store, row);
  if (!samples) return complain_of_no_answer(samples.error());
  return print(commands::run_selftest(*samples, {.json = arguments.json}));
}

// One that was resumed, or of another day.
int judge_recorded(const Arguments& arguments) {
  auto stored = open_experiment(arguments, arguments.experiment);
  if (!stored) return complain_of_no_answer(stored.error());
  auto& [store, row] = *stored;
  return is_causal_selftest(row) ? judge_causal_selftest(store, row, arguments) : judge(store, row, arguments);
}

}  // namespace

int selftest_command(const Arguments& arguments) {
  if (!arguments.words.empty() && arguments.words[0] != "causal")
    return complain(bad_input("there is no selftest of '" + arguments.words[0] + "'; 'stabctl selftest' has one of layouts, "
                              "'stabctl selftest causal' one of causal profiles"));
  if (arguments.nightly && (!arguments.words.empty() || !arguments.experiment.empty()))
    return complain(bad_input("--nightly runs a control of its own: 'stabctl selftest --nightly'"));
  if (!arguments.nightly && (!arguments.plan.empty() || !arguments.logbook.empty() || !arguments.at_most.empty()))
    return complain(bad_input("--plan, --logbook and --at-most are of 'stabctl selftest --nightly'"));
  if (!arguments.experiment.empty() && !arguments.nightly) return judge_recorded(arguments);
  if (const Status here = check_layouts(); !here) return complain_of_no_answer(here.error());
  if (arguments.nightly) return nightly_control(arguments, source_text());
  if (!arguments.words.empty()) return causal_selftest(arguments);
  return run_selftest({source_text(), "selftest.toml",
                       [&](uint64_t seed) {
                         return plan_text(comparisons_of(arguments, seconds_of_comparison(arguments)), arguments.links, seed);
                       },
                       [&](store::Store& store, const store::ExperimentRow& row) { return judge(store, row, arguments); }},
                      arguments);
}

}  // namespace stab::ctl
