// The flags of stats depend on the method, so analysis/ parses them itself; here is only the terminal.
#include "stabctl/analysis_commands.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "analysis/commands.h"

namespace stab::ctl {
namespace {

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60) return std::min<int>(size.ws_col, 140);
  return 100;
}

int print(const analysis::CommandOutput& output) {
  std::fputs(output.out.c_str(), stdout);
  std::fputs(output.err.c_str(), stderr);
  return output.exit_code;
}

}  // namespace

int stats_command(const std::vector<std::string>& args) { return print(analysis::run_stats(args, terminal_width())); }

int analyze_command(const std::vector<std::string>& args) {
  return print(analysis::run_analyze(args, terminal_width(), ::isatty(STDOUT_FILENO) != 0));
}

}  // namespace stab::ctl
