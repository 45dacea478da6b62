// What of a line fits into a terminal that rewrites it: the rest would stay there.
#pragma once

#include <cstddef>
#include <string_view>

namespace stab::ctl {

// Its first `most` characters of UTF-8, each of which counts as one column. pre: no escape sequences
inline std::string_view cut_line(std::string_view line, size_t most) {
  size_t at = 0;
  for (size_t seen = 0; at < line.size(); ++at) {
    const bool starts = (static_cast<unsigned char>(line[at]) & 0xc0) != 0x80;
    if (starts && seen++ == most) break;
  }
  return line.substr(0, at);
}

}  // namespace stab::ctl
