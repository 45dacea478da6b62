// Should a verdict know what the null windows showed? Three ways to hold a line against other windows, on made-up ones: against
// the baselines alone, against the null windows alone (their estimate subtracted), and against both, which is what reports do. By
// what pausing does to the null windows, and whether the lines' windows have it, too (several CPUs) or not (one, where nobody
// pauses). docs/evaluation/records/calibration.md has the table; LAB_TABLES=1 prints it. Seeds are fixed: the same numbers each
// time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analysis/causal_report/causal.h"
#include "analysis/statistics/families/multiplicity.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

using namespace causal_report;

constexpr double kMargin = 0.02, kAlpha = 0.05;
// What is wrong with so many experiments out of a hundred may still be chance: 3.3 standard errors of a rate of 5 %.
constexpr int kChecked = 150, kPrinted = 1000;

bool tables() { return std::getenv("LAB_TABLES") != nullptr; }
int runs() { return tables() ? kPrinted : kChecked; }
double most_of_five() { return 0.05 + 3.3 * std::sqrt(0.05 * 0.95 / runs()); }

struct Shape {
  const char* words;
  double window_spread, arm_spread;
  uint32_t trials, blocks;
};
constexpr Shape kShapes[] = {
    {"10 trials of 22 windows, quiet", 0.015, 0, 10, 2},
    {"8 trials of 44, trials differ", 0.02, 0.01, 8, 4},
    {"10 trials of 22, noisy", 0.04, 0, 10, 2},
};

// Of five lines: how often one without effect is said to be faster or slower, how often the one that has an effect is found, how
// often that one is said to be of no use, how often one of the others is, and how far the last one's estimate is off.
struct Rates {
  int alarms = 0, harms = 0, found = 0, lost = 0, no_use = 0;
  double off = 0;
};
using ByRule = std::array<Rates, 3>;  // baselines alone, null windows alone, both
constexpr const char* kRules[] = {"baselines", "null windows", "both"};

bool shows(const CausalEffect& effect, double p_holm) {
  const report::Interval& speedup = effect.speedup;
  return p_holm < kAlpha && (speedup.low > 0 || speedup.high < 0) && !(speedup.low > -kMargin && speedup.high < kMargin);
}

// The verdict of each of the lines as it would be with one reference alone.
void judge_alone(const CausalReport& report, CausalEffect CausalArm::*against, double effect,
                 Rates& rates) {
  std::vector<double> p, equivalence;
  for (const CausalCurve& curve : report.curves) {
    p.push_back((curve.arms[0].*against).p_value);
    equivalence.push_back((curve.arms[0].*against).p_equivalence);
  }
  const std::vector<double> changed = statistics::holm(p), equivalent = statistics::holm(equivalence);
  bool alarm = false, harm = false;
  for (size_t line = 0; line < p.size() && report.nulls[0].holds; ++line) {
    const CausalEffect& found = report.curves[line].arms[0].*against;
    const bool is_equivalent = equivalent[line] < kAlpha, faster = found.log_effect > 0;
    const bool is_change = !is_equivalent && shows(found, changed[line]);
    if (line + 1 == p.size() && effect != 0) rates.found += is_change && faster, rates.lost += is_equivalent;
    else alarm = alarm || (is_change && faster), harm = harm || (is_change && !faster), rates.no_use += is_equivalent;
  }
  rates.alarms += alarm, rates.harms += harm;
  rates.off += std::fabs((report.curves.back().arms[0].*against).speedup.estimate - effect);
}

void judge_both(const CausalReport& report, double effect, Rates& rates) {
  bool alarm = false, harm = false;
  for (size_t line = 0; line < report.curves.size(); ++line) {
    const LineVerdict verdict = report.curves[line].verdict;
    if (line + 1 == report.curves.size() && effect != 0) {
      rates.found += verdict == LineVerdict::kWorthIt, rates.lost += verdict == LineVerdict::kNoUse;
      continue;
    }
    alarm = alarm || verdict == LineVerdict::kWorthIt, harm = harm || verdict == LineVerdict::kHarmful;
    rates.no_use += verdict == LineVerdict::kNoUse;
  }
  rates.alarms += alarm, rates.harms += harm;
  rates.off += std::fabs(report.curves.back().arms[0].effect.speedup.estimate - effect);
}

// `effect`: what the last of the five lines saves.
ByRule rates_of(const Shape& shape, double bias, double line_share, double effect, int* held = nullptr) {
  ByRule out;
  for (int run = 0; run < runs(); ++run) {
    MadeProgram program;
    program.slopes.assign(5, 0);
    program.slopes.back() = 2 * effect;
    program.speedups = {0.5};
    program.nulls = 2, program.baselines = 4;  // as arms_of_block() has them for five lines
    program.trials = shape.trials, program.blocks = shape.blocks;
    program.window_spread = shape.window_spread, program.arm_spread = shape.arm_spread;
    program.null_bias = bias, program.line_share = line_share;
    CausalData data = made_windows(program, static_cast<uint64_t>(910000 + run));
    data.margin = kMargin;
    const CausalReport report = *analyse_causal(data, 0);
    if (held) *held += report.nulls[0].holds;
    judge_alone(report, &CausalArm::effect, effect, out[0]);
    judge_alone(report, &CausalArm::beyond_null, effect, out[1]);
    judge_both(report, effect, out[2]);
  }
  return out;
}

double share(int part) { return static_cast<double>(part) / runs(); }

TEST(NullComparisonCalibration, OnlyBothLetNoBiasInsideTheMarginPass) {
  if (tables())
    std::puts("| shape | null windows off by | lines' windows | null control holds | held against | any \"worth it\" | any "
              "\"harmful\" | lines \"no use\" |\n|---|---:|---:|---:|---|---:|---:|---:|");
  for (const Shape& shape : kShapes) {
    for (const auto& [bias, line_share] : {std::pair(0.0, 1.0), std::pair(kMargin / 2, 1.0), std::pair(-kMargin / 2, 1.0),
                                          std::pair(kMargin / 2, 0.0), std::pair(-kMargin / 2, 0.0)}) {
      int held = 0;
      const ByRule found = rates_of(shape, bias, line_share, 0, &held);
      for (size_t rule = 0; rule < found.size() && tables(); ++rule)
        std::printf("| %s | %.1f %% | %s | %.1f %% | %s | %.1f %% | %.1f %% | %.1f %% |\n", shape.words, -100 * std::expm1(-bias),
                    bias == 0 ? "-" : line_share > 0 ? "as well" : "not", 100 * share(held), kRules[rule],
                    100 * share(found[rule].alarms), 100 * share(found[rule].harms), 20 * share(found[rule].no_use));
      EXPECT_LE(share(found[2].alarms), most_of_five()) << shape.words << " " << bias << " " << line_share;
      EXPECT_LE(share(found[2].harms), most_of_five()) << shape.words << " " << bias << " " << line_share;
    }
  }
}

// A line that is worth more than the margin is not "no use", whatever pausing does inside the margin.
TEST(NullComparisonCalibration, OnlyBothLetNoLineOfWorthBeNoUse) {
  constexpr double kWorth = 0.0215;
  if (tables())
    std::puts("| shape | null windows off by | lines' windows | truth | \"no use\" against baselines | null windows | both |\n"
              "|---|---:|---:|---:|---:|---:|---:|");
  for (const Shape& shape : {kShapes[0], kShapes[1]}) {
    for (const auto& [bias, line_share] : {std::pair(0.0, 1.0), std::pair(-kMargin / 2, 1.0), std::pair(kMargin / 2, 0.0)}) {
      const ByRule found = rates_of(shape, bias, line_share, kWorth);
      if (tables())
        std::printf("| %s | %.1f %% | %s | %.2f %% | %.1f %% | %.1f %% | %.1f %% |\n", shape.words, -100 * std::expm1(-bias),
                    bias == 0 ? "-" : line_share > 0 ? "as well" : "not", 100 * kWorth, 100 * share(found[0].lost),
                    100 * share(found[1].lost), 100 * share(found[2].lost));
      EXPECT_LE(share(found[2].lost), most_of_five()) << shape.words << " " << bias << " " << line_share;
    }
  }
}

// What it costs: how often a line that is worth something is found, and how far estimates are off, without and with a bias.
TEST(NullComparisonCalibration, BothFindNearlyAsMuch) {
  if (tables())
    std::puts("| shape | null windows off by | lines' windows | truth | found against baselines | null windows | both | off by, "
              "baselines | null windows |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (const Shape& shape : kShapes) {
    for (const double effect : {0.02, 0.03, 0.05, 0.08}) {
      for (const auto& [bias, line_share] : {std::pair(0.0, 1.0), std::pair(kMargin / 2, 0.0), std::pair(kMargin / 2, 1.0)}) {
        if (!tables() && (bias != 0 || effect != 0.05)) continue;
        const ByRule found = rates_of(shape, bias, line_share, effect);
        if (tables())
          std::printf("| %s | %.1f %% | %s | %.0f %% | %.0f %% | %.0f %% | %.0f %% | %.2f | %.2f |\n", shape.words,
                      -100 * std::expm1(-bias), bias == 0 ? "-" : line_share > 0 ? "as well" : "not", 100 * effect,
                      100 * share(found[0].found), 100 * share(found[1].found), 100 * share(found[2].found),
                      100 * found[0].off / runs(), 100 * found[1].off / runs());
        if (bias != 0) continue;
        EXPECT_GE(share(found[2].found), 0.75 * share(found[0].found)) << shape.words << " " << effect;
      }
    }
  }
}

}  // namespace
}  // namespace stab::analysis
