// JSON within the limits of metrics.h. Depth is counted before anything is parsed; a member that is missing or of another type
// is named with the benchmark that it belongs to.
#include "plan/metrics/json_reader.h"

#include <algorithm>

#include "base/number_text.h"
#include "plan/metrics/collected.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      continue;
    }
    if (c == '"')
      in_string = true;
    else if ((c == '[' || c == '{') && ++depth > kMostDepth)
      return true;
    else if (c == ']' || c == '}')
      --depth;
  }
  return false;
}

std::string place_of(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - start + 1);
}

// Google Benchmark and Python write what is no number as "NaN" and "Infinity", which JSON doesn't have: a counter's coefficient
// of variation is 0 / 0 where the counter stayed at 0. An empty string of the same length takes their places, so that nobody
// takes them for numbers, and errors keep theirs.
std::string without_infinities(std::string_view text) {
  std::string out(text);
  bool in_string = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (in_string) {
      if (out[i] == '\\')
        ++i;
      else if (out[i] == '"')
        in_string = false;
      continue;
    }
    in_string = out[i] == '"';
    if (out[i] != 'N' && out[i] != 'I' && out[i] != '-') continue;
    for (const std::string_view word : {"NaN", "-NaN", "Infinity", "-Infinity"}) {
      if (out.compare(i, word.size(), word) != 0) continue;
      out.replace(i, word.size(), "\"\"" + std::string(word.size() - 2, ' '));
      i += word.size() - 1;
      break;
    }
  }
  return out;
}

}  // namespace

Result<json> parse_json(std::string_view text) {
  if (too_deep(text)) return bad_input("nested deeper than " + std::to_string(kMostDepth) + " levels");
  std::string replaced;
  if (text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos)
    text = replaced = without_infinities(text);
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const size_t byte = error.byte > 0 ? error.byte - 1 : 0;
    return bad_input(byte >= text.size() ? "it ends at " + place_of(text, byte) + " in the middle of the JSON; was it cut off?"
                                         : place_of(text, byte) + ": this is no JSON");
  } catch (const json::exception&) {
    return bad_input("a number in it is larger than a double holds");
  }
}

const json* member(const json& of, const char* name) {
  if (!of.is_object()) return nullptr;
  const auto at = of.find(name);
  return at == of.end() ? nullptr : &*at;
}

Error lacks(const std::string& whose, const char* name, const char* expected) {
  return {ErrorCode::kBadInput, whose + " has no '" + name + "', expected " + expected, {}};
}

Result<std::string> text_of(const json& of, const char* name, const std::string& whose) {
  const json* found = member(of, name);
  if (!found || !found->is_string()) return lacks(whose, name, "a string");
  return found->get<std::string>();
}

Result<double> number_of(const json& of, const char* name, const std::string& whose) {
  const json* found = member(of, name);
  if (!found || !found->is_number()) return lacks(whose, name, "a number");
  return found->get<double>();
}

Result<const json*> list_of(const json& of, const char* name, const std::string& whose) {
  const json* found = member(of, name);
  if (!found || !found->is_array()) return lacks(whose, name, "a list");
  return found;
}

std::string benchmark_at(size_t index) {
  return "benchmark " + std::to_string(index + 1);
}

Error unknown_unit(const std::string& name, const std::string& unit) {
  constexpr size_t kShown = 40;
  return {ErrorCode::kBadInput, "'" + name + "' is in '" + unit.substr(0, kShown) + "', expected a unit of time", {}};
}

Result<std::optional<double>> mean_of(const json& list, const std::string& whose) {
  double sum = 0;
  for (const json& item : list) {
    if (!item.is_number()) return bad_input(whose + ": a measurement is no number");
    const auto value = item.get<double>();
    // The mean of it and of others may be a time that none of them is.
    if (value < 0) return bad_input(whose + ": a measurement is " + number_text(value) + ", which is below 0");
    sum += value;
  }
  if (list.empty()) return std::optional<double>();
  return std::optional<double>(sum / static_cast<double>(list.size()));
}

std::vector<Parameter> parameters_of(const json& one, const char* name) {
  std::vector<Parameter> out;
  if (const json* parameters = member(one, name); parameters && parameters->is_object())
    for (const auto& [key, value] : parameters->items())
      out.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
  return out;
}

}  // namespace stab::metrics
