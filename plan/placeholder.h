// Placeholders: {factor} in commands and paths; {{ and }} stand for braces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::plan {

struct Piece {
  bool is_placeholder = false;
  std::string text;  // the factor's name, or literal text with {{ and }} undone
};

// kBadInput for a brace that neither opens nor closes a placeholder.
Result<std::vector<Piece>> split_placeholders(std::string_view text);

}  // namespace stab::plan
