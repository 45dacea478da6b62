// The methods of `stabctl stats`, one table a family.
#pragma once

#include <span>
#include <string_view>

#include "analysis/commands/answers/command_output.h"
#include "analysis/commands/stats/stats_data.h"
#include "analysis/commands/table/method_flags.h"
#include "analysis/text/finding.h"
#include "base/result.h"

namespace stab::commands {

struct StatsMethod {
  std::string_view name;
  std::string_view help;    // one line
  std::string_view flags;   // those beside --json and --width, separated by spaces
  // Exactly one: with data (from a CSV file), without, or with a file that it reads and a text that it writes itself.
  Result<text::Finding> (*with_data)(const Arguments&, const StatsData&) = nullptr;
  Result<text::Finding> (*without_data)(const Arguments&) = nullptr;
  CommandOutput (*of_file)(const Arguments&, const std::string& path, int width) = nullptr;
};

std::span<const StatsMethod> sample_methods();    // one and two samples
std::span<const StatsMethod> shape_methods();     // what shape a sample has
std::span<const StatsMethod> group_methods();     // several groups, factors, repeated measures
std::span<const StatsMethod> quantile_methods();  // differences of quantiles
std::span<const StatsMethod> mixed_methods();     // fixed and random effects
std::span<const StatsMethod> repetition_methods();  // where to repeat
std::span<const StatsMethod> planning_methods();  // power, sample sizes, alpha spending
std::span<const StatsMethod> causal_methods();    // windows of virtual speedup

}  // namespace stab::commands
