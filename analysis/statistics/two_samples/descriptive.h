// Descriptive statistics of one sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

// Count, mean and sum of squared deviations: enough for every normal-theory method here, and mergeable.
// invariant: m2 >= 0; n == 0 implies mean == 0 and m2 == 0
struct Moments {
  uint64_t n = 0;
  double mean = 0;
  double m2 = 0;

  double variance() const { return m2 / static_cast<double>(n - 1); }  // pre: n >= 2
  double sd() const;                                                   // pre: n >= 2
  double standard_error() const;                                       // pre: n >= 2
};

// Two passes in extended precision: exact to a few ulp also where the mean is 1e13 times the deviations.
Moments moments(std::span<const double> values);
Moments merge(const Moments& a, const Moments& b);

struct ConfidenceInterval {
  double low = 0;
  double high = 0;
};

// pre: not empty
double mean(std::span<const double> values);
double median(std::span<const double> values);
// Hyndman & Fan (1996) type 7, R's default: linear between order statistics. pre: sorted, 0 <= p <= 1
double quantile_sorted(std::span<const double> sorted, double p);
double quantile(std::span<const double> values, double p);
// Any of Hyndman & Fan's nine types. pre: 1 <= type <= 9
double quantile_type(std::span<const double> values, double p, int type);
// Median absolute deviation times 1.4826, so that it estimates the sd of a normal sample, as R's mad().
double mad(std::span<const double> values);
// Absent unless all values are > 0.
std::optional<double> geometric_mean(std::span<const double> values);

// Student's interval of a mean. pre: n >= 2
ConfidenceInterval mean_interval(const Moments& moments, double conf);
// Distribution-free interval of the median between order statistics: coverage at least conf; absent where n is
// too small for that (n < 6 at 95 %). David & Nagaraja, Order Statistics, 7.1.
std::optional<ConfidenceInterval> median_interval(std::span<const double> values, double conf);

// Average ranks from 1, ties share the mean. tie_sum receives the sum of t^3 - t over groups of ties.
std::vector<double> average_ranks(std::span<const double> values, double* tie_sum = nullptr);

// Beyond this a sum of squares may overflow; such values are refused.
inline constexpr double kLargestValue = 1e150;

// A sample that a test can work with: no NaN, no infinity, nothing beyond kLargestValue, at least `least`
// values. The error names the first
// bad one by its position from 1.
Status check_sample(std::span<const double> values, size_t least, std::string_view method);
bool constant(std::span<const double> values);
// Values that differ, but by so little (less than about 1e-154) that the squares of their differences underflow, are
// refused: their spread would come out as 0.
Status check_squares(std::span<const double> values);
// Where only moments are known and their squares are 0. `of`: what doesn't vary.
Error no_spread(std::string_view of = "values");

}  // namespace stab::statistics
