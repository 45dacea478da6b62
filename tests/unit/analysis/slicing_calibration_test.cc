// How often reports of sliced blocks err. slicing_table (tests/bench/) prints all shapes with more rounds:
// docs/evaluation/records/calibration.md.
#include <gtest/gtest.h>

#include "tests/unit/analysis/sliced_rates.h"

namespace stab::analysis {
namespace {

constexpr double kAlpha = 0.05;

double most(int rounds, double promised = kAlpha) {
  return promised + 4 * std::sqrt(promised * (1 - promised) / rounds);
}

struct ExperimentSize {
  uint16_t cells;
  uint32_t blocks;
};

class SlicingCalibrationOf : public testing::TestWithParam<ExperimentSize> {};

TEST_P(SlicingCalibrationOf, WhatIsPromisedHoldsInTheShapesThatWereMeasured) {
  constexpr int kRounds = 300;
  for (const SlicedShape& one : kSlicedShapes) {
    SlicedShape shape = one;
    shape.cells = GetParam().cells;
    shape.blocks = GetParam().blocks;
    SlicedRates rates = sliced_rates(shape, kRounds);
    // A correlation of neighbours of 0.08 makes variances of means 1.17 times as large: 6.9 %.
    const double p = shape.memory > 0 ? 0.07 : kAlpha;
    EXPECT_LE(rates.p, most(kRounds, p)) << shape.name;
    EXPECT_LE(rates.rank, most(kRounds, p)) << shape.name;
    EXPECT_LE(rates.median, most(kRounds, p)) << shape.name;
    EXPECT_LE(rates.changed, most(kRounds, p)) << shape.name;
    EXPECT_LE(rates.equivalent, most(kRounds, p)) << shape.name;
    EXPECT_LE(rates.bias, most(kRounds)) << shape.name;
    EXPECT_LE(rates.switched, most(kRounds)) << shape.name;
    EXPECT_LE(rates.run_changed, most(kRounds, shape.drift > 0 ? 1 : 0.07)) << shape.name;
  }
}

constexpr ExperimentSize kSizes[] = {{2, 20}, {2, 60}, {4, 30}, {8, 20}};
INSTANTIATE_TEST_SUITE_P(Sizes, SlicingCalibrationOf, testing::ValuesIn(kSizes), [](const auto& size) {
  return std::to_string(size.param.cells) + "_cells_" + std::to_string(size.param.blocks) + "_blocks";
});

TEST(SlicingCalibration, DiagnosticsSpeakWithoutCauseInFivePercent) {
  constexpr int kRounds = 300;
  const SlicedShape normal = kSlicedShapes[0];
  for (const uint16_t cells : {2, 8})
    for (const uint32_t blocks : {11, 30}) {
      SlicedShape shape = normal;
      shape.cells = cells;
      shape.blocks = blocks;
      SlicedRates rates = sliced_rates(shape, kRounds);
      for (const char* check : {"shapiro-wilk", "brown-forsythe", "drift", "lag-1 autocorrelation"}) {
        EXPECT_LE(rates.diagnostics[check], most(kRounds)) << check << ", " << cells << " cells, " << blocks << " blocks";
        EXPECT_GE(rates.diagnostics[check], 0.005) << check << ", " << cells << " cells, " << blocks << " blocks";
      }
    }
}

// A bias of ten margins that few noisy blocks see is a false answer that is told with the width of its interval; that many quiet
// ones see is not given.
TEST(SlicingCalibration, TheBlocksAloneTakeBackWhatSlicingAdds) {
  constexpr int kRounds = 300;
  const BiasedRates seen =
      biased_rates({.blocks = 100, .alone_each = 5, .drift = 0, .alone_sd = 0.01, .effect = 0, .bias = 0.1}, kRounds);
  EXPECT_GE(seen.switched, 0.99);
  EXPECT_LE(seen.changed, most(kRounds));
  EXPECT_GE(seen.covered, 1 - most(kRounds));
  const BiasedRates hidden =
      biased_rates({.blocks = 100, .alone_each = 5, .drift = 0, .alone_sd = 0.01, .effect = 0.1, .bias = -0.1}, kRounds);
  EXPECT_GE(hidden.switched, 0.99);
  EXPECT_GE(hidden.changed, 0.95);  // the blocks alone say it by themselves, far below a tenth of alpha
  EXPECT_GE(hidden.covered, 1 - most(kRounds));
}

}  // namespace
}  // namespace stab::analysis
