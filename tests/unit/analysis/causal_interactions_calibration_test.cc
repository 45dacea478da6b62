// How often what a causal report says beside its verdicts is right, on made-up windows: whether a line's worth differs between
// cells and layouts, latencies, lines of a phase in few trials, and what a plan promises of its windows.
// docs/evaluation/records/calibration.md has the tables; LAB_TABLES=1 prints them. Seeds are fixed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analysis/causal_report/causal.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

bool tables() {
  return std::getenv("LAB_TABLES") != nullptr;
}

// Not above a rate by more than chance (99.9 %).
double at_most(double rate, double runs) {
  return rate * runs + 3.3 * std::sqrt(rate * (1 - rate) * runs);
}

// Two cells that differ in their noise and in nothing else: five lines, of which one is worth something in both.
TEST(CausalInteractionsCalibration, EqualCells) {
  struct Setting {
    uint32_t trials, blocks, cut;
    double arm_spread, other_spread;
  };
  if (tables())
    std::puts(
        "| trials a cell | blocks | cut after | arms differ by trial | windows of the other cell vary by | runs with any alarm | "
        "single p below 5 % |");
  for (const Setting& setting : {Setting{3, 6, 0, 0, 0.015},
                                 {3, 6, 0, 0.01, 0.04},
                                 {4, 3, 30, 0.01, 0.015},
                                 {6, 6, 0, 0.01, 0.04},
                                 {10, 3, 0, 0.01, 0.015}}) {
    const int runs = tables() ? 1000 : 200;
    int any = 0, single = 0, all = 0;
    for (int run = 0; run < runs; ++run) {
      MadeProgram program;
      program.slopes = {0.3, 0, 0, 0, 0};
      program.speedups = {0.5};
      program.nulls = 2;
      program.trials = setting.trials, program.blocks = setting.blocks, program.arm_spread = setting.arm_spread;
      program.cut_after = setting.cut;
      causal_report::CausalData data = made_data(program);
      data.factors = {"opt"};
      data.cells = {{{"a"}, 1}, {{"b"}, 1}};
      add_trials(data, program, 2000 + run);
      program.cell = 1, program.window_spread = setting.other_spread;
      add_trials(data, program, 700000 + run);
      const causal_report::CausalReport report = *causal_report::analyse_causal(data, 0);
      bool alarm = false;
      for (const causal_report::CausalInteraction& each : report.interactions) {
        alarm = alarm || each.p_holm < 0.05;
        single += each.p_value < 0.05, ++all;
      }
      any += alarm;
    }
    EXPECT_LT(any, at_most(0.05, runs)) << setting.trials;
    // Lines of one run share their baselines, so that these are not as many as they look.
    EXPECT_LT(single, at_most(0.05, runs) / runs * all) << setting.trials;
    if (tables())
      std::printf("| %u | %u | %u | %.0f %% | %.1f %% | %.1f %% | %.1f %% |\n", setting.trials, setting.blocks, setting.cut,
                  100 * setting.arm_spread, 100 * setting.other_spread, 100.0 * any / runs, 100.0 * single / all);
  }
}

// Layouts that do nothing. Where several trials share one, trials may differ; where each is of one trial they may not.
TEST(CausalInteractionsCalibration, LayoutsThatDoNothing) {
  struct Setting {
    uint32_t trials, layouts, blocks, cut;
    double arm_spread;
  };
  if (tables()) std::puts("| trials | layouts | blocks | arms differ by trial | F at 5 % |");
  for (const Setting& setting : {Setting{6, 6, 6, 0, 0},
                                 {10, 10, 3, 12, 0},
                                 {8, 4, 6, 0, 0.01},
                                 {12, 4, 3, 0, 0.03},
                                 {20, 10, 6, 20, 0.01},
                                 {9, 4, 6, 0, 0.01}}) {
    const int runs = tables() ? 2000 : 300;
    int alarms = 0, asked = 0;
    for (int run = 0; run < runs; ++run) {
      MadeProgram program;
      program.slopes = {0.3};
      program.speedups = {0.5};
      program.trials = setting.trials, program.blocks = setting.blocks, program.arm_spread = setting.arm_spread;
      program.cut_after = setting.cut;
      causal_report::CausalData data = made_windows(program, 5000 + run);
      for (causal_report::CausalWindow& window : data.windows) window.layout = window.trial % setting.layouts + 1;
      const causal_report::CausalReport report = *causal_report::analyse_causal(data, 0);
      for (const causal_report::LayoutInteraction& each : report.layout_interactions) alarms += each.p_value < 0.05, ++asked;
    }
    EXPECT_GT(asked, runs * 9 / 10);
    EXPECT_LT(alarms, at_most(0.05, asked)) << setting.trials << " " << setting.layouts;
    if (tables())
      std::printf("| %u | %u | %u | %.0f %% | %.1f %% |\n", setting.trials, setting.layouts, setting.blocks,
                  100 * setting.arm_spread, 100.0 * alarms / asked);
  }
}

struct Covered {
  int runs = 0, covered = 0, refused = 0;
  double width = 0;
  void add(const causal_report::CausalEffect& effect, double truth) {
    if (!effect.refused.empty()) return void(++refused);
    ++runs;
    covered += effect.speedup.low <= truth && truth <= effect.speedup.high;
    width += effect.speedup.high - effect.speedup.low;
  }
  double share() const { return static_cast<double>(covered) / runs; }
};

// The time inside goes with the level of the trial and with the arm; windows vary by a twentieth.
TEST(CausalInteractionsCalibration, LatencyCoverage) {
  struct Setting {
    uint32_t trials, blocks, cut;
    double trial_spread, arm_spread;
  };
  if (tables())
    std::puts("| trials | blocks | cut after | trials' latencies vary by | arms differ by trial | covers | half width |");
  for (const Setting& setting : {Setting{3, 6, 0, 0.01, 0},
                                 {3, 6, 0, 0.1, 0.03},
                                 {5, 6, 0, 0.1, 0.03},
                                 {5, 6, 25, 0.1, 0.03},
                                 {10, 2, 10, 0.3, 0},
                                 {10, 6, 30, 0.3, 0.03}}) {
    const int runs = tables() ? 2000 : 300;
    Covered found;
    const double truth = 0.15;
    for (int run = 0; run < runs; ++run) {
      MadeProgram program;
      program.slopes = {0.3, 0};
      program.speedups = {0.5};
      program.trials = setting.trials, program.blocks = setting.blocks, program.arm_spread = 0, program.cut_after = setting.cut;
      causal_report::CausalData data = made_windows(program, 9000 + run);
      data.points.push_back({"request", causal_report::PointKind::kLatency});
      Rng rng(static_cast<uint64_t>(run) + 1);
      std::vector<double> level(setting.trials), own(setting.trials);
      for (double& each : level) each = setting.trial_spread * normal_of(rng);
      for (double& each : own) each = setting.arm_spread * normal_of(rng);
      for (causal_report::CausalWindow& window : data.windows) {
        const bool is_arm = window.kind == causal_report::ArmKind::kSpeedup && window.line == 0u;
        const auto departures = static_cast<uint64_t>(100 + rng.below(50));
        const double seconds =
            1e-3 * std::exp(level[window.trial] + (is_arm ? std::log1p(-truth) + own[window.trial] : 0) + 0.05 * normal_of(rng));
        window.visits.push_back(departures);
        window.latencies.resize(2);
        window.latencies[1] = {1e9 * seconds * static_cast<double>(departures), departures};
      }
      const causal_report::CausalReport report = *causal_report::analyse_causal(data, 0);
      for (const causal_report::CausalCurve& curve : report.curves)
        if (curve.point == 1 && curve.line == 0) found.add(curve.arms[0].effect, truth);
    }
    EXPECT_GT(found.runs, runs * 9 / 10);
    EXPECT_GT(found.share(), 0.95 - 3.3 * std::sqrt(0.95 * 0.05 / found.runs)) << setting.trials << " " << setting.cut;
    if (tables())
      std::printf("| %u | %u | %u | %.0f %% | %.0f %% | %.1f %% | %.2f |\n", setting.trials, setting.blocks, setting.cut,
                  100 * setting.trial_spread, 100 * setting.arm_spread, 100 * found.share(), 50 * found.width / found.runs);
  }
}

// A line of a part of the run, in as few trials as verdicts are given for, whole and cut in a block.
TEST(CausalInteractionsCalibration, PhasesInFewTrials) {
  if (tables()) std::puts("| trials | cut after | phase covers | half width |");
  for (const uint32_t trials : {3u, 4u}) {
    for (const uint32_t cut : {0u, 60u}) {
      const int runs = tables() ? 2000 : 300;
      Covered found;
      for (int run = 0; run < runs; ++run) {
        MadeProgram program;
        program.slopes = {0.6, 0.1};
        program.alive = {0.5, 1};
        program.blocks = 10, program.trials = trials, program.arm_spread = 0.01, program.cut_after = cut;
        const causal_report::CausalReport report = *causal_report::analyse_causal(made_windows(program, 17000 + run), 0);
        // What was cut off is of the second half, in which the line is not: of ten blocks of nine windows five, of 60 windows 45.
        found.add(report.curves[0].arms.back().effect, 0.3 * (cut ? 45.0 / 60 : 0.5));
      }
      EXPECT_GT(found.share(), 0.95 - 3.3 * std::sqrt(0.95 * 0.05 / found.runs)) << trials << " " << cut;
      if (tables())
        std::printf("| %u | %u | %.1f %% | %.2f |\n", trials, cut, 100 * found.share(), 50 * found.width / found.runs);
    }
  }
}

// What plan check promises: a line that is worth so much is found in four of five profiles.
TEST(CausalInteractionsCalibration, PlansKeepTheirPromise) {
  struct Setting {
    uint32_t lines, speedups, trials, blocks;
    double margin;
  };
  if (tables()) std::puts("| lines | speedups | trials | windows an arm | margin | promised | found |");
  for (const Setting& setting : {Setting{1, 1, 3, 20, 0.03},
                                 {1, 1, 10, 6, 0.02},
                                 {5, 1, 10, 6, 0.01},
                                 {10, 2, 5, 4, 0.03},
                                 {10, 2, 10, 4, 0.015},
                                 {5, 2, 20, 2, 0.03},
                                 {20, 1, 4, 10, 0.02}}) {
    MadeProgram program;
    program.slopes.assign(setting.lines, 0);
    program.speedups = setting.speedups == 1 ? std::vector<double>{0.5} : std::vector<double>{0.25, 0.5};
    program.trials = setting.trials, program.blocks = setting.blocks;
    program.nulls = 4, program.baselines = 6;
    causal_report::CausalBudget budget;
    budget.lines = setting.lines, budget.speedups = setting.speedups, budget.trials = setting.trials;
    budget.spread = program.window_spread;
    budget.block_baselines = program.baselines, budget.block_nulls = program.nulls;
    budget.block_windows = setting.lines * setting.speedups + program.nulls + program.baselines;
    budget.margin = setting.margin;
    const causal_report::CausalPlanning planned = causal_report::plan_from_windows(budget, setting.trials * setting.blocks);
    program.slopes[0] = planned.detectable / program.speedups.back();
    const int runs = tables() ? 1000 : 200;
    int found = 0, asked = 0;
    for (int run = 0; run < runs; ++run) {
      causal_report::CausalData data = made_windows(program, 40000 + run);
      data.margin = budget.margin;
      const causal_report::CausalReport report = *causal_report::analyse_causal(data, 0);
      if (!report.nulls[0].holds) continue;
      ++asked;
      // At its larger speedup: with two, the smaller one is another question.
      found += report.curves[0].arms.back().verdict == report::Verdict::kChanged;
    }
    EXPECT_GT(asked, runs / 2) << setting.trials;
    const double error = std::sqrt(0.8 * 0.2 / asked), share = static_cast<double>(found) / asked;
    EXPECT_GT(share, 0.8 - 3.3 * error) << setting.lines << " " << setting.trials;
    if (tables())
      std::printf("| %u | %u | %u | %u | %.1f %% | %.2f %% | %.1f %% |\n", setting.lines, setting.speedups, setting.trials,
                  setting.trials * setting.blocks, 100 * setting.margin, 100 * planned.detectable, 100 * share);
  }
}

}  // namespace
}  // namespace stab::analysis
