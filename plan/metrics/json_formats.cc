// The JSON of Google Benchmark, JMH and pytest-benchmark.
//
// Google Benchmark: docs/user_guide.md, "Output Formats". JMH: results/format/JSONResultFormat.java. pytest-benchmark:
// docs/usage, "--benchmark-json".

#include <algorithm>
#include <set>

#include "base/number_text.h"
#include "plan/metrics/collected.h"
#include "plan/metrics/json_reader.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

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

// One result of JMH's list: its name with its parameters, and the metric that it is for.
struct JmhResult {
  BenchmarkName name;
  std::string whose, unit;
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
    STAB_TRY(std::string name, text_of(one, "benchmark", benchmark_at(i)));
    result.whose = "'" + name + "'";
    STAB_TRY(const std::string mode, text_of(one, "mode", result.whose));
    const std::string of_mode = mode == "avgt" ? "" : " (" + mode + ")";
    result.name = with_parameters(std::move(name), parameters_of(one, "params"));
    result.name.full += of_mode;
    result.name.plain += of_mode;
    result.metric = member(one, "primaryMetric");
    if (!result.metric) return lacks(result.whose, "primaryMetric", "an object");
    STAB_TRY(result.unit, text_of(*result.metric, "scoreUnit", result.whose));
    results.push_back(std::move(result));
  }
  std::vector<std::string> names;
  for (const JmhResult& result : results) names.push_back(result.name.full);
  STAB_CHECK_OK(check_apart(names, "write a file for each run of JMH"));
  return results;
}

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
    STAB_TRY(const std::string name, text_of(one, "name", benchmark_at(i)));
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
  STAB_TRY(const json root, parse_json(text));
  return google_benchmarks(root);
}

// A file is of one process, unless it says that each repetition was one (stabctl export).
Result<std::vector<ProcessTime>> read_google_benchmark_processes(std::string_view text) {
  STAB_TRY(const json root, parse_json(text));
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
    STAB_TRY(const std::string name, text_of(one, "name", benchmark_at(i)));
    STAB_TRY(const double time, number_of(one, "real_time", "'" + name + "'"));
    STAB_TRY(const std::string unit, text_of(one, "time_unit", "'" + name + "'"));
    const auto seconds = seconds_of_unit(unit);
    if (!seconds) return unknown_unit(name, unit);
    STAB_CHECK_OK(out.add(BenchmarkName{name, name, {}}, time * *seconds));
  }
  return out.take();
}

Result<std::vector<Metric>> read_jmh(std::string_view text) {
  STAB_TRY(const json root, parse_json(text));
  STAB_TRY(const std::vector<JmhResult> results, jmh_results(root));
  Collected out;
  for (const JmhResult& one : results) {
    STAB_TRY(const double score, number_of(*one.metric, "score", one.whose));
    STAB_TRY(const double seconds, one.seconds_of(score));
    STAB_CHECK_OK(out.add(one.name.full, seconds));
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
  STAB_TRY(const json root, parse_json(text));
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
  STAB_TRY(const json root, parse_json(text));
  STAB_TRY(const json* list, list_of(root, "benchmarks", "the file"));
  Collected out;
  std::vector<std::string> names;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    const bool full = member(one, "fullname") != nullptr;
    STAB_TRY(const std::string name, text_of(one, full ? "fullname" : "name", benchmark_at(i)));
    const json* stats = member(one, "stats");
    if (!stats) return lacks("'" + name + "'", "stats", "an object");
    STAB_TRY(const double mean, number_of(*stats, "mean", "'" + name + "'"));
    STAB_CHECK_OK(out.add(name, mean));
    names.push_back(name);
  }
  STAB_CHECK_OK(check_apart(names, "write a file for each run of pytest"));
  return out.take();
}

}  // namespace stab::metrics
