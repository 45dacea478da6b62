#include "base/shell_word.h"

#include <algorithm>

namespace stab {
namespace {

// Not '~', which means a home at a word's beginning.
bool is_plain(char c) {
  constexpr std::string_view kPlain = "_-+./,:@";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kPlain.find(c) != kPlain.npos;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') word += "'\\''";
    else word += c;
  }
  return word + "'";
}

}  // namespace stab
