// How many windows. Blocks hold each arm once, so an arm's effect against the baselines has the variance
// spread^2 (1 / its windows + 1 / baseline windows), and trials - 1 degrees of freedom, as trials are the clusters. A verdict
// asks the null windows as well, of which there are fewer, so what can be shown is what can be shown against them.
#include <algorithm>
#include <cmath>

#include "analysis/causal_report/causal.h"
#include "analysis/causal_report/null_extension.h"
#include "analysis/statistics/distributions/distributions.h"

namespace stab::causal_report {
namespace {

constexpr double kPower = 0.8;
// Two questions are asked, against baselines and against null windows, and both have to be answered: each is missed in half of
// the profiles that may miss.
constexpr double kPowerOfEach = (1 + kPower) / 2;

double freedom(const CausalBudget& budget) {
  return static_cast<double>(std::max<uint64_t>(budget.trials, 2) - 1);
}

double error_of(double spread, double windows, double reference) {
  return spread * std::sqrt(1 / windows + 1 / reference);
}

// Baseline windows to each window of one arm.
double baselines_of(const CausalBudget& budget, double arm_windows) {
  return arm_windows * static_cast<double>(std::max<uint64_t>(budget.block_baselines, 1));
}

// The noncentrality at which a t beyond `critical` is as frequent as kPowerOfEach.
double noncentrality_for(double critical, double df) {
  double low = -std::fabs(critical) - 4, high = 2 * std::fabs(critical) + 4;
  while (statistics::noncentral_t_upper(critical, df, high) < kPowerOfEach) high *= 2;
  for (int round = 0; round < 60; ++round) {
    const double middle = (low + high) / 2;
    (statistics::noncentral_t_upper(critical, df, middle) < kPowerOfEach ? low : high) = middle;
  }
  return high;
}

}  // namespace

uint64_t null_windows_for(const CausalBudget& budget) {
  const double ratio =
      statistics::t_quantile_upper(budget.alpha / 2, freedom(budget)) * budget.spread / (kNullMarginShare * budget.margin);
  const double baselines = static_cast<double>(std::max<uint64_t>(budget.block_baselines, 1)) /
                           static_cast<double>(std::max<uint64_t>(budget.block_nulls, 1));
  return static_cast<uint64_t>(std::ceil(ratio * ratio * (1 + 1 / baselines)));
}

CausalPlanning plan_from_windows(const CausalBudget& budget, uint64_t arm_windows) {
  CausalPlanning out;
  out.arm_windows = arm_windows;
  const auto each = static_cast<double>(arm_windows);
  out.windows = arm_windows * budget.block_windows * budget.cells * budget.programs;
  out.minutes = static_cast<double>(out.windows) * (budget.window_s + budget.cooloff_s) / 60;
  const double df = freedom(budget);
  out.half_width = statistics::t_quantile_upper(budget.alpha / 2, df) * error_of(budget.spread, each, baselines_of(budget, each));
  // Verdicts are given once the null control is settled, so there are as many null windows as that takes.
  const double nulls = std::max(each * static_cast<double>(budget.block_nulls), static_cast<double>(null_windows_for(budget)));
  const auto family = static_cast<double>(budget.lines * budget.speedups * budget.points * budget.cells);
  const double critical = statistics::t_quantile_upper(budget.alpha / family / 2, df);
  const double of_baselines = error_of(budget.spread, each, baselines_of(budget, each));
  const double error = std::max(of_baselines, error_of(budget.spread, each, nulls));
  // What is shown to lie inside the margin is of no use, however surely it differs from 0.
  const double beyond_margin =
      -std::log1p(-budget.margin) + noncentrality_for(-statistics::t_quantile_upper(budget.alpha, df), df) * of_baselines;
  out.detectable = -std::expm1(-std::max(noncentrality_for(critical, df) * error, beyond_margin));
  return out;
}

CausalPlanning plan_windows(const CausalBudget& budget, double half_width) {
  const double of_one = statistics::t_quantile_upper(budget.alpha / 2, freedom(budget)) *
                        error_of(budget.spread, 1, baselines_of(budget, 1)) / half_width;
  return plan_from_windows(budget, std::max<uint64_t>(2, static_cast<uint64_t>(std::ceil(of_one * of_one))));
}

}  // namespace stab::causal_report
