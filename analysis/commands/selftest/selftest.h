// Selftest: how often the lab raises an alarm where there is none, from an A/A experiment.
#pragma once

#include "analysis/commands/answers/command_output.h"
#include "analysis/report/experiment/samples.h"

namespace stab::commands {

inline constexpr double kConfOfAlarms = 0.95;  // of the intervals that selftests give of their rates

struct SelftestOptions {
  bool json = false;
};

// Each program of the experiment is one comparison of two builds that are the same but for their links; the factor
// "build" has the two. Counts how often p < alpha, with Clopper and Pearson's 95 % interval of the rate. Exit code 0: the
// interval holds alpha or lies below it; 1: it lies above: more alarms than promised; 2: nothing could be compared, or it is
// no selftest, or not over.
CommandOutput run_selftest(const report::Samples& samples, const SelftestOptions& options);

}  // namespace stab::commands
