// The pure part of a causal experiment's report, of its export for coz, and of what `plan check` says of its windows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/causal_report/causal.h"
#include "analysis/commands/answers/command_output.h"

namespace stab::commands {

// The profile of each program, one below the other. Text or Markdown for people, kJson as {"programs": [...]}, each as
// docs/reference/report-json.md has "causal". Other formats are of trials, and refused.
CommandOutput run_causal_report(const std::vector<causal_report::CausalData>& programs, const ReportOptions& options);

// What `coz plot` reads: of the first program and its first cell. Refused where there are more, which one file can't tell apart.
Result<std::string> causal_for_coz(const std::vector<causal_report::CausalData>& programs);

// Windows that a plan asks for and what they can show, before anything is known of the program.
struct CausalWish {
  causal_report::CausalBudget budget;    // its spread is not looked at
  bool whole_runs = false;        // each run is a window, and a block of runs what a trial is elsewhere
  uint64_t control_trials = 0;    // of a cell, at most
  std::optional<double> trial_s;  // how long a trial lasts, if somebody said so
};
std::string causal_wish_text(const CausalWish& wish);

}  // namespace stab::commands
