// Two questions to /proc.
#include "stabd/engine/machine/time_slices.h"

#include <cstdio>
#include <sstream>

namespace stab::engine {

std::string why_no_slices(const host::Roots& roots) {
  const std::string release = host::read_small_file(roots.proc + "/sys/kernel/osrelease").value_or("");
  int major = 0, minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) == 2 && (major > 6 || (major == 6 && minor >= 12))) return {};
  return "Linux " + (release.empty() ? std::string("of an unknown release") : release) +
         " chooses the length of slices itself, some 3 ms (6.12 and later accept a program's request)";
}

std::optional<int64_t> available_memory_kib(const host::Roots& roots) {
  std::istringstream lines(host::read_small_file(roots.proc + "/meminfo").value_or(""));
  for (std::string name; lines >> name;) {
    int64_t kib = 0;
    if (name == "MemAvailable:" && lines >> kib) return kib;
    std::getline(lines, name);
  }
  return {};
}

}  // namespace stab::engine
