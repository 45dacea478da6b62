// Placeholders: {factor} in commands and paths; {{ and }} stand for braces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::plan {

// Between the words of a level that is a list of them, in Level::value. No other level has a zero byte.
inline constexpr char kBetweenWords = '\0';

struct Piece {
  bool is_placeholder = false;
  std::string text;  // the factor's name, or literal text with {{ and }} undone
};

// kBadInput for a brace that neither opens nor closes a placeholder.
Result<std::vector<Piece>> split_placeholders(std::string_view text);

}  // namespace stab::plan
