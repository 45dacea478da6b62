// A text in parts.
#pragma once

#include <string_view>
#include <vector>

namespace stab {

// What stands between the separators, empty parts included: at least one part.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace stab
