// gate_table [ROUNDS]: a Markdown table of what `stabctl gate` answers, and after how many blocks, where head is slower
// than base by a known amount. Whole gates are simulated: blocks of two trials with a layout each, the stopping rule that
// stab-gate.toml declares, then the answer itself (analysis/commands/gate/gate.h).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/commands/gate/gate.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_layouts.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::commands;
using namespace stab::report;

constexpr double kMargin = 0.02, kNight = 0.1;  // of the gate; standard deviation of a block, which both sides share

struct Rule {
  const char* name;
  Stopping stopping;
  std::vector<uint32_t> looks;
};

struct Shape {
  const char* name;
  double spread = 0.01;      // standard deviation of a trial's logarithm within its block
  uint32_t programs = 1;     // each a question; only the first one is slower
  bool heavy = false;        // one trial in twenty takes four times the spread longer, never less
};

Rule of_looks() {
  Rule rule{"looks 10, 20, 40", {}, {10, 20, 40}};
  rule.stopping.rule = StoppingRule::kLooks;
  rule.stopping.looks = rule.looks;
  rule.stopping.until_worse = true;
  return rule;
}

Rule of_sequence() {
  Rule rule{"max 40", {}, {}};
  rule.stopping.rule = StoppingRule::kSequence;
  rule.stopping.first = 8;
  rule.stopping.max = 40;
  rule.stopping.until_worse = true;
  for (uint32_t blocks = 8; blocks <= 40; ++blocks) rule.looks.push_back(blocks);
  return rule;
}

Samples trials_of(Rng& rng, const Shape& shape, const Rule& rule, double slower) {
  Samples samples;
  samples.factors = {{"code", {"shuffle"}, true, 0}, {kGateFactor, {kGateBase, kGateHead}, false, 0}};
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = Scale::kLog, .margin = kMargin}};
  samples.stopping = rule.stopping;
  uint32_t order = 0;
  for (uint32_t program = 0; program < shape.programs; ++program)
    samples.workloads.push_back("program " + std::to_string(program));
  for (uint32_t block = 0; block < rule.looks.back(); ++block) {
    const double night = kNight * standard_normal(rng);
    for (uint32_t program = 0; program < shape.programs; ++program)
      for (uint16_t level = 0; level < 2; ++level) {
        double error = shape.spread * standard_normal(rng);
        if (shape.heavy && rng.below(20) == 0) error += 4 * shape.spread;
        Trial trial;
        trial.workload = program;
        trial.levels = {0, level};
        trial.block = block;
        trial.order = order++;
        trial.seed = rng.next();
        trial.values = {std::exp(night + error + (level > 0 && program == 0 ? std::log1p(slower) : 0))};
        samples.trials.push_back(std::move(trial));
      }
  }
  return with_layouts(std::move(samples));
}

void row(const Shape& shape, const Rule& rule, double slower, int rounds) {
  Rng rng = Rng::stream(31, std::string(shape.name) + rule.name + std::to_string(slower));
  int answers[4] = {};
  std::vector<uint32_t> blocks;
  for (int round = 0; round < rounds; ++round) {
    const Samples all = trials_of(rng, shape, rule, slower);
    for (const uint32_t at : rule.looks) {
      const Samples seen = first_blocks(all, at);
      const auto outcome = look(seen, at);
      if (!outcome) {
        std::fprintf(stderr, "gate_table: %s\n", outcome.error().message.c_str());
        std::exit(1);
      }
      if (!outcome->stop && at != rule.looks.back()) continue;
      const auto answer = run_gate(seen, {"base", "head", "stabctl gate base..head", {}});
      if (!answer) {
        std::fprintf(stderr, "gate_table: %s\n", answer.error().message.c_str());
        std::exit(1);
      }
      ++answers[answer->exit_code];
      blocks.push_back(at);
      break;
    }
  }
  std::nth_element(blocks.begin(), blocks.begin() + rounds / 2, blocks.end());
  const auto share = [&](int code) { return 100.0 * answers[code] / rounds; };
  std::printf("| %s | %s | %+.0f %% | %.1f | %.1f | %.1f | %u |\n", shape.name, rule.name, 100 * slower, share(0), share(1),
              share(3), blocks[rounds / 2]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (rounds < 1) {
    std::fprintf(stderr, "gate_table: '%s' is no number of rounds\n", argv[1]);
    return 2;
  }
  std::puts("| trials | `[gate]` | head is | 0, not worse | 1, worse | 3, unsure | blocks |\n|---|---|---:|---:|---:|---:|---:|");
  const Shape shapes[] = {{"one program, spread 1 %", 0.01},
                          {"one program, spread 3 %", 0.03},
                          {"one program, spread 2 %, one trial in 20 late", 0.02, 1, true},
                          {"five programs, spread 2 %", 0.02, 5}};
  for (const Shape& shape : shapes)
    for (const Rule& rule : {of_looks(), of_sequence()})
      for (const double slower : {0.0, 0.02, 0.03, 0.05}) row(shape, rule, slower, rounds);
}
