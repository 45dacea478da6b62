// Any two cells: the same answer as a declared contrast gives where one asks the same, and wider intervals for who picks.
#include "analysis/report/contrasts/cell_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/contrasts/combination.h"
#include "analysis/report/report_data/report.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

std::vector<report::WorkloadUnits> units_of_first_response(const report::Samples& samples) {
  std::vector<report::WorkloadUnits> units;
  for (uint32_t w = 0; w < samples.workloads.size(); ++w) units.push_back(report::units_of(samples, w, 0));
  return units;
}

report::PairsOfResponse pairs_of(const report::Samples& samples) {
  return report::cell_pairs(samples, 0, units_of_first_response(samples), samples.alpha);
}

// Stack and heap stay at their baselines: two cells, whose pair is the contrast of code.
report::Samples two_cells(LabShape shape = {.programs = 3, .replicates = 12, .links = 4}) {
  report::Samples samples = lab_samples(5, shape);
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels[1] != 0 || trial.levels[2] != 0; });
  return samples;
}

void expect_equal(const report::Interval& a, const report::Interval& b) {
  EXPECT_DOUBLE_EQ(a.estimate, b.estimate);
  EXPECT_DOUBLE_EQ(a.low, b.low);
  EXPECT_DOUBLE_EQ(a.high, b.high);
}

TEST(CellPairs, AreTheContrastWherePlanAndReaderAskTheSame) {
  const report::Samples samples = two_cells();
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  const report::PairsOfResponse pairs = pairs_of(samples);
  ASSERT_EQ(pairs.families.size(), 4u);
  size_t compared = 0;
  for (const report::CellPairs& family : pairs.families) {
    ASSERT_EQ(family.pairs.size(), 1u);
    const auto contrast = std::find_if(report->contrasts.begin(), report->contrasts.end(), [&](const report::Contrast& one) {
      return one.factor == "code" && one.workload == family.workload && one.population != report::Population::kLikeThese;
    });
    ASSERT_NE(contrast, report->contrasts.end());
    expect_equal(family.pairs[0].one, contrast->interval);
    expect_equal(family.pairs[0].all, contrast->interval);  // a family of one
    EXPECT_EQ(family.pairs[0].n, contrast->n);
    ++compared;
  }
  EXPECT_EQ(compared, 4u);
}

// Bonferroni, by hand from the narrow interval: the ratio of the half widths is that of the two quantiles of t.
TEST(CellPairs, WidenForAllPairsAtOnce) {
  const report::Samples samples = lab_samples(3, {.programs = 1, .replicates = 15});
  const report::PairsOfResponse pairs = pairs_of(samples);
  ASSERT_EQ(pairs.families.size(), 1u);
  const report::CellPairs& family = pairs.families[0];
  ASSERT_EQ(family.cells.size(), 8u);
  ASSERT_EQ(family.pairs.size(), 28u);
  EXPECT_EQ(pairs.asked, 28u);
  for (const report::CellPair& pair : family.pairs) {
    ASSERT_EQ(pair.refused, "");
    ASSERT_EQ(pair.n, 15u);  // within blocks
    const double one = std::log(pair.one.high / pair.one.low), all = std::log(pair.all.high / pair.all.low);
    EXPECT_NEAR(all / one, statistics::t_quantile(1 - 0.05 / 2 / 28, 14) / statistics::t_quantile(0.975, 14), 1e-9);
    EXPECT_LT(pair.a, pair.b);
  }
}

// Each of 400 experiments without any effect: some interval of some pair excludes no difference in at most 5 % of them,
// but does in most of them where each pair is taken for the only one.
TEST(CellPairs, RaiseFewFalseAlarmsAllTogether) {
  int alarms = 0, single_alarms = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const report::Samples samples = lab_samples(
        1000 + seed, {.programs = 1, .replicates = 8, .layout_sd = 0, .code_effect = 0, .stack_effect = 0, .heap_effect = 0});
    bool alarm = false, single = false;
    for (const report::CellPair& pair : pairs_of(samples).families[0].pairs) {
      alarm |= pair.all.low > 1 || pair.all.high < 1;
      single |= pair.one.low > 1 || pair.one.high < 1;
    }
    alarms += alarm;
    single_alarms += single;
  }
  EXPECT_LE(alarms, 33);  // of 400 at 5 % more than 33 come once in a thousand times; Bonferroni makes fewer
  EXPECT_GT(single_alarms, 120);
}

TEST(CellPairs, RefuseATreatmentOfOneLayoutASide) {
  report::Samples samples = lab_samples(3, {.programs = 2, .replicates = 6});
  samples.factors[2].layout = false;  // a treatment; the cells with code off have one link
  for (const report::CellPairs& family : pairs_of(samples).families) {
    for (const report::CellPair& pair : family.pairs) {
      const auto &a = family.cells[pair.a], &b = family.cells[pair.b];
      const bool single = a[0] == 0 || b[0] == 0;
      EXPECT_EQ(!pair.refused.empty(), single && a[2] != b[2]) << family.workload << ' ' << pair.refused;
      if (!pair.refused.empty()) {
        EXPECT_NE(pair.refused.find(report::kOneLayoutASide), std::string::npos);
      }
    }
  }
  samples.factors[2].of_binaries = true;
  for (const report::CellPairs& family : pairs_of(samples).families)
    for (const report::CellPair& pair : family.pairs) EXPECT_EQ(pair.refused, "") << family.workload;
}

TEST(CellPairs, LeaveOutOfAllWhatOneWorkloadLacks) {
  report::Samples samples = two_cells();
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.workload == 1 && trial.levels[0] == 1; });
  const report::PairsOfResponse pairs = pairs_of(samples);
  ASSERT_EQ(pairs.families.size(), 4u);
  EXPECT_EQ(pairs.families[0].pairs.size(), 1u);
  EXPECT_TRUE(pairs.families[1].pairs.empty());
  EXPECT_TRUE(pairs.families[3].pairs.empty());
}

TEST(CellPairs, AreBounded) {
  report::Samples samples = lab_samples(3, {.programs = 1, .replicates = 1});
  samples.trials.resize(1);
  samples.factors[0].levels.assign(150, "level");
  for (uint16_t level = 1; level < 150; ++level) {
    samples.trials.push_back(samples.trials[0]);
    samples.trials.back().levels[0] = level;
  }
  const report::PairsOfResponse pairs = pairs_of(samples);
  EXPECT_EQ(pairs.asked, 150u * 149 / 2);
  EXPECT_TRUE(pairs.too_many);
  EXPECT_TRUE(pairs.families.empty());
}

}  // namespace
}  // namespace stab::analysis
