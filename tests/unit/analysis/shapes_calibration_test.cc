// How often the dip and the changes of a run speak of nothing; more shapes and rounds: tests/bench/shape_table.cc,
// docs/evaluation/records/calibration.md.
#include <gtest/gtest.h>

#include <cstdio>

#include "analysis/report/conditions/run_changes.h"
#include "analysis/statistics/diagnostics/unimodality.h"
#include "tests/unit/analysis/made_shapes.h"
#include "tests/unit/analysis/simulated_blocks.h"

namespace stab::analysis {
namespace {

TEST(ShapesCalibration, TheDipHasItsLevelForUniformValuesAndLessForOthers) {
  constexpr int kRounds = 2000;
  for (const MadeShape& shape : shapes_with_one_hump()) {
    for (const size_t n : {10, 30, 100}) {
      Rng rng = Rng::stream(n, shape.name);
      int spoke = 0;
      for (int round = 0; round < kRounds; ++round) {
        const auto test = statistics::dip_test(sample_of(rng, n, shape.draw));
        spoke += test && test->p_value < 0.05;
      }
      // 5 %, and four standard errors of 2000 rounds.
      EXPECT_LT(spoke, kRounds * 0.05 + 4 * std::sqrt(kRounds * 0.05 * 0.95)) << shape.name << " " << n;
      if (std::string(shape.name) == "uniform") {
        EXPECT_GT(spoke, kRounds * 0.03) << n;
      }
    }
  }
}

TEST(ShapesCalibration, TheDipFindsTwoGroups) {
  constexpr int kRounds = 300;
  Rng rng = Rng::stream(1, "two humps");
  int spoke = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto test = statistics::dip_test(sample_of(rng, 60, two_humps(5, 2)));
    spoke += test && test->p_value < 0.05;
  }
  EXPECT_GT(spoke, kRounds * 0.8);
}

// Of ten trials a cell 6.6 % have been seen: deviations from the cell's own mean vary 8 % more between stretches of whole blocks
// than between random ones. From 30 on that is lost in the noise.
TEST(ShapesCalibration, ARunWithoutChangesHasThemInAboutOneOfTwenty) {
  constexpr int kRounds = 300;
  for (const Flaw flaw : {Flaw::kNone, Flaw::kSkewed, Flaw::kOutliers, Flaw::kSpread}) {
    Rng rng = Rng::stream(static_cast<uint64_t>(flaw), "calm runs");
    int spoke = 0;
    for (int round = 0; round < kRounds; ++round) {
      const report::Samples samples = simulated_blocks(rng, {.cells = 4, .blocks = 10, .block_sd = 0, .flaw = flaw});
      const auto runs = report::search_run(samples).runs;
      ASSERT_EQ(runs.size(), 1u);
      spoke += !runs[0].changes.empty();
    }
    EXPECT_LT(spoke, kRounds * 0.05 + 4 * std::sqrt(kRounds * 0.05 * 0.95)) << static_cast<int>(flaw);
  }
}

TEST(ShapesCalibration, BlocksThatDifferMakeNoChange) {
  constexpr int kRounds = 200;
  for (const size_t blocks : {10, 30}) {
    for (const double block_sd : {0.5, 1.0, 2.0}) {
      Rng rng = Rng::stream(blocks, "blocks that differ by " + std::to_string(block_sd));
      int spoke = 0;
      for (int round = 0; round < kRounds; ++round) {
        const auto runs = report::search_run(simulated_blocks(rng, {.cells = 4, .blocks = blocks, .block_sd = block_sd})).runs;
        ASSERT_EQ(runs.size(), 1u);
        spoke += !runs[0].changes.empty();
      }
      std::printf("rate run changes: %zu blocks, block sd %.1f: %.3f\n", blocks, block_sd, spoke / double{kRounds});
      EXPECT_LT(spoke, kRounds * 0.05 + 4 * std::sqrt(kRounds * 0.05 * 0.95)) << blocks << " blocks, " << block_sd;
    }
  }
}

// Trials of one layout in a block are alike, so the order of trials is not one of all that could have been.
TEST(ShapesCalibration, TrialsOfOneLayoutMakeNoChange) {
  constexpr int kRounds = 300;
  for (const size_t repeats : {2, 4, 6}) {
    for (const size_t blocks : {10, 40}) {
      Rng rng = Rng::stream(repeats * 100 + blocks, "repeated layouts");
      int spoke = 0;
      for (int round = 0; round < kRounds; ++round) {
        const auto runs = report::search_run(simulated_blocks(rng, {.blocks = blocks, .block_sd = 0, .repeats = repeats})).runs;
        ASSERT_EQ(runs.size(), 1u);
        spoke += !runs[0].changes.empty();
      }
      EXPECT_LT(spoke, kRounds * 0.05 + 4 * std::sqrt(kRounds * 0.05 * 0.95)) << repeats << " trials, " << blocks << " blocks";
    }
  }
}

}  // namespace
}  // namespace stab::analysis
