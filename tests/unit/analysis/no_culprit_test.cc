// How likely no commit did it, by what the ends have shown.
#include "analysis/commands/bisect/no_culprit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stab::analysis {
namespace {

using commands::probability_of_no_culprit;

constexpr double kMargin = 0.01;

// Half a margin apart, with half a margin as error: the four cases, written out.
TEST(NoCulprit, WeighsFourCases) {
  const double change = 0.005, error = 0.005, distance = 0.01;
  const auto density = [&](double cost) {
    const double away = (change - cost) / error;
    return 0.99 * std::exp(-away * away / 2) / (error * std::sqrt(2 * M_PI)) + 0.01 / (5 * distance);
  };
  // Between costs that are even, as a sum of narrow strips.
  const auto even = [&](double low, double high) {
    constexpr int kStrips = 20'000;
    double sum = 0;
    for (int i = 0; i < kStrips; ++i) sum += density(low + (high - low) * (i + 0.5) / kStrips);
    return sum / kStrips;
  };
  const double none = 2 * density(0), slower = 3 * density(kMargin), other = even(-2 * distance, kMargin);
  const double several = 2 * even(-2 * distance, 3 * distance);
  EXPECT_NEAR(probability_of_no_culprit({change, error}, kMargin, 64), (none + other) / (none + slower + other + several), 1e-6);
  EXPECT_NEAR(probability_of_no_culprit({change, error}, kMargin, 1), (none + other) / (none + slower + other), 1e-6)
      << "a range of one commit has no several";
}

// The better the ends are known to be alike, the likelier it is; the slower the bad one is, the less.
TEST(NoCulprit, IsLikelierTheSurerTheEndsAreAlike) {
  double before = 0;
  for (const double error : {0.02, 0.01, 0.005, 0.002, 0.001}) {
    const double now = probability_of_no_culprit({0, error}, kMargin, 64);
    EXPECT_GT(now, before) << error;
    before = now;
  }
  EXPECT_GT(before, 0.9);
  EXPECT_LT(before, 1);
  before = 1;
  for (const double change : {0.0, 0.005, 0.01, 0.015, 0.02}) {
    const double now = probability_of_no_culprit({change, 0.003}, kMargin, 64);
    EXPECT_LT(now, before) << change;
    before = now;
  }
  EXPECT_LT(before, 0.05);
}

// A comparison that says nothing leaves what was thought before; no size of an error or a difference breaks a sum.
TEST(NoCulprit, HasANumberForAllComparisons) {
  EXPECT_NEAR(probability_of_no_culprit({0, 1e6}, kMargin, 64), 3.0 / 8, 0.01);
  for (const double error : {0.0, 1e-12, 0.01, 1e6})
    for (const double change : {-1e3, -0.01, 0.0, 1e-9, 0.01, 1e3})
      for (const double margin : {1e-9, 0.01, 0.7}) {
        const double now = probability_of_no_culprit({change, error}, margin, 2);
        EXPECT_TRUE(now >= 0 && now <= 1) << change << " " << error << " " << margin << ": " << now;
      }
}

}  // namespace
}  // namespace stab::analysis
