#include "analysis/text/markup.h"

#include <algorithm>

#include "analysis/text/valid_text.h"

namespace stab::analysis {

std::string as_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string as_markup_line(std::string_view text) {
  std::string line(text);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  line = valid_text(line);
  for (const std::string_view noncharacter : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (size_t at = 0; (at = line.find(noncharacter, at)) != std::string::npos;) line.replace(at, noncharacter.size(), " ");
  return as_markup(line);
}

}  // namespace stab::analysis
