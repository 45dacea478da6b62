// The interval of a variance: exact for normal values, and one that allows for heavy tails.
#pragma once

#include <optional>
#include <span>

#include "analysis/statistics/two_samples/descriptive.h"
#include "base/result.h"

namespace stab::statistics {

// Of the variance; its roots are the standard deviation's.
struct VarianceInterval {
  double estimate = 0;
  double df = 0;
  ConfidenceInterval normal;                 // n - 1 degrees of freedom of chi-squared
  std::optional<ConfidenceInterval> robust;  // Bonett (2006); absent below 5 values and where n is too small for the level
};

// Refuses fewer than 2 values and constant ones.
Result<VarianceInterval> variance_interval(std::span<const double> values, double conf);

}  // namespace stab::statistics
