// A pattern and the output it is held against both come from users. RE2 never backtracks and never recurses over either,
// so neither can make it hang or run out of stack; what it lacks for that is said with the pattern.
#include "plan/pattern.h"

#include <re2/re2.h>

namespace stab::plan {
namespace {

// Of a compiled pattern and the states that matching it makes, twice RE2's own default: '\pL{1,200}' takes 5 MB.
constexpr int64_t kMaxMemoryBytes = 16 << 20;

RE2::Options options() {
  RE2::Options chosen;
  chosen.set_log_errors(false);
  chosen.set_max_mem(kMaxMemoryBytes);
  return chosen;
}

// The column counts from 1, in bytes; 0: RE2 names no part, or one that isn't a piece of the pattern.
size_t column_of(const RE2& compiled) {
  if (compiled.error_arg().empty()) return 0;
  const size_t at = compiled.pattern().find(compiled.error_arg());
  return at == std::string::npos ? 0 : at + 1;
}

Error fault_of(const RE2& compiled) {
  std::string words = "'" + compiled.pattern() + "' is no regular expression: " + compiled.error();
  if (const size_t column = column_of(compiled); column > 0) words += " at its column " + std::to_string(column);
  const std::string& part = compiled.error_arg();
  const bool is_lookaround = part.starts_with("(?=") || part.starts_with("(?!") || part.starts_with("(?<");
  const bool is_reference = part.size() == 2 && part[0] == '\\' && part[1] >= '1' && part[1] <= '9';
  if (is_lookaround || is_reference || part == "\\k") words += "; RE2 has neither lookaround nor backreferences";
  return bad_input(words);
}

}  // namespace

Status check_pattern(const std::string& pattern) {
  const RE2 compiled(pattern, options());
  if (compiled.ok()) return {};
  return fault_of(compiled);
}

Result<bool> matches(std::string_view text, const std::string& pattern) {
  const RE2 compiled(pattern, options());
  if (!compiled.ok()) return fault_of(compiled);
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled);
}

}  // namespace stab::plan
