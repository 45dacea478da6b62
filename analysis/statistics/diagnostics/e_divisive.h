// Change points of any kind, in mean, spread or shape, of a series of independent values: E-divisive (Matteson & James, "A
// nonparametric approach for multiple change point analysis of multivariate data", JASA 109(505), 2014), as R's ecp has it.
//
// Two samples of sizes m and n are as different as
//   Q = 2/(m+n) (sum |x_i - y_j| - n/(m-1) sum_(i<k) |x_i - x_k| - m/(n-1) sum_(i<k) |y_i - y_k|)
// (their equations 4 and 5 with exponent 1: mn/(m+n) times the energy distance). The next change is where a segment is split
// so that what lies left of it differs most from what follows it, up to any later end within the segment (their equation 6).
// Whether it is one is asked of permutations within the segments found so far, which have the same search done to them: p is
// the share of them, with the series itself, whose largest Q is as large (their section 2.4). The first split that is not
// significant ends the search. Permutations end as soon as so many are as large that p will lie above alpha (Besag & Clifford,
// "Sequential Monte Carlo p-values", Biometrika 78(2), 1991): what is found stays the same, and p of the rejected split is the
// share among those that were made.
//
// Assumed: between changes the order of the values means nothing. A series that remembers its last value has changes by this
// measure that nobody made.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

struct ChangePoint {
  size_t first = 0;     // index of the first value after it
  double statistic = 0;  // Q
  double p_value = 1;
};

struct ChangePoints {
  std::vector<ChangePoint> found;     // significant, in the order found: the strongest first
  std::vector<ChangePoint> rejected;  // the one that ended the search, or none where no segment can be split
};

// least: values in a segment, 2 at least. The level of each step is alpha, and so is the chance of any change in a series
// without one. Refuses more values and permutations than take a minute a step.
Result<ChangePoints> e_divisive(std::span<const double> values, size_t least, double alpha, uint64_t permutations, uint64_t seed);

// The same of values that come in groups, one after the other, and what a group's values have in common is no change: groups
// change places as wholes, and values do so within their group. pre: one group for each value; equal neighbours are one group
Result<ChangePoints> e_divisive_in_groups(std::span<const double> values, std::span<const uint32_t> groups, size_t least,
                                          double alpha, uint64_t permutations, uint64_t seed);

// The same search in a series whose values are not exchangeable, but whose errors are known: p is the share of `rounds` series
// without a change, with the series itself, whose largest Q is as large. `draw` puts such a series into its argument, on the
// scale of `values`; what is constant within a segment doesn't matter, since only distances within segments are looked at.
using SeriesWithoutChange = std::function<void(std::span<double>)>;
Result<ChangePoints> e_divisive_against(std::span<const double> values, size_t least, double alpha, uint64_t rounds,
                                        const SeriesWithoutChange& draw);

}  // namespace stab::statistics
