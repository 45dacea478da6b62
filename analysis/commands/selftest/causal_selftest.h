// Selftest of causal profiles: programs whose answer is known, on this machine. How often windows in which everybody pauses, so
// that the true effect is 0, raise an alarm, and how far what is said of a line lies from what it is worth.
#pragma once

#include <vector>

#include "analysis/causal_report/causal_data.h"
#include "analysis/commands/answers/command_output.h"
#include "analysis/commands/selftest/selftest.h"

namespace stab::commands {

// Half of the line's time, as `stabctl selftest causal` speeds it up, and what that saves of the program's: the line is half of
// it.
inline constexpr double kSelftestSpeedup = 0.5;
inline constexpr double kSelftestSaving = 0.25;

// Each program is one comparison: its null windows against its baselines, and its only line against kSelftestSaving. Exit code 0:
// the exact interval of the rate of alarms holds alpha or lies below it; 1: it lies above; 2: nothing could be compared, or it is
// not over.
CommandOutput run_causal_selftest(const std::vector<causal_report::CausalData>& programs, const SelftestOptions& options);

}  // namespace stab::commands
