// The JSON of benchmark libraries. Depth is counted before anything is parsed; a member that is missing or of another type
// is named with the benchmark that it belongs to.
//
// Google Benchmark: docs/user_guide.md, "Output Formats". hyperfine: export/json.rs. cargo-criterion: book, "External tools";
// criterion: bencher_compat, and Rust's test crate, whose lines that is. LNT: docs, "Importing Data". JMH:
// results/format/JSONResultFormat.java. pytest-benchmark: docs/usage, "--benchmark-json".
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "base/number_text.h"
#include "base/wording.h"
#include "plan/metrics/collected.h"
#include "plan/metrics/readers.h"

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

// Google Benchmark and Python write what is no number as "NaN" and "Infinity", which JSON doesn't have: a counter's coefficient
// of variation is 0 / 0 where the counter stayed at 0. An empty string of the same length takes their places, so that nobody
// takes them for numbers, and errors keep theirs.
std::string without_infinities(std::string_view text) {
  std::string out(text);
  bool in_string = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (in_string) {
      if (out[i] == '\\') ++i;
      else if (out[i] == '"') in_string = false;
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

Result<json> parse(std::string_view text) {
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
  constexpr size_t kShown = 40;
  return {ErrorCode::kBadInput, "'" + name + "' is in '" + unit.substr(0, kShown) + "', expected a unit of time", {}};
}

// Of a tool that lists each benchmark once: two of one name are two benchmarks, and nobody may take them for one.
Status check_apart(const std::vector<std::string>& names, const std::string& cure) {
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto [at, fresh] = places.try_emplace(names[i], i + 1);
    if (!fresh)
      return bad_input("results " + std::to_string(at->second) + " and " + std::to_string(i + 1) + " are both " +
                       in_quotes(names[i], kMostNameBytes) + ", so nothing tells them apart; " + cure);
  }
  return {};
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

// ":size=8" for each parameter.
std::string parameters_of(const json& one, const char* name) {
  std::string out;
  if (const json* parameters = member(one, name); parameters && parameters->is_object())
    for (const auto& [key, value] : parameters->items())
      out += ":" + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  return out;
}

// One result of JMH's list: its name with its parameters, and the metric that it is for.
struct JmhResult {
  std::string name, whose, unit;
  const json* metric = nullptr;

  Result<double> seconds_of(double score) const {
    const auto seconds = seconds_of_score(score, unit);
    if (seconds) return *seconds;
    return bad_input(whose + " is " + number_text(score) + " " + unit + ", expected a time for one operation, or "
                     "a rate above 0");
  }
};

// They point into the root.
Result<std::vector<JmhResult>> jmh_results(const json& root) {
  if (!root.is_array()) return bad_input("expected a list of results, as -rf json writes");
  std::vector<JmhResult> results;
  for (size_t i = 0; i < root.size(); ++i) {
    const json& one = root[i];
    JmhResult result;
    STAB_TRY(result.name, text_of(one, "benchmark", words(i)));
    result.whose = "'" + result.name + "'";
    STAB_TRY(const std::string mode, text_of(one, "mode", result.whose));
    result.name += parameters_of(one, "params");
    if (mode != "avgt") result.name += " (" + mode + ")";
    result.metric = member(one, "primaryMetric");
    if (!result.metric) return lacks(result.whose, "primaryMetric", "an object");
    STAB_TRY(result.unit, text_of(*result.metric, "scoreUnit", result.whose));
    results.push_back(std::move(result));
  }
  std::vector<std::string> names;
  for (const JmhResult& result : results) names.push_back(result.name);
  STAB_CHECK_OK(check_apart(names, "write a file for each run of JMH"));
  return results;
}

// Times of processes, each of one benchmark, under the rules of Collected.
class ProcessList {
 public:
  Status add(const std::string& name, double seconds) {
    STAB_CHECK_OK(names_.add(name, seconds));
    if (times_.size() == kMostProcesses) return bad_input("more than " + std::to_string(kMostProcesses) + " processes");
    if (!(seconds > 0)) return bad_input("'" + name + "' took 0 s in one process, which has no logarithm");
    times_.push_back({name, times_.size(), seconds});
    return {};
  }
  std::vector<ProcessTime> take() { return std::move(times_); }

 private:
  Collected names_;  // refuses what is no name, no time, or too many
  std::vector<ProcessTime> times_;
};

}  // namespace

namespace {

// Why a row has no time; none: it has one.
std::optional<std::string> failure_of(const json& row) {
  for (const auto& [flag, words] : {std::pair{"error_occurred", "error_message"}, std::pair{"skipped", "skip_message"}}) {
    const json* set = member(row, flag);
    if (!set || !set->is_boolean() || !set->get<bool>()) continue;
    const json* message = member(row, words);
    return message && message->is_string() ? message->get<std::string>() : "";
  }
  return {};
}

struct GoogleRow {
  std::string benchmark;
  double seconds = 0;
  std::optional<std::string> failure;
  bool is_mean = false;
};

// Google Benchmark before 1.5 has no run_type: its aggregates are rows whose names end so, after the repetitions or instead of
// them. A benchmark may be called "scan_mean" itself; only an aggregate comes with its benchmark's deviation.
struct NamedAggregate {
  std::string benchmark;
  std::string_view what;  // "mean"
};

class OldAggregates {
 public:
  explicit OldAggregates(const json& list) {
    for (const json& row : list)
      if (const json* name = member(row, "name"); name && name->is_string() && !member(row, "run_type"))
        names_.insert(name->get<std::string>());
  }
  // Nothing: a measurement. pre: the row has no run_type
  std::optional<NamedAggregate> of(const std::string& name) const {
    for (const std::string_view what : {"mean", "median", "stddev", "cv"}) {
      const std::string end = "_" + std::string(what);
      if (name.size() <= end.size() || !name.ends_with(end)) continue;
      std::string benchmark = name.substr(0, name.size() - end.size());
      if (names_.contains(benchmark + "_mean") && names_.contains(benchmark + "_stddev"))
        return NamedAggregate{std::move(benchmark), what};
    }
    return {};
  }

 private:
  std::set<std::string> names_;
};

Result<std::vector<Metric>> google_benchmarks(const json& root) {
  STAB_TRY(const json* list, list_of(root, "benchmarks", "the file"));
  const OldAggregates old(*list);
  std::vector<GoogleRow> rows;
  std::set<std::string> has_repetitions;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    STAB_TRY(const std::string name, text_of(one, "name", words(i)));
    const json* run_name = member(one, "run_name");
    GoogleRow row{run_name && run_name->is_string() ? run_name->get<std::string>() : name, 0, failure_of(one), false};
    if (!row.failure) {
      const json* type = member(one, "run_type");
      row.is_mean = type && type->is_string() && *type == "aggregate";
      const json* what = member(one, "aggregate_name");
      if (row.is_mean && !(what && what->is_string() && *what == "mean")) continue;
      if (const auto aggregate = type ? std::nullopt : old.of(name)) {
        if (aggregate->what != "mean") continue;
        row.is_mean = true;
        row.benchmark = aggregate->benchmark;
      }
      // Complexities ("BigO") have other members.
      if (!member(one, "real_time")) continue;
      STAB_TRY(const double time, number_of(one, "real_time", "'" + name + "'"));
      STAB_TRY(const std::string unit, text_of(one, "time_unit", "'" + name + "'"));
      const auto seconds = seconds_of_unit(unit);
      if (!seconds) return unknown_unit(name, unit);
      row.seconds = time * *seconds;
    }
    if (!row.is_mean) has_repetitions.insert(row.benchmark);
    rows.push_back(std::move(row));
  }
  Collected out;
  for (const GoogleRow& row : rows) {
    if (row.failure) STAB_CHECK_OK(out.add_failed(row.benchmark, *row.failure));
    // With --benchmark_report_aggregates_only the mean is all there is, but of benchmarks that ran once, or failed.
    else if (!row.is_mean || !has_repetitions.contains(row.benchmark)) STAB_CHECK_OK(out.add(row.benchmark, row.seconds));
  }
  return out.take();
}

}  // namespace

Result<std::vector<Metric>> read_google_benchmark(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  return google_benchmarks(root);
}

// A file is of one process, unless it says that each repetition was one (stabctl export).
Result<std::vector<ProcessTime>> read_google_benchmark_processes(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  const json* context = member(root, "context");
  const json* repetition = context ? member(*context, "stab_repetition") : nullptr;
  if (!repetition || *repetition != "process") {
    STAB_TRY(const std::vector<Metric> metrics, google_benchmarks(root));
    return times_of_one_process(metrics);
  }
  STAB_TRY(const json* list, list_of(root, "benchmarks", "the file"));
  ProcessList out;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    STAB_TRY(const std::string name, text_of(one, "name", words(i)));
    STAB_TRY(const double time, number_of(one, "real_time", "'" + name + "'"));
    STAB_TRY(const std::string unit, text_of(one, "time_unit", "'" + name + "'"));
    const auto seconds = seconds_of_unit(unit);
    if (!seconds) return unknown_unit(name, unit);
    STAB_CHECK_OK(out.add(name, time * *seconds));
  }
  return out.take();
}

namespace {

// The results' names. hyperfine gives one --command-name to each command of a scan of parameters: those are told apart by them.
Result<std::vector<std::string>> hyperfine_names(const json& list) {
  std::vector<std::string> names;
  std::map<std::string, size_t> results;
  for (size_t i = 0; i < list.size(); ++i) {
    STAB_TRY(std::string name, text_of(list[i], "command", words(i)));
    ++results[name];
    names.push_back(std::move(name));
  }
  for (size_t i = 0; i < list.size(); ++i)
    if (results[names[i]] > 1) names[i] += parameters_of(list[i], "parameters");
  STAB_CHECK_OK(check_apart(names, "name each command: hyperfine --command-name old ... --command-name new ..."));
  return names;
}

}  // namespace

Result<std::vector<Metric>> read_hyperfine(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  STAB_TRY(const json* list, list_of(root, "results", "the file"));
  STAB_TRY(const std::vector<std::string> names, hyperfine_names(*list));
  Collected out;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    const std::string& name = names[i];
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

Result<std::vector<ProcessTime>> read_hyperfine_runs(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  STAB_TRY(const json* list, list_of(root, "results", "the file"));
  STAB_TRY(const std::vector<std::string> names, hyperfine_names(*list));
  ProcessList out;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    const std::string& name = names[i];
    const std::string whose = "'" + name + "'";
    STAB_TRY(const json* times, list_of(one, "times", whose));
    const json* codes = member(one, "exit_codes");
    for (size_t run = 0; run < times->size(); ++run) {
      const std::string which = whose + ", run " + std::to_string(run + 1);
      if (codes && codes->is_array() && run < codes->size() && (*codes)[run] != 0)
        return bad_input(which + ": the command failed, so its time is that of something else");
      if (!(*times)[run].is_number()) return bad_input(which + ": the time is no number");
      STAB_CHECK_OK(out.add(name, (*times)[run].get<double>()));
    }
  }
  return out.take();
}

namespace {

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

}  // namespace

Result<std::vector<Metric>> read_criterion(std::string_view text) {
  Collected out;
  std::vector<std::string> names;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string whose = "line " + std::to_string(line);
    STAB_TRY(const bool is_bencher_line, add_bencher_line(row, whose, out, names));
    // Other lines are what cargo and the benchmarks print between the messages.
    if (is_bencher_line || !row.starts_with('{')) continue;
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
    names.push_back(name);
  }
  STAB_CHECK_OK(check_apart(names, "run crates that share names one by one (cargo bench -p NAME), and each once"));
  return out.take();
}

Result<std::vector<Metric>> read_jmh(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  STAB_TRY(const std::vector<JmhResult> results, jmh_results(root));
  Collected out;
  for (const JmhResult& one : results) {
    STAB_TRY(const double score, number_of(*one.metric, "score", one.whose));
    STAB_TRY(const double seconds, one.seconds_of(score));
    STAB_CHECK_OK(out.add(one.name, seconds));
  }
  return out.take();
}

namespace {

// The mean of one fork of mode "sample": each iteration lists its times, each with the number of calls that took it.
Result<std::optional<double>> mean_of_histograms(const json& iterations, const std::string& which) {
  double sum = 0, calls = 0;
  for (const json& iteration : iterations) {
    if (!iteration.is_array()) return bad_input(which + ": expected a list of times for each iteration");
    for (const json& one : iteration) {
      if (!one.is_array() || one.size() != 2 || !one[0].is_number() || !one[1].is_number())
        return bad_input(which + ": expected [time, number of calls] in each iteration");
      sum += one[0].get<double>() * one[1].get<double>();
      calls += one[1].get<double>();
    }
  }
  return calls > 0 ? std::optional(sum / calls) : std::nullopt;
}

}  // namespace

// A fork is a process; its iterations are averaged as JMH averages them, on the scale of the score.
Result<std::vector<ProcessTime>> read_jmh_forks(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  STAB_TRY(const std::vector<JmhResult> results, jmh_results(root));
  ProcessList out;
  for (const JmhResult& one : results) {
    const bool sampled = member(*one.metric, "rawDataHistogram") != nullptr;
    STAB_TRY(const json* forks, list_of(*one.metric, sampled ? "rawDataHistogram" : "rawData", one.whose));
    for (size_t fork = 0; fork < forks->size(); ++fork) {
      const std::string which = one.whose + ", fork " + std::to_string(fork + 1);
      if (!(*forks)[fork].is_array()) return bad_input(which + ": expected a list of iterations");
      STAB_TRY(const std::optional<double> score,
               sampled ? mean_of_histograms((*forks)[fork], which) : mean_of((*forks)[fork], which));
      if (!score) return bad_input(which + " has no iteration");
      STAB_TRY(const double seconds, one.seconds_of(*score));
      STAB_CHECK_OK(out.add(one.name, seconds));
    }
  }
  return out.take();
}

Result<std::vector<Metric>> read_pytest_benchmark(std::string_view text) {
  STAB_TRY(const json root, parse(text));
  STAB_TRY(const json* list, list_of(root, "benchmarks", "the file"));
  Collected out;
  std::vector<std::string> names;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    const bool full = member(one, "fullname") != nullptr;
    STAB_TRY(const std::string name, text_of(one, full ? "fullname" : "name", words(i)));
    const json* stats = member(one, "stats");
    if (!stats) return lacks("'" + name + "'", "stats", "an object");
    STAB_TRY(const double mean, number_of(*stats, "mean", "'" + name + "'"));
    STAB_CHECK_OK(out.add(name, mean));
    names.push_back(name);
  }
  STAB_CHECK_OK(check_apart(names, "write a file for each run of pytest"));
  return out.take();
}

namespace {

// What a test of LNT's report took, each time that it ran. Tests without it have other metrics alone: no times.
template <typename Use>
Status for_each_lnt_time(std::string_view text, const Use& use) {
  STAB_TRY(const json root, parse(text));
  const json* version = member(root, "format_version");
  if (!version || !version->is_string() || *version != "2")
    return bad_input("it has no 'format_version', expected \"2\"; format 1 is not read");
  STAB_TRY(const json* list, list_of(root, "tests", "the file"));
  for (size_t i = 0; i < list->size(); ++i) {
    STAB_TRY(const std::string name, text_of((*list)[i], "name", words(i)));
    const json* times = member((*list)[i], "execution_time");
    if (!times) continue;
    const json one = times->is_array() ? *times : json::array({*times});
    for (const json& time : one) {
      if (!time.is_number()) return bad_input("'" + name + "': an 'execution_time' is no number");
      STAB_CHECK_OK(use(name, time.get<double>()));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Metric>> read_lnt(std::string_view text) {
  Collected out;
  STAB_CHECK_OK(for_each_lnt_time(text, [&](const std::string& name, double seconds) { return out.add(name, seconds); }));
  return out.take();
}

// A sample is a run of the test's executable.
Result<std::vector<ProcessTime>> read_lnt_runs(std::string_view text) {
  ProcessList out;
  STAB_CHECK_OK(for_each_lnt_time(text, [&](const std::string& name, double seconds) { return out.add(name, seconds); }));
  return out.take();
}

}  // namespace stab::metrics
