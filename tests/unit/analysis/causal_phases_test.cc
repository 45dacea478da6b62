// Parts of a run in which a line has another share, and work another rate: what is predicted is the share of the whole run's
// time.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analysis/causal_report/causal.h"
#include "tests/unit/analysis/made_phases.h"

namespace stab::analysis {
namespace {

struct Case {
  const char* name;
  PhasedProgram program;
};

std::vector<Part> drifting() {
  std::vector<Part> parts;
  for (int i = 0; i < 24; ++i) parts.push_back({1, 0.05 + 0.9 * i / 23, 300.0 + 10 * i});
  return parts;
}

// A thread's share of the time is another in another part.
const Case kCases[] = {
    {"one_part", {.parts = {{24, 0.4}}}},
    {"a_tenth_then_nine", {.parts = {{12, 0.1}, {12, 0.9}}}},
    {"a_tenth_then_nine_threads", {.parts = {{24, 0.1}, {24, 0.9}}, .threads = 4}},
    {"short_then_long", {.parts = {{18, 0.05}, {6, 0.95}}}},
    {"other_rates", {.parts = {{12, 0.1, 2000}, {12, 0.9, 100}}}},
    {"other_rates_threads", {.parts = {{24, 0.1, 100}, {24, 0.9, 2000}}, .threads = 4}},
    {"none_then_all", {.parts = {{12, 0}, {12, 1}}}},
    {"none_then_half", {.parts = {{8, 0}, {16, 0.5}}}},
    {"drifting", {.parts = drifting()}},
    {"drifting_threads", {.parts = drifting(), .threads = 2}},
    {"back_and_forth", {.parts = {{4, 0.2}, {4, 0.8}, {4, 0.2}, {4, 0.8}, {4, 0.2}, {4, 0.8}}}},
    {"few_visits", {.parts = {{12, 0.1, 8}, {12, 0.9, 8}}, .speedups = {0.5}}},
    {"noisy", {.parts = {{12, 0.1}, {12, 0.9}}, .trials = 10, .window_spread = 0.1}},
};

class Phases : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Parts, Phases, ::testing::ValuesIn(kCases), [](const auto& one) { return one.param.name; });

// Off by less than a point on average, and 95 % intervals that hold the truth as often. The window in which a run ends is left
// out, so that its last part counts a little less than it should: some tenths of a point, which narrow intervals feel.
TEST_P(Phases, ArePredictedByTheTimeThatTheyTake) {
  const PhasedProgram& program = GetParam().program;
  constexpr int kRuns = 150;
  for (size_t s = 0; s < program.speedups.size(); ++s) {
    const double truth = true_saving(program, program.speedups[s]);
    double sum = 0;
    int covered = 0, found = 0;
    for (int run = 0; run < kRuns; ++run) {
      const auto report = causal_report::analyse_causal(made_phases(program, 100 + static_cast<uint64_t>(run)), 0);
      ASSERT_TRUE(report) << report.error().message;
      ASSERT_EQ(report->curves.size(), 1u);
      const causal_report::CausalEffect& effect = report->curves[0].arms[s].effect;
      if (!effect.refused.empty()) continue;
      ++found;
      sum += effect.speedup.estimate;
      covered += effect.speedup.low <= truth && truth <= effect.speedup.high;
    }
    ASSERT_EQ(found, kRuns);
    const double mean = sum / kRuns;
    EXPECT_NEAR(mean, truth, 0.008) << "at " << program.speedups[s];
    EXPECT_GT(covered, 0.86 * kRuns) << "at " << program.speedups[s];
    if (std::getenv("LAB_TABLES"))
      std::printf("| %s | %g | %.1f | %.2f | %.1f %% |\n", GetParam().name, program.speedups[s], 100 * truth, 100 * mean,
                  100.0 * covered / kRuns);
  }
}

// Of a line that is all of the program there is no number at 100 %, and it says why.
TEST(Phases, NothingLeftIsNoNumber) {
  const auto report = causal_report::analyse_causal(made_phases({.parts = {{24, 1}}}, 5), 0);
  ASSERT_TRUE(report);
  const causal_report::CausalCurve& curve = report->curves[0];
  EXPECT_NEAR(curve.arms[0].effect.speedup.estimate, 0.5, 0.01);
  if (!curve.arms[1].effect.refused.empty())
    EXPECT_NE(curve.arms[1].effect.refused.find("a smaller speedup"), std::string::npos) << curve.arms[1].effect.refused;
  else
    EXPECT_GT(curve.arms[1].effect.speedup.estimate, 0.97);
}

}  // namespace
}  // namespace stab::analysis
