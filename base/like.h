// Patterns as SQL's LIKE has them, without its _.
#pragma once

#include <string_view>

namespace stab {

// Whether all of `text` is as `pattern` says: % stands for any characters, or none; every other character for itself. Takes at
// most the product of both lengths, however many % there are.
bool is_like(std::string_view text, std::string_view pattern);

}  // namespace stab
