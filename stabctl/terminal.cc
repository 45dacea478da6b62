// What analysis/ has to say, on standard output and standard error.
#include "stabctl/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace stab::ctl {

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60) return std::min<int>(size.ws_col, 140);
  return 100;
}

bool terminal_has_colour() { return ::isatty(STDOUT_FILENO) != 0; }

int print(const analysis::CommandOutput& output) {
  std::fputs(output.out.c_str(), stdout);
  std::fputs(output.err.c_str(), stderr);
  return output.exit_code;
}

}  // namespace stab::ctl
