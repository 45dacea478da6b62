#include "stabd/host/process_stat.h"

#include <signal.h>

#include <cerrno>
#include <sstream>
#include <string>

namespace stab::host {

std::optional<ProcessStat> read_process_stat(const Roots& roots, long long pid) {
  const auto line = read_small_file(roots.proc + "/" + std::to_string(pid) + "/stat");
  if (!line) return {};
  // "pid (name) state parent ...": the name may hold anything, so fields are counted from the last parenthesis. State is field 3.
  const size_t name_end = line->rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line->substr(name_end + 1));
  ProcessStat stat;
  if (!(fields >> stat.state >> stat.parent)) return {};
  constexpr int kThreads = 20, kStart = 22;
  long long value = 0;
  for (int field = 5; field <= kStart && fields >> value; ++field) {
    if (field == kThreads) stat.threads = static_cast<int>(value);
    if (field == kStart) stat.start = value;
  }
  return stat;
}

bool is_alive(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return false;
  const auto stat = read_process_stat(Roots(), pid);
  return !stat || !stat->has_ended();
}

}  // namespace stab::host
