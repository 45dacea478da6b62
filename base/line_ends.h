// Text of other programs, which ends its last line or doesn't.
#pragma once

#include <string>

namespace stab {

inline std::string without_line_ends(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace stab
