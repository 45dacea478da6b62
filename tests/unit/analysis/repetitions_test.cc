// Where to repeat: the formula, the search for whole numbers, and what is reached in simulated experiments.
#include "analysis/statistics/planning/repetitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "base/rng.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;

TEST(Repetitions, TheFormulaIsKaliberasAndJones) {
  // r = sqrt(cost above / own cost * own variance / variance above).
  const statistics::Level levels[] = {{4, 60}, {1, 5}, {9, 0.5}};
  const auto plan = statistics::plan_repetitions(levels, {.half_width = 1});
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_NEAR(plan->unrounded[0], std::sqrt(60.0 / 5 * 1 / 4), 1e-12);
  EXPECT_NEAR(plan->unrounded[1], std::sqrt(5 / 0.5 * 9 / 1), 1e-12);
  EXPECT_LE(plan->half_width, 1);
}

// Against all combinations of whole numbers up to 40 within, at random variances and costs.
TEST(Repetitions, NothingCheaperReachesThePrecision) {
  Rng rng = Rng::stream(1, "repetitions");
  for (int round = 0; round < 60; ++round) {
    statistics::Level levels[3];
    for (statistics::Level& level : levels) level = {std::exp(3 * rng.uniform() - 1.5), std::exp(4 * rng.uniform() - 2)};
    double total = 0;
    for (const statistics::Level& level : levels) total += level.variance;
    const statistics::RepetitionsAsked asked{.half_width = std::sqrt(total) * (0.3 + 0.7 * rng.uniform())};
    const auto plan = statistics::plan_repetitions(levels, asked);
    ASSERT_TRUE(plan) << plan.error().text();
    double least = HUGE_VAL;
    for (uint64_t b = 1; b <= 40; ++b)
      for (uint64_t c = 1; c <= 40; ++c) {
        uint64_t counts[] = {asked.least, b, c};
        while (statistics::half_width_of(levels, counts, asked.alpha, asked.sides) > asked.half_width &&
               statistics::cost_of(levels, counts) < least)
          ++counts[0];
        if (statistics::half_width_of(levels, counts, asked.alpha, asked.sides) <= asked.half_width)
          least = std::min(least, statistics::cost_of(levels, counts));
      }
    EXPECT_LE(plan->cost, 2 * least * 1.01) << "round " << round;
  }
}

TEST(Repetitions, ALevelWithoutVarianceAboveIsRepeatedWithin) {
  const statistics::Level levels[] = {{0, 100}, {1, 1}};
  const auto plan = statistics::plan_repetitions(levels, {.half_width = 0.2});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(std::isinf(plan->unrounded[0]));
  EXPECT_EQ(plan->counts[0], 3u);
  EXPECT_GT(plan->counts[1], 20u);
}

TEST(Repetitions, RefusesWhatNoNumberReaches) {
  const statistics::Level far[] = {{1, 1}};
  const auto plan = statistics::plan_repetitions(far, {.half_width = 1e-6});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("ask for a wider interval"));
  const statistics::Level none[] = {{0, 1}, {0, 1}};
  EXPECT_FALSE(statistics::plan_repetitions(none, {.half_width = 1}));
  const statistics::Level free_of_charge[] = {{1, 0}};
  EXPECT_FALSE(statistics::plan_repetitions(free_of_charge, {.half_width = 1}));
}

// An experiment of the planned size has intervals of the planned width, and they cover what they promise.
TEST(Repetitions, ExperimentsOfThatSizeAreThatPrecise) {
  const statistics::Level levels[] = {{0.5, 30}, {0.2, 5}, {2, 1}};
  const auto plan = statistics::plan_repetitions(levels, {.half_width = 0.8, .sides = 1});
  ASSERT_TRUE(plan);
  Rng rng = Rng::stream(2, "experiments");
  const auto normal = [&] { return statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52); };
  constexpr int kRounds = 4000;
  int covered = 0;
  double squares = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> outer;
    for (uint64_t a = 0; a < plan->counts[0]; ++a) {
      double sum = 0;
      const double of_a = std::sqrt(0.5) * normal();
      for (uint64_t b = 0; b < plan->counts[1]; ++b) {
        const double of_b = std::sqrt(0.2) * normal();
        for (uint64_t c = 0; c < plan->counts[2]; ++c) sum += of_a + of_b + std::sqrt(2.0) * normal();
      }
      outer.push_back(sum / static_cast<double>(plan->counts[1] * plan->counts[2]));
    }
    const statistics::Moments all = statistics::moments(outer);
    const double half = statistics::t_quantile(0.975, static_cast<double>(all.n - 1)) * all.standard_error();
    covered += std::fabs(all.mean) <= half;
    squares += half * half;
  }
  EXPECT_NEAR(covered / double{kRounds}, 0.95, 4 * std::sqrt(0.05 * 0.95 / kRounds));
  EXPECT_NEAR(std::sqrt(squares / kRounds), plan->half_width, 0.03 * plan->half_width);
}

}  // namespace
}  // namespace stab::analysis
