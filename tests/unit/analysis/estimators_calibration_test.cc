// How often intervals of declared estimators leave the truth out: tests/bench/estimator_table with fewer rounds and shapes.
#include <gtest/gtest.h>

#include <cstdio>

#include "analysis/report/contrasts/estimators.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/quantile_contrast.h"
#include "tests/unit/analysis/estimated_blocks.h"
#include "tests/unit/analysis/made_shapes.h"

namespace stab::analysis {
namespace {

TEST(EstimatorCalibration, IntervalsCoverWhatTheyPromise) {
  constexpr int kRounds = 400;
  constexpr double kEffect = 0.7;
  for (const EstimatedShape& shape : kEstimatedShapes) {
    Rng rng = Rng::stream(31, shape.name);
    int wrong[4] = {}, answered[4] = {}, equivalent = 0;
    for (int round = 0; round < kRounds; ++round) {
      const report::Samples samples = estimated_blocks(rng, shape, kEffect, kEffect);
      const auto contrasts =
          report::estimator_contrasts_of(samples, {{report::units_of(samples, 0, 0)}}, report::LookLevels(samples.alpha));
      ASSERT_EQ(contrasts.size(), 4u);
      for (size_t e = 0; e < contrasts.size(); ++e) {
        const report::EstimatorContrast& contrast = contrasts[e];
        if (!contrast.refused.empty()) continue;
        const double truth = kEffect + spread_between(shape, e == 2 ? 0.75 : e == 3 ? 0.9 : 0.5);
        ++answered[e];
        wrong[e] += truth < contrast.interval.low || truth > contrast.interval.high;
        if (e == 0) equivalent += contrast.p_equivalence < 0.05;
      }
    }
    ASSERT_EQ(answered[0], kRounds) << shape.name;
    for (size_t e = 0; e < 4; ++e) {
      if (answered[e] == 0) continue;
      // Ranks are exact; quantiles are promised 7 % at most (least_draws).
      const double promised = e == 0 ? 0.05 : 0.07, rate = wrong[e] / double(answered[e]);
      std::printf("rate %s, estimator %zu: %.4f\n", shape.name, e, rate);
      EXPECT_LE(rate, promised + 4 * std::sqrt(promised * (1 - promised) / answered[e])) << shape.name << " " << e;
    }
    EXPECT_LE(equivalent / double{kRounds}, 0.05 + 4 * std::sqrt(0.05 * 0.95 / kRounds)) << shape.name;
  }
}

// Two alike samples whose quantiles lie on a step of a clock, or in the gap between two modes: there the jackknife errs, and
// docs/evaluation/records/calibration.md says by how much. More values don't help.
TEST(EstimatorCalibration, QuantilesOnStepsAndInGapsErrMoreOften) {
  constexpr int kRounds = 1000;
  const auto clock = [](double sd) { return [sd](Rng& rng) { return std::round(sd * standard_normal(rng)); }; };
  const struct {
    const char* name;
    std::function<double(Rng&)> draw;
    double most;
  } shapes[] = {{"normal", standard_normal, 0.06},
                {"clock, sd 0.7 steps", clock(0.7), 0.1},
                {"clock, sd 1.5 steps", clock(1.5), 0.08},
                {"clock, sd 3 steps", clock(3), 0.06},
                {"two modes, half each", [](Rng& rng) { return 0.1 * standard_normal(rng) + (rng.below(2) ? 5 : 0); }, 0.1}};
  const std::vector<double> probabilities{0.25, 0.5, 0.75};
  for (const auto& shape : shapes) {
    for (const size_t n : {30, 100}) {
      Rng rng = Rng::stream(n, shape.name);
      int wrong[3] = {}, answered = 0;
      for (int round = 0; round < kRounds; ++round) {
        std::vector<statistics::WeightedSample> sides(2);
        for (size_t side = 0; side < 2; ++side) sides[side] = {sample_of(rng, n, shape.draw), side == 0 ? 1.0 : -1.0};
        const auto found = statistics::quantile_contrasts(sides, false, probabilities);
        if (!found) continue;
        ++answered;
        for (size_t q = 0; q < probabilities.size(); ++q)
          wrong[q] += statistics::t_two_sided(found->estimates[q] / found->standard_errors[q], found->df[q]) < 0.05;
      }
      std::printf("rate quantiles, %s, n %zu: %.3f %.3f %.3f of %d\n", shape.name, n, wrong[0] / double(answered),
                  wrong[1] / double(answered), wrong[2] / double(answered), answered);
      ASSERT_GT(answered, kRounds / 2) << shape.name;
      for (const int one : wrong)
        EXPECT_LE(one / double(answered), shape.most + 4 * std::sqrt(shape.most * (1 - shape.most) / answered)) << shape.name;
    }
  }
}

}  // namespace
}  // namespace stab::analysis
