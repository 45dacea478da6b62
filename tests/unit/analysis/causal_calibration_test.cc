// How often causal intervals and verdicts are right, on made-up windows: coverage by trials and windows, false "worth it", power,
// and the knee's coverage. docs/evaluation/records/calibration.md has the tables; LAB_TABLES=1 prints them. Seeds are fixed: the
// same numbers each time.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analysis/causal_report/causal.h"
#include "analysis/causal_report/causal_fit.h"
#include "analysis/statistics/two_samples/proportion.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

bool tables() { return std::getenv("LAB_TABLES") != nullptr; }

struct Coverage {
  uint64_t runs = 0, covered = 0, refused = 0, bca_runs = 0, bca_covered = 0;
  double width = 0, bca_width = 0;
  double share() const { return static_cast<double>(covered) / static_cast<double>(runs); }
  double bca_share() const { return static_cast<double>(bca_covered) / static_cast<double>(bca_runs); }
};

// Of the 95 % interval of the larger speedup of line 0.
Coverage coverage_of(const MadeProgram& program, int runs, bool bca) {
  Coverage out;
  const double truth = true_saving(program, 0, program.speedups.back());
  for (int run = 0; run < runs; ++run) {
    const causal_report::CausalData data = made_windows(program, 1000 + run);
    const causal_report::CausalReport report = *causal_report::analyse_causal(data, 0);
    for (const causal_report::CausalCurve& curve : report.curves) {
      if (curve.line != 0) continue;
      const causal_report::CausalEffect& effect = curve.arms.back().effect;
      if (!effect.refused.empty()) {
        ++out.refused;
        continue;
      }
      ++out.runs;
      out.covered += effect.speedup.low <= truth && truth <= effect.speedup.high;
      out.width += effect.speedup.high - effect.speedup.low;
    }
    if (!bca) continue;
    // The declared alternative: trials drawn with replacement.
    causal_report::CausalCellSummary summary;
    const auto windows = causal_report::windows_that_count(data, 0, summary);
    const auto fit = causal_report::CausalFit::of(data, 0, windows);
    const auto interval = fit->bca({causal_report::ArmKind::kSpeedup, 0, program.speedups.back()}, 1000, 0.95, run + 1);
    if (!interval) continue;
    ++out.bca_runs;
    const double low = -std::expm1(-interval->conf_low), high = -std::expm1(-interval->conf_high);
    out.bca_covered += low <= truth && truth <= high;
    out.bca_width += high - low;
  }
  return out;
}

// The share of hits lies between these with 99.9 %: what a fixed seed may show of a rate.
bool compatible(uint64_t hits, uint64_t runs, double rate) {
  const double error = std::sqrt(rate * (1 - rate) / static_cast<double>(runs));
  return std::fabs(static_cast<double>(hits) / static_cast<double>(runs) - rate) < 3.3 * error;
}

TEST(CausalCalibration, Coverage) {
  if (tables())
    std::puts("| trials | windows an arm and trial | arms differ by trial | CR2 covers | half width | BCa covers | half width |");
  for (const uint32_t trials : {3u, 4u, 5u, 6u, 8u, 10u}) {
    for (const uint32_t blocks : {2u, 6u}) {
      for (const double arm_spread : {0.0, 0.01}) {
        MadeProgram program;
        program.slopes = {0.2, 0, 0.1};
        program.trials = trials, program.blocks = blocks, program.arm_spread = arm_spread;
        const int runs = tables() ? 2000 : 200;
        const Coverage found = coverage_of(program, runs, tables() && trials >= 5);
        EXPECT_EQ(found.refused, 0u);
        // Not below 95 % by more than chance.
        EXPECT_GT(found.share(), 0.95 - 3.3 * std::sqrt(0.95 * 0.05 / runs)) << trials << " " << blocks << " " << arm_spread;
        if (!tables()) continue;
        std::printf("| %u | %u | %s | %.1f %% | %.2f | ", trials, blocks, arm_spread > 0 ? "1 %" : "no", 100 * found.share(),
                    50 * found.width / static_cast<double>(found.runs));
        if (found.bca_runs)
          std::printf("%.1f %% | %.2f |\n", 100 * found.bca_share(), 50 * found.bca_width / static_cast<double>(found.bca_runs));
        else std::puts("- | - |");
      }
    }
  }
}

// Sets of lines without an effect, as a plan of ten lines, two speedups and five trials has them.
TEST(CausalCalibration, FalseWorthIt) {
  struct Setting {
    const char* name;
    double arm_spread, window_spread;
    uint32_t trials;
  };
  if (tables())
    std::puts(
        "| windows vary by | arms differ by trial | trials | sets | withheld | any line \"worth it\" | \"harmful\" | lines \"no "
        "use\" |");
  for (const Setting& setting : {Setting{"quiet", 0, 0.015, 5}, {"noisy", 0, 0.04, 5}, {"trials differ", 0.01, 0.015, 5},
                                 {"three trials", 0.01, 0.015, 3}, {"ten trials", 0.01, 0.03, 10}}) {
    const int sets = tables() ? 1000 : 200;
    uint64_t worth_it = 0, harmful = 0, no_use = 0, withheld = 0;
    for (int set = 0; set < sets; ++set) {
      MadeProgram program;
      program.slopes.assign(10, 0);
      program.nulls = 6;
      program.trials = setting.trials, program.arm_spread = setting.arm_spread, program.window_spread = setting.window_spread;
      causal_report::CausalData data = made_windows(program, 50000 + set);
      data.margin = 0.03;
      const causal_report::CausalReport report = *causal_report::analyse_causal(data, 0);
      withheld += !report.nulls[0].holds;
      bool any = false, bad = false;
      for (const causal_report::CausalCurve& curve : report.curves) {
        any = any || curve.verdict == causal_report::LineVerdict::kWorthIt;
        bad = bad || curve.verdict == causal_report::LineVerdict::kHarmful;
        no_use += curve.verdict == causal_report::LineVerdict::kNoUse;
      }
      worth_it += any;
      harmful += bad;
    }
    EXPECT_LT(static_cast<double>(worth_it), 0.05 * sets + 3.3 * std::sqrt(0.05 * 0.95 * sets)) << setting.name;
    EXPECT_LT(2 * withheld, static_cast<uint64_t>(sets)) << setting.name;  // else nothing was tried
    if (tables())
      std::printf("| %.1f %% | %.1f %% | %u | %d | %.1f %% | %.2f %% | %.2f %% | %.1f %% |\n", 100 * setting.window_spread,
                  100 * setting.arm_spread, setting.trials, sets, 100.0 * withheld / sets, 100.0 * worth_it / sets,
                  100.0 * harmful / sets, 10.0 * no_use / sets);
  }
}

// A line worth so much at its largest speedup among ten that are worth nothing.
TEST(CausalCalibration, Power) {
  if (tables())
    std::puts("| program speedup at 50 % | 5 trials, 6 windows an arm | 5 trials, 12 | 10 trials, 6 | 10 trials, 12 |");
  double before = -1;
  for (const double effect : {0.01, 0.02, 0.03, 0.05}) {
    if (tables()) std::printf("| %.0f %% |", 100 * effect);
    double last = 0;
    for (const uint32_t trials : {5u, 10u}) {
      for (const uint32_t blocks : {6u, 12u}) {
        if (!tables() && (trials != 10 || blocks != 6)) continue;
        const int runs = tables() ? 500 : 60;
        int found = 0;
        for (int run = 0; run < runs; ++run) {
          MadeProgram program;
          program.slopes.assign(10, 0);
          program.slopes[0] = 2 * effect;
          program.trials = trials, program.blocks = blocks, program.nulls = 6;
          program.window_spread = 0.03, program.arm_spread = 0.005;
          causal_report::CausalData data = made_windows(program, 90000 + run);
          data.margin = 0.02;
          const causal_report::CausalReport report = *causal_report::analyse_causal(data, 0);
          found += report.curves[0].verdict == causal_report::LineVerdict::kWorthIt;
        }
        last = static_cast<double>(found) / runs;
        if (tables()) std::printf(" %.0f %% |", 100 * last);
      }
    }
    if (tables()) std::puts("");
    EXPECT_GE(last, before - 0.1);
    before = last;
  }
  EXPECT_GT(before, 0.9);
}

// Of a line that lives in a part of the run.
TEST(CausalCalibration, PhaseCoverage) {
  for (const uint32_t trials : {5u, 10u}) {
    const int runs = tables() ? 1000 : 200;
    int covered = 0;
    for (int run = 0; run < runs; ++run) {
      MadeProgram program;
      program.slopes = {0.6, 0.1};
      program.alive = {0.3, 1};
      program.blocks = 10, program.trials = trials, program.arm_spread = 0.01;
      const causal_report::CausalReport report = *causal_report::analyse_causal(made_windows(program, 7000 + run), 0);
      const report::Interval& speedup = report.curves[0].arms.back().effect.speedup;
      covered += speedup.low <= 0.09 && 0.09 <= speedup.high;
    }
    if (tables()) std::printf("phase, %u trials: %.1f %%\n", trials, 100.0 * covered / runs);
    EXPECT_GT(covered, runs * (0.95 - 3.3 * std::sqrt(0.95 * 0.05 / runs)));
  }
}

// Baseline windows against each other: the share of alarms is the declared one.
TEST(CausalCalibration, FalseAlarmsOfSplitBaselines) {
  uint64_t splits = 0, alarms = 0;
  for (int run = 0; run < 40; ++run) {
    MadeProgram program;
    program.baselines = 6;
    program.trials = 6;
    const causal_report::CausalReport report = *causal_report::analyse_causal(made_windows(program, 300 + run));
    for (const causal_report::CausalAA& aa : report.aa) splits += aa.splits, alarms += aa.alarms;
  }
  if (tables()) std::printf("split baselines: %.2f %% of %lu\n", 100.0 * alarms / splits, static_cast<unsigned long>(splits));
  EXPECT_EQ(splits, 8000u);
  EXPECT_TRUE(compatible(alarms, splits / 4, 0.05) || compatible(alarms, splits, 0.05)) << alarms;
}

// Throughput that rises with load up to a knee, in small shapes: few loads, few trials.
TEST(CausalCalibration, KneeCoverage) {
  struct Shape {
    const char* name;
    std::vector<double> loads;
    double knee;
  };
  const Shape shapes[] = {{"1 2 3", {1, 2, 3}, 1.7},
                          {"1 1.5 2 3", {1, 1.5, 2, 3}, 1.8},
                          {"1 1.25 1.5 2 3 4", {1, 1.25, 1.5, 2, 3, 4}, 1.8},
                          {"1 2 3 4 6 8", {1, 2, 3, 4, 6, 8}, 5}};
  if (tables()) std::puts("| loads | throughput varies by | trials a load | interval covers | half width | \"scales to\" |");
  for (const Shape& shape : shapes) {
    for (const double spread : {0.01, 0.03}) {
      for (const uint32_t trials : {3u, 5u, 10u}) {
        constexpr int kRuns = 2000;
        int covered = 0, said = 0;
        double width = 0;
        Rng rng(trials);
        for (int run = 0; run < kRuns; ++run) {
          std::vector<causal_report::LoadedTrial> loaded;
          for (const double load : shape.loads)
            for (uint32_t t = 0; t < trials; ++t) {
              causal_report::LoadedTrial trial;
              trial.load = load;
              trial.throughput = 100 * std::min(load, shape.knee) * std::exp(spread * normal_of(rng));
              loaded.push_back(trial);
            }
          const causal_report::Saturation found = causal_report::saturation_of(loaded, 0.05);
          said += found.verdict == causal_report::ScalingVerdict::kScalesTo;
          covered += found.knee->low <= shape.knee && shape.knee <= found.knee->high;
          width += found.knee->high - found.knee->low;
        }
        if (tables())
          std::printf("| %s | %.0f %% | %u | %.1f %% | %.3f | %.1f %% |\n", shape.name, 100 * spread, trials,
                      100.0 * covered / kRuns, width / kRuns / 2, 100.0 * said / kRuns);
        // Not below 95 % by more than chance, nor so wide that it says nothing.
        EXPECT_GT(covered, kRuns * 0.93) << shape.name << " " << spread << " " << trials;
        EXPECT_LT(covered, kRuns * 0.99) << shape.name << " " << spread << " " << trials;
        EXPECT_GT(said, 0.9 * kRuns) << shape.name << " " << spread << " " << trials;
      }
    }
  }
}

}  // namespace
}  // namespace stab::analysis
