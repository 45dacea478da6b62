// The pure part of a causal experiment's report, of its export for coz, and of what `plan check` says of its windows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/method_commands.h"
#include "analysis/report/causal_data.h"

namespace stab::analysis {

// The profile of each program, one below the other. Text or Markdown for people, kJson as {"programs": [...]}, each as
// docs/report-json.md has "causal". Other formats are of trials, and refused.
CommandOutput run_causal_report(const std::vector<CausalData>& programs, const ReportOptions& options);

// What `coz plot` reads: of the first program and its first cell. Refused where there are more, which one file can't tell apart.
Result<std::string> causal_for_coz(const std::vector<CausalData>& programs);

// Windows that a plan asks for and what they can show, before anything is known of the program.
struct CausalWish {
  uint64_t lines = 0, speedups = 0, programs = 1, cells = 1;
  double window_s = 0, cooloff_s = 0, control_share = 0;
  double alpha = 0.05, margin = 0.01;
  // Of a block, and of the plan.
  uint64_t block_windows = 0, block_nulls = 0, block_baselines = 0, replicates = 0, control_trials = 0;
  std::optional<double> trial_s;  // how long a trial lasts, if somebody said so
};
std::string causal_wish_text(const CausalWish& wish);

}  // namespace stab::analysis
