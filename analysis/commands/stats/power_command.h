// `stabctl plan power`: how many replicates settle a question, from what a pilot knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/answers/command_output.h"
#include "analysis/report/experiment/samples.h"

namespace stab::commands {

// stabctl plan power: replicates a cell that a plan needs, from a pilot experiment with the same factors. The primary
// response is the plan's.
struct PowerOptions {
  std::optional<double> margin;  // absent: the pilot's
  double power = 0.8;
  uint64_t planned = 0;              // the plan's replicates; 0: not known
  std::vector<std::string> unknown;  // programs of the plan that the pilot didn't run
  size_t responses = 1;              // that the plan declares
  std::optional<bool> is_sliced{};   // the plan runs its blocks in slices; absent: not known
  bool json = false;
  int width = 100;
};
CommandOutput run_power(const report::Samples& pilot, const PowerOptions& options);

}  // namespace stab::commands
