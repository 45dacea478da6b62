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

std::string text_of_shell_word(std::string_view typed) {
  constexpr std::string_view kEscapedInDoubleQuotes = "$`\"\\";
  std::string text;
  char quote = 0;  // the one that is open
  for (size_t i = 0; i < typed.size(); ++i) {
    const char c = typed[i];
    const std::string_view next = typed.substr(i + 1, 1);
    const bool may_escape = quote == 0 || (quote == '"' && !next.empty() && kEscapedInDoubleQuotes.find(next) != next.npos);
    if (c == '\\' && may_escape) {
      text += next;
      ++i;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace stab
