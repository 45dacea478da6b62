// Standardized effect sizes.
#pragma once

#include "analysis/statistics/two_samples/descriptive.h"
#include "base/result.h"

namespace stab::statistics {

struct StandardizedDifference {
  double estimate = 0;   // Cohen's d with the pooled sd
  double conf_low = 0;   // by the noncentral t distribution
  double conf_high = 0;
  double correction = 1; // the exact small-sample factor J
  double hedges_g = 0;   // d times J; its interval is d's times J
};

Result<StandardizedDifference> cohen_d(const Moments& first, const Moments& second, double conf);

}  // namespace stab::statistics
