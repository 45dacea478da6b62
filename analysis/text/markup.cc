#include "analysis/text/markup.h"

#include <algorithm>
#include <cctype>

#include "analysis/text/valid_text.h"

namespace stab::text {

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

std::string as_line(std::string_view text) {
  std::string line(text);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  line = valid_text(line);
  for (const std::string_view noncharacter : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (size_t at = 0; (at = line.find(noncharacter, at)) != std::string::npos;) line.replace(at, noncharacter.size(), " ");
  return line;
}

std::string as_markup_line(std::string_view text) {
  return as_markup(as_line(text));
}

namespace {

bool is_letter_or_digit(std::string_view text, size_t at) {
  const unsigned char c = at < text.size() ? static_cast<unsigned char>(text[at]) : ' ';
  return std::isalnum(c) != 0 || c >= 0x80;
}

}  // namespace

std::string as_markdown(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '_') {
      // Within a word they are no emphasis: names stay readable where nobody renders them.
      const size_t end = std::min(text.find_first_not_of('_', at), text.size());
      const bool within = at > 0 && is_letter_or_digit(text, at - 1) && is_letter_or_digit(text, end);
      for (; at < end; ++at) out += within ? "_" : "\\_";
      --at;
      continue;
    }
    const bool ends_a_link = c == ']' && at + 1 < text.size() && text[at + 1] == '(';
    // Names of people and teams are looked for in what was rendered, so that no escape hides one: a space without width does.
    const bool calls = c == '@' && is_letter_or_digit(text, at + 1) && !(at > 0 && is_letter_or_digit(text, at - 1));
    if (calls)
      out += "@&#8203;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (ends_a_link || std::string_view("*`~|\\").find(c) != std::string_view::npos)
      out.append("\\").push_back(c);
    else
      out += c;
  }
  return out;
}

}  // namespace stab::text
