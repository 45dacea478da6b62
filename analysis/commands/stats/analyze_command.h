// `stabctl analyze`: a report on the rows of a CSV file.
#pragma once

#include <string>
#include <vector>

#include "analysis/commands/answers/command_output.h"

namespace stab::commands {

// stabctl analyze data.csv --response COL --factors a,b [--within SUBJECT] [--log] ...: a report on anybody's
// CSV. args: what follows the word "analyze".
CommandOutput run_analyze(const std::vector<std::string>& args, int width = 100, bool colour = false);

}  // namespace stab::commands
