// The arithmetic of stages. Looks are fixed beforehand; precision has one decision, after its first stage.
#include "plan/stopping.h"

#include <algorithm>
#include <cmath>

namespace stab::plan {

std::vector<int> verdict_points(const Plan& plan) {
  switch (plan.stopping.rule) {
    case StoppingRule::kFixed: return {plan.experiment.replicates};
    case StoppingRule::kLooks: return plan.stopping.looks;
    case StoppingRule::kPrecision:
      if (plan.stopping.first == plan.stopping.max) return {plan.stopping.max};
      return {plan.stopping.first, plan.stopping.max};
  }
  return {};
}

int total_replicates(const Stopping& stopping, double half_width_at_first) {
  const double ratio = half_width_at_first / stopping.half_width;
  // A whole number that rounding put a hair above itself must not cost a replicate.
  const double wanted = std::ceil(stopping.first * ratio * ratio - 1e-9);
  if (!(wanted < stopping.max)) return stopping.max;
  return std::max(stopping.first, static_cast<int>(wanted));
}

}  // namespace stab::plan
