// The pure part of `stabctl verdict`: two levels or two experiments that are recorded, and whether the second is worse.
#pragma once

#include <string>

#include "analysis/commands/answers/command_output.h"
#include "analysis/report/experiment/samples.h"

namespace stab::commands {

// stabctl verdict: level B of a treatment against level A, within one experiment. Exit code for CI: 0 shown not
// worse beyond the margin, 1 shown worse, 3 unsure; 2 the question can't be asked.
struct VerdictOptions {
  std::string factor;   // ignored between two experiments
  std::string level_a;
  std::string level_b;
  bool json = false;
  int width = 100;
  bool colour = false;
};
CommandOutput run_verdict(const report::Samples& samples, const VerdictOptions& options);
// Experiment B against experiment A: the build is confounded with the night, so the answer is unsure (3) whatever
// the numbers say. They are shown.
CommandOutput run_verdict(const report::Samples& a, const report::Samples& b, const VerdictOptions& options);

}  // namespace stab::commands
