// hyperfine: src/export/json.rs, benchmark_result.rs. Google Benchmark: docs/user_guide.md, "Output Formats", and what
// tools/gbench reads. Bencher: reference, "Bencher Metric Format". github-action-benchmark: README, "customSmallerIsBetter".
// LNT: "Importing Data", report file format 2. OpenMetrics: specification 1.0, text format.
#include "analysis/commands/imports/tool_formats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "analysis/commands/answers/junit.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/worse.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/valid_text.h"
#include "base/number_text.h"

namespace stab::commands {
namespace {

// A workload or benchmark in one cell, with its trials.
struct Case {
  const report::Response* response;
  const report::Cell* cell;
  std::string name;  // as the header says
  std::vector<std::pair<std::string, std::string>> levels;  // of the factors that vary
  std::vector<double> values;  // each trial, as measured, in order of execution
  std::vector<const report::Trial*> trials;  // of the values
};

bool is_time(const report::Response& response) { return response.unit == "s"; }
// What benchmarks of other tools are: the time of one whole operation. Others of a workload's responses say which they are.
bool is_plain_time(const report::Response& response) {
  return is_time(response) && (response.name == "wall_time" || response.is_benchmark());
}

// Half of a cell's interval is no help without its middle.
report::Interval summary(const report::Cell& cell) {
  if (cell.mean_interval) return *cell.mean_interval;
  return {cell.mean, cell.mean, cell.mean};
}

class Cases {
 public:
  Cases(const report::Samples& samples, const report::Report& report) : samples_(samples) {
    std::map<std::vector<std::string_view>, std::vector<const report::Trial*>> of_cell;  // by workload and levels
    for (const report::Trial& trial : samples.trials)
      if (report::answers(samples, trial)) of_cell[key_of(trial)].push_back(&trial);
    for (const report::Cell& cell : report.cells) {
      const size_t response = index_of(cell.response);
      Case one{&samples.responses[response], &cell, base_name(samples.responses[response], cell), levels_of(cell), {}, {}};
      for (const auto& [factor, level] : one.levels) one.name += "/" + factor + ":" + level;
      std::vector<std::string_view> key{cell.workload};
      key.insert(key.end(), cell.levels.begin(), cell.levels.end());
      for (const report::Trial* trial : of_cell[key]) {
        if (!trial->values[response]) continue;
        one.values.push_back(*trial->values[response]);
        one.trials.push_back(trial);
      }
      all_.push_back(std::move(one));
    }
  }

  const std::vector<Case>& all() const { return all_; }
  // Those that a format has a place for; the responses of the others are named in left_out.
  template <typename Predicate>
  std::vector<const Case*> where(const Predicate& predicate) {
    std::vector<const Case*> out;
    for (const Case& one : all_) {
      if (predicate(*one.response)) out.push_back(&one);
      else if (std::find(left_out_.begin(), left_out_.end(), one.response->name) == left_out_.end())
        left_out_.push_back(one.response->name);
    }
    return out;
  }
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  size_t index_of(const std::string& response) const {
    for (size_t i = 0; i < samples_.responses.size(); ++i)
      if (samples_.responses[i].name == response) return i;
    return 0;  // analyse() takes cells from the samples' responses alone
  }
  static std::string base_name(const report::Response& response, const report::Cell& cell) {
    if (response.is_benchmark()) return response.name;
    return cell.workload + (is_plain_time(response) ? "" : "/" + response.name);
  }
  std::vector<std::pair<std::string, std::string>> levels_of(const report::Cell& cell) const {
    std::vector<std::pair<std::string, std::string>> out;
    for (size_t f = 0; f < samples_.factors.size(); ++f)
      if (samples_.factors[f].levels.size() > 1) out.emplace_back(samples_.factors[f].name, cell.levels[f]);
    return out;
  }
  std::vector<std::string_view> key_of(const report::Trial& trial) const {
    std::vector<std::string_view> key{samples_.workloads[trial.workload]};
    for (size_t f = 0; f < samples_.factors.size(); ++f) key.push_back(samples_.factors[f].levels[trial.levels[f]]);
    return key;
  }

  const report::Samples& samples_;
  std::vector<Case> all_;
  std::vector<std::string> left_out_;
};

const ToolContext::CpuTime* cpu_of(const ToolContext& context, const report::Trial& trial) {
  const auto at = context.cpu.find(trial.order);
  return at == context.cpu.end() ? nullptr : &at->second;
}

// The mean of user or system time over a case's trials; absent unless each has one.
std::optional<double> mean_cpu(const ToolContext& context, const Case& one, double ToolContext::CpuTime::* part) {
  double sum = 0;
  for (const report::Trial* trial : one.trials) {
    const ToolContext::CpuTime* cpu = cpu_of(context, *trial);
    if (!cpu) return {};
    sum += cpu->*part;
  }
  return sum / static_cast<double>(one.trials.size());
}

struct Written {
  std::string text;
  std::string nothing{};  // why there is nothing to write
  std::string note{};     // what a reader of the text can't see
};

constexpr char kNoTime[] = "it has no time of a whole run ('wall_time') and no benchmark's";

Written hyperfine(Cases& cases, const report::Samples&, const report::Report&, const ToolContext& context) {
  const auto times = cases.where(is_plain_time);
  if (times.empty()) return {"", kNoTime};
  text::JsonWriter json;
  json.begin_object().begin_array("results");
  for (const Case* one : times) {
    const statistics::Moments moments = stab::statistics::moments(one->values);
    json.begin_object().value("command", one->name).value("mean", moments.mean);
    json.value("stddev", one->values.size() > 1 ? std::optional(moments.sd()) : std::nullopt);
    json.value("median", one->cell->median);
    json.value("user", mean_cpu(context, *one, &ToolContext::CpuTime::user_s));
    json.value("system", mean_cpu(context, *one, &ToolContext::CpuTime::system_s));
    json.value("min", *std::min_element(one->values.begin(), one->values.end()));
    json.value("max", *std::max_element(one->values.begin(), one->values.end()));
    json.begin_array("times");
    for (const double value : one->values) json.element(value);
    json.end();
    if (!one->levels.empty()) {
      json.begin_object("parameters");
      for (const auto& [factor, level] : one->levels) json.value(factor, level);
      json.end();
    }
    json.end();
  }
  json.end().end();
  return {json.take()};
}

// The process's CPU time is that of its whole suite: a benchmark of it has none of its own.
std::optional<double> cpu_seconds(const ToolContext& context, const Case& one, size_t i) {
  const ToolContext::CpuTime* cpu = one.response->is_benchmark() ? nullptr : cpu_of(context, *one.trials[i]);
  return cpu ? std::optional(cpu->user_s + cpu->system_s) : std::nullopt;
}

Written google_benchmark(Cases& cases, const report::Samples&, const report::Report&, const ToolContext& context) {
  const auto times = cases.where(is_plain_time);
  if (times.empty()) return {"", kNoTime};
  text::JsonWriter json;
  json.begin_object().begin_object("context");
  json.value("date", context.started).value("host_name", context.machine).value("executable", "stabctl export");
  json.value("library_build_type", "release").value("stab_version", context.version).value("stab_repetition", "process");
  json.end().begin_array("benchmarks");
  bool borrowed = false;
  for (size_t family = 0; family < times.size(); ++family) {
    const Case& one = *times[family];
    for (size_t i = 0; i < one.values.size(); ++i) {
      json.begin_object().value("name", one.name).value("family_index", family).value("per_family_instance_index", 0);
      json.value("run_name", one.name).value("run_type", "iteration").value("repetitions", one.values.size());
      json.value("repetition_index", i).value("threads", 1).value("iterations", 1);
      const std::optional<double> cpu = cpu_seconds(context, one, i);
      borrowed |= !cpu;
      json.value("real_time", 1e9 * one.values[i]).value("cpu_time", 1e9 * cpu.value_or(one.values[i]));
      json.value("time_unit", "ns").end();
    }
  }
  json.end().end();
  return {json.take(), {}, borrowed ? "cpu_time: repeats real_time if it was not measured, because readers want both\n" : ""};
}

// Bencher knows "latency" in nanoseconds and "throughput" in operations a second; others it makes by their names.
std::pair<std::string, double> bencher_measure(const report::Response& response) {
  if (is_plain_time(response)) return {"latency", 1e9};
  if (response.higher_is_better) return {"throughput", 1};
  std::string slug;
  for (const char c : response.name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c));
    if (plain) slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!slug.empty() && slug.back() != '-') slug += '-';
  }
  return {slug, 1};
}

Written bencher(Cases& cases, const report::Samples&, const report::Report&, const ToolContext&) {
  text::JsonWriter json;
  json.begin_object();
  for (const Case& one : cases.all()) {
    const auto [measure, factor] = bencher_measure(*one.response);
    const report::Interval interval = summary(*one.cell);
    json.begin_object(one.name).begin_object(measure).value("value", factor * interval.estimate);
    if (one.cell->mean_interval)
      json.value("lower_value", factor * interval.low).value("upper_value", factor * interval.high);
    json.end().end();
  }
  json.end();
  return {json.take()};
}

// One direction a file: costs, or where there are none throughputs.
Written github_action(Cases& cases, const report::Samples& samples, const report::Report& report, const ToolContext&) {
  const auto better_higher = [](const report::Response& response) { return response.higher_is_better; };
  const bool costs = !std::all_of(samples.responses.begin(), samples.responses.end(), better_higher);
  text::JsonWriter json;
  json.begin_array();
  for (const Case* one : cases.where([&](const report::Response& response) { return response.higher_is_better != costs; })) {
    const report::Interval interval = summary(*one->cell);
    json.begin_object().value("name", one->name).value("unit", one->response->unit.empty() ? "count" : one->response->unit);
    json.value("value", interval.estimate);
    std::string extra = plural(one->cell->n, report.trial_word);
    if (one->cell->mean_interval) {
      json.value("range", "± " + report::plain(std::max(interval.high - interval.estimate, interval.estimate - interval.low)));
      extra +=
          ", " + report::plain(100 * (1 - report.alpha)) + " % interval " +
          report::between(report::value_text(*one->response, interval.low), report::value_text(*one->response, interval.high));
    }
    json.value("extra", extra).end();
  }
  json.end();
  return {json.take()};
}

// The metrics of LNT's nightly test suite.
const char* lnt_metric(const report::Response& response) {
  if (is_plain_time(response)) return "execution_time";
  if (response.name == "max_rss") return "mem_bytes";
  if (response.higher_is_better) return "score";
  return nullptr;
}

Written lnt(Cases& cases, const report::Samples&, const report::Report&, const ToolContext& context) {
  if (context.revision.empty()) return {"", "LNT orders runs by what was measured; say it: --revision 1234"};
  const auto kept = cases.where([](const report::Response& response) { return lnt_metric(response) != nullptr; });
  if (kept.empty()) return {"", std::string(kNoTime) + ", no 'max_rss' and no throughput"};
  text::JsonWriter json;
  json.begin_object().value("format_version", "2").begin_object("machine").value("name", context.machine);
  for (const auto& [fact, value] : context.machine_facts)
    if (fact != "name") json.value(fact, value);
  json.end().begin_object("run").value("start_time", context.started);
  json.value("end_time", context.finished.empty() ? context.started : context.finished);
  json.value("llvm_project_revision", context.revision).value("stab_version", context.version).end().begin_array("tests");
  for (const Case* one : kept) {
    json.begin_object().value("name", one->name).begin_array(lnt_metric(*one->response));
    for (const double value : one->values) json.element(one->response->unit == "KiB" ? 1024 * value : value);
    json.end().end();
  }
  json.end().end();
  return {json.take()};
}

// A test for each question of a treatment: worse fails, what is open is skipped.
Written junit(Cases&, const report::Samples&, const report::Report& report, const ToolContext& context) {
  std::vector<JunitCase> tests;
  for (const report::Contrast& contrast : report.contrasts) {
    if (contrast.layout || contrast.population != report::Population::kOneWorkload) continue;
    const report::Response& response = report::response_of(report, contrast.response);
    if (!response.declared && !response.is_benchmark()) continue;
    const report::Worse answer = report::worse_by(response, contrast, report.alpha, contrast.p_holm);
    JunitCase test{"stab." + context.experiment + "." + contrast.workload,
                   contrast.response + ": " + contrast.factor + "=" + contrast.level + " against " + contrast.baseline,
                   answer == report::Worse::kYes  ? JunitCase::Outcome::kFailed
                   : answer == report::Worse::kNo ? JunitCase::Outcome::kPassed
                                                  : JunitCase::Outcome::kSkipped,
                   {},
                   seconds_of_level(report, contrast)};
    test.message = contrast.refused.empty()
                       ? std::string(answer == report::Worse::kYes ? "worse" : name(contrast.verdict)) + ": " +
                             report::difference_text(response, contrast.interval.estimate) + ", interval " +
                             report::interval_text(response, contrast.interval)
                       : "no answer: " + contrast.refused;
    tests.push_back(std::move(test));
  }
  if (tests.empty()) return {"", "it compares no levels of a treatment: there is nothing to pass or fail"};
  return {junit_xml("stab " + context.experiment, tests)};
}

// A label's name of letters, digits and underscores. `exactly`: no two names become the same one.
std::string label_name(const std::string& name, bool exactly) {
  std::string out;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      out += c;
      continue;
    }
    out += '_';
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    if (exactly) out += digits;
  }
  return out;
}

// 'a-b' and 'a_b' of one experiment would share a label, and a line with a label twice is none.
bool labels_collide(const report::Samples& samples) {
  std::set<std::string> names;
  return !std::all_of(samples.factors.begin(), samples.factors.end(),
                      [&](const report::Factor& factor) { return names.insert(label_name(factor.name, false)).second; });
}

// pre: name is of a label's characters
std::string label(const std::string& name, const std::string& value) {
  std::string out = name + "=\"";
  for (const char c : text::valid_text(value)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + "\"";
}

Written open_metrics(Cases& cases, const report::Samples& samples, const report::Report&, const ToolContext& context) {
  std::string seconds, values, counts;
  const bool exactly = labels_collide(samples);
  for (const Case& one : cases.all()) {
    std::string labels = label("experiment", context.experiment) + "," + label("workload", one.cell->workload) + "," +
                         label("response", one.response->name);
    for (const auto& [factor, level] : one.levels) labels += "," + label("factor_" + label_name(factor, exactly), level);
    const report::Interval interval = summary(*one.cell);
    const bool time = is_time(*one.response);
    const auto line = [&](const char* bound, double value) {
      const std::string family = time ? "stab_time_seconds{" : "stab_value{";
      (time ? seconds : values) += family + labels + "," + label("bound", bound) + "} " + number_text(value) + "\n";
    };
    line("estimate", interval.estimate);
    if (one.cell->mean_interval) line("lower", interval.low), line("upper", interval.high);
    counts += "stab_trials{" + labels + "} " + std::to_string(one.cell->n) + "\n";
  }
  std::string out;
  if (!seconds.empty())
    out += "# TYPE stab_time_seconds gauge\n# UNIT stab_time_seconds seconds\n# HELP stab_time_seconds Mean of a cell's trials, "
           "and its confidence interval.\n" + seconds;
  if (!values.empty())
    out += "# TYPE stab_value gauge\n# HELP stab_value Mean of a cell's trials in the response's own unit, and its confidence "
           "interval.\n" + values;
  return {out + "# TYPE stab_trials gauge\n# HELP stab_trials Trials that a mean is of.\n" + counts + "# EOF\n"};
}

struct Row {
  ToolFormat format;
  Written (*write)(Cases&, const report::Samples&, const report::Report&, const ToolContext&);
};

constexpr Row kRows[] = {
    {{"hyperfine", "hyperfine's JSON"}, hyperfine},
    {{"google-benchmark", "Google Benchmark's JSON, as its compare.py reads it"}, google_benchmark},
    {{"bencher", "Bencher Metric Format"}, bencher},
    {{"github-action-benchmark", "custom JSON of github-action-benchmark"}, github_action},
    {{"lnt", "LNT's report file, format 2"}, lnt},
    {{"junit", "JUnit XML: a test for each question"}, junit},
    {{"openmetrics", "OpenMetrics text"}, open_metrics},
};

}  // namespace

const std::vector<ToolFormat>& tool_formats() {
  static const std::vector<ToolFormat> formats = [] {
    std::vector<ToolFormat> out;
    for (const Row& row : kRows) out.push_back(row.format);
    return out;
  }();
  return formats;
}

Result<CommandOutput> export_for_tool(std::string_view format, const report::Samples& samples, const ToolContext& context) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) { return one.format.name == format; });
  if (row == std::end(kRows)) {
    std::string known;
    for (const Row& one : kRows) known += (known.empty() ? "" : ", ") + std::string(one.format.name);
    return bad_input("format '" + std::string(format) + "' is not one of " + known);
  }
  STAB_TRY(const report::Report report, report::analyse(samples));
  Cases cases(samples, report);
  const Written written = row->write(cases, samples, report, context);
  if (!written.nothing.empty())
    return bad_input("'" + context.experiment + "' can't be exported for " + std::string(format) + ": " + written.nothing);
  CommandOutput output{.out = written.text, .err = written.note, .exit_code = 0};
  std::string left_out;
  for (const std::string& response : cases.left_out()) left_out += (left_out.empty() ? "'" : ", '") + response + "'";
  if (!left_out.empty()) output.err += "left out, as the format has no place for it: " + left_out + "\n";
  return output;
}

}  // namespace stab::commands
