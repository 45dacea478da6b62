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

namespace {

constexpr std::string_view kSystem = "-linux";

bool is_wide_linux(std::string_view triple) {
  const bool is_arch = triple.starts_with("x86_64-") || triple.starts_with("amd64-");
  return is_arch && triple.find(kSystem) != triple.npos && !triple.ends_with("x32");
}

// What stands behind the system names the C library: nothing and gnu are glibc.
bool names_glibc(std::string_view triple) {
  const std::string_view library = triple.substr(triple.find(kSystem) + kSystem.size());
  return library.find('-') == library.npos || library.starts_with("-gnu");
}

}  // namespace

bool is_our_target(std::string_view triple) { return is_wide_linux(triple) && names_glibc(triple); }

bool is_only_of_another_libc(std::string_view triple) { return is_wide_linux(triple) && !names_glibc(triple); }

}  // namespace stab::driver
