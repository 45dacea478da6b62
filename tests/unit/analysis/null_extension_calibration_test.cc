// The null control in two looks, in the shape of a first look (stabctl causal): how often it is settled, with and without
// control trials, how often one that is off by the margin passes, and what lines without effect are then said to be.
// docs/evaluation/records/calibration.md has the table; LAB_TABLES=1 prints it. Seeds are fixed: the same numbers each time.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analysis/causal_report/causal.h"
#include "analysis/causal_report/null_extension.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

constexpr double kMargin = 0.02;

bool tables() { return std::getenv("LAB_TABLES") != nullptr; }

struct Shape {
  const char* words;
  double window_spread, arm_spread;
  uint32_t trials, windows;  // of a trial
};
constexpr Shape kShapes[] = {
    {"10 trials of 5 windows, quiet", 0.015, 0, 10, 5},    {"10 trials of 12 windows", 0.03, 0, 10, 12},
    {"10 trials of 12, noisy", 0.04, 0, 10, 12},           {"10 trials of 12, trials differ", 0.02, 0.01, 10, 12},
    {"8 trials of 40, trials differ", 0.02, 0.01, 8, 40},
};

// Five lines at one speedup, two null windows and four baselines a block, as five candidates have them.
MadeProgram program_of(const Shape& shape, double bias) {
  MadeProgram program;
  program.slopes.assign(5, 0);
  program.speedups = {0.5};
  program.nulls = 2, program.baselines = 4;
  program.trials = shape.trials, program.cut_after = shape.windows, program.blocks = shape.windows / 11 + 1;
  program.window_spread = shape.window_spread, program.arm_spread = shape.arm_spread;
  program.null_bias = bias;
  return program;
}

struct Outcome {
  int first_held = 0, held = 0, extended = 0, given_up = 0, worth_it = 0, harmful = 0, no_use = 0;
  double trials = 0;
};

Outcome outcome_of(const Shape& shape, double bias, int runs) {
  Outcome out;
  for (int run = 0; run < runs; ++run) {
    const MadeProgram program = program_of(shape, bias);
    const auto seed = static_cast<uint64_t>(700000 + run);
    causal_report::CausalData data = made_windows(program, seed);
    data.margin = kMargin;
    causal_report::CausalReport report = *causal_report::analyse_causal(data, 0);
    out.first_held += report.nulls[0].holds;
    const causal_report::NullExtension more = causal_report::null_extension(report, shape.trials);
    out.given_up += more.trials == 0 && !more.why.empty();
    if (more.trials > 0) {
      MadeProgram controls = program;
      controls.controls_only = true;
      controls.nulls = controls.baselines = 2;
      controls.blocks = shape.windows / 4 + 1;
      controls.trials = static_cast<uint32_t>(more.trials);
      add_trials(data, controls, seed + 50'000'000);
      report = *causal_report::analyse_causal(data, 0);
      ++out.extended;
      out.trials += static_cast<double>(more.trials);
    }
    out.held += report.nulls[0].holds;
    bool good = false, bad = false;
    for (const causal_report::CausalCurve& curve : report.curves) {
      good = good || curve.verdict == causal_report::LineVerdict::kWorthIt;
      bad = bad || curve.verdict == causal_report::LineVerdict::kHarmful;
    }
    out.worth_it += good, out.harmful += bad;
  }
  return out;
}

double share(int part, int all) { return static_cast<double>(part) / all; }

TEST(NullExtensionCalibration, SettlesTheControlAndLetsNoFalseOnePass) {
  const int runs = tables() ? 1000 : 150;
  if (tables())
    std::puts("| shape | off by | held at first | control trials | how many | held in the end | \"worth it\" | \"harmful\" |");
  // What chance adds to a rate of 5 %, 3.3 standard errors.
  const double most = 0.05 + 3.3 * std::sqrt(0.05 * 0.95 / runs);
  for (const Shape& shape : kShapes) {
    for (const double bias : {0.0, kMargin / 2, -std::log1p(-kMargin), -std::log1p(kMargin)}) {
      const Outcome found = outcome_of(shape, bias, runs);
      if (tables())
        std::printf("| %s | %.1f %% | %.1f %% | %.1f %% | %.1f | %.1f %% | %.1f %% | %.1f %% |\n", shape.words,
                    -100 * std::expm1(-bias), 100 * share(found.first_held, runs), 100 * share(found.extended, runs),
                    found.extended ? found.trials / found.extended : 0.0, 100 * share(found.held, runs),
                    100 * share(found.worth_it, runs), 100 * share(found.harmful, runs));
      // A bias inside the margin is what the control lets pass; lines are held against the null windows, too, and don't show it.
      EXPECT_LE(share(found.worth_it, runs), most) << shape.words << " " << bias;
      EXPECT_LE(share(found.harmful, runs), most) << shape.words << " " << bias;
      if (std::fabs(bias) > 0.9 * kMargin) {
        EXPECT_LE(share(found.held, runs), most) << shape.words << " " << bias;
      } else {
        EXPECT_GE(found.held, found.first_held) << shape.words << " " << bias;
      }
    }
  }
}

// The point of it: short trials of a quiet machine hold their control in the end.
TEST(NullExtensionCalibration, ShortTrialsGetTheirVerdicts) {
  const Outcome found = outcome_of(kShapes[0], 0, 150);
  EXPECT_LT(share(found.first_held, 150), 0.6);
  EXPECT_GT(share(found.held, 150), 0.9);
}

}  // namespace
}  // namespace stab::analysis
