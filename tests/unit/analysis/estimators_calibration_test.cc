// How often intervals of declared estimators leave the truth out: tests/bench/estimator_table with fewer rounds and shapes.
#include <gtest/gtest.h>

#include <cstdio>

#include "analysis/report/estimators.h"
#include "tests/unit/analysis/estimated_blocks.h"

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

}  // namespace
}  // namespace stab::analysis
