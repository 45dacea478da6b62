// Printable: text that may come from a measured program, a plan, a client or a stranger's file, safe for a terminal or a log.
#pragma once

#include <string>
#include <string_view>

namespace stab {

// C0 controls, DEL, C1 controls in UTF-8 (0xc2 0x80 to 0x9f), which some terminals obey too, and what turns the direction of
// text.
bool has_control(std::string_view text);
// Without what could drive a terminal: each control character but newline and tab is a '?'.
std::string printable(std::string_view text);
// The same on one line.
std::string one_line(std::string_view text);

}  // namespace stab
