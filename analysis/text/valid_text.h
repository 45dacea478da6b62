// UTF-8 as a browser reads it.
#pragma once

#include <string>
#include <string_view>

namespace stab::text {

// Bytes that are no UTF-8 become U+FFFD, control characters other than tab and line feed, and NUL, too.
std::string valid_text(std::string_view text);

}  // namespace stab::text
