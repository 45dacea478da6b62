// Statistics of values in the order they were measured: does the machine drift, does a trial depend on the one
// before it, where did the level change.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace stab::analysis {

struct SequenceTest {
  double statistic = 0;
  double p_value = 1;
};

// r1 = sum (x_t - m)(x_(t+1) - m) / sum (x_t - m)^2, as R's acf(); p from sqrt(n) (r1 + 1/n) ~ N(0, 1) under
// independence (Box & Jenkins; mean -1/n: Kendall & Stuart 48.9). n >= 10, not constant.
Result<SequenceTest> lag1_autocorrelation(std::span<const double> values);

// Spearman's rank correlation of value and position; p by the t approximation, as R's cor.test(method =
// "spearman", exact = FALSE). n >= 10, not constant.
Result<SequenceTest> drift(std::span<const double> values);

// Change points in the mean by PELT (Killick, Fearnhead & Eckley 2012): the segmentation that minimizes
// sum of squares + penalty for each change, exactly. Returns the first index of each later segment.
// penalty in units of squares; see default_penalty().
Result<std::vector<size_t>> change_points(std::span<const double> values, double penalty, size_t least_length);
// BIC: 2 log(n) times a variance estimated from first differences (robust to the changes themselves).
double default_penalty(std::span<const double> values);

}  // namespace stab::analysis
