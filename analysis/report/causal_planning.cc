// How many windows: an arm's effect has the variance spread^2 (1 / its windows + 1 / baseline windows), blocks being complete.
#include <cmath>

#include "analysis/report/causal.h"
#include "analysis/statistics/distributions.h"

namespace stab::analysis {
namespace {

// Baseline windows to each window of one arm.
double baselines_an_arm(const CausalBudget& budget) {
  const double arms = static_cast<double>(budget.lines * budget.speedups);
  return arms * budget.baseline_share / (1 - budget.baseline_share - budget.control_share);
}

}  // namespace

uint64_t windows_for(double spread, double half_width, double alpha) {
  const double ratio = normal_quantile(1 - alpha / 2) * spread / half_width;
  return static_cast<uint64_t>(std::ceil(2 * ratio * ratio));
}

CausalPlanning plan_from_windows(const CausalBudget& budget, uint64_t arm_windows) {
  CausalPlanning out;
  out.arm_windows = arm_windows;
  const auto arms = static_cast<double>(budget.lines * budget.speedups * budget.cells);
  const auto each = static_cast<double>(arm_windows);
  out.windows = static_cast<uint64_t>(std::ceil(arms * each / (1 - budget.baseline_share - budget.control_share)));
  out.minutes = static_cast<double>(out.windows) * (budget.window_s + budget.cooloff_s) / 60;
  const double error = budget.spread * std::sqrt((1 + 1 / baselines_an_arm(budget)) / each);
  const double family = arms * static_cast<double>(budget.points);
  const double effect = (normal_quantile(1 - budget.alpha / family / 2) + normal_quantile(0.8)) * error;
  out.detectable = -std::expm1(-effect);
  return out;
}

CausalPlanning plan_windows(const CausalBudget& budget, double half_width) {
  const double ratio = normal_quantile(1 - budget.alpha / 2) * budget.spread / half_width;
  const double each = std::ceil(ratio * ratio * (1 + 1 / baselines_an_arm(budget)));
  return plan_from_windows(budget, std::max<uint64_t>(2, static_cast<uint64_t>(each)));
}

}  // namespace stab::analysis
