// The shape of one sample, reduced to what a plot can show.
#pragma once

#include <span>
#include <vector>

namespace stab::page {

// A Gaussian kernel density on an even grid from `from` to `to`. Empty where there are fewer than 5 values or they are
// all equal.
struct Density {
  double from = 0, to = 0;
  double bandwidth = 0;
  std::vector<double> height;  // integrates to about 1 over the line
};
// Bandwidth by Silverman's rule of thumb (Silverman 1986, eq. 3.31), R's bw.nrd0. The grid covers the quartiles and
// four times their range at most: values beyond are shown as points.
Density density_of(std::span<const double> sorted);

// All order statistics, or, of more than `most`, as many quantiles at even probabilities from 0 to 1.
std::vector<double> quantiles_of(std::span<const double> sorted, size_t most);

// Sorted values against normal quantiles of (i - 1/2) / n; of more than `most`, the extremes and an even choice between.
struct NormalPairs {
  std::vector<double> normal, value;
};
NormalPairs normal_pairs(std::span<const double> sorted, size_t most);

}  // namespace stab::page
