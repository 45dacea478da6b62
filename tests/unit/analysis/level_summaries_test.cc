// What is computed beforehand for a filter by levels: against the cells, where one is left, and against a formula of its own.
#include "analysis/report/experiment/level_summaries.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using Levels = std::vector<std::pair<std::string, std::string>>;

const report::LevelSummary* find(const report::Report& report, const std::string& workload, const Levels& levels) {
  for (const report::LevelSummary& one : report.level_summaries.all)
    if (one.workload == workload && one.levels == levels) return &one;
  return nullptr;
}

// The trials themselves, by hand.
std::vector<double> values_of(const report::Samples& samples, uint32_t workload, const std::vector<int>& wanted) {
  std::vector<double> out;
  for (const report::Trial& trial : samples.trials) {
    if (trial.workload != workload || !trial.excluded.empty()) continue;
    bool is_in = true;
    for (size_t f = 0; f < wanted.size(); ++f) is_in &= wanted[f] < 0 || trial.levels[f] == wanted[f];
    if (is_in) out.push_back(*trial.values[0]);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(LevelSummaries, EachLevelAndEachPairOfLevels) {
  const report::Report report = *report::analyse(lab_samples(1, {.programs = 2, .replicates = 10}));
  // Of two programs: all, three factors of two levels, three pairs of factors of four.
  EXPECT_EQ(report.level_summaries.all.size(), 2u * (1 + 6 + 12));
  EXPECT_EQ(report.level_summaries.left_out, 0u);
  EXPECT_NE(find(report, "fib", {}), nullptr);
  EXPECT_NE(find(report, "strings", {{"code", "shuffle"}, {"heap", "page"}}), nullptr);
  EXPECT_EQ(find(report, "fib", {{"heap", "page"}, {"code", "shuffle"}}), nullptr) << "in the design's order";
}

TEST(LevelSummaries, QuantilesAndCountsAreThoseOfTheTrials) {
  report::Samples samples = lab_samples(2, {.programs = 2, .replicates = 9});
  samples.trials[3].excluded = "rule";
  const report::Report report = *report::analyse(samples);
  const std::vector<double> values = values_of(samples, 1, {1, -1, 0});
  const report::LevelSummary& one = *find(report, "strings", {{"code", "shuffle"}, {"heap", "base"}});
  EXPECT_EQ(one.n, values.size());
  EXPECT_EQ(one.cells, 2u);
  EXPECT_DOUBLE_EQ(one.least, values.front());
  EXPECT_DOUBLE_EQ(one.most, values.back());
  ASSERT_EQ(values.size() % 2, 0u);
  EXPECT_DOUBLE_EQ(one.median, (values[values.size() / 2 - 1] + values[values.size() / 2]) / 2);
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  EXPECT_NEAR(*one.sd, std::sqrt(squares / static_cast<double>(values.size() - 1)), 1e-12);
}

TEST(LevelSummaries, OfOneCellItsMeanIsTheCells) {
  report::Samples samples = lab_samples(3, {.programs = 1, .replicates = 12});
  // The third factor is gone: two make the cells.
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels[2] == 1; });
  samples.factors.pop_back();
  for (report::Trial& trial : samples.trials) trial.levels.pop_back();
  const report::Report report = *report::analyse(samples);
  ASSERT_EQ(report.cells.size(), 4u);
  for (const report::Cell& cell : report.cells) {
    const report::LevelSummary& one = *find(report, "fib", {{"code", cell.levels[0]}, {"stack", cell.levels[1]}});
    EXPECT_EQ(one.n, cell.n);
    EXPECT_EQ(one.median, cell.median);
    EXPECT_EQ(one.one_layout, cell.one_layout);
    ASSERT_TRUE(one.interval.has_value()) << one.no_interval;
    EXPECT_DOUBLE_EQ(one.mean, cell.mean_interval->estimate);
    EXPECT_DOUBLE_EQ(one.interval->first, cell.mean_interval->low);
    EXPECT_DOUBLE_EQ(one.interval->second, cell.mean_interval->high);
  }
}

// Of several cells of rows that are in no blocks: the mean of their means, and the error from within them, with degrees of
// freedom by Satterthwaite, written down here once more.
TEST(LevelSummaries, OfSeveralCellsTheErrorComesFromWithinThem) {
  report::Samples samples = lab_samples(4, {.programs = 1, .replicates = 15, .heap_effect = -0.3});
  samples.unit = report::Unit::kRow;
  const report::Report report = *report::analyse(samples);
  const report::LevelSummary& one = *find(report, "fib", {{"code", "shuffle"}});
  double mean = 0, variance = 0, df = 0;
  for (const int stack : {0, 1})
    for (const int heap : {0, 1}) {
      std::vector<double> logs;
      for (const double value : values_of(samples, 0, {1, stack, heap})) logs.push_back(std::log(value));
      double centre = 0, squares = 0;
      for (const double x : logs) centre += x / 15;
      for (const double x : logs) squares += (x - centre) * (x - centre);
      const double part = squares / 14 / 15 / 16;
      mean += centre / 4;
      variance += part;
      df += part * part / 14;
    }
  df = variance * variance / df;
  const double half = statistics::t_quantile(0.975, df) * std::sqrt(variance);
  ASSERT_TRUE(one.interval.has_value()) << one.no_interval;
  EXPECT_NEAR(one.mean, std::exp(mean), 1e-12);
  EXPECT_NEAR(one.interval->first, std::exp(mean - half), 1e-10);
  EXPECT_NEAR(one.interval->second, std::exp(mean + half), 1e-10);
  EXPECT_LT(one.interval->second / one.interval->first, 1.03) << "what the heap changes by 30 % is no noise";
}

// What a block did to all its trials, beside what lab_samples() does.
report::Samples with_block_effects(uint64_t seed, double sd, LabShape shape = {.programs = 1, .replicates = 15}) {
  report::Samples samples = lab_samples(seed, shape);
  Rng rng = Rng::stream(seed, "block effects");
  std::vector<double> effects(static_cast<size_t>(shape.replicates));
  for (double& effect : effects) effect = sd * standard_normal(rng);
  for (report::Trial& trial : samples.trials) *trial.values[0] *= std::exp(effects[trial.block]);
  return samples;
}

TEST(LevelSummaries, OfCellsInTheSameBlocksTheIntervalIsThatOfTheBlocksMeans) {
  const report::Samples samples = with_block_effects(4, 0.03);
  const report::Report report = *report::analyse(samples);
  const report::LevelSummary& one = *find(report, "fib", {{"code", "shuffle"}});
  std::vector<double> blocks(15);
  for (const report::Trial& trial : samples.trials)
    if (trial.levels[0] == 1) blocks[trial.block] += std::log(*trial.values[0]) / 4;
  const statistics::ConfidenceInterval interval = statistics::mean_interval(statistics::moments(blocks), 0.95);
  ASSERT_TRUE(one.interval.has_value()) << one.no_interval;
  EXPECT_NEAR(one.interval->first, std::exp(interval.low), 1e-12);
  EXPECT_NEAR(one.interval->second, std::exp(interval.high), 1e-12);
}

// Blocks of which every fifth trial is left out, too: cells share only some of theirs.
TEST(LevelSummaries, TheIntervalCoversTheMeanOfWhatBlocksDo) {
  const double truth = 0.5 * std::exp(0.02 - 0.03 / 2);
  for (const bool with_gaps : {false, true}) {
    int covered = 0;
    for (uint64_t seed = 1; seed <= 400; ++seed) {
      report::Samples samples = with_block_effects(seed, 0.03);
      Rng rng = Rng::stream(seed, "gaps");
      if (with_gaps)
        for (report::Trial& trial : samples.trials)
          if (rng.below(5) == 0) trial.excluded = "rule";
      const report::LevelSummaries summaries = report::level_summaries_of(samples, {{report::units_of(samples, 0, 0)}});
      const auto one = std::find_if(summaries.all.begin(), summaries.all.end(), [](const report::LevelSummary& other) {
        return other.levels == Levels{{"code", "shuffle"}};
      });
      ASSERT_TRUE(one != summaries.all.end() && one->interval.has_value());
      covered += one->interval->first <= truth && truth <= one->interval->second;
    }
    // Of 400 at 95 % there are 380, with a deviation of 4.4.
    EXPECT_GE(covered, 366) << (with_gaps ? "with gaps" : "complete");
    EXPECT_LE(covered, 394) << (with_gaps ? "with gaps" : "complete");
  }
}

TEST(LevelSummaries, LinksThatComeBackInSeveralBlocksHaveNoInterval) {
  report::Samples samples = lab_samples(5, {.programs = 1, .replicates = 10});
  // Each cell with links of its own, as builds of several options have them.
  for (report::Trial& trial : samples.trials) {
    trial.fixed_code = true;
    trial.layout = 100u * (4u * trial.levels[0] + 2u * trial.levels[1] + trial.levels[2]) + trial.block % 5;
  }
  const report::Report report = *report::analyse(samples);
  const report::LevelSummary& one = *find(report, "fib", {{"code", "off"}});
  EXPECT_FALSE(one.interval.has_value());
  EXPECT_NE(one.no_interval.find("came back in several blocks"), std::string::npos);
}

TEST(LevelSummaries, OfProgramsWithoutAFactorEachHasIts) {
  report::Samples samples = lab_samples(8, {.programs = 2, .replicates = 6});
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels != std::vector<uint16_t>{1, 1, 1}; });
  for (report::Trial& trial : samples.trials) trial.levels = {0, 0, 0};
  for (report::Factor& factor : samples.factors) factor.levels = {factor.levels[1]};
  const report::Report report = *report::analyse(samples);
  ASSERT_EQ(report.level_summaries.all.size(), 2u);
  EXPECT_EQ(find(report, "strings", {})->n, 6u);
}

TEST(LevelSummaries, CellsThatRanTheSameLinksHaveNoInterval) {
  report::Samples samples = lab_samples(5, {.programs = 1, .replicates = 10, .links = 5});
  for (report::Trial& trial : samples.trials) {
    trial.fixed_code = trial.levels[0] == 0;
    trial.layout = trial.fixed_code ? trial.link : 100 + trial.order;
  }
  const report::Report report = *report::analyse(samples);
  const report::LevelSummary& linked = *find(report, "fib", {{"code", "off"}});
  EXPECT_FALSE(linked.interval.has_value());
  EXPECT_NE(linked.no_interval.find("same links"), std::string::npos);
  EXPECT_TRUE(find(report, "fib", {{"code", "shuffle"}})->interval.has_value());
}

TEST(LevelSummaries, TooManyPairsAreLeftOutAndCounted) {
  const report::Report report = *report::analyse(lab_samples(6, {.programs = 30, .replicates = 2}));
  EXPECT_EQ(report.level_summaries.all.size(), 30u * 7) << "levels, and all trials of a program";
  EXPECT_EQ(report.level_summaries.left_out, 30u * 12);
}

TEST(LevelSummaries, AreInTheJson) {
  const report::Report report = *report::analyse(lab_samples(7, {.programs = 1, .replicates = 4}));
  const auto json = nlohmann::json::parse(report::to_json(report));
  ASSERT_EQ(json["level_summaries"].size(), report.level_summaries.all.size());
  const auto& one = json["level_summaries"][1];
  const report::LevelSummary& summary = report.level_summaries.all[1];
  EXPECT_EQ(one["levels"], (nlohmann::json{{"code", "off"}}));
  EXPECT_EQ(one["n"], summary.n);
  EXPECT_EQ(one["median"], summary.median);
  EXPECT_EQ(json["level_summaries_left_out"], 0);
}

}  // namespace
}  // namespace stab::analysis
