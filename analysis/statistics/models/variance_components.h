// How much of the variance is whose: programs, layouts, runs. Random intercepts for nested factors, by expected
// mean squares and by REML.
#pragma once

#include <string>
#include <vector>

#include "analysis/statistics/models/linear_model.h"
#include "base/result.h"

namespace stab::statistics {

struct VarianceComponent {
  std::string name;      // the factor, or "residual"
  double df = 0;         // of its mean square
  double mean_square = 0;
  double ems = 0;        // by expected mean squares; may be negative, which says "none"
  double reml = 0;       // >= 0
};

// factors: nested, outermost first; each level of a factor is taken within the levels before it, so labels may
// repeat. Expected mean squares for unbalanced data: Searle, Casella & McCulloch (1992), section 5.6 (type I
// sums of squares). REML: the profiled criterion of Bates et al. (2015), eq. 40, as lme4::lmer(y ~ 1 + (1|a/b)).
// Refuses a factor with one level, or residual df of 0.
Result<std::vector<VarianceComponent>> variance_components(const FactorCodes& factors,
                                                           std::span<const double> values);

}  // namespace stab::statistics
