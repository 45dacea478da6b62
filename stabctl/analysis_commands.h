// stats and analyze: methods and reports on anybody's CSV files. No experiment and no database.
#pragma once

#include <string>
#include <vector>

namespace stab::ctl {

// args: what follows the word on the command line. Print, and return the exit code: 0 done, 2 refused.
int stats_command(const std::vector<std::string>& args);
int analyze_command(const std::vector<std::string>& args);

}  // namespace stab::ctl
