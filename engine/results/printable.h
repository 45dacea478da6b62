// Printable: text that may come from a measured program, a plan or a client, made safe for a terminal or a log.
#pragma once

#include <string>
#include <string_view>

namespace stab::engine {

// Without what could drive a terminal: each control character but newline and tab is a '?'.
std::string printable(std::string_view text);
// The same on one line.
std::string one_line(std::string_view text);

}  // namespace stab::engine
