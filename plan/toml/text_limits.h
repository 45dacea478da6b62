// Limits of any TOML text, a plan's or the configuration's: known before a parser sees it.
#pragma once

#include <cstddef>

namespace stab::toml {

// Parsers and destructors go down a value's nesting by recursion. A plan needs 5 levels.
inline constexpr int kMaxTomlNesting = 32;
// Of a dotted key or a table's header, each part of which is one level more. A plan needs 3.
inline constexpr int kMaxKeyParts = 16;
// A message that quotes more of a plan tells nobody more.
inline constexpr size_t kMaxMessageBytes = 1000;

}  // namespace stab::toml
