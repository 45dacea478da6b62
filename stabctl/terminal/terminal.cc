// What analysis/ has to say, on standard output and standard error.
#include "stabctl/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace stab::ctl {

std::optional<int> columns_of(int stream) {
  winsize size{};
  if (::ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

int terminal_width() { return std::clamp(columns_of(STDOUT_FILENO).value_or(100), 40, 200); }

namespace {

bool is_dumb() {
  const char* terminal = std::getenv("TERM");
  return terminal && std::string_view(terminal) == "dumb";
}

}  // namespace

bool rewrites_lines() {
  return ::isatty(STDERR_FILENO) == 1 && !is_dumb();
}

int progress_width() {
  // A narrower terminal shows no line that anybody could read.
  constexpr int kLeastWidth = 20;
  const int columns = columns_of(STDERR_FILENO).value_or(0);
  return (columns > kLeastWidth ? columns : 80) - 1;
}

bool terminal_has_colour(const std::string& color) {
  if (color != "auto") return color == "always";
  const char* refused = std::getenv("NO_COLOR");
  if ((refused && *refused) || is_dumb()) return false;
  return ::isatty(STDOUT_FILENO) != 0;
}

int print(const commands::CommandOutput& output) {
  std::fputs(output.out.c_str(), stdout);
  std::fflush(stdout);
  std::fputs(output.err.c_str(), stderr);
  return output.exit_code;
}

}  // namespace stab::ctl
