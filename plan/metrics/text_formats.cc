// The formats that are lines: Go's, and tables with commas.
//
// Go: golang.org/design/14313-benchmark-format. CSV: RFC 4180, without line breaks in a field.
#include <algorithm>
#include <charconv>
#include <span>

#include "plan/metrics/collected.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

// Takes the first line off; carriage returns at its end are none of it.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
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

Result<std::vector<std::string>> fields_of(std::string_view line, const std::string& where) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') fields.back() += line[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  if (quoted) return bad_input(where + ": a quotation mark is not closed");
  return fields;
}

}  // namespace

namespace {

bool is_count(std::string_view word) { return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos; }

// What a Go benchmark took, of the words behind its name: a count of iterations, then a number before each unit.
Result<std::optional<double>> nanoseconds_of(std::span<const std::string_view> words, size_t line) {
  if (words.empty() || !is_count(words[0])) return std::optional<double>();
  for (size_t i = 2; i < words.size(); i += 2) {
    if (words[i] != "ns/op") continue;
    const auto ns = number(words[i - 1]);
    if (ns) return ns;
    return bad_input("line " + std::to_string(line) + ": '" + std::string(words[i - 1].substr(0, 40)) + "' ns/op is no number");
  }
  return std::optional<double>();
}

}  // namespace

Result<std::vector<Metric>> read_go(std::string_view text) {
  Collected out;
  std::string package, name;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    const std::vector<std::string_view> all = words_of(row);
    std::span<const std::string_view> words(all);
    if (words.size() == 2 && words[0] == "pkg:") {
      package = std::string(words[1]) + ".";
      name.clear();
    }
    if (!words.empty() && words[0].starts_with("Benchmark")) {
      name = std::string(words[0]);
      words = words.subspan(1);
    }
    // What a benchmark prints stands between its name and its result, which then has a line of its own.
    STAB_TRY(const std::optional<double> ns, nanoseconds_of(words, line));
    if (!ns || name.empty()) continue;
    STAB_CHECK_OK(out.add(package + name, *ns * 1e-9));
    name.clear();
  }
  return out.take();
}

Result<std::vector<Metric>> read_csv(std::string_view text) {
  // What spreadsheets begin UTF-8 with.
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  STAB_TRY(const std::vector<std::string> header, fields_of(take_line(text), "line 1"));
  const auto column = [&](std::string_view name) {
    return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const size_t name = column("name"), value = column("value"), unit = column("unit");
  if (name == header.size() || value == header.size())
    return bad_input("line 1: expected a heading with the columns 'name' and 'value'");
  Collected out;
  for (size_t line = 2; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    if (row.empty()) continue;
    const std::string where = "line " + std::to_string(line);
    STAB_TRY(const std::vector<std::string> fields, fields_of(row, where));
    if (fields.size() != header.size())
      return bad_input(where + ": " + std::to_string(fields.size()) + " fields, and the heading has " +
                       std::to_string(header.size()));
    const auto measured = number(fields[value]);
    if (!measured) return bad_input(where + ": '" + fields[value].substr(0, 40) + "' is no number");
    const auto one = unit == header.size() ? std::optional<double>(1) : seconds_of_unit(fields[unit]);
    if (!one) return bad_input(where + ": '" + fields[unit].substr(0, 40) + "' is no unit of time; use ns, us, ms or s");
    if (const Status added = out.add(fields[name], *measured * *one); !added)
      return bad_input(where + ": " + added.error().message);
  }
  return out.take();
}

}  // namespace stab::metrics
