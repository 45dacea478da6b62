// Lines, words, numbers and comma-separated fields.
#include "plan/metrics/lines.h"

#include <algorithm>
#include <charconv>

#include "base/wording.h"

namespace stab::metrics {

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view take_row(std::string_view& text, size_t& lines) {
  bool quoted = false;
  size_t end = 0;
  for (; end < text.size() && (quoted || text[end] != '\n'); ++end) {
    if (text[end] == '"') quoted = !quoted;
    if (text[end] == '\n') ++lines;
  }
  std::string_view row = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  ++lines;
  if (row.ends_with('\r')) row.remove_suffix(1);
  return row;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

Result<std::vector<std::string>> fields_of(std::string_view line, const std::string& where, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == separator && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  if (quoted) return bad_input(where + ": a quotation mark is not closed");
  return fields;
}

Result<std::vector<std::string>> fields_under(const std::vector<std::string>& header, std::string_view line,
                                              const std::string& where, char separator) {
  auto fields = fields_of(line, where, separator);
  if (fields && fields->size() != header.size())
    return bad_input(where + ": " + plural(fields->size(), "field") + ", and the heading has " +
                     std::to_string(header.size()));
  return fields;
}

std::string_view trimmed(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

bool is_whole_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace stab::metrics
