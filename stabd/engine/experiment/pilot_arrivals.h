// Where tasks come in, as the pilot trials of a plan with the factor load have seen it. Pure.
#pragma once

#include <string>
#include <vector>

#include "plan/causal.h"
#include "stabd/engine/trial/area_file.h"

namespace stab::engine {

struct LoadArrivals {
  bool begins_arrive = false;  // the plan's arrival point is the begin of a latency point
  std::string why_not;         // empty: tasks come in
};
LoadArrivals arrivals_of(const plan::Causal& plan, const std::vector<CausalRecord::Point>& visited);

}  // namespace stab::engine
