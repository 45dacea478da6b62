// Gates: conditions of the machine that a trial waits for, each with the plan's deadline.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "plan/plan.h"
#include "stabd/host/roots.h"

namespace stab::engine {

struct GateView {
  std::optional<double> load_1min;
  std::optional<double> hottest_c;
  int minute_of_day = 0;  // local time, 0 to 1439
};

// What is in the way, in words; empty: nothing. A gate whose figure the machine does not give is closed.
std::string closed_gate(const plan::Gates& gates, const GateView& view);
bool has_gates(const plan::Gates& gates);

// `realtime`: since the epoch; local time follows TZ, across clock changes.
GateView look_at_gates(const host::Roots& roots, std::chrono::nanoseconds realtime);

}  // namespace stab::engine
