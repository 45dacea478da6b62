// `stabctl stats`: one method by name, on columns of a CSV file or on what the flags say.
#pragma once

#include <string>
#include <vector>

#include "analysis/commands/answers/command_output.h"

namespace stab::commands {

// stabctl stats METHOD [data.csv] [--flags]: one method of the list by name, with R's defaults. args: what
// follows the word "stats". docs/reference/stats.md lists methods, flags and fields. `--help` and `METHOD --help` explain.
CommandOutput run_stats(const std::vector<std::string>& args, int width = 100);

}  // namespace stab::commands
