// The flags of stats depend on the method, so analysis/ parses them itself; here is only the terminal.
#include "stabctl/analysis_commands.h"

#include "stabctl/terminal.h"

namespace stab::ctl {

int stats_command(const std::vector<std::string>& args) { return print(commands::run_stats(args, terminal_width())); }

int analyze_command(const std::vector<std::string>& args) {
  return print(commands::run_analyze(args, terminal_width(), terminal_has_colour()));
}

}  // namespace stab::ctl
