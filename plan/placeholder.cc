// Splitting is strict: a lone brace is an error, because a mistyped placeholder that passes as literal text
// would give every cell the same command.
#include "plan/placeholder.h"

namespace stab::plan {

Result<std::vector<Piece>> split_placeholders(std::string_view text) {
  std::vector<Piece> pieces;
  std::string literal;
  const auto flush = [&] {
    if (!literal.empty()) pieces.push_back({false, literal});
    literal.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      literal += c;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      literal += c;
      ++i;
      continue;
    }
    if (c == '}') return bad_input("'}' closes no placeholder; write }} for a brace");
    const size_t end = text.find('}', i);
    if (end == std::string_view::npos)
      return bad_input("'{' opens a placeholder that is not closed; write {{ for a brace");
    flush();
    pieces.push_back({true, std::string(text.substr(i + 1, end - i - 1))});
    i = end;
  }
  flush();
  return pieces;
}

}  // namespace stab::plan
