#include "analysis/text/source_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "analysis/text/text_table.h"

namespace stab::text {
namespace {

// How often a mangled name says again what it has said before: "S_", "S1A_", "T0_" (Itanium C++ ABI, "Compression").
size_t repetitions_in(std::string_view name) {
  size_t count = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != 'S' && name[i] != 'T') continue;
    const size_t end = name.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1);
    if (end != std::string_view::npos && name[end] == '_') ++count;
  }
  return count;
}

}  // namespace

std::string source_name(const std::string& name) {
  constexpr size_t kLongest = 64, kMostRead = 1024, kMostRepetitions = 24;
  const size_t begin = name.find("_Z");
  if (begin == std::string::npos || name.size() > kMostRead || (begin > 0 && name[begin - 1] != '!')) return name;
  if (repetitions_in(name) > kMostRepetitions) return name;
  const size_t end = std::min(name.find(' ', begin), name.size());  // behind it may be an address
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(name.substr(begin, end - begin).c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !plain) return name;
  std::string source = plain.get();
  if (display_width(source) > kLongest) source = std::string(cut(source, kLongest - 3)) + "...";
  return name.substr(0, begin) + source + name.substr(end);
}

}  // namespace stab::text
