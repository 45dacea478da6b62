// The target follows from more than one option (--target=x86_64-linux-gnu -m32), from configuration files and from the
// compiler's name. Its own answer has a line for it.
#include "instrumenter/driver/target.h"

#include <sstream>

namespace stab::driver {

std::string target_of(const std::string& steps) {
  constexpr std::string_view kBegin = "Target: ";
  std::istringstream lines(steps);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kBegin)) return line.substr(kBegin.size());
  return {};
}

bool is_our_target(std::string_view triple) {
  const bool is_arch = triple.starts_with("x86_64-") || triple.starts_with("amd64-");
  return is_arch && triple.find("-linux") != triple.npos && !triple.ends_with("x32");
}

}  // namespace stab::driver
