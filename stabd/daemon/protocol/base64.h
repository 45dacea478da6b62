// Base64 (RFC 4648, section 4): bytes in a line of JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stab::daemon {

std::string to_base64(std::string_view bytes);
// Nothing where the text is no Base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace stab::daemon
