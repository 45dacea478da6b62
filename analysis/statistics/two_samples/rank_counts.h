// Order statistics of all pairs without making them: differences x_i - y_j and Walsh averages (x_i + x_j) / 2.
#pragma once

#include <cstdint>
#include <span>

namespace stab::statistics {

// The k-th smallest (from 1) of all differences x_i - y_j. pre: both sorted, 1 <= k <= |x| |y|
double kth_difference(std::span<const double> x, std::span<const double> y, uint64_t k);

// The k-th smallest (from 1) of (x_i + x_j) / 2 over i <= j. pre: sorted, 1 <= k <= n (n + 1) / 2
double kth_walsh_average(std::span<const double> x, uint64_t k);

}  // namespace stab::statistics
