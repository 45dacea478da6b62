#include "stabd/engine/experiment/pilot_arrivals.h"

#include <algorithm>

namespace stab::engine {

LoadArrivals arrivals_of(const plan::Causal& plan, const std::vector<CausalRecord::Point>& visited) {
  LoadArrivals out;
  const auto has = [&](progress::Kind kind) {
    return std::any_of(visited.begin(), visited.end(), [&](const CausalRecord::Point& point) {
      return point.kind == static_cast<uint32_t>(kind) && (plan.arrival.empty() || point.name == plan.arrival);
    });
  };
  if (has(progress::Kind::kArrival)) return out;
  if (has(progress::Kind::kBegin)) {
    out.begins_arrive = true;
    return out;
  }
  std::string names;
  for (const CausalRecord::Point& point : visited) names += (names.empty() ? "'" : ", '") + point.name + "'";
  out.why_not = "it visited no arrival point";
  if (!plan.arrival.empty()) out.why_not = "it never visited the arrival point '" + plan.arrival + "'";
  out.why_not += (names.empty() ? std::string() : ", only " + names) +
                 ": write STAB_ARRIVAL(\"name\") (stab/progress.h) where a task comes in, in the thread that waits for it";
  return out;
}

}  // namespace stab::engine
