// Power and sample size, as R's power.t.test() and power.anova.test().
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "analysis/statistics/two_samples/t_tests.h"
#include "base/result.h"

namespace stab::statistics {

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

// A difference that is estimated with this standard error, itself estimated with so many degrees of freedom.
// invariant: standard_error > 0, df > 0
struct Estimated {
  double difference = 0;
  double standard_error = 1;
  double df = 1;
};

// The mean of f(s) over s, what an estimate of a standard error is of the true one: s^2 df is chi-squared. `kinks`: where f is
// not smooth, in any order; those that are not positive and finite are left out.
double over_spread(double df, std::span<const double> kinks, const std::function<double(double)>& f);

// How often t tests show the difference on the side on which it lies, at a two-sided level.
double change_power(const Estimated& truth, double level);
// How often both one-sided tests against -margin and margin succeed, each at `level`: Owen (1965), Biometrika 52, as Phillips
// (1990), J. Pharmacokin. Biopharm. 18, applies it to equivalence.
double equivalence_power(const Estimated& truth, double margin, double level);
// The smallest n, at least `least`, at which `enough` holds; 0: none up to `most`. pre: `enough` stays true once it is
uint64_t fewest(uint64_t least, uint64_t most, const std::function<bool(uint64_t)>& enough);

// Trials from a pilot's variance components: a difference of two levels whose estimate has variance
// 2 (layout_sd^2 / layouts + run_sd^2 / (layouts runs)). Returns layouts for each cell at `runs` runs a layout.
struct Components {
  double layout_sd = 0;  // between layouts
  double run_sd = 0;     // between runs of one layout
};
Result<uint64_t> layouts_for_margin(const Components& components, uint64_t runs, double margin, double alpha,
                                    double power);

}  // namespace stab::statistics
