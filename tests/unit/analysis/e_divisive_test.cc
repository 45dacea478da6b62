// E-divisive: what doesn't depend on unit and origin, what is planted is found, and nothing is found in nothing. Against the
// paper's definition: tests/reference/analysis/generate_changes.R.
#include "analysis/statistics/diagnostics/e_divisive.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"

namespace stab::analysis {
namespace {

std::vector<double> normal_series(Rng& rng, size_t n) {
  std::vector<double> out(n);
  for (double& value : out) value = statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52);
  return out;
}

std::string rows(const statistics::ChangePoints& changes) {
  std::string out;
  for (const statistics::ChangePoint& point : changes.found) out += std::to_string(point.first) + " ";
  return out;
}

TEST(EDivisive, FindsChangesOfLevelAndOfSpread) {
  Rng rng = Rng::stream(31, "planted");
  std::vector<double> series = normal_series(rng, 60);
  for (size_t i = 20; i < 40; ++i) series[i] += 8;
  const auto levels = statistics::e_divisive(series, 5, 0.05, 199, 1);
  ASSERT_TRUE(levels) << levels.error().message;
  ASSERT_EQ(levels->found.size(), 2u) << rows(*levels);
  EXPECT_EQ(levels->found[0].first + levels->found[1].first, 60u) << rows(*levels);
  EXPECT_EQ(levels->found[0].p_value, 1.0 / 200);
  ASSERT_EQ(levels->rejected.size(), 1u);
  EXPECT_GT(levels->rejected[0].p_value, 0.05);
  // The same mean, another spread: a search for means finds nothing there.
  series = normal_series(rng, 80);
  for (size_t i = 40; i < 80; ++i) series[i] *= 12;
  const auto spread = statistics::e_divisive(series, 5, 0.05, 199, 1);
  ASSERT_EQ(spread->found.size(), 1u) << rows(*spread);
  EXPECT_NEAR(static_cast<double>(spread->found[0].first), 40, 6);
}

// A distance for each pair of 6,000 values would be 288 MB.
TEST(EDivisive, NeedsNoMemoryForPairs) {
  const auto most_kib = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  Rng rng = Rng::stream(33, "long");
  const std::vector<double> series = normal_series(rng, 6000);
  const long before = most_kib();
  ASSERT_TRUE(statistics::e_divisive(series, 5, 0.05, 19, 1));
  EXPECT_LT(most_kib() - before, 20'000);
}

TEST(EDivisive, UnitAndOriginSayNothing) {
  Rng rng = Rng::stream(32, "scaled");
  std::vector<double> series = normal_series(rng, 40);
  for (size_t i = 25; i < 40; ++i) series[i] += 3;
  const auto plain = statistics::e_divisive(series, 4, 0.05, 199, 7);
  for (double& value : series) value = 1e-7 * value + 3e-7;
  const auto scaled = statistics::e_divisive(series, 4, 0.05, 199, 7);
  ASSERT_EQ(rows(*plain), rows(*scaled));
  ASSERT_FALSE(plain->found.empty());
  EXPECT_NEAR(scaled->found[0].statistic, 1e-7 * plain->found[0].statistic, 1e-15);
  EXPECT_EQ(scaled->found[0].p_value, plain->found[0].p_value);
  std::reverse(series.begin(), series.end());
  EXPECT_FALSE(statistics::e_divisive(series, 4, 0.05, 199, 7)->found.empty());
}

// Distances of whole numbers are exact wherever they lie, and so are their sums: nothing may change, and orders that tie tie.
TEST(EDivisive, WholeNumbersFarFromZeroAreTheSame) {
  Rng rng = Rng::stream(33, "far");
  std::vector<double> series(24), far;
  for (size_t i = 0; i < series.size(); ++i) series[i] = static_cast<double>(rng.below(2) + (i == 11));
  for (const double value : series) far.push_back(1e12 + value);
  const auto plain = statistics::e_divisive(series, 4, 0.05, 199, 7), shifted = statistics::e_divisive(far, 4, 0.05, 199, 7);
  ASSERT_TRUE(plain && shifted);
  ASSERT_TRUE(plain->found.empty() && shifted->found.empty());
  EXPECT_NEAR(shifted->rejected[0].statistic, plain->rejected[0].statistic, 1e-12);
  EXPECT_EQ(shifted->rejected[0].p_value, plain->rejected[0].p_value);
}

TEST(EDivisive, RefusesWhatItCannotAnswer) {
  const std::vector<double> series{1, 2, 1, 3, 2, 9, 8, 9, 7, 9};
  EXPECT_FALSE(statistics::e_divisive(std::vector<double>(9, 4.0), 2, 0.05, 199, 1)) << "constant";
  EXPECT_FALSE(statistics::e_divisive(series, 1, 0.05, 199, 1)) << "no distance within one value";
  EXPECT_FALSE(statistics::e_divisive(series, 2, 0.05, 18, 1)) << "p is 1/19 at least";
  EXPECT_TRUE(statistics::e_divisive(series, 2, 0.05, 19, 1));
  EXPECT_FALSE(statistics::e_divisive(series, 2, 0.05, 1'000'000'000, 1)) << "days";
  const auto short_one = statistics::e_divisive(series, 6, 0.05, 199, 1);
  ASSERT_TRUE(short_one);
  EXPECT_TRUE(short_one->found.empty() && short_one->rejected.empty()) << "no segment of twelve";
  EXPECT_TRUE(statistics::e_divisive(std::vector<double>{1e150, -1e150, 1e150, -1e150, 1e150}, 2, 0.05, 199, 1));
}

TEST(EDivisive, FindsNothingInNothing) {
  constexpr int kRounds = 1000;
  Rng rng = Rng::stream(33, "nothing");
  int alarms = 0;
  for (int round = 0; round < kRounds; ++round)
    alarms += !statistics::e_divisive(normal_series(rng, 24), 4, 0.05, 99, static_cast<uint64_t>(round))->found.empty();
  std::printf("rate e-divisive: any change in 24 values without one %.4f\n", alarms / double{kRounds});
  EXPECT_NEAR(alarms / double{kRounds}, 0.05, 4 * std::sqrt(0.05 * 0.95 / kRounds));
}

}  // namespace
}  // namespace stab::analysis
