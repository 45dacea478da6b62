// Numbers with units. from_chars does the digits: no locale, no sign surprises; what is left must be a unit.
#include "plan/toml/units.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "base/wording.h"
#include "plan/toml/diagnostic.h"

namespace stab::toml {
namespace {

// Splits "1.5 ms" into 1.5 and "ms"; false where no finite, non-negative number leads.
bool number_and_unit(std::string_view text, double& number, std::string_view& unit) {
  if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.')) return false;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return false;
  unit = text.substr(static_cast<size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  return true;
}

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
  double number = 0;
  std::string_view unit;
  if (number_and_unit(text, number, unit)) {
    for (const auto& [word, factor] : kUnits) {
      if (unit != word) continue;
      const double ns = std::round(number * factor);
      if (ns >= 9.2e18) return bad_input(in_quotes(text) + " is longer than 292 years");
      return std::chrono::nanoseconds(static_cast<int64_t>(ns));
    }
  }
  return bad_input(in_quotes(text) + " is no duration; write a number and ns, us, ms, s, min or h");
}

Result<double> parse_fraction(std::string_view text) {
  double number = 0;
  std::string_view unit;
  if (number_and_unit(text, number, unit) && (unit.empty() || unit == "%"))
    return unit.empty() ? number : number / 100;
  return bad_input(in_quotes(text) + " is no share; write a percentage such as \"1%\"");
}

Result<uint64_t> parse_bytes(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},          {"B", 1},    {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824.0},
      {"kB", 1e3},      {"MB", 1e6}, {"GB", 1e9}};
  double number = 0;
  std::string_view unit;
  if (number_and_unit(text, number, unit)) {
    for (const auto& [word, factor] : kUnits) {
      if (unit != word) continue;
      const double bytes = number * factor;
      if (bytes >= 9e15 || bytes != std::floor(bytes)) break;
      return static_cast<uint64_t>(bytes);
    }
  }
  return bad_input(in_quotes(text) + " is no size; write whole bytes or a number and KiB, MiB or GiB");
}

Result<std::vector<std::string>> split_words(std::string_view text, std::string_view cure, std::vector<bool>* quoted) {
  constexpr std::string_view kShellOnly = "|&;<>()$`*\n";
  std::vector<std::string> words;
  std::string word;
  bool in_word = false, is_quoted = false;
  const auto end_word = [&] {
    words.push_back(std::exchange(word, {}));
    if (quoted) quoted->push_back(is_quoted);
    in_word = is_quoted = false;
  };
  if (quoted) quoted->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\t') {
      if (in_word) end_word();
      continue;
    }
    in_word = true;
    is_quoted |= c == '\'' || c == '"' || c == '\\';
    if (c == '\'') {
      const size_t end = text.find('\'', i + 1);
      if (end == std::string_view::npos) return bad_input("a ' has no closing '");
      word += text.substr(i + 1, end - i - 1);
      i = end;
      continue;
    }
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '$' || text[i] == '`')
          return bad_input("'" + std::string(1, text[i]) + "' needs a shell; " + std::string(cure));
        const bool escape = text[i] == '\\' && i + 1 < text.size() &&
                            (text[i + 1] == '"' || text[i + 1] == '\\' || text[i + 1] == '$' ||
                             text[i + 1] == '`');
        if (escape) ++i;
        word += text[i];
      }
      if (i >= text.size()) return bad_input("a \" has no closing \"");
      continue;
    }
    if (c == '\\') {
      if (++i >= text.size()) return bad_input("a \\ at the end escapes nothing");
      word += text[i];
      continue;
    }
    if (kShellOnly.find(c) != std::string_view::npos) {
      const std::string shown = c == '\n' ? "a line end" : "'" + std::string(1, c) + "'";
      return bad_input(shown + " needs a shell; " + std::string(cure) + ", or quote it to pass it on");
    }
    word += c;
  }
  if (in_word) end_word();
  return words;
}

}  // namespace stab::toml
