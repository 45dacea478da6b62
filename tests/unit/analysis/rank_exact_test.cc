// Exact rank and permutation tests against counting every rearrangement.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/statistics/two_samples/rank_counts.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "analysis/statistics/two_samples/resampling.h"
#include "base/rng.h"

namespace stab::analysis {
namespace {

using Values = std::vector<double>;

// p of `observed` among all subsets of size `take` (as sums of `scores`), or among all sign choices for take == 0.
double count_all(const Values& scores, size_t take, double observed, statistics::Alternative alternative) {
  const size_t n = scores.size();
  double expected = 0, extreme = 0, total = 0;
  std::vector<double> sums;
  for (uint32_t mask = 0; mask < (1u << n); ++mask) {
    if (take > 0 && static_cast<size_t>(__builtin_popcount(mask)) != take) continue;
    double sum = 0;
    for (size_t i = 0; i < n; ++i)
      if (mask >> i & 1) sum += scores[i];
    sums.push_back(sum);
    expected += sum;
  }
  total = static_cast<double>(sums.size());
  expected /= total;
  for (double sum : sums) {
    if (alternative == statistics::Alternative::kLess) extreme += sum <= observed + 1e-9;
    if (alternative == statistics::Alternative::kGreater) extreme += sum >= observed - 1e-9;
    if (alternative == statistics::Alternative::kTwoSided)
      extreme += std::fabs(sum - expected) >= std::fabs(observed - expected) - 1e-9;
  }
  return extreme / total;
}

constexpr statistics::Alternative kAll[] = {statistics::Alternative::kTwoSided, statistics::Alternative::kLess,
                                            statistics::Alternative::kGreater};

TEST(RankExact, MannWhitneyEqualsEnumeration) {
  Rng rng(7);
  for (int round = 0; round < 40; ++round) {
    const size_t m = 1 + rng.below(6), n = 1 + rng.below(6);
    const bool tied = round % 2;
    Values x(m), y(n);
    for (double& value : x) value = tied ? static_cast<double>(rng.below(4)) : rng.uniform();
    for (double& value : y) value = tied ? static_cast<double>(rng.below(4)) : rng.uniform();
    Values all(x);
    all.insert(all.end(), y.begin(), y.end());
    if (statistics::constant(all)) continue;
    const Values ranks = statistics::average_ranks(all);
    const double sum = std::accumulate(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(m), 0.0);
    for (statistics::Alternative alternative : kAll) {
      const auto test = statistics::mann_whitney(x, y, {.alternative = alternative, .method = statistics::RankMethod::kExact});
      ASSERT_TRUE(test);
      EXPECT_NEAR(test->p_value, count_all(ranks, m, sum, alternative), 1e-12) << m << " " << n << " tied " << tied;
    }
  }
}

TEST(RankExact, WilcoxonEqualsEnumeration) {
  Rng rng(8);
  for (int round = 0; round < 40; ++round) {
    const size_t n = 2 + rng.below(9);
    Values x(n), size(n);
    for (double& value : x)
      value = round % 2 ? static_cast<double>(1 + rng.below(4)) * (rng.below(2) ? 1 : -1) : rng.uniform() - 0.4;
    for (size_t i = 0; i < n; ++i) size[i] = std::fabs(x[i]);
    const Values ranks = statistics::average_ranks(size);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += x[i] > 0 ? ranks[i] : 0;
    for (statistics::Alternative alternative : kAll) {
      const auto test =
          statistics::wilcoxon_signed_rank(x, {.alternative = alternative, .method = statistics::RankMethod::kExact});
      ASSERT_TRUE(test);
      EXPECT_NEAR(test->p_value, count_all(ranks, 0, sum, alternative), 1e-12);
    }
  }
}

TEST(RankExact, PermutationEqualsEnumeration) {
  Rng rng(9);
  for (int round = 0; round < 20; ++round) {
    Values values(9);
    std::vector<uint32_t> group(9, 1), block(9, 0);
    for (double& value : values) value = rng.uniform();
    for (size_t i = 0; i < 4; ++i) group[i] = 0;
    const double sum = values[0] + values[1] + values[2] + values[3];
    for (statistics::Alternative alternative : kAll) {
      const auto test = statistics::block_permutation(values, group, block, alternative, 1000, 1);
      ASSERT_TRUE(test);
      EXPECT_TRUE(test->exact);
      EXPECT_EQ(test->permutations, 126u);
      EXPECT_NEAR(test->p_value, count_all(values, 4, sum, alternative), 1e-12);
    }
  }
}

TEST(RankExact, BlockedPermutationMultipliesBlocks) {
  // Two blocks of two: four rearrangements, the observed one the most extreme of them.
  const Values values{1, 2, 10, 30};
  const uint32_t group[] = {0, 1, 0, 1}, block[] = {0, 0, 1, 1};
  const auto test = statistics::block_permutation(values, group, block, statistics::Alternative::kLess, 100, 1);
  ASSERT_TRUE(test);
  EXPECT_EQ(test->permutations, 4u);
  EXPECT_DOUBLE_EQ(test->p_value, 0.25);
  EXPECT_DOUBLE_EQ(test->difference, (-1.0 - 20.0) / 2);
}

TEST(RankExact, SampledPermutationAgreesWithExact) {
  Rng rng(10);
  Values values(16);
  std::vector<uint32_t> group(16), block(16, 0);
  for (size_t i = 0; i < 16; ++i) {
    group[i] = i % 2;
    values[i] = rng.uniform() + 0.2 * group[i];
  }
  const auto exact = statistics::block_permutation(values, group, block, statistics::Alternative::kTwoSided, 20'000, 1);
  const auto sampled = statistics::block_permutation(values, group, block, statistics::Alternative::kTwoSided, 10'000, 1);
  ASSERT_TRUE(exact && sampled);
  ASSERT_TRUE(exact->exact);
  ASSERT_FALSE(sampled->exact);
  EXPECT_NEAR(exact->p_value, sampled->p_value, 4 * std::sqrt(exact->p_value / 10'000));
}

// Selection by counting against sorting all pairs.
TEST(RankCounts, KthPairEqualsSorting) {
  Rng rng(11);
  for (int round = 0; round < 30; ++round) {
    Values x(1 + rng.below(40)), y(1 + rng.below(40));
    for (double& value : x) value = round % 3 ? rng.uniform() : static_cast<double>(rng.below(5));
    for (double& value : y) value = round % 3 ? rng.uniform() : static_cast<double>(rng.below(5));
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    Values differences, averages;
    for (double a : x)
      for (double b : y) differences.push_back(a - b);
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t j = i; j < x.size(); ++j) averages.push_back((x[i] + x[j]) / 2);
    std::sort(differences.begin(), differences.end());
    std::sort(averages.begin(), averages.end());
    for (size_t k = 1; k <= differences.size(); k += 1 + differences.size() / 7)
      EXPECT_EQ(statistics::kth_difference(x, y, k), differences[k - 1]);
    for (size_t k = 1; k <= averages.size(); k += 1 + averages.size() / 7)
      EXPECT_EQ(statistics::kth_walsh_average(x, k), averages[k - 1]);
  }
}

// With ties the interval of an exact test is that of untied ranks, and says what level it has.
TEST(RankExact, TiesDontHideTooFewValues) {
  const statistics::RankOptions options{.method = statistics::RankMethod::kExact};
  const auto untied = statistics::wilcoxon_signed_rank(Values{1, 1.00005, 1.0001}, options);
  const auto tied = statistics::wilcoxon_signed_rank(Values{1, 1, 1.0001}, options);
  ASSERT_TRUE(untied && tied);
  EXPECT_NEAR(untied->achieved_conf, 0.75, 1e-12);
  EXPECT_NEAR(tied->achieved_conf, 0.75, 1e-12);
  const auto untied_two = statistics::mann_whitney(Values{1, 2, 3}, Values{4, 5}, options);
  const auto tied_two = statistics::mann_whitney(Values{1, 1, 3}, Values{4, 4}, options);
  ASSERT_TRUE(untied_two && tied_two);
  EXPECT_NEAR(tied_two->achieved_conf, untied_two->achieved_conf, 1e-12);
  EXPECT_LT(tied_two->achieved_conf, 0.95);
}

// Coverage of the closed interval where values come in steps: counted over all samples of a symmetric distribution on -1, 0, 1
// around 5.
TEST(RankExact, IntervalsOfTiedValuesHoldTheirLevel) {
  constexpr int kValues = 7;
  int samples = 0, missed = 0;
  for (int code = 0; code < 2187; ++code) {  // 3^7
    Values x;
    for (int i = 0, rest = code; i < kValues; ++i, rest /= 3) x.push_back(5 + rest % 3 - 1);
    const auto test =
        statistics::wilcoxon_signed_rank(x, {.conf = 0.9, .method = statistics::RankMethod::kExact, .zeros_stay = true});
    ASSERT_TRUE(test);
    ++samples;
    missed += *test->conf_low > 5 || *test->conf_high < 5;
  }
  EXPECT_LE(missed, samples / 10);
}

TEST(RankExact, ZerosStayWhereTheyAreAskedTo) {
  Values x(24, 0.0);
  x.insert(x.end(), 6, 0.02);
  const auto dropped = statistics::wilcoxon_signed_rank(x, {.method = statistics::RankMethod::kExact});
  const auto kept = statistics::wilcoxon_signed_rank(x, {.method = statistics::RankMethod::kExact, .zeros_stay = true});
  ASSERT_TRUE(dropped && kept);
  EXPECT_EQ(dropped->estimate, 0.02) << "as R";
  EXPECT_EQ(kept->estimate, 0) << "the middle of all averages of two";
  EXPECT_EQ(*kept->conf_low, 0);
  EXPECT_EQ(kept->p_value, dropped->p_value);
}

// The least p is that of the most extreme arrangement, whatever the values and ties are.
TEST(RankExact, TheLeastPIsThatOfAllOnOneSide) {
  Rng rng(13);
  for (int round = 0; round < 60; ++round) {
    const size_t m = 1 + rng.below(5), n = 1 + rng.below(5);
    Values all(m + n), signs(m + n);
    for (double& value : all) value = round % 2 ? static_cast<double>(rng.below(4)) : rng.uniform();
    for (double& value : signs) value = round % 2 ? static_cast<double>(rng.below(4)) - 1 : rng.uniform() - 0.5;
    if (!statistics::constant(all)) {
      double least = 1;
      std::sort(all.begin(), all.end());
      for (const bool up : {false, true}) {
        const std::span<const double> rest(all);
        const auto first = up ? rest.last(m) : rest.first(m), second = up ? rest.first(n) : rest.last(n);
        least = std::min(least, *statistics::van_elteren_p(std::vector<statistics::Stratum2>{{first, second}}));
      }
      const std::vector<statistics::Stratum2> sides{{{all.data(), m}, {all.data() + m, n}}};
      EXPECT_NEAR(statistics::van_elteren_least_p(sides), least, 1e-9) << m << " " << n << " round " << round;
    }
    Values alike(signs);
    for (double& value : alike) value = std::fabs(value);
    if (const auto p = statistics::signed_rank_p(alike)) {
      EXPECT_NEAR(statistics::signed_rank_least_p(signs), *p, 1e-12);
    }
  }
  EXPECT_EQ(statistics::signed_rank_least_p(Values(20, 0.0)), 1);
}

TEST(RankExact, WhatRoundingLeavesIsATieOrNothing) {
  const Values values{-4e-16, 0.1, -0.1 - 2e-16, 0.3, 4e-16, 0.3 + 1e-15, 0.3 + 3e-15};
  EXPECT_EQ(statistics::without_rounding(values, 1e-15), (Values{-0.0, 0.1, -0.1, 0.3, 0.0, 0.3, 0.3 + 3e-15}));
  EXPECT_EQ(statistics::without_rounding(values, 0), values);
  // Six cells of about 1e9 ns: a difference of a nanosecond stays one.
  EXPECT_LT(statistics::rounding_of(2e9, 6), 1e-4);
}

TEST(RankCounts, LargeSamplesBisect) {
  Rng rng(12);
  Values x(2000), y(1500);
  for (double& value : x) value = rng.uniform();
  for (double& value : y) value = rng.uniform();
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  Values differences;
  for (double a : x)
    for (double b : y) differences.push_back(a - b);
  for (uint64_t k : {uint64_t{1}, uint64_t{1234}, uint64_t{1'500'000}, uint64_t{2'999'999}, uint64_t{3'000'000}}) {
    std::nth_element(differences.begin(), differences.begin() + static_cast<ptrdiff_t>(k - 1), differences.end());
    EXPECT_EQ(statistics::kth_difference(x, y, k), differences[k - 1]);
  }
}

}  // namespace
}  // namespace stab::analysis
