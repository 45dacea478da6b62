// Declared estimators in the report: which draws they take, what they refuse, and how they are judged and shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/report/contrasts/estimators.h"
#include "analysis/report/report_data/report.h"
#include "analysis/statistics/two_samples/quantile_contrast.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "tests/unit/analysis/estimated_blocks.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const report::EstimatorContrast& of(const report::Report& report, const std::string& estimator,
                                    const std::string& workload = "program") {
  for (const report::EstimatorContrast& contrast : report.estimators)
    if (contrast.estimator == estimator && contrast.workload == workload) return contrast;
  ADD_FAILURE() << "no " << estimator << " of " << workload;
  static const report::EstimatorContrast none;
  return none;
}

report::Samples twenty_blocks(double effect = 1, double margin = 0.5) {
  Rng rng = Rng::stream(5, "estimators");
  return estimated_blocks(rng, {.blocks = 30}, effect, margin);
}

// The differences within blocks, of a linear response.
std::vector<double> block_differences(const report::Samples& samples) {
  std::map<uint32_t, double> differences;
  for (const report::Trial& trial : samples.trials) differences[trial.block] += (trial.levels[1] > 0 ? 1 : -1) * *trial.values[0];
  std::vector<double> out;
  for (const auto& [block, difference] : differences) out.push_back(difference);
  return out;
}

TEST(Estimators, HodgesLehmannIsThatOfTheBlocksDifferences) {
  const report::Samples samples = twenty_blocks();
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report) << report.error().text();
  const auto ranks = statistics::wilcoxon_signed_rank(block_differences(samples), {});
  ASSERT_TRUE(ranks);
  const report::EstimatorContrast& contrast = of(*report, "hodges-lehmann");
  EXPECT_EQ(contrast.refused, "");
  EXPECT_EQ(contrast.n, 30u);
  EXPECT_TRUE(contrast.distribution_free);
  EXPECT_NEAR(contrast.interval.estimate, ranks->estimate, 1e-12);
  EXPECT_NEAR(contrast.interval.low, *ranks->conf_low, 1e-12);
  EXPECT_NEAR(contrast.interval.high, *ranks->conf_high, 1e-12);
  EXPECT_NEAR(contrast.p_value, ranks->p_value, 1e-12);
}

TEST(Estimators, WhatABlockHasInCommonCancelsInHodgesLehmann) {
  report::Samples samples = twenty_blocks();
  const auto before = report::analyse(samples);
  for (report::Trial& trial : samples.trials) *trial.values[0] += 5 * (trial.block % 7);
  const auto after = report::analyse(samples);
  ASSERT_TRUE(before && after);
  EXPECT_NEAR(of(*after, "hodges-lehmann").interval.low, of(*before, "hodges-lehmann").interval.low, 1e-9);
  EXPECT_NEAR(of(*after, "hodges-lehmann").interval.high, of(*before, "hodges-lehmann").interval.high, 1e-9);
}

// Twenty blocks of 2 x 3 cells by a clock of tenths: fifteen are equal on both sides. What sums of thirds leave there is no
// difference. R: coin::wilcoxsign_test(c(rep(0, 15), 1, 1, -1, 2, 2) ~ rep(0, 20), zero.method = "Wilcoxon",
// distribution = "exact") has p = 0.25, and the middle of all averages of two is 0.
TEST(Estimators, WhatRoundingLeavesIsNoDifference) {
  const int steps[] = {3, 3, -3, 6, 6};
  report::Samples samples;
  samples.workloads = {"program"};
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLinear, .margin = 0}};
  samples.factors = {{"code", {"shuffle"}, true, 0}, {"opt", {"a", "b"}, false, 0}, {"threads", {"1", "2", "3"}, false, 0}};
  samples.estimators = {{report::Estimator::Kind::kHodgesLehmann, 0.5}};
  for (uint32_t block = 0; block < 20; ++block)
    for (uint16_t side = 0; side < 2; ++side)
      for (uint16_t cell = 0; cell < 3; ++cell) {
        report::Trial trial;
        trial.levels = {0, side, cell};
        trial.block = block;
        trial.order = static_cast<uint32_t>(samples.trials.size());
        trial.seed = trial.order + 1;
        trial.values = {(71 + 13 * cell + (side == 1 && block < 5 && cell == block % 3 ? steps[block] : 0)) / 10.0};
        samples.trials.push_back(std::move(trial));
      }
  const auto report = report::analyse(with_layouts(std::move(samples)));
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->contrasts[0].blocked);
  EXPECT_NEAR(report->contrasts[0].p_rank.value_or(0), 0.25, 1e-12);
  const report::EstimatorContrast& located = of(*report, "hodges-lehmann", "program");
  EXPECT_EQ(located.refused, "");
  EXPECT_NEAR(located.p_value, 0.25, 1e-12);
  EXPECT_EQ(located.interval.estimate, 0);
}

TEST(Estimators, ALongTrialMovesTheMeanAndNotTheMiddle) {
  report::Samples samples = twenty_blocks();
  const auto before = report::analyse(samples);
  for (report::Trial& trial : samples.trials)
    if (trial.block == 3 && trial.levels[1] == 1) *trial.values[0] += 1000;
  const auto after = report::analyse(samples);
  ASSERT_TRUE(before && after);
  const double moved = after->contrasts.back().interval.estimate - before->contrasts.back().interval.estimate;
  EXPECT_NEAR(moved, 1000.0 / 30, 1e-6);
  EXPECT_LT(std::fabs(of(*after, "hodges-lehmann").interval.estimate - of(*before, "hodges-lehmann").interval.estimate), 0.3);
  EXPECT_LT(std::fabs(of(*after, "median").interval.estimate - of(*before, "median").interval.estimate), 0.3);
}

TEST(Estimators, QuantilesLeaveOutWholeBlocks) {
  const report::Samples samples = twenty_blocks();
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  statistics::WeightedSample sides[2] = {{{}, -1}, {{}, 1}};
  for (uint32_t block = 0; block < 30; ++block)
    for (const report::Trial& trial : samples.trials)
      if (trial.block == block) sides[trial.levels[1]].values.push_back(*trial.values[0]);
  const auto together = statistics::quantile_contrasts(sides, true, std::vector<double>{0.75});
  const auto apart = statistics::quantile_contrasts(sides, false, std::vector<double>{0.75});
  ASSERT_TRUE(together && apart);
  const report::EstimatorContrast& contrast = of(*report, "quantile 0.75");
  EXPECT_NEAR(contrast.interval.estimate, together->estimates[0], 1e-9);
  const double half = statistics::t_quantile(0.975, together->df[0]) * together->standard_errors[0];
  EXPECT_NEAR(contrast.interval.high - contrast.interval.estimate, half, 1e-9);
  EXPECT_GT(std::fabs(together->standard_errors[0] / apart->standard_errors[0] - 1), 0.05) << "pairs make no difference here";
}

TEST(Estimators, RatiosOnTheLogScale) {
  report::Samples samples = twenty_blocks(20);
  samples.responses[0].scale = report::Scale::kLog;
  samples.responses[0].margin = 0.01;
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  EXPECT_NEAR(of(*report, "hodges-lehmann").interval.estimate, 1.2, 0.02);
  EXPECT_NEAR(of(*report, "median").interval.estimate, 1.2, 0.02);
  EXPECT_EQ(of(*report, "median").verdict, report::Verdict::kChanged);
}

TEST(Estimators, TooFewDrawsAreRefusedWithTheirNumber) {
  Rng rng = Rng::stream(5, "few");
  const auto report = report::analyse(estimated_blocks(rng, {.blocks = 5}, 0, 1));
  ASSERT_TRUE(report);
  EXPECT_THAT(of(*report, "hodges-lehmann").refused, HasSubstr("5 draws give ranks an interval of 93.75 % at most"));
  EXPECT_THAT(of(*report, "quantile 0.9").refused, HasSubstr("the quantile 0.9 takes 30 values a side"));
  EXPECT_EQ(of(*report, "median").verdict, report::Verdict::kWithheld);
}

TEST(Estimators, ASequenceHasNoneBeforeItsEnd) {
  report::Samples samples = twenty_blocks();
  samples.stopping.rule = report::StoppingRule::kSequence;
  samples.stopping.first = 8;
  samples.stopping.max = 40;
  const auto open = report::analyse(samples);
  ASSERT_TRUE(open);
  EXPECT_THAT(of(*open, "hodges-lehmann").refused, HasSubstr("judged after all 40 replicates"));
  EXPECT_THAT(open->shift_functions[0].refused, HasSubstr("judged after all 40 replicates"));
  samples.stopping.max = 30;
  const auto over = report::analyse(samples);
  ASSERT_TRUE(over);
  EXPECT_EQ(of(*over, "hodges-lehmann").refused, "");
}

TEST(Estimators, LooksTakeTheirLevels) {
  report::Samples samples = twenty_blocks();
  const auto at_once = report::analyse(samples);
  samples.stopping = {.rule = report::StoppingRule::kLooks, .looks = {30, 60}};
  samples.incomplete = true;
  const auto early = report::analyse(samples);
  ASSERT_TRUE(at_once && early);
  const auto width = [](const report::EstimatorContrast& one) { return one.interval.high - one.interval.low; };
  for (const char* name : {"hodges-lehmann", "median"}) {
    EXPECT_GT(width(of(*early, name)), 1.2 * width(of(*at_once, name))) << name;
    EXPECT_GT(of(*early, name).p_value, of(*at_once, name).p_value) << name;
  }
}

// The chance of a false answer grows with the estimators that are asked, whichever one is looked at.
TEST(Estimators, AreOneFamily) {
  report::Samples samples = twenty_blocks();
  const auto four = report::analyse(samples);
  samples.estimators.resize(1);
  const auto one = report::analyse(samples);
  ASSERT_TRUE(four && one);
  EXPECT_EQ(of(*one, "hodges-lehmann").p_holm, of(*one, "hodges-lehmann").p_value);
  double smallest = 1;
  for (const report::EstimatorContrast& contrast : four->estimators) smallest = std::min(smallest, contrast.p_value);
  double smallest_adjusted = 1;
  for (const report::EstimatorContrast& contrast : four->estimators)
    smallest_adjusted = std::min(smallest_adjusted, contrast.p_holm);
  EXPECT_NEAR(smallest_adjusted, std::min(1.0, 4 * smallest), 1e-12);
}

TEST(Estimators, EquivalenceIsTwoRankTests) {
  const report::Samples samples = twenty_blocks(0, 2);
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  const std::vector<double> differences = block_differences(samples);
  const auto above = statistics::wilcoxon_signed_rank(differences, {.mu = -2, .alternative = statistics::Alternative::kGreater});
  const auto below = statistics::wilcoxon_signed_rank(differences, {.mu = 2, .alternative = statistics::Alternative::kLess});
  ASSERT_TRUE(above && below);
  const report::EstimatorContrast& contrast = of(*report, "hodges-lehmann");
  EXPECT_NEAR(contrast.p_equivalence, std::max(above->p_value, below->p_value), 1e-12);
  EXPECT_EQ(contrast.verdict, report::Verdict::kEquivalent);
}

// A share of the baseline is held against t - (1 - m) b and t - (1 + m) b, as for the mean.
TEST(Estimators, AShareOfTheBaselineIsPartOfTheCombination) {
  report::Samples samples = twenty_blocks(0, 0.02);
  samples.responses[0].margin_is_share = true;
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  std::vector<double> plus(30), minus(30);
  for (const report::Trial& trial : samples.trials) {
    plus[trial.block] += (trial.levels[1] > 0 ? 1 : -0.98) * *trial.values[0];
    minus[trial.block] += (trial.levels[1] > 0 ? 1 : -1.02) * *trial.values[0];
  }
  const auto above = statistics::wilcoxon_signed_rank(plus, {.alternative = statistics::Alternative::kGreater});
  const auto below = statistics::wilcoxon_signed_rank(minus, {.alternative = statistics::Alternative::kLess});
  ASSERT_TRUE(above && below);
  EXPECT_NEAR(of(*report, "hodges-lehmann").p_equivalence, std::max(above->p_value, below->p_value), 1e-9);
}

TEST(Estimators, ProgramsLikeTheseAreOneNumberEach) {
  report::Samples samples = lab_samples(4, {.programs = 8, .replicates = 12, .links = 12, .crossed_links = false});
  samples.estimators = {{report::Estimator::Kind::kHodgesLehmann, 0.5}};
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  std::vector<double> estimates;
  const report::EstimatorContrast* like = nullptr;
  for (const report::EstimatorContrast& contrast : report->estimators) {
    if (contrast.factor != "heap") continue;
    if (contrast.population == report::Population::kLikeThese)
      like = &contrast;
    else
      estimates.push_back(std::log(contrast.interval.estimate));
  }
  ASSERT_NE(like, nullptr);
  ASSERT_EQ(estimates.size(), 8u);
  EXPECT_EQ(like->refused, "");
  const auto ranks = statistics::wilcoxon_signed_rank(estimates, {});
  ASSERT_TRUE(ranks);
  EXPECT_NEAR(std::log(like->interval.estimate), ranks->estimate, 1e-9);
  EXPECT_NEAR(like->p_value, ranks->p_value, 1e-12);
  EXPECT_EQ(like->n, 8u);
}

TEST(Estimators, OneLayoutASideIsNoEstimate) {
  report::Samples samples = twenty_blocks();
  for (report::Trial& trial : samples.trials) {
    trial.fixed_code = true;
    trial.layout = 1 + trial.levels[1];
  }
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  for (const report::EstimatorContrast& contrast : report->estimators)
    EXPECT_THAT(contrast.refused, HasSubstr("one layout a side"));
  EXPECT_THAT(report->shift_functions[0].refused, HasSubstr("one layout a side"));
}

TEST(Estimators, TheBandIsWiderThanEachIntervalAndNarrowerThanBonferronis) {
  const auto report = report::analyse(twenty_blocks());
  ASSERT_TRUE(report);
  ASSERT_EQ(report->shift_functions.size(), 1u);
  ASSERT_EQ(report->shift_functions[0].points.size(), 3u);
  for (const report::ShiftFunction::Point& point : report->shift_functions[0].points) {
    const double alone = point.interval.high - point.interval.low, all = point.band.high - point.band.low;
    EXPECT_GT(all, 1.05 * alone);
    EXPECT_LT(all, 1.5 * alone);
  }
}

TEST(Estimators, AreShownWhereDeclaredAndNowhereElse) {
  report::Samples samples = twenty_blocks();
  const auto with = report::analyse(samples);
  samples.estimators.clear();
  samples.shift_quantiles.clear();
  const auto without = report::analyse(samples);
  ASSERT_TRUE(with && without);
  EXPECT_THAT(report::render_terminal(*with), HasSubstr("Declared estimators besides the mean"));
  EXPECT_THAT(report::render_terminal(*with), HasSubstr("band, all at once"));
  EXPECT_THAT(report::render_markdown(*with), HasSubstr("Shift function"));
  EXPECT_THAT(report::to_json(*with), HasSubstr("\"estimator_contrasts\""));
  EXPECT_THAT(report::to_json(*with), HasSubstr("\"shift_functions\""));
  EXPECT_THAT(report::to_json(*without), Not(HasSubstr("estimator")));
  EXPECT_THAT(report::to_json(*without), Not(HasSubstr("shift_functions")));
  EXPECT_THAT(report::render_terminal(*without), Not(HasSubstr("estimator")));
  // The mean's part is the same, whatever is declared beside it.
  EXPECT_EQ(with->contrasts.back().interval.low, without->contrasts.back().interval.low);
  EXPECT_EQ(with->contrasts.back().p_holm, without->contrasts.back().p_holm);
}

TEST(QuantileContrasts, TheBandOfOneIsStudentsAndOfIndependentOnesSidaks) {
  EXPECT_NEAR(statistics::simultaneous_critical_t({{1}}, 12, 0.05), statistics::t_quantile(0.975, 12), 1e-12);
  const double pair = statistics::simultaneous_critical_t({{1, 0}, {0, 1}}, 1e6, 0.05);
  EXPECT_NEAR(pair, statistics::normal_quantile(1 - (1 - std::sqrt(0.95)) / 2), 0.02);
  EXPECT_NEAR(statistics::simultaneous_critical_t({{1, 1}, {1, 1}}, 1e6, 0.05), statistics::normal_quantile(0.975), 0.02);
}

TEST(QuantileContrasts, RefuseWhatHasNoError) {
  const std::vector<double> equal(40, 3.0);
  const statistics::WeightedSample same[] = {{equal, 1}, {equal, -1}};
  const auto found = statistics::quantile_contrasts(same, false, std::vector<double>{0.5});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("have no error"));
  EXPECT_FALSE(statistics::quantile_contrasts(same, false, std::vector<double>{1.0}));
}

}  // namespace
}  // namespace stab::analysis
