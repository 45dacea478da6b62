// A field of comma-separated values.
#pragma once

#include <string>

namespace stab::ctl {

// Names of C++ have commas, and a program's symbols whatever its author likes.
inline std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace stab::ctl
