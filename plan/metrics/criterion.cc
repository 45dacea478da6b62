// criterion: messages of cargo-criterion, lines of its bencher format, the text that 'cargo bench' prints, and its own files.
//
// Messages: cargo-criterion's book, "External tools". Bencher lines: criterion/src/report.rs, and Rust's test crate, whose lines
// they are. Files: criterion/src/analysis: GROUP/FUNCTION/VALUE/new/{benchmark,estimates,sample}.json below target/criterion, all
// times in nanoseconds.
#include <algorithm>
#include <charconv>
#include <sstream>

#include "plan/metrics/collected.h"
#include "plan/metrics/criterion_files.h"
#include "plan/metrics/json_reader.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

// "test fib/20 ... bench:       1,234.5 ns/iter (+/- 56)", as 'cargo bench -- --output-format bencher' and Rust's own benchmarks
// print. False: another line.
Result<bool> add_bencher_line(std::string_view row, const std::string& whose, Collected& out, std::vector<std::string>& names) {
  constexpr std::string_view kTest = "test ", kBench = " ... bench:", kPer = "/iter";
  const size_t bench = row.find(kBench);
  if (!row.starts_with(kTest) || bench == std::string_view::npos || bench < kTest.size()) return false;
  std::string_view name = row.substr(kTest.size(), bench - kTest.size());
  while (name.ends_with(' ')) name.remove_suffix(1);  // names are padded to one length
  std::istringstream rest{std::string(row.substr(bench + kBench.size()))};
  std::string digits, unit;
  rest >> digits >> unit;
  std::erase(digits, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !unit.ends_with(kPer))
    return bad_input(whose + ": expected a number and a unit such as ns/iter behind 'bench:'");
  unit.resize(unit.size() - kPer.size());
  const auto seconds = seconds_of_unit(unit);
  if (!seconds) return unknown_unit(std::string(name), unit);
  STAB_CHECK_OK(out.add(name, value * *seconds));
  names.emplace_back(name);
  return true;
}

// "fib 20                  time:   [26.029 us 26.251 us 26.505 us]", where a long name has the line before for itself. The
// numbers are the bounds of an interval, and what criterion thinks it is between them. False: another line.
Result<bool> add_time_line(std::string_view row, const std::string& line_before, const std::string& whose, Collected& out,
                           std::vector<std::string>& names) {
  constexpr std::string_view kTime = "time:";
  const size_t time = row.find(kTime);
  if (time == std::string_view::npos) return false;
  const std::string_view rest = trimmed(row.substr(time + kTime.size()));
  if (!rest.starts_with('[') || !rest.ends_with(']')) return false;
  const std::string_view before = trimmed(row.substr(0, time));
  const std::string name = before.empty() ? line_before : std::string(before);
  const std::vector<std::string_view> parts = words_of(rest.substr(1, rest.size() - 2));
  constexpr size_t kParts = 6, kMiddle = 2;  // three times, each a number and its unit
  if (parts.size() != kParts) return bad_input(whose + ": expected three times with their units in 'time: [...]'");
  const auto value = number(parts[kMiddle]);
  if (!value) return bad_input(whose + ": '" + std::string(parts[kMiddle].substr(0, 40)) + "' is not a number");
  const std::string unit(parts[kMiddle + 1]);
  const auto seconds = seconds_of_unit(unit);
  if (!seconds) return unknown_unit(name, unit);
  STAB_CHECK_OK(out.add(name, *value * *seconds));
  names.push_back(name);
  return true;
}

// A message of cargo-criterion. Other lines are what cargo and the benchmarks print between the messages.
Status add_message(std::string_view row, const std::string& whose, Collected& out, std::vector<std::string>& names) {
  if (!row.starts_with('{')) return {};
  const Result<json> message = parse_json(row);
  if (!message) return bad_input(whose + ": " + message.error().message);
  const json* reason = member(*message, "reason");
  if (!reason || !reason->is_string() || *reason != "benchmark-complete") return {};
  STAB_TRY(const std::string name, text_of(*message, "id", whose));
  const json* typical = member(*message, "typical");
  if (!typical) typical = member(*message, "mean");
  if (!typical) return lacks(whose, "typical", "an estimate");
  STAB_TRY(const double estimate, number_of(*typical, "estimate", "'" + name + "'"));
  STAB_TRY(const std::string unit, text_of(*typical, "unit", "'" + name + "'"));
  const auto seconds = seconds_of_unit(unit);
  if (!seconds) return unknown_unit(name, unit);
  STAB_CHECK_OK(out.add(name, estimate * *seconds));
  names.push_back(name);
  return {};
}

}  // namespace

Result<std::vector<Metric>> read_criterion(std::string_view text) {
  Collected out;
  std::vector<std::string> names;
  std::string last_text;  // a line of its own, which may be the name of what the next line says the time of
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string whose = "line " + std::to_string(line);
    STAB_TRY(const bool is_bencher_line, add_bencher_line(row, whose, out, names));
    if (is_bencher_line) continue;
    STAB_TRY(const bool is_time_line, add_time_line(row, last_text, whose, out, names));
    if (is_time_line) continue;
    if (!trimmed(row).empty()) last_text = trimmed(row);
    STAB_CHECK_OK(add_message(row, whose, out, names));
  }
  STAB_CHECK_OK(check_apart(names, "run crates that share names one by one (cargo bench -p NAME), and each once"));
  return out.take();
}

namespace {

// A member that may be null or missing.
std::string text_or_nothing(const json& of, const char* name) {
  const json* found = member(of, name);
  return found && found->is_string() ? found->get<std::string>() : "";
}

// What criterion prints: the slope of a linear regression, where its sampling allows one; else the mean.
Result<double> nanoseconds_of(const json& estimates, const std::string& whose) {
  const json* slope = member(estimates, "slope");
  const json* one = slope && slope->is_object() ? slope : member(estimates, "mean");
  if (!one) return lacks(whose, "mean", "an estimate");
  return number_of(*one, "point_estimate", whose + "'s estimate");
}

// Of a benchmark whose estimates criterion has not written: the mean over its samples, each a number of calls and their time.
Result<double> mean_of_sample(const json& sample, const std::string& whose) {
  STAB_TRY(const json* iterations, list_of(sample, "iters", whose));
  STAB_TRY(const json* times, list_of(sample, "times", whose));
  if (times->empty() || times->size() != iterations->size())
    return bad_input(whose + ": expected as many 'times' as 'iters', at least one");
  double sum = 0;
  for (size_t i = 0; i < times->size(); ++i) {
    if (!(*times)[i].is_number() || !(*iterations)[i].is_number() || !((*iterations)[i].get<double>() > 0))
      return bad_input(whose + ": sample " + std::to_string(i + 1) + " is not a time of at least one call");
    sum += (*times)[i].get<double>() / (*iterations)[i].get<double>();
  }
  return sum / static_cast<double>(times->size());
}

}  // namespace

Result<CriterionBenchmark> read_criterion_files(std::string_view benchmark, std::string_view estimates, std::string_view sample) {
  const auto of_file = [](const Error& error, const char* name) { return bad_input(std::string(name) + ": " + error.message); };
  const auto named = parse_json(benchmark);
  if (!named) return of_file(named.error(), "benchmark.json");
  CriterionBenchmark out;
  STAB_TRY(const std::string group, text_of(*named, "group_id", "benchmark.json"));
  STAB_TRY(const std::string full, text_of(*named, "full_id", "benchmark.json"));
  const std::string function = text_or_nothing(*named, "function_id"), value = text_or_nothing(*named, "value_str");
  out.name = {full, function.empty() ? group : group + "/" + function, {}};
  // criterion has no name for it.
  if (!value.empty()) out.name.parameters.push_back({"value", value});
  const auto measured = parse_json(estimates.empty() ? sample : estimates);
  const char* const file = estimates.empty() ? "sample.json" : "estimates.json";
  if (!measured) return of_file(measured.error(), file);
  STAB_TRY(const double ns, estimates.empty() ? mean_of_sample(*measured, file) : nanoseconds_of(*measured, file));
  out.seconds = ns * 1e-9;
  return out;
}

}  // namespace stab::metrics
