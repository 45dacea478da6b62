// Power and sample size, as R's power.t.test() and power.anova.test().
#pragma once

#include <cstdint>

#include "analysis/statistics/t_tests.h"
#include "base/result.h"

namespace stab::analysis {

enum class TDesign { kTwoSample, kOneSample, kPaired };

struct TPower {
  double n = 0;        // for each group, or pairs; need not be whole when solved for
  double delta = 0;
  double sd = 1;       // of values; of differences when paired
  double alpha = 0.05;
  TDesign design = TDesign::kTwoSample;
  bool two_sided = true;
};

// Power of the given n; `strict` counts rejections on the wrong side, too.
double t_power(const TPower& plan, bool strict = false);
// The n (>= 2) at which the power is reached. Refuses delta == 0.
Result<double> t_sample_size(const TPower& plan, double power, bool strict = false);
// The delta > 0 that n finds with this power. Refuses a power that is there without any difference.
Result<double> t_detectable(const TPower& plan, double power, bool strict = false);

struct AnovaPower {
  double groups = 2;
  double n = 0;             // for each group
  double between_variance = 0;  // variance of the group means, divisor groups - 1
  double within_variance = 1;
  double alpha = 0.05;
};
double anova_power(const AnovaPower& plan);
Result<double> anova_sample_size(const AnovaPower& plan, double power);

// Trials from a pilot's variance components: a difference of two levels whose estimate has variance
// 2 (layout_sd^2 / layouts + run_sd^2 / (layouts runs)). Returns layouts for each cell at `runs` runs a layout.
struct Components {
  double layout_sd = 0;  // between layouts
  double run_sd = 0;     // between runs of one layout
};
Result<uint64_t> layouts_for_margin(const Components& components, uint64_t runs, double margin, double alpha,
                                    double power);

}  // namespace stab::analysis
