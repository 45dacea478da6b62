// Student's family: one sample, paired, pooled and Welch t tests, equivalence (TOST), and the same for any
// linear combination of cell means. R's t.test() gives the same numbers.
#pragma once

#include <optional>
#include <span>

#include "analysis/statistics/two_samples/descriptive.h"
#include "base/result.h"

namespace stab::statistics {

enum class Alternative { kTwoSided, kLess, kGreater };

// Bounds are absent on the open side of a one-sided interval.
struct TTest {
  double statistic = 0;
  double df = 0;
  double p_value = 1;
  double estimate = 0;        // mean, or difference of means (first minus second)
  double standard_error = 0;
  std::optional<double> conf_low;
  std::optional<double> conf_high;
};

// rounded_at: where the values are differences, the size of the numbers they come from; a spread that is the rounding
// of those is refused. 0: they are as measured, and any spread is theirs.
Result<TTest> one_sample_t(std::span<const double> values, double mu, Alternative alternative, double conf,
                           double rounded_at = 0);
// pre: both samples are in pair order. Refuses different lengths.
Result<TTest> paired_t(std::span<const double> first, std::span<const double> second, double mu,
                       Alternative alternative, double conf);
Result<TTest> student_t(const Moments& first, const Moments& second, double mu, Alternative alternative,
                        double conf);
Result<TTest> welch_t(const Moments& first, const Moments& second, double mu, Alternative alternative,
                      double conf);

// The contrast sum of coefficient * mean over cells with unequal variances; Satterthwaite's df. With two cells
// and coefficients 1, -1 it is Welch's test.
struct WeightedCell {
  Moments moments;
  double coefficient = 0;
};
Result<TTest> welch_contrast(std::span<const WeightedCell> cells, double mu, Alternative alternative,
                             double conf);

// Turns an estimate with its standard error into a test: (estimate - mu) / standard_error on df.
TTest t_test_of(double estimate, double standard_error, double df, double mu, Alternative alternative,
                double conf);

// Two one-sided tests (Schuirmann 1987): equivalent within [low, high] when the larger p is small.
struct Tost {
  TTest above_low;            // H0: difference <= low
  TTest below_high;           // H0: difference >= high
  double p_value = 1;         // the larger of the two
  double conf_low = 0;        // the (1 - 2 alpha) interval
  double conf_high = 0;
};
enum class VarianceAssumption { kUnequal, kEqual };
Result<Tost> tost(const Moments& first, const Moments& second, double low, double high, double alpha,
                  VarianceAssumption assumption);
// rounded_at: as one_sample_t's.
Result<Tost> tost_one_sample(std::span<const double> values, double low, double high, double alpha, double rounded_at = 0);

}  // namespace stab::statistics
