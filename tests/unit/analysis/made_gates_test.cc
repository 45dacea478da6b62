// The quick gates of simulated searches answer as whole ones do.
#include "tests/unit/analysis/made_gates.h"

#include <gtest/gtest.h>

#include "analysis/commands/bisect/comparison_looks.h"
#include "analysis/commands/gate/gate.h"
#include "tests/unit/analysis/made_layouts.h"

namespace stab::analysis {
namespace {

// The same blocks in a report, look by look, as stabctl runs and reads a gate.
commands::BisectStep whole_gate(const MadeGate& gate, const std::vector<double>& draws) {
  report::Samples samples;
  samples.alpha = gate.alpha;
  samples.factors = {{"code", {"shuffle"}, true, 0},
                     {commands::kGateFactor, {commands::kGateBase, commands::kGateHead}, false, 0}};
  samples.responses = {{.name = "cpu_time", .unit = "s", .scale = report::Scale::kLog, .margin = gate.margin}};
  samples.stopping.rule = gate.looks.size() > 1 ? report::StoppingRule::kLooks : report::StoppingRule::kFixed;
  samples.stopping.looks = gate.looks;
  samples.stopping.spending = statistics::Spending::kPocock;
  samples.stopping.until_worse = true;
  samples.workloads = {"program"};
  for (const uint32_t at : gate.looks) {
    samples.trials.clear();
    for (uint32_t block = 0; block < at; ++block)
      for (uint16_t level = 0; level < 2; ++level) {
        report::Trial trial;
        trial.levels = {0, level};
        trial.block = block;
        trial.order = 2 * block + level;
        trial.seed = trial.order;
        trial.values = {std::exp(level > 0 ? draws.at(block) : 0)};
        samples.trials.push_back(std::move(trial));
      }
    const report::Samples seen = with_layouts(samples);
    if (at != gate.looks.back() && !report::look(seen, at)->stop) continue;
    return commands::step_of(commands::gate_questions(seen)->front(), gate.margin);
  }
  return {};
}

TEST(MadeGates, AnswerAsWholeGatesDo) {
  Rng rng(61);
  size_t findings[3] = {}, early = 0;
  for (int round = 0; round < 120; ++round) {
    const uint32_t blocks = round % 3 == 0 ? 0 : round % 3 == 1 ? 80 : 12;
    MadeGate gate{commands::looks_of_comparison(blocks, {10, 20, 40}), 0.01, round % 2 == 0 ? 0.05 : 0.01};
    while (gate.looks.back() > 160) gate.looks.pop_back();
    const double sd = 0.002 + 0.06 * rng.uniform(), difference = 0.03 * rng.uniform() - 0.005;
    std::vector<double> draws;
    for (uint32_t i = 0; i < gate.looks.back(); ++i) draws.push_back(difference + sd * standard_normal(rng));
    size_t next = 0;
    const commands::BisectStep quick = made_gate(gate, [&] { return draws.at(next++); });
    const commands::BisectStep whole = whole_gate(gate, draws);
    EXPECT_EQ(quick.finding, whole.finding) << round;
    EXPECT_EQ(quick.blocks, whole.blocks) << round;
    EXPECT_NEAR(quick.cost, whole.cost, 1e-9) << round;
    EXPECT_NEAR(quick.cost_low, whole.cost_low, 1e-9) << round;
    EXPECT_NEAR(quick.cost_high, whole.cost_high, 1e-9) << round;
    EXPECT_NEAR(quick.standard_error, whole.standard_error, 1e-9) << round;
    ++findings[static_cast<int>(quick.finding)];
    early += quick.blocks < gate.looks.back();
  }
  for (const size_t count : findings) EXPECT_GE(count, 5u);
  EXPECT_GE(early, 20u);
}

TEST(MadeGates, AComparisonThatDecidesGoesOnBeyondTheGate) {
  EXPECT_EQ(commands::looks_of_comparison(0, {10, 20, 40}), (std::vector<uint32_t>{10, 20, 40, 80, 160, 320, 640, 1280}));
  EXPECT_EQ(commands::looks_of_comparison(0, {400, 2000}), (std::vector<uint32_t>{400, 2000}));
  EXPECT_EQ(commands::looks_of_comparison(80, {10, 20, 40}), (std::vector<uint32_t>{20, 40, 80}));
  EXPECT_EQ(commands::looks_of_comparison(36, {10, 20, 40}), (std::vector<uint32_t>{18, 36}));
  EXPECT_EQ(commands::looks_of_comparison(10, {10, 20, 40}), (std::vector<uint32_t>{10}));
}

}  // namespace
}  // namespace stab::analysis
