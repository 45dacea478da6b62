// "N would tell": exact powers against other formulas and published tables, and what N promises against simulated experiments.
#include "analysis/report/report_data/settling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/rendering/first_screen.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/planning/power.h"
#include "base/rng.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kMargin = 1;

// As power.t.test() of R, which reference_test holds t_power() against.
TEST(ExactPower, OfAChangeIsThatOfTheTTest) {
  for (const double n : {2.0, 3.0, 5.0, 10.0, 43.0, 500.0})
    for (const double delta : {0.1, 0.5, 1.3})
      EXPECT_NEAR(statistics::change_power({delta, std::sqrt(2 / n), 2 * n - 2}, 0.05),
                  statistics::t_power({.n = n, .delta = delta}), 1e-12)
          << n;
}

// A 2x2 crossover of n subjects: published by Labes, Schuetz and Lang with PowerTOST (sampleN.TOST, theta0 = 0.95, 0.8 to 1.25).
TEST(ExactPower, OfEquivalenceIsAsPublished) {
  const auto power = [](double cv, double n) {
    const double error = std::sqrt(2 * std::log1p(cv * cv) / n);
    return statistics::equivalence_power({std::log(0.95), error, n - 2}, std::log(1.25), 0.05);
  };
  EXPECT_NEAR(power(0.20, 20), 0.834680, 1e-6);
  EXPECT_NEAR(power(0.30, 40), 0.815845, 1e-6);
}

// Few degrees of freedom, where both tests together are another thing than each alone: against as many drawn estimates.
TEST(ExactPower, OfEquivalenceIsWhatIsDrawn) {
  struct Case {
    double difference, error, df, level;
  };
  Rng rng(7);
  for (const Case& one :
       {Case{0, 0.35, 2, 0.05}, {0.5, 0.15, 3, 0.05}, {-0.3, 0.25, 4.5, 0.025}, {0, 0.45, 1, 0.1}, {0.2, 0.3, 40, 0.05}}) {
    constexpr int kDraws = 40000;
    const double t = statistics::t_quantile_upper(one.level, one.df);
    int passed = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double estimate = one.difference + one.error * standard_normal(rng);
      const double p = (static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52;
      const double error = one.error * std::sqrt(statistics::chi_squared_quantile(p, one.df) / one.df);
      passed += std::fabs(estimate) < kMargin - t * error;
    }
    const double share = static_cast<double>(passed) / kDraws;
    EXPECT_NEAR(statistics::equivalence_power({one.difference, one.error, one.df}, kMargin, one.level), share,
                4 * std::sqrt(share * (1 - share) / kDraws) + 1e-4)
        << one.difference << " " << one.df;
  }
}

TEST(ExactPower, BeyondAnyUseIsZeroOrOne) {
  EXPECT_NEAR(statistics::equivalence_power({0, 1e6, 3}, kMargin, 0.05), 0, 1e-12);
  EXPECT_NEAR(statistics::equivalence_power({0, 1e-9, 3}, kMargin, 0.05), 1, 1e-9);
  EXPECT_NEAR(statistics::equivalence_power({2, 1e-9, 1e12}, kMargin, 0.05), 0, 1e-12);
  EXPECT_NEAR(statistics::change_power({1e9, 1, 5}, 0.05), 1, 1e-12);
  EXPECT_EQ(statistics::fewest(3, 100, [](uint64_t n) { return n >= 77; }), 77u);
  EXPECT_EQ(statistics::fewest(3, 100, [](uint64_t) { return true; }), 3u);
  EXPECT_EQ(statistics::fewest(3, 100, [](uint64_t) { return false; }), 0u);
}

const report::SettlingLevels kAlone{0.05, 0.05, 0.05};

uint64_t settled(double estimate, const report::KnownError& error, const report::SettlingLevels& levels = kAlone) {
  return report::settling_replicates(estimate, error, kMargin, levels).value_or(0);
}

// Either verdict alone, by its own formula; the smaller is told.
TEST(SettlingReplicates, IsTheSmallerOfTheTwo) {
  for (const double estimate : {0.0, 0.2, -0.5, 0.6, 0.9, 0.94, 1.0, 1.5, -4.0}) {
    const report::KnownError error{2, 18, 10};
    const auto change = statistics::fewest(
        11, report::kMostSettling, [&](uint64_t n) { return statistics::change_power(error.at(estimate, n), 0.05) >= 0.8; });
    const auto same = std::fabs(estimate) >= kMargin ? 0 : statistics::fewest(11, report::kMostSettling, [&](uint64_t n) {
      return statistics::equivalence_power(error.at(estimate, n), kMargin, 0.05) >= 0.8;
    });
    const uint64_t smaller = same == 0 ? change : change == 0 ? same : std::min(change, same);
    EXPECT_EQ(settled(estimate, error), smaller) << estimate;
  }
  // Just inside the margin it is a change that shows, not that there is none; at the margin, too.
  EXPECT_LT(settled(0.94, {2, 18, 10}), 500u);
  EXPECT_GT(settled(1.0, {2, 18, 10}), 0u);
}

// Two values a side and a spread that one side has alone: 2 and 3 rows don't tell, 5 do.
TEST(SettlingReplicates, FewRowsTakeTheFewDegreesOfFreedomThatTheyHave) {
  report::Samples samples;
  samples.unit = report::Unit::kRow;
  samples.workloads = {"rows"};
  samples.factors = {{"build", {"old", "new"}, false, 0}};
  samples.responses = {{.name = "time", .unit = "", .scale = report::Scale::kLinear, .margin = 0.01}};
  const double values[] = {0, 1.1, 2, 2.2};
  for (uint16_t i = 0; i < 4; ++i) {
    report::Trial trial;
    trial.levels = {static_cast<uint16_t>(i / 2)};
    trial.order = i;
    trial.values = {values[i]};
    samples.trials.push_back(trial);
  }
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->contrasts[0].settles_n, 5u);
  EXPECT_FALSE(report->contrasts[0].settles_blocks) << "rows are nobody's experiment";
  EXPECT_FALSE(report->contrasts[0].settles_seconds);
}

// Experiments in the shapes that plans have, drawn as what their pilot's numbers say: the verdict comes in four of five, and with
// one replicate less it doesn't.
struct Shape {
  const char* name;
  bool blocks;         // paired within blocks, else two cells of their own spread (Welch)
  double sd_old, sd_new;
  double difference;   // in margins
  report::Verdict expected;
};

double share_settled(const Shape& shape, uint64_t n, int experiments, uint64_t seed) {
  Rng rng(seed);
  int told = 0;
  for (int e = 0; e < experiments; ++e) {
    report::Samples samples;
    samples.unit = shape.blocks ? report::Unit::kLayout : report::Unit::kRow;
    samples.workloads = {"one"};
    samples.factors = {{"opt", {"-O2", "-O3"}, false, 0}};
    samples.responses = {{.name = "time", .unit = "", .scale = report::Scale::kLinear, .margin = kMargin}};
    for (uint32_t block = 0; block < n; ++block) {
      const double moved = shape.blocks ? 3 * standard_normal(rng) : 0;
      for (const uint16_t level : {0, 1}) {
        report::Trial trial;
        trial.block = block;
        trial.order = 2 * block + level;
        trial.layout = trial.seed = trial.order + 1;
        trial.levels = {level};
        trial.values = {100 + moved + level * shape.difference + (level ? shape.sd_new : shape.sd_old) * standard_normal(rng)};
        samples.trials.push_back(trial);
      }
    }
    const auto report = report::analyse(samples, report::Depth::kVerdicts);
    told += report && report->contrasts[0].verdict == shape.expected;
  }
  return static_cast<double>(told) / experiments;
}

class SettlesInFourOfFive : public ::testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, SettlesInFourOfFive,
                         ::testing::Values(Shape{"few_blocks_apart", true, 0.5, 0.5, 1.9, report::Verdict::kChanged},
                                           Shape{"blocks_the_same", true, 1, 1, 0, report::Verdict::kEquivalent},
                                           Shape{"two_cells_apart", false, 1, 1, 2, report::Verdict::kChanged},
                                           Shape{"cells_of_unequal_spread", false, 0.3, 2, 3, report::Verdict::kChanged},
                                           Shape{"two_cells_the_same", false, 1, 1, 0.1, report::Verdict::kEquivalent}),
                         [](const auto& shape) { return shape.param.name; });

TEST_P(SettlesInFourOfFive, AndNotWithOneLess) {
  const Shape shape = GetParam();
  constexpr int kExperiments = 1600;
  constexpr double kNoise = 0.04;  // four standard errors of a share of so many
  // A pilot of 2 a cell whose numbers are the truth.
  const double variance = shape.sd_old * shape.sd_old + shape.sd_new * shape.sd_new;
  const double quartic = std::pow(shape.sd_old, 4) + std::pow(shape.sd_new, 4);
  const report::KnownError pilot{std::sqrt(variance / 2), shape.blocks ? 1 : variance * variance / quartic, 2};
  const uint64_t n = settled(shape.difference, pilot);
  ASSERT_GT(n, 3u);
  EXPECT_GE(share_settled(shape, n, kExperiments, 11), 0.8 - kNoise) << n;
  EXPECT_LT(share_settled(shape, n - 1, kExperiments, 12), 0.8 + kNoise) << n;
  EXPECT_LT(share_settled(shape, static_cast<uint64_t>(0.75 * static_cast<double>(n)), kExperiments, 13), 0.8) << n;
}

// Where Holm asks more of equivalence than of the interval, a difference may be shown and lie inside the margin: no verdict.
TEST(SettlingReplicates, HolmsGapIsNoVerdict) {
  const report::KnownError error{1, 1e6, 100};
  const report::SettlingLevels levels{0.005, 0.05, 0.005};
  const double estimate = 0.62;
  const uint64_t n = settled(estimate, error, levels);
  const auto told = [&](double draws) {
    const double size = error.standard_error_at(draws);
    const double change = statistics::normal_quantile(1 - levels.change / 2),
                 interval = statistics::normal_quantile(1 - levels.interval / 2);
    const double same = statistics::normal_quantile(1 - levels.equivalence);
    Rng rng(5);
    int count = 0;
    constexpr int kDraws = 40000;
    for (int i = 0; i < kDraws; ++i) {
      const double drawn = estimate + size * standard_normal(rng);
      const bool equivalent = drawn + same * size < kMargin && drawn - same * size > -kMargin;
      count += equivalent || (drawn > change * size && drawn + interval * size > kMargin);
    }
    return static_cast<double>(count) / kDraws;
  };
  EXPECT_GE(told(static_cast<double>(n)), 0.79) << n;
  const auto shows = statistics::fewest(101, report::kMostSettling, [&](uint64_t draws) {
    return statistics::change_power(error.at(estimate, draws), levels.change) >= 0.8;
  });
  EXPECT_LT(told(static_cast<double>(shows)), 0.78) << shows;
}

// A gate asks one side alone: worse, or not worse by the margin.
TEST(SettlingReplicates, OfAGateIsOneSided) {
  const report::KnownError error{2, 18, 10};
  const auto levels = [](uint64_t) { return kAlone; };
  const auto not_worse = report::settling_worse(-0.5, error, kMargin, levels);
  ASSERT_TRUE(not_worse);
  EXPECT_GE(statistics::change_power(error.at(1.5, *not_worse), 0.1), 0.8);
  EXPECT_LT(statistics::change_power(error.at(1.5, *not_worse - 1), 0.1), 0.8);
  const auto worse = report::settling_worse(1.2, error, kMargin, levels);
  EXPECT_EQ(worse, statistics::fewest(11, report::kMostSettling,
                                      [&](uint64_t n) { return statistics::change_power(error.at(1.2, n), 0.05) >= 0.8; }));
  EXPECT_LT(*report::settling_worse(0.9, error, kMargin, levels), 500u);
}

TEST(SettlingReplicates, OfAFirstStageKeepItsDegreesOfFreedom) {
  report::KnownError error{2, 4, 20};
  error.df_grows = false;
  EXPECT_EQ(error.df_at(1000), 4);
  EXPECT_GT(settled(1.5, error), settled(1.5, {2, 4, 20}));
}

report::Contrast unsure_at(uint64_t n, uint64_t settles, std::optional<double> seconds) {
  report::Contrast contrast;
  contrast.verdict = report::Verdict::kUnsure;
  contrast.n = n;
  contrast.settles_n = settles;
  contrast.settles_seconds = seconds;
  return contrast;
}

TEST(SettlingText, SaysWhatItCostsAndWhenItIsNotWorthIt) {
  report::Report report;
  EXPECT_EQ(report::settling_text(report, unsure_at(10, 43, 33 * 20.0)),
            "43 replicates of each cell are needed to decide (now 10), 11 min more of machine time");
  EXPECT_EQ(report::settling_text(report, unsure_at(10, 8784, {})),
            "deciding would take 8784 replicates of each cell (now 10); a wider margin or less noise decides sooner");
  // Where slices may be the cure, the key is named.
  report::Contrast wall = unsure_at(10, 8784, {});
  wall.response = "wall_time";
  EXPECT_EQ(report::settling_text(report, wall),
            "deciding would take 8784 replicates of each cell (now 10); a wider margin or less noise decides sooner, and so does "
            "blocks = \"sliced\" below [experiment] if the programs keep one CPU busy");
  report.slicing.emplace();
  EXPECT_TRUE(report::settling_text(report, wall).ends_with("decides sooner"));
  report.slicing.reset();
  EXPECT_TRUE(report::is_worth_running(unsure_at(2, 100, {})));
  EXPECT_FALSE(report::is_worth_running(unsure_at(2, 101, {})));
  EXPECT_TRUE(report::is_worth_running(unsure_at(50, 500, {})));
  EXPECT_FALSE(report::is_worth_running(unsure_at(50, 80, 90000)));
  EXPECT_THAT(report::settling_text(report, unsure_at(50, 80, 90000)), HasSubstr("25.0 h more of machine time"));
}

// A command that the lab refuses, or that runs for weeks, is none.
TEST(SettlingText, NoCommandWhereNoneCanBeRun) {
  report::Samples samples = lab_samples(6, {.programs = 1, .replicates = 6, .noise = 0.05, .code_effect = 0, .heap_effect = 0});
  const auto screen = [&](const report::Samples& of) {
    return report::render_first_screen(*report::analyse(of), {7, " --db lab.db", "p.html"}, 100, false);
  };
  ASSERT_THAT(screen(samples), HasSubstr("stabctl extend 7 +"));
  report::Samples precision = samples;
  precision.stopping = {.rule = report::StoppingRule::kPrecision, .first = 6, .half_width = 0.01, .max = 60};
  EXPECT_THAT(screen(precision), Not(HasSubstr("stabctl extend")));
  report::Samples looks = samples;
  looks.stopping = {.rule = report::StoppingRule::kLooks, .looks = {3, 6}};
  EXPECT_THAT(screen(looks), Not(HasSubstr("stabctl extend")));
  for (report::Trial& trial : samples.trials) *trial.values[0] *= 20000;  // hours each
  EXPECT_THAT(screen(samples), Not(HasSubstr("stabctl extend")));
}

}  // namespace
}  // namespace stab::analysis
