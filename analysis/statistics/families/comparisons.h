// Comparing several means with each other (Tukey) or with a control (Dunnett), the family's error controlled.
#pragma once

#include <string>
#include <vector>

#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/t_tests.h"
#include "base/result.h"

namespace stab::statistics {

struct Comparison {
  size_t first = 0;       // index of the group that is subtracted from
  size_t second = 0;      // index of the group that is subtracted
  double estimate = 0;
  double standard_error = 0;
  double statistic = 0;   // t
  double conf_low = 0;    // simultaneous; +-infinity on the open side is left at the type's limits
  double conf_high = 0;
  double p_value = 1;     // adjusted
};

// Tukey's honest significant differences, Kramer's form for unequal n: all pairs (later minus earlier), as R's
// TukeyHSD(). df: residual degrees of freedom.
struct PairwiseComparisons {
  double df = 0;
  double critical = 0;    // of |t|, or of t one-sided
  std::vector<Comparison> comparisons;
};
Result<PairwiseComparisons> tukey_hsd(const std::vector<Moments>& groups, double conf);

// Dunnett (1955): each group minus the control. One-sided bounds are infinite on the open side: callers drop them.
Result<PairwiseComparisons> dunnett(const std::vector<Moments>& groups, size_t control, Alternative alternative,
                                    double conf);

}  // namespace stab::statistics
