// How often intervals of mixed models leave the truth out: tests/bench/mixed_table with fewer rounds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tests/unit/analysis/mixed_rows.h"

namespace stab::analysis {
namespace {

TEST(MixedCalibration, IntervalsOfTheBuildCover) {
  constexpr int kRounds = 400;
  for (const MixedShape& shape : kMixedShapes) {
    if (shape.programs > 6) continue;  // slow, and in the table
    Rng rng = Rng::stream(42, shape.name);
    int wrong = 0;
    for (int round = 0; round < kRounds; ++round) {
      const MixedRows rows = mixed_rows(rng, shape, 0.3);
      const auto fit = statistics::fit_mixed(rows.columns, {"(intercept)", "build"}, rows.random, rows.values,
                                             statistics::DegreesOfFreedom::kKenwardRoger);
      ASSERT_TRUE(fit) << fit.error().text();
      wrong += std::fabs(fit->fixed[1].estimate - 0.3) >
               statistics::t_quantile(0.975, fit->fixed[1].df) * fit->fixed[1].standard_error;
    }
    std::printf("rate %s: %.4f\n", shape.name, wrong / double{kRounds});
    EXPECT_LE(wrong / double{kRounds}, 0.07 + 4 * std::sqrt(0.07 * 0.93 / kRounds)) << shape.name;
  }
}

}  // namespace
}  // namespace stab::analysis
