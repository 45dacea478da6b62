// What must not change when the data are shifted, scaled or reordered, and limits that formulas must hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics/diagnostics/normality.h"
#include "analysis/statistics/diagnostics/sequence.h"
#include "analysis/statistics/diagnostics/variance_tests.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/distributions/studentized.h"
#include "analysis/statistics/looks/alpha_spending.h"
#include "analysis/statistics/looks/bets.h"
#include "analysis/statistics/looks/confidence_sequence.h"
#include "analysis/statistics/models/anova.h"
#include "analysis/statistics/models/strata.h"
#include "analysis/statistics/models/variance_components.h"
#include "analysis/statistics/planning/power.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "analysis/statistics/two_samples/resampling.h"
#include "analysis/statistics/two_samples/t_tests.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using Values = std::vector<double>;

Values normals(Rng& rng, size_t n, double centre = 0, double sd = 1) {
  Values values(n);
  for (double& value : values) value = centre + sd * standard_normal(rng);
  return values;
}

Values mapped(const Values& values, double scale, double shift) {
  Values out;
  for (double value : values) out.push_back(scale * value + shift);
  return out;
}

// Statistics of two samples that shifting and scaling both must leave alone.
Values invariant_statistics(const Values& x, const Values& y) {
  const auto two_sided = statistics::Alternative::kTwoSided;
  return {statistics::shapiro_wilk(x)->statistic,
          statistics::shapiro_wilk(x)->p_value,
          statistics::anderson_darling(x)->statistic,
          statistics::welch_t(statistics::moments(x), statistics::moments(y), 0, two_sided, 0.95)->statistic,
          statistics::welch_t(statistics::moments(x), statistics::moments(y), 0, two_sided, 0.95)->p_value,
          statistics::student_t(statistics::moments(x), statistics::moments(y), 0, two_sided, 0.95)->p_value,
          statistics::mann_whitney(x, y, {})->p_value,
          statistics::levene({x, y}, statistics::Centre::kMedian)->f,
          statistics::one_way({x, y})->f,
          statistics::kruskal_wallis({x, y})->statistic,
          statistics::lag1_autocorrelation(x)->statistic,
          statistics::drift(x)->statistic};
}

TEST(Invariance, ShiftAndScale) {
  Rng rng(21);
  const Values x = normals(rng, 30), y = normals(rng, 25, 0.5, 2);
  const Values reference = invariant_statistics(x, y);
  const double scales[] = {1, 3.7, 1e-6, 1e6}, shifts[] = {0, 12.5, -7, 1e5};
  for (double scale : scales) {
    for (double shift : shifts) {
      const Values moved = invariant_statistics(mapped(x, scale, shift * scale), mapped(y, scale, shift * scale));
      for (size_t i = 0; i < reference.size(); ++i)
        EXPECT_NEAR(moved[i], reference[i], 1e-8 * (std::fabs(reference[i]) + 1)) << "statistic " << i << " scale " << scale;
    }
  }
}

// P(T <= t) = conf has a finite t however small conf is, and the t of 1 - conf on the other side of the estimate.
TEST(Invariance, OneSidedIntervalsMirrorAtEveryConfidence) {
  for (const double df : {1.0, 2.5, 9.0, 1e6}) {
    const auto reach = [&](double conf, statistics::Alternative side) {
      const statistics::TTest test = statistics::t_test_of(10, 2, df, 0, side, conf);
      return side == statistics::Alternative::kLess ? *test.conf_high - 10 : 10 - *test.conf_low;
    };
    for (const statistics::Alternative side : {statistics::Alternative::kLess, statistics::Alternative::kGreater}) {
      EXPECT_DOUBLE_EQ(reach(0.5, side), 0);
      for (const double conf : {0.25, 0.01, 0x1p-20})
        EXPECT_NEAR(reach(conf, side), -reach(1 - conf, side), 1e-11 * -reach(conf, side)) << conf;
      double last = reach(0.01, side);
      for (const double conf : {1e-6, 1e-15, 1e-17, 1e-30}) {
        EXPECT_LT(reach(conf, side), last) << conf;
        EXPECT_TRUE(std::isfinite(reach(conf, side))) << conf;
        last = reach(conf, side);
      }
    }
  }
}

// One comparison with a control is a t test, below the estimate as above it.
TEST(Invariance, DunnettOfOneComparisonIsStudent) {
  const Values lambda{std::sqrt(0.3)};
  for (const double df : {3.0, 20.0})
    for (const double upper : {0.9999, 0.9, 0.6, 0.5, 0.05, 0.001}) {
      const double t = statistics::t_quantile_upper(upper, df);
      EXPECT_NEAR(statistics::dunnett_quantile(upper, lambda, df, false), t, 1e-9 * (1 + std::fabs(t))) << upper;
    }
  EXPECT_TRUE(std::isfinite(statistics::dunnett_quantile(1, lambda, 3, false)));
}

// Of 1, 2, ..., n the interval of the median is its own ranks. R 4.2:
//   k <- qbinom((1 - conf) / 2, n, 0.5); c(k, n + 1 - k)
// 2^-n is less than a long double holds from n = 16446 on.
TEST(Invariance, IntervalsOfMediansHoldForAnyNumberOfValues) {
  struct Expected {
    size_t n = 0;
    double conf = 0, low = 0, high = 0;
  };
  for (const auto& [n, conf, low, high] :
       {Expected{6, 0.95, 1, 6}, Expected{1000, 0.95, 469, 532}, Expected{16445, 0.999, 8012, 8434},
        Expected{16446, 0.95, 8097, 8350}, Expected{20000, 0.5, 9952, 10049}, Expected{20000, 0.95, 9861, 10140},
        Expected{1000000, 0.999, 498355, 501646}}) {
    Values values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i + 1);
    const auto interval = statistics::median_interval(values, conf);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, low) << n;
    EXPECT_EQ(interval->high, high) << n;
  }
  EXPECT_FALSE(statistics::median_interval(Values{1, 2, 3, 4, 5}, 0.95));
}

// Four blocks of three cells, on steps that a double holds exactly wherever blocks lie. R 4.2:
//   z <- c(0.5, 1.25, -0.75, 0.25, 2, 0.5, -1, 1.5, 0.75, 1, -0.25, 0.5)
//   anova(lm(z ~ factor(rep(1:3, 4)) + factor(rep(1:4, each = 3))))     F, p and the residuals' squares
constexpr double kInBlocks[] = {0.5, 1.25, -0.75, 0.25, 2, 0.5, -1, 1.5, 0.75, 1, -0.25, 0.5};
constexpr double kF = 1.1530054644808734, kP = 0.3769434980500076, kResidualSquares = 5.71875;

TEST(Invariance, BlocksMayLieFarApart) {
  statistics::FactorCodes cells{{"g"}, {{"1", "2", "3"}}, {{}}}, with_block{{"g", "block"}, {{"1", "2", "3"}, {}}, {{}, {}}};
  std::vector<uint32_t> blocks;
  for (uint32_t i = 0; i < 12; ++i) {
    cells.codes[0].push_back(i % 3);
    with_block.codes[0].push_back(i % 3);
    with_block.codes[1].push_back(i / 3);
    blocks.push_back(i / 3);
  }
  for (const char* block : {"1", "2", "3", "4"}) with_block.level_names[1].emplace_back(block);
  const statistics::TermMask g[] = {1}, block[] = {2};
  for (const double apart : {0.0, 0x1p10, 0x1p23, 0x1p30}) {
    Values values(12);
    for (size_t i = 0; i < 12; ++i) values[i] = kInBlocks[i] + apart * static_cast<double>((i / 3 + 3) % 4);
    const auto rows = statistics::blocked_anova(cells, values, blocks, g, statistics::SumsType::kTwo);
    ASSERT_TRUE(rows) << rows.error().message << apart;
    EXPECT_NEAR(*(*rows)[0].f, kF, 1e-6 * kF) << apart;
    EXPECT_NEAR(*(*rows)[0].p_value, kP, 1e-6 * kP) << apart;
    EXPECT_NEAR(rows->back().sum_squares, kResidualSquares, 1e-6 * kResidualSquares) << apart;
    const auto strata = statistics::strata_anova(with_block, values, g, block);
    ASSERT_TRUE(strata);
    const statistics::Stratum& within = strata->back();
    ASSERT_TRUE(within.rows[0].f) << apart;
    EXPECT_NEAR(*within.rows[0].f, kF, 1e-6 * kF) << apart;
    EXPECT_NEAR(within.rows.back().sum_squares, kResidualSquares, 1e-6 * kResidualSquares) << apart;
  }
}

// Blocks that differ in nothing but what each adds, by decimals: what is left is rounding, which nothing is tested against.
TEST(Invariance, RoundingOfDecimalsIsNoResidual) {
  statistics::FactorCodes cells{{"g"}, {{"1", "2", "3"}}, {{}}};
  std::vector<uint32_t> blocks;
  Values values;
  for (uint32_t i = 0; i < 15; ++i) {
    cells.codes[0].push_back(i % 3);
    blocks.push_back(i / 3);
    values.push_back((100000 + 10 * (i / 3) + i % 3) / 100.0);
  }
  const statistics::TermMask g[] = {1};
  EXPECT_FALSE(statistics::blocked_anova(cells, values, blocks, g, statistics::SumsType::kTwo, statistics::Dependent::kRefuse,
                                         statistics::rounding_of(1000, 1)));
}

TEST(Invariance, SphericityHasNoUnit) {
  Rng rng(25);
  std::vector<std::vector<double>> subjects;
  for (int s = 0; s < 8; ++s) subjects.push_back(normals(rng, 4, s));
  const auto plain = statistics::within_anova(subjects, {"g"}, {4});
  ASSERT_TRUE(plain);
  for (const double unit : {0x1p-400, 0x1p400}) {
    std::vector<std::vector<double>> scaled;
    for (const Values& subject : subjects) scaled.push_back(mapped(subject, unit, 0));
    const auto rows = statistics::within_anova(scaled, {"g"}, {4});
    ASSERT_TRUE(rows);
    EXPECT_NEAR((*rows)[0].greenhouse_geisser, (*plain)[0].greenhouse_geisser, 1e-12) << unit;
    EXPECT_NEAR((*rows)[0].p_greenhouse_geisser, (*plain)[0].p_greenhouse_geisser, 1e-12) << unit;
  }
}

// Sums of binary fractions are exact, so the same differences lie a thousand million higher.
TEST(Invariance, WhatSubjectsShareIsNoDigitOfTheirContrasts) {
  Rng rng(31);
  std::vector<std::vector<double>> near, far;
  for (int s = 0; s < 8; ++s) {
    Values subject;
    for (double value : normals(rng, 6)) subject.push_back(std::round(value * 1024) / 1024);
    near.push_back(subject);
    far.push_back(mapped(subject, 1, 1e9 * (s + 1)));
  }
  const auto plain = statistics::within_anova(near, {"a", "b"}, {2, 3});
  const auto shifted = statistics::within_anova(far, {"a", "b"}, {2, 3});
  ASSERT_TRUE(plain && shifted);
  for (size_t row = 0; row < plain->size(); ++row)
    EXPECT_NEAR(*(*shifted)[row].anova.f, *(*plain)[row].anova.f, 1e-9 * *(*plain)[row].anova.f) << row;
}

TEST(Invariance, BetsFarFromZeroAreAsPrecise) {
  Rng rng(32);
  Values near;
  for (double value : normals(rng, 11)) near.push_back(std::round(value * 1024) / 1024);
  const double g = statistics::mixture_narrowest_at(20, 0.01), origin = statistics::mean(near);
  const statistics::BetEnds of_t{origin - 0.5, origin + 0.5};
  const statistics::BetEnds plain = statistics::widened_by_bets(near, g, 0.01, of_t);
  ASSERT_LT(plain.low, of_t.low);
  ASSERT_GT(plain.high, of_t.high);
  for (const double shift : {1e9, -1e9}) {
    const statistics::BetEnds far =
        statistics::widened_by_bets(mapped(near, 1, shift), g, 0.01, {of_t.low + shift, of_t.high + shift});
    EXPECT_NEAR(far.low - shift, plain.low, 1e-6) << shift;
    EXPECT_NEAR(far.high - shift, plain.high, 1e-6) << shift;
  }
}

// Of fourteen 1 and a 2 a resample's sd is below theirs where no 2 is drawn, and equal to it where one or fourteen are: by
// binomial probabilities, qnorm((14/15)^15 + ((14/15)^14 + 15 * 14 / 15^15) / 2) in R.
TEST(Bootstrap, EqualReplicatesAreTiesInAnyOrder) {
  Values values(14, 1.0);
  values.push_back(2);
  const auto interval = statistics::bca_bootstrap(values, statistics::BootstrapStatistic::kSd, 100'000, 0.9, 1);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->z0, 0.11451, 0.02);
}

// Student's and normal probabilities, integrated over the spread by R:
// f <- function(s) { t <- qt(0.999, 1); r <- m / se - t * s; (pnorm(r - d / se) - pnorm(-r - d / se)) * 2 * s * dchisq(s^2, 1) },
// from 0 to m / se / qt(0.999, 1) in 20 parts, rel.tol = 1e-11.
TEST(Power, OfEquivalenceWithOneDegreeOfFreedom) {
  EXPECT_NEAR(statistics::equivalence_power({0.977888517929237, 1.57166977256522, 1}, 2.65780314200552, 0.001),
              0.00205546145805239, 1e-9);
}

// Of two looks the second is crossed, but not the first, with a probability that is one integral: here by a sum of 400,000
// terms. The second look's step is narrow where it follows at once.
TEST(Invariance, LooksCloseTogetherSpendWhatTheySay) {
  for (const double second : {0.9, 0.51, 0.5001, 0.50001}) {
    const auto looks = statistics::alpha_spending(statistics::Spending::kObrienFleming, Values{0.5, second}, 0.05, false);
    ASSERT_TRUE(looks);
    const double bound = (*looks)[0].z * std::sqrt(0.5), next = (*looks)[1].z * std::sqrt(second);
    const double sd = std::sqrt(second - 0.5);
    double crossed = 0;
    constexpr int kTerms = 400'000;
    const double step = 2 * bound / kTerms;
    for (int i = 0; i < kTerms; ++i) {
      const double s = -bound + (i + 0.5) * step;
      crossed += step * statistics::normal_density(s / std::sqrt(0.5)) / std::sqrt(0.5) *
                 (statistics::normal_upper((next - s) / sd) + statistics::normal_upper((next + s) / sd));
    }
    const double spent = (*looks)[1].spent - (*looks)[0].spent;
    EXPECT_NEAR(crossed, spent, 2e-9) << second;
  }
}

// Balanced and nested: REML has the closed form of expected mean squares as long as these are positive, however far apart the
// outer levels lie.
TEST(Invariance, RemlOfBalancedLevelsIsTheirMeanSquares) {
  for (const double inner : {1.0, 1e-2, 1e-4, 1e-5}) {
    Rng rng(26);
    statistics::FactorCodes levels{{"a", "b"}, {{}, {}}, {{}, {}}};
    for (int i = 0; i < 8; ++i) levels.level_names[0].push_back(std::to_string(i));
    for (int i = 0; i < 5; ++i) levels.level_names[1].push_back(std::to_string(i));
    Values values;
    for (uint32_t a = 0; a < 8; ++a) {
      const double of_a = standard_normal(rng);
      for (uint32_t b = 0; b < 5; ++b) {
        const double of_b = 3 * inner * standard_normal(rng);
        for (int k = 0; k < 4; ++k) {
          values.push_back(of_a + of_b + inner * standard_normal(rng));
          levels.codes[0].push_back(a);
          levels.codes[1].push_back(b);
        }
      }
    }
    const auto components = statistics::variance_components(levels, values);
    ASSERT_TRUE(components) << inner;
    for (const statistics::VarianceComponent& one : *components) {
      ASSERT_GT(one.ems, 0) << one.name << inner;
      EXPECT_NEAR(one.reml, one.ems, 1e-6 * one.ems) << one.name << " " << inner;
    }
  }
}

TEST(Invariance, OrderOfValuesIsImmaterial) {
  Rng rng(22);
  Values x = normals(rng, 40), y = normals(rng, 33, 0.4);
  const double w = statistics::shapiro_wilk(x)->statistic, p = statistics::welch_t(statistics::moments(x), statistics::moments(y),
                                                                                   0, statistics::Alternative::kTwoSided, 0.95)
                                                                   ->p_value;
  const double u = statistics::mann_whitney(x, y, {})->statistic;
  for (int i = 0; i < 10; ++i) {
    rng.shuffle(x);
    rng.shuffle(y);
    EXPECT_DOUBLE_EQ(statistics::shapiro_wilk(x)->statistic, w);
    EXPECT_NEAR(
        statistics::welch_t(statistics::moments(x), statistics::moments(y), 0, statistics::Alternative::kTwoSided, 0.95)->p_value,
        p, 1e-12);
    EXPECT_EQ(statistics::mann_whitney(x, y, {})->statistic, u);
  }
}

TEST(Invariance, SwappingGroupsTurnsTheSign) {
  Rng rng(23);
  const Values x = normals(rng, 12), y = normals(rng, 15, 1);
  const auto forth = statistics::welch_t(statistics::moments(x), statistics::moments(y), 0, statistics::Alternative::kLess, 0.95);
  const auto back =
      statistics::welch_t(statistics::moments(y), statistics::moments(x), 0, statistics::Alternative::kGreater, 0.95);
  EXPECT_DOUBLE_EQ(forth->statistic, -back->statistic);
  EXPECT_DOUBLE_EQ(forth->p_value, back->p_value);
  EXPECT_DOUBLE_EQ(*forth->conf_high, -*back->conf_low);
  const auto u_forth = statistics::mann_whitney(x, y, {.alternative = statistics::Alternative::kLess});
  const auto u_back = statistics::mann_whitney(y, x, {.alternative = statistics::Alternative::kGreater});
  EXPECT_NEAR(u_forth->p_value, u_back->p_value, 1e-13);
  EXPECT_NEAR(u_forth->estimate, -u_back->estimate, 1e-13);
}

TEST(Invariance, TwoGroupsOfAnovaAreStudent) {
  Rng rng(24);
  const Values x = normals(rng, 12), y = normals(rng, 15, 1);
  const auto t =
      statistics::student_t(statistics::moments(x), statistics::moments(y), 0, statistics::Alternative::kTwoSided, 0.95);
  const auto f = statistics::one_way({x, y});
  EXPECT_NEAR(f->f, t->statistic * t->statistic, 1e-10);
  EXPECT_NEAR(f->p_value, t->p_value, 1e-12);
  const statistics::Moments groups[] = {statistics::moments(x), statistics::moments(y)};
  const auto welch = statistics::welch_t(groups[0], groups[1], 0, statistics::Alternative::kTwoSided, 0.95);
  EXPECT_NEAR(statistics::welch_anova(groups)->p_value, welch->p_value, 1e-12);
}

TEST(Invariance, ConfidenceIntervalAgreesWithTheTest) {
  Rng rng(25);
  const Values x = normals(rng, 12), y = normals(rng, 15, 1);
  const auto test =
      statistics::welch_t(statistics::moments(x), statistics::moments(y), 0, statistics::Alternative::kTwoSided, 0.95);
  for (double bound : {*test->conf_low, *test->conf_high})
    EXPECT_NEAR(
        statistics::welch_t(statistics::moments(x), statistics::moments(y), bound, statistics::Alternative::kTwoSided, 0.95)
            ->p_value,
        0.05, 1e-10);
}

// Independent of any statistics library: the upper tail of t with 2 df is 1/2 (1 - t / sqrt(2 + t^2)), which for
// large t is 1 / (2 t^2); with many df and large t the digits come from the complement alone.
TEST(Distributions, SmallTailsKeepTheirDigits) {
  EXPECT_NEAR(statistics::t_upper(1e150, 2) / (0.5 * 1e-300), 1, 1e-10);
  EXPECT_NEAR(statistics::f_upper(1e300, 2, 2) / 1e-300, 1, 1e-10);  // F(2,2): upper tail 1 / (1 + f)
  EXPECT_NEAR(statistics::normal_upper(37.0) / 5.7255712225245e-300, 1, 1e-9);
  EXPECT_NEAR(statistics::chi_squared_upper(1380, 2) / std::exp(-690.0), 1, 1e-10);  // exp(-x / 2)
  EXPECT_GT(statistics::studentized_range_upper(60, 3, 1000), 0);
  EXPECT_LT(statistics::studentized_range_upper(60, 3, 1000), 1e-150);
}

TEST(Distributions, TheFastTIsTheOther) {
  for (const double df : {0.5, 1.0, 2.5, 7.0, 30.0, 1e4, 1e9})
    for (const double upper : {1e-6, 0.0005, 0.025, 0.4}) {
      const double t = statistics::t_quantile_upper(upper, df);
      EXPECT_NEAR(statistics::t_upper_fast(t, df) / upper, 1, 1e-11) << df;
      EXPECT_NEAR(statistics::t_quantile_upper_fast(upper, df) / t, 1, 1e-11) << df;
    }
}

TEST(Studentized, TwoMeansAreStudentsT) {
  for (double df : {1.0, 2.0, 5.0, 17.5, 200.0})
    for (double t : {0.1, 1.0, 2.5, 8.0, 40.0})
      EXPECT_NEAR(statistics::studentized_range_upper(t * std::sqrt(2.0), 2, df) / statistics::t_two_sided(t, df), 1, 1e-9)
          << df << " " << t;
}

TEST(Studentized, OneComparisonOfDunnettIsStudentsT) {
  const double lambda[] = {std::sqrt(0.5)};
  for (double df : {2.0, 12.0, 300.0}) {
    for (double t : {0.5, 2.0, 6.0}) {
      EXPECT_NEAR(statistics::dunnett_upper(t, lambda, df, true) / statistics::t_two_sided(t, df), 1, 1e-9);
      EXPECT_NEAR(statistics::dunnett_upper(t, lambda, df, false) / statistics::t_upper(t, df), 1, 1e-9);
      EXPECT_NEAR(statistics::dunnett_upper(-t, lambda, df, false) / statistics::t_upper(-t, df), 1, 1e-9);
    }
  }
}

TEST(Studentized, QuantileInvertsTheTail) {
  for (double df : {3.0, 20.0, 500.0})
    for (double upper : {0.2, 0.05, 0.001})
      EXPECT_NEAR(statistics::studentized_range_upper(statistics::studentized_range_quantile(upper, 4, df), 4, df) / upper, 1,
                  1e-9);
}

// All cells' segmentations, one by one.
double best_cost(const Values& x, size_t from, double penalty, size_t least, std::vector<double>& memo) {
  if (from == x.size()) return -penalty;
  if (memo[from] < 1e300) return memo[from];
  double best = 1e299;
  for (size_t to = from + least; to <= x.size(); ++to) {
    if (to != x.size() && x.size() - to < least) continue;
    const double cost = statistics::moments(std::span(x).subspan(from, to - from)).m2;
    best = std::min(best, cost + penalty + best_cost(x, to, penalty, least, memo));
  }
  return memo[from] = best;
}

TEST(ChangePoints, CostEqualsBruteForce) {
  Rng rng(31);
  for (int round = 0; round < 60; ++round) {
    const size_t least = 1 + static_cast<size_t>(round) % 4;
    Values x;
    while (x.size() < 30) {
      const double level = 4 * standard_normal(rng);
      for (uint64_t i = 0, n = 2 + rng.below(8); i < n; ++i) x.push_back(level + standard_normal(rng));
    }
    const double penalty = 1 + 8 * rng.uniform();
    const auto changes = statistics::change_points(x, penalty, least);
    ASSERT_TRUE(changes);
    double cost = -penalty;
    size_t first = 0;
    for (size_t i = 0; i <= changes->size(); ++i) {
      const size_t end = i < changes->size() ? (*changes)[i] : x.size();
      EXPECT_GE(end - first, least);
      cost += penalty + statistics::moments(std::span(x).subspan(first, end - first)).m2;
      first = end;
    }
    std::vector<double> memo(x.size() + 1, 1e301);
    EXPECT_NEAR(cost, best_cost(x, 0, penalty, least, memo), 1e-9 * (1 + std::fabs(cost))) << "least " << least;
  }
}

TEST(ChangePoints, FindsAStep) {
  Rng rng(32);
  Values x = normals(rng, 60, 0, 0.3);
  for (size_t i = 40; i < 60; ++i) x[i] += 2;
  const auto changes = statistics::change_points(x, statistics::default_penalty(x), 1);
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes->size(), 1u);
  EXPECT_EQ((*changes)[0], 40u);
}

}  // namespace
}  // namespace stab::analysis
