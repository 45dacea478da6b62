#include "instrumenter/postlink/factors.h"

namespace stab::postlink {

Result<Factors> parse_factors(std::string_view list, const std::string& whole) {
  Factors factors;
  for (;;) {
    const size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    if (word == "code") factors.code = true;
    else if (word == "stack") factors.stack = true;
    else if (word == "heap") factors.heap = true;
    else
      return bad_input("'" + whole + "' names '" + std::string(word) +
                       "', expected a list of 'code', 'stack' and 'heap' with commas between them");
    if (comma == list.npos) return factors;
    list.remove_prefix(comma + 1);
  }
}

std::string text_of(const Factors& factors) {
  std::string text;
  for (const auto& [wanted, word] : {std::pair{factors.code, "code"}, {factors.stack, "stack"}, {factors.heap, "heap"}})
    if (wanted) text += (text.empty() ? "" : ",") + std::string(word);
  return text;
}

}  // namespace stab::postlink
