// The arithmetic of stages. Looks are fixed beforehand; precision has one decision, after its first stage; of a confidence
// sequence each block may be one.
#include "plan/stopping.h"

#include <algorithm>
#include <cmath>

namespace stab::plan {
namespace {

// A look is an analysis of everything so far. Up to 200 replicates there is one after each block, later after 2, 4, 8, ...: the
// experiment goes on for at most 1 % longer than it must.
constexpr int kLooksAtEach = 100;

bool is_look_of_sequence(int replicates, int first) {
  int step = 1;
  while (step <= replicates / kLooksAtEach / 2) step *= 2;
  return replicates == first || (replicates > first && replicates % step == 0);
}

}  // namespace

std::vector<int> verdict_points(const Plan& plan) {
  switch (plan.stopping.rule) {
    case StoppingRule::kFixed: return {plan.experiment.replicates};
    case StoppingRule::kLooks: return plan.stopping.looks;
    case StoppingRule::kSequence: {
      std::vector<int> points;
      for (int at = plan.stopping.first; at < plan.stopping.max; ++at)
        if (is_look_of_sequence(at, plan.stopping.first)) points.push_back(at);
      points.push_back(plan.stopping.max);
      return points;
    }
    case StoppingRule::kPrecision:
      if (plan.stopping.first == plan.stopping.max) return {plan.stopping.max};
      return {plan.stopping.first, plan.stopping.max};
  }
  return {};
}

bool is_decided_after(const Plan& plan, int replicates) {
  const Stopping& stopping = plan.stopping;
  if (stopping.rule == StoppingRule::kSequence)
    return replicates < stopping.max && is_look_of_sequence(replicates, stopping.first);
  const std::vector<int> points = verdict_points(plan);
  return std::find(points.begin(), points.end() - 1, replicates) != points.end() - 1;
}

int total_replicates(const Stopping& stopping, double half_width_at_first) {
  const double ratio = half_width_at_first / stopping.half_width;
  // A whole number that rounding put a hair above itself must not cost a replicate.
  const double wanted = std::ceil(stopping.first * ratio * ratio - 1e-9);
  if (!(wanted < stopping.max)) return stopping.max;
  return std::max(stopping.first, static_cast<int>(wanted));
}

}  // namespace stab::plan
