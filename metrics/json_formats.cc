// The JSON of benchmark libraries. Depth is counted before anything is parsed; a member that is missing or of another type
// is named with the benchmark that it belongs to.
//
// Google Benchmark: docs/user_guide.md, "Output Formats". hyperfine: export/json.rs. cargo-criterion: book, "External tools".
// JMH: results/format/JSONResultFormat.java. pytest-benchmark: docs/usage, "--benchmark-json".
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "metrics/collected.h"
#include "metrics/readers.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      else if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    else if ((c == '[' || c == '{') && ++depth > kMostDepth) return true;
    else if (c == ']' || c == '}') --depth;
  }
  return false;
}

std::string place_of(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - start + 1);
}

Result<json> parse(std::string_view text) {
  if (too_deep(text)) return bad_input("nested deeper than " + std::to_string(kMostDepth) + " levels");
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

// A member of an object; null: none.
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

// A list that must be there.
Result<const json*> list_of(const json& of, const char* name, const std::string& whose) {
  const json* found = member(of, name);
  if (!found || !found->is_array()) return lacks(whose, name, "a list");
  return found;
}

std::string words(size_t index) { return "benchmark " + std::to_string(index + 1); }

Error unknown_unit(const std::string& name, const std::string& unit) {
  return {ErrorCode::kBadInput, "'" + name + "' is in '" + unit + "', expected a unit of time", {}};
}

// The mean of the numbers in a list; 0 of them: none.
Result<std::optional<double>> mean_of(const json& list, const std::string& whose) {
  double sum = 0;
  for (const json& item : list) {
    if (!item.is_number()) return bad_input(whose + ": a measurement is no number");
    sum += item.get<double>();
  }
  if (list.empty()) return std::optional<double>();
  return std::optional<double>(sum / static_cast<double>(list.size()));
}

// "ns/op" and "ops/ms", and a score in it, to seconds for one operation.
std::optional<double> seconds_of_score(double score, std::string_view unit) {
  if (unit.ends_with("/op")) {
    const auto one = seconds_of_unit(unit.substr(0, unit.size() - 3));
    return one ? std::optional<double>(score * *one) : std::nullopt;
  }
  if (!unit.starts_with("ops/")) return {};
  const auto one = seconds_of_unit(unit.substr(4));
  // A rate of 0 would be a time without end.
  return one && score > 0 ? std::optional<double>(*one / score) : std::nullopt;
}

}  // namespace

Result<std::vector<Metric>> read_google_benchmark(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  STAB_TRY(const json* list, list_of(root, "benchmarks", "the file"));
  Collected measured, means;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    STAB_TRY(const std::string name, text_of(one, "name", words(i)));
    const json* error = member(one, "error_occurred");
    const json* message = member(one, "error_message");
    const json* skipped = member(one, "skipped");
    if ((error && error->is_boolean() && error->get<bool>()) || (skipped && skipped->is_boolean() && skipped->get<bool>())) {
      STAB_CHECK_OK(measured.add_failed(name, message && message->is_string() ? message->get<std::string>() : ""));
      continue;
    }
    const json* type = member(one, "run_type");
    const bool aggregate = type && type->is_string() && *type == "aggregate";
    const json* what = member(one, "aggregate_name");
    if (aggregate && !(what && what->is_string() && *what == "mean")) continue;
    // Complexities ("BigO") have other members.
    if (!member(one, "real_time")) continue;
    STAB_TRY(const double time, number_of(one, "real_time", "'" + name + "'"));
    STAB_TRY(const std::string unit, text_of(one, "time_unit", "'" + name + "'"));
    const auto seconds = seconds_of_unit(unit);
    if (!seconds) return unknown_unit(name, unit);
    const json* run_name = member(one, "run_name");
    const std::string base = run_name && run_name->is_string() ? run_name->get<std::string>() : name;
    STAB_CHECK_OK((aggregate ? means : measured).add(base, time * *seconds));
  }
  // With --benchmark_report_aggregates_only the means are all there is.
  return measured.empty() ? means.take() : measured.take();
}

Result<std::vector<Metric>> read_hyperfine(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  STAB_TRY(const json* list, list_of(root, "results", "the file"));
  Collected out;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    STAB_TRY(const std::string name, text_of(one, "command", words(i)));
    const std::string whose = "'" + name + "'";
    if (const json* codes = member(one, "exit_codes"); codes && codes->is_array()) {
      const auto failed = [](const json& code) { return code.is_null() || (code.is_number() && code != 0); };
      if (std::any_of(codes->begin(), codes->end(), failed)) {
        STAB_CHECK_OK(out.add_failed(name, "the command failed in at least one of its runs"));
        continue;
      }
    }
    if (const json* times = member(one, "times"); times && times->is_array() && !times->empty()) {
      STAB_TRY(const std::optional<double> mean, mean_of(*times, whose));
      STAB_CHECK_OK(out.add(name, *mean));
      continue;
    }
    STAB_TRY(const double mean, number_of(one, "mean", whose));
    STAB_CHECK_OK(out.add(name, mean));
  }
  return out.take();
}

Result<std::vector<Metric>> read_criterion(std::string_view text) {
  Collected out;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // What cargo and the benchmarks print between the messages.
    if (!row.starts_with('{')) continue;
    const std::string whose = "line " + std::to_string(line);
    const Result<json> message = parse(row);
    if (!message) return bad_input(whose + ": " + message.error().message);
    const json* reason = member(*message, "reason");
    if (!reason || !reason->is_string() || *reason != "benchmark-complete") continue;
    STAB_TRY(const std::string name, text_of(*message, "id", whose));
    const json* typical = member(*message, "typical");
    if (!typical) typical = member(*message, "mean");
    if (!typical) return lacks(whose, "typical", "an estimate");
    STAB_TRY(const double estimate, number_of(*typical, "estimate", "'" + name + "'"));
    STAB_TRY(const std::string unit, text_of(*typical, "unit", "'" + name + "'"));
    const auto seconds = seconds_of_unit(unit);
    if (!seconds) return unknown_unit(name, unit);
    STAB_CHECK_OK(out.add(name, estimate * *seconds));
  }
  return out.take();
}

Result<std::vector<Metric>> read_jmh(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  if (!root.is_array()) return bad_input("expected a list of results, as -rf json writes");
  Collected out;
  for (size_t i = 0; i < root.size(); ++i) {
    const json& one = root[i];
    STAB_TRY(std::string name, text_of(one, "benchmark", words(i)));
    const std::string whose = "'" + name + "'";
    STAB_TRY(const std::string mode, text_of(one, "mode", whose));
    if (const json* params = member(one, "params"); params && params->is_object())
      for (const auto& [key, value] : params->items())
        name += ":" + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    if (mode != "avgt") name += " (" + mode + ")";
    const json* metric = member(one, "primaryMetric");
    if (!metric) return lacks(whose, "primaryMetric", "an object");
    STAB_TRY(const std::string unit, text_of(*metric, "scoreUnit", whose));
    STAB_TRY(const double score, number_of(*metric, "score", whose));
    const auto seconds = seconds_of_score(score, unit);
    if (!seconds)
      return bad_input(whose + " is " + std::to_string(score) + " " + unit + ", expected a time for one operation, or "
                       "a rate above 0");
    STAB_CHECK_OK(out.add(name, *seconds));
  }
  return out.take();
}

Result<std::vector<Metric>> read_pytest_benchmark(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  STAB_TRY(const json* list, list_of(root, "benchmarks", "the file"));
  Collected out;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    const bool full = member(one, "fullname") != nullptr;
    STAB_TRY(const std::string name, text_of(one, full ? "fullname" : "name", words(i)));
    const json* stats = member(one, "stats");
    if (!stats) return lacks("'" + name + "'", "stats", "an object");
    STAB_TRY(const double mean, number_of(*stats, "mean", "'" + name + "'"));
    STAB_CHECK_OK(out.add(name, mean));
  }
  return out.take();
}

}  // namespace stab::metrics
