// The flags of stats depend on the method, so analysis/ parses them itself; here is only the terminal.
#include "analysis/commands/stats/analyze_command.h"
#include "analysis/commands/stats/stats_command.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/terminal/slow_computation.h"
#include "stabctl/terminal/terminal.h"

namespace stab::ctl {

int stats_command(const std::vector<std::string>& args) {
  const bool resamples = !args.empty() && (args[0] == "bootstrap" || args[0] == "permutation" || args[0] == "e-divisive");
  return print([&] {
    const SlowComputation slow(resamples ? "fewer --resamples are faster" : "");
    return commands::run_stats(args, terminal_width());
  }());
}

int analyze_command(const std::vector<std::string>& args) {
  return print([&] {
    const SlowComputation slow("");
    return commands::run_analyze(args, terminal_width(), terminal_has_colour());
  }());
}

}  // namespace stab::ctl
