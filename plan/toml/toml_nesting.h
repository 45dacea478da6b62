// How deeply a TOML text nests, found without a parser.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stab::toml {

struct NestingFault {
  int line = 0;
  std::string message;
};

// The first place where values nest deeper than kMaxTomlNesting or a key has more than kMaxKeyParts parts. Agrees with
// a TOML parser up to the first syntax error, at which that one ends.
std::optional<NestingFault> nests_too_deep(std::string_view text);

}  // namespace stab::toml
