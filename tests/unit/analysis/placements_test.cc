// Placements: the closed form of the permutations against permutations that are drawn, invariances, and what a fit says of data
// whose effects are known without noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/statistics/places/placements.h"
#include "tests/unit/analysis/made_placements.h"

namespace stab::analysis {
namespace {

std::vector<uint8_t> lines_of(const layout_report::PlacementData& data, size_t f) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i < data.moments(); ++i)
    out.push_back(static_cast<uint8_t>(data.offset[i * data.functions.size() + f] / 16 % 4));
  return out;
}

TEST(Differences, NeedThreeSignalsInARowInOneSeries) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> signal = {1, 2, 4, 7, gap, 5, 6, 8, 1, 1, 1};
  const std::vector<uint32_t> series = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
  const statistics::Differences differences(signal, series);
  EXPECT_EQ(differences.rows(), (std::vector<uint32_t>{1, 2, 6, 9}));
  EXPECT_EQ(differences.values(), (std::vector<double>{-0.5, -0.5, -0.5, 0}));
  EXPECT_FALSE(differences.counts(4));
  EXPECT_TRUE(differences.counts(5));
}

TEST(Differences, OfIndependentMomentsCorrelateByTwoThirds) {
  const layout_report::PlacementData data = made_placements(1, {.drift = 0, .planted = false});
  EXPECT_NEAR(*statistics::Differences(data.signal, data.series).lag_one(), -2.0 / 3, 0.05);
}

// A phase of three moments, of which one is slow: two of three differences are about -0.25, and one is 0.5. They are no noise
// about -0.25 of which nothing lies within Huber's bounds, in which case nothing could be found by any number of moments.
TEST(PlacementScreen, PhasesMakeNoiseAndNotBlindness) {
  Rng rng(5);
  std::vector<double> signal(1200);
  for (size_t i = 0; i < signal.size(); ++i) signal[i] = (i % 3 == 0 ? 0.5 : 0) + 0.01 * (rng.uniform() - 0.5);
  const statistics::Differences differences(signal, std::vector<uint32_t>(signal.size(), 0));
  EXPECT_GT(differences.scale(), 0.3);
  EXPECT_LT(statistics::PlacementScreen(differences).error_of_halves(), 0.1);
}

// Drawn orders within series give the mean and the spread of the statistic that the closed form has, so p-values agree.
TEST(PlacementScreen, ClosedFormIsThatOfDrawnPermutations) {
  const layout_report::PlacementData data = made_placements(2, {.functions = 3, .trials = 6, .epochs = 40, .noise = 0.03});
  const statistics::Differences differences(data.signal, data.series);
  const statistics::PlacementScreen screen(differences);
  std::vector<uint8_t> levels = lines_of(data, 0);
  const statistics::PlacementTest seen = *screen.test(levels, 4, 5);
  Rng rng(3);
  constexpr int kRounds = 4000;
  int beyond = 0;
  double sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int trial = 0; trial < 6; ++trial) rng.shuffle(std::span(levels).subspan(static_cast<size_t>(40 * trial), 40));
    const statistics::PlacementTest drawn = *screen.test(levels, 4, 5);
    beyond += drawn.chi_squared >= seen.chi_squared;
    sum += drawn.chi_squared;
  }
  // A chi-squared statistic of 3 degrees of freedom has the mean 3 and the variance 6.
  EXPECT_NEAR(sum / kRounds, 3, 4 * std::sqrt(6.0 / kRounds));
  EXPECT_EQ(seen.df, 3);
  const double share = static_cast<double>(beyond) / kRounds;
  EXPECT_NEAR(share, seen.p_value, 4 * std::sqrt(seen.p_value / kRounds) + 0.005);
}

TEST(PlacementScreen, DoesNotCareForUnitsAndNamesOfLevels) {
  const layout_report::PlacementData data = made_placements(4);
  const statistics::Differences differences(data.signal, data.series);
  const std::vector<uint8_t> levels = lines_of(data, 0);
  const statistics::PlacementTest as_is = *statistics::PlacementScreen(differences).test(levels, 4, 30);
  std::vector<double> scaled = data.signal;
  for (double& value : scaled) value = 5 - 3 * value;
  std::vector<uint8_t> renamed = levels;
  for (uint8_t& level : renamed) level = static_cast<uint8_t>(3 - level);
  const statistics::Differences other(scaled, data.series);
  const statistics::PlacementTest again = *statistics::PlacementScreen(other).test(renamed, 4, 30);
  EXPECT_NEAR(again.chi_squared, as_is.chi_squared, 1e-6 * as_is.chi_squared);
  EXPECT_LT(as_is.p_value, 1e-6);
}

TEST(PlacementScreen, RareLevelsCountForNothing) {
  const layout_report::PlacementData data = made_placements(5);
  const statistics::Differences differences(data.signal, data.series);
  std::vector<uint8_t> levels(data.moments(), 0);
  EXPECT_FALSE(statistics::PlacementScreen(differences).test(levels, 2, 30).has_value());
  for (size_t i = 0; i < 20; ++i) levels[50 * i] = 1;
  EXPECT_FALSE(statistics::PlacementScreen(differences).test(levels, 2, 30).has_value());
  EXPECT_TRUE(statistics::PlacementScreen(differences).test(levels, 2, 10).has_value());
  EXPECT_FALSE(statistics::PlacementScreen(statistics::Differences(std::vector<double>(data.moments(), 1.0), data.series))
                   .test(lines_of(data, 0), 4, 30));
}

// Without noise the effects come out as they are, each level against the mean of the four.
TEST(PlacementFit, FindsWhatIsThere) {
  const layout_report::PlacementData data = made_placements(6, {.noise = 1e-6, .drift = 0});
  const statistics::Differences differences(data.signal, data.series);
  std::vector<uint8_t> lines = lines_of(data, 0), halves = lines_of(data, 1);
  for (uint8_t& level : halves) level %= 2;
  const statistics::Placed placed[] = {{lines, 4}, {halves, 2}};
  const Result<statistics::PlacementFit> fit = statistics::PlacementFit::make(differences, placed);
  ASSERT_TRUE(fit) << fit.error().message;
  const double mean = std::accumulate(std::begin(kLineEffects), std::end(kLineEffects), 0.0) / 4;
  for (size_t level = 0; level < 4; ++level) EXPECT_NEAR(fit->effects()[0].effect[level], kLineEffects[level] - mean, 1e-6);
  EXPECT_NEAR(fit->contrast(1, 1, 0)->estimate, 0.012, 1e-6);
  EXPECT_NEAR(fit->contrast(0, 2, 3)->estimate, 0.028, 1e-6);
  EXPECT_NEAR(fit->effects()[1].variance, 0.006 * 0.006, 2e-7);
  const std::vector<statistics::PlacementFit::Share> shares = fit->shares(0.95, 1, 200);
  EXPECT_NEAR(shares[2].estimate, 1, 1e-3);
  // What two places make together is more or less than their sum, as they happened to come together.
  EXPECT_NEAR(shares[0].estimate + shares[1].estimate, 1, 0.1);
}

TEST(PlacementFit, RefusesPlacesThatComeTogetherAndTooFew) {
  const layout_report::PlacementData data = made_placements(7);
  const statistics::Differences differences(data.signal, data.series);
  const std::vector<uint8_t> lines = lines_of(data, 0);
  const statistics::Placed twice[] = {{lines, 4}, {lines, 4}};
  EXPECT_FALSE(statistics::PlacementFit::make(differences, twice));
  const std::vector<uint8_t> same(data.moments(), 1);
  const statistics::Placed constant[] = {{same, 4}};
  EXPECT_FALSE(statistics::PlacementFit::make(differences, constant));
  const statistics::Differences few(std::span(data.signal).subspan(0, 15), std::span(data.series).subspan(0, 15));
  const statistics::Placed of_few[] = {{std::span(lines).subspan(0, 15), 4}};
  EXPECT_FALSE(statistics::PlacementFit::make(few, of_few));
}

}  // namespace
}  // namespace stab::analysis
