#include "analysis/commands/bisect/bisect_rest.h"

#include <algorithm>
#include <cmath>

namespace stab::commands {
namespace {

// Upwards where the commit is slower.
StepCost change_of(const BisectStep& step) {
  const StepCost cost = cost_of(step);
  return step.faster ? StepCost{-cost.estimate, -cost.high, -cost.low} : cost;
}

}  // namespace

StepCost cost_of(const BisectStep& step) {
  constexpr double kNothingLeft = 1e-9;  // a cost of -100 % has no logarithm
  const auto on_scale = [&](double cost) { return step.is_share ? std::log(std::max(1 + cost, kNothingLeft)) : cost; };
  return {on_scale(step.cost), on_scale(step.cost_low), on_scale(step.cost_high)};
}

const BisectStep* ends_of(const Bisection& search, size_t part) {
  const auto found =
      std::find_if(search.steps.begin(), search.steps.end(), [&](const BisectStep& step) { return step.part == part; });
  return found == search.steps.end() ? nullptr : &*found;
}

const BisectStep* naming_of(const Bisection& search, size_t part) {
  const size_t slower = part == 0 ? search.slower : search.further[part - 1].slower;
  const size_t not_slower = part == 0 ? search.not_slower : search.further[part - 1].not_slower;
  const BisectStep* found = nullptr;
  for (const BisectStep& step : search.steps)
    if (step.part == part && step.may_name && step.position == slower && step.against == not_slower) found = &step;
  return found;
}

std::optional<BisectRest> rest_of(const Bisection& search) {
  const BisectStep* ends = ends_of(search, 0);
  if (ends == nullptr || search.end != BisectEnd::kCommit) return {};
  const StepCost whole = change_of(*ends);
  BisectRest out;
  out.whole = out.estimate = whole.estimate;
  out.is_share = ends->is_share;
  double below = std::pow(whole.estimate - whole.low, 2), above = std::pow(whole.high - whole.estimate, 2);
  for (size_t part = 0; part <= search.further.size(); ++part) {
    if (part > 0 && search.further[part - 1].end != BisectEnd::kCommit) continue;
    const BisectStep* naming = naming_of(search, part);
    if (naming == nullptr) return {};
    const StepCost own = change_of(*naming);
    out.estimate -= own.estimate;
    below += std::pow(own.high - own.estimate, 2);
    above += std::pow(own.estimate - own.low, 2);
  }
  out.low = out.estimate - std::sqrt(below);
  out.high = out.estimate + std::sqrt(above);
  return out;
}

}  // namespace stab::commands
