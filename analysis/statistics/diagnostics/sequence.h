// Statistics of values in the order they were measured: does the machine drift, does a trial depend on the one
// before it, where did the level change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

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

// The two questions of a design: which values could have come in another order is known, they are those of one group
// (the trials of a block, whose order was drawn; or of a cell). values and groups in run order, of equal length. Values are
// ranked, and ranks taken as deviations from their group's mean, so that what groups have in common has no say; p by the
// mean and variance that the statistic has over all orders within the groups.
//
// Lag 1: sum of products of neighbours. The statistic is how far it lies above its mean, as a share of the sum of squares:
// 0 where trials are independent, whatever the groups' sizes. 10 values at least.
Result<SequenceTest> lag1_within(std::span<const double> values, std::span<const uint32_t> groups);
// Drift: correlation with the position within groups (one group: Spearman's; exact up to 8 values). 5 values at least.
Result<SequenceTest> drift_within(std::span<const double> values, std::span<const uint32_t> groups);

// Change points in the mean by PELT (Killick, Fearnhead & Eckley 2012): the segmentation that minimizes
// sum of squares + penalty for each change, exactly. Returns the first index of each later segment.
// penalty in units of squares; see default_penalty(). Where there is no change it takes the square of the values' number, half a
// minute for the most.
inline constexpr size_t kMostSearched = 100'000;
Result<std::vector<size_t>> change_points(std::span<const double> values, double penalty, size_t least_length);
// BIC: 2 log(n) times a variance estimated from first differences (robust to the changes themselves; where most
// neighbours are equal, from their mean square). 0 only below 3 values and for equal ones.
double default_penalty(std::span<const double> values);

}  // namespace stab::statistics
