// Windows are columns of numbers, a member each; times of trials and windows are whole and below 2^53 or told as they are.
#include "analysis/page/causal_windows.h"

#include <nlohmann/json.hpp>

#include "analysis/causal_report/causal.h"
#include "analysis/text/json_writer.h"

namespace stab::page {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 2;
constexpr uint64_t kNoLine = UINT32_MAX;

template <typename Rows, typename Get>
void column(text::JsonWriter& json, std::string_view key, const Rows& rows, const Get& get) {
  json.begin_array(key);
  for (const auto& row : rows) json.element(get(row));
  json.end();
}

struct TrialNumber {
  const char* name;
  uint64_t causal_report::CausalTrial::*field;
};
constexpr TrialNumber kTrialNumbers[] = {{"id", &causal_report::CausalTrial::id},
                                         {"run_ns", &causal_report::CausalTrial::run_ns},
                                         {"all_samples", &causal_report::CausalTrial::all_samples}};
struct TrialShare {
  const char* name;
  double causal_report::CausalTrial::*field;
};
constexpr TrialShare kTrialShares[] = {
    {"kernel_share", &causal_report::CausalTrial::unsampled_share},  // by the name that pages know
    {"unattributed_share", &causal_report::CausalTrial::unattributed_share},
    {"unclassified_waits", &causal_report::CausalTrial::unclassified_waits},
    {"lengthened_share", &causal_report::CausalTrial::lengthened_share}};
struct WindowNumber {
  const char* name;
  uint64_t causal_report::CausalWindow::*field;
};
constexpr WindowNumber kWindowNumbers[] = {{"start_ns", &causal_report::CausalWindow::start_ns},
                                           {"wall_ns", &causal_report::CausalWindow::wall_ns},
                                           {"cpu_ns", &causal_report::CausalWindow::cpu_ns},
                                           {"world_ns", &causal_report::CausalWindow::world_ns},
                                           {"credited_ns", &causal_report::CausalWindow::credited_ns},
                                           {"line_samples", &causal_report::CausalWindow::line_samples},
                                           {"layout", &causal_report::CausalWindow::layout}};
struct WindowShare {
  const char* name;
  double causal_report::CausalWindow::*field;
};
constexpr WindowShare kWindowShares[] = {{"speedup", &causal_report::CausalWindow::speedup},
                                         {"pay_ratio", &causal_report::CausalWindow::pay_ratio},
                                         {"foreign_share", &causal_report::CausalWindow::foreign_share},
                                         {"busy_share", &causal_report::CausalWindow::busy_share}};
struct WindowIndex {
  const char* name;
  uint32_t causal_report::CausalWindow::*field;
};
constexpr WindowIndex kWindowIndexes[] = {{"trial", &causal_report::CausalWindow::trial},
                                          {"block", &causal_report::CausalWindow::block},
                                          {"order", &causal_report::CausalWindow::order},
                                          {"flags", &causal_report::CausalWindow::flags}};

void write_design(text::JsonWriter& json, const causal_report::CausalData& data) {
  json.value("experiment", data.experiment)
      .value("program", data.program)
      .value("margin", data.margin)
      .value("alpha", data.alpha);
  json.value("most_foreign", data.most_foreign).value("sampling_ns", data.sampling_ns).value("window_ns", data.window_ns);
  json.value("incomplete", data.incomplete).value("closed_loop", data.closed_loop);
  json.value("loads", data.loads).value("whole_runs", data.whole_runs);
  column(json, "factors", data.factors, [](const std::string& name) { return name; });
  column(json, "speedups", data.speedups, [](double speedup) { return speedup; });
  json.begin_array("points");
  for (const causal_report::CausalPoint& point : data.points)
    json.begin_object().value("name", point.name).value("kind", name(point.kind)).end();
  json.end().begin_array("lines");
  for (const causal_report::CausalLine& line : data.lines)
    json.begin_object()
        .value("name", line.name)
        .value("file", line.file)
        .value("line", line.line)
        .value("function", line.function)
        .value("pilot_samples", line.pilot_samples)
        .value("candidate", line.candidate)
        .end();
  json.end().begin_array("cells");
  for (const causal_report::CausalCell& cell : data.cells) {
    json.begin_object().value("load", cell.load);
    column(json, "levels", cell.levels, [](const std::string& level) { return level; });
    json.end();
  }
  json.end();
}

void write_trials(text::JsonWriter& json, const causal_report::CausalData& data) {
  json.begin_array("trials");
  for (const causal_report::CausalTrial& trial : data.trials) {
    json.begin_object()
        .value("cell", trial.cell)
        .value("clock", name(trial.clock))
        .value("coarse_samples", trial.coarse_samples)
        .value("timeouts", trial.timeouts)
        .value("excluded", trial.excluded);
    for (const TrialNumber& number : kTrialNumbers) json.value(number.name, trial.*number.field);
    for (const TrialShare& share : kTrialShares) json.value(share.name, trial.*share.field);
    if (trial.system_share) json.value("system_share", *trial.system_share);
    column(json, "run_samples", trial.run_samples, [](uint64_t count) { return count; });
    json.end();
  }
  json.end();
}

void write_windows(text::JsonWriter& json, const causal_report::CausalData& data) {
  json.begin_object("windows");
  column(json, "kind", data.windows,
         [](const causal_report::CausalWindow& window) { return static_cast<uint32_t>(window.kind); });
  column(json, "line", data.windows,
         [](const causal_report::CausalWindow& window) { return window.line ? uint64_t{*window.line} : kNoLine; });
  for (const WindowIndex& index : kWindowIndexes)
    column(json, index.name, data.windows, [&](const causal_report::CausalWindow& window) { return window.*index.field; });
  for (const WindowNumber& number : kWindowNumbers)
    column(json, number.name, data.windows, [&](const causal_report::CausalWindow& window) { return window.*number.field; });
  for (const WindowShare& share : kWindowShares)
    column(json, share.name, data.windows, [&](const causal_report::CausalWindow& window) { return window.*share.field; });
  json.begin_array("visits");
  for (size_t p = 0; p < data.points.size(); ++p)
    column(json, {}, data.windows,
           [&](const causal_report::CausalWindow& window) { return window.visits.empty() ? 0 : window.visits[p]; });
  json.end().begin_array("inside_ns");
  for (size_t p = 0; p < data.points.size(); ++p)
    column(json, {}, data.windows, [&](const causal_report::CausalWindow& window) {
      return window.latencies.empty() ? 0 : window.latencies[p].inside_ns;
    });
  json.end().begin_array("departures");
  for (size_t p = 0; p < data.points.size(); ++p)
    column(json, {}, data.windows, [&](const causal_report::CausalWindow& window) {
      return window.latencies.empty() ? 0 : window.latencies[p].departures;
    });
  json.end();
  column(json, "has_integrals", data.windows,
         [](const causal_report::CausalWindow& window) { return !window.latencies.empty(); });
  json.end();
}

// pre: exceptions of nlohmann's are caught by the caller
Result<causal_report::CausalData> data_of(const Json& json) {
  causal_report::CausalData data;
  data.experiment = json.at("experiment"), data.program = json.at("program");
  data.margin = json.at("margin"), data.alpha = json.at("alpha"), data.most_foreign = json.at("most_foreign");
  data.sampling_ns = json.at("sampling_ns"), data.window_ns = json.at("window_ns");
  data.incomplete = json.at("incomplete"), data.closed_loop = json.at("closed_loop");
  data.loads = json.at("loads"), data.whole_runs = json.at("whole_runs");
  data.factors = json.at("factors").get<std::vector<std::string>>();
  data.speedups = json.at("speedups").get<std::vector<double>>();
  for (const Json& point : json.at("points")) {
    const auto kind = causal_report::point_kind(point.at("kind").get<std::string>());
    if (!kind) return corrupt("a progress point has an unknown kind");
    data.points.push_back({point.at("name"), *kind});
  }
  for (const Json& line : json.at("lines"))
    data.lines.push_back(
        {line.at("name"), line.at("file"), line.at("line"), line.at("function"), line.at("pilot_samples"), line.at("candidate")});
  for (const Json& cell : json.at("cells"))
    data.cells.push_back({cell.at("levels").get<std::vector<std::string>>(), cell.at("load")});
  for (const Json& each : json.at("trials")) {
    causal_report::CausalTrial trial;
    trial.cell = each.at("cell");
    const auto clock = causal_report::causal_clock(each.at("clock").get<std::string>());
    if (!clock) return corrupt("a trial has an unknown clock");
    trial.clock = *clock;
    trial.coarse_samples = each.at("coarse_samples"), trial.timeouts = each.at("timeouts");
    trial.excluded = each.at("excluded");
    for (const TrialNumber& number : kTrialNumbers) trial.*number.field = each.at(number.name);
    for (const TrialShare& share : kTrialShares) trial.*share.field = each.at(share.name);
    if (each.contains("system_share")) trial.system_share = each.at("system_share").get<double>();
    trial.run_samples = each.at("run_samples").get<std::vector<uint64_t>>();
    data.trials.push_back(std::move(trial));
  }
  const Json& windows = json.at("windows");
  const size_t rows = windows.at("kind").size(), points = data.points.size();
  for (const auto& [key, value] : windows.items()) {
    const bool nested = key == "visits" || key == "inside_ns" || key == "departures";
    if (nested && value.size() != points) return corrupt("its windows count other points");
    for (size_t p = 0; p < (nested ? points : 1); ++p)
      if ((nested ? value.at(p) : value).size() != rows) return corrupt("columns of its windows differ in length");
  }
  data.windows.resize(rows);
  for (size_t row = 0; row < rows; ++row) {
    causal_report::CausalWindow& window = data.windows[row];
    const uint64_t kind = windows.at("kind")[row], line = windows.at("line")[row];
    if (kind > static_cast<uint64_t>(causal_report::ArmKind::kSlowdown)) return corrupt("a window has an unknown kind");
    window.kind = static_cast<causal_report::ArmKind>(kind);
    if (line != kNoLine) window.line = static_cast<uint32_t>(line);
    for (const WindowIndex& index : kWindowIndexes) window.*index.field = windows.at(index.name)[row];
    for (const WindowNumber& number : kWindowNumbers) window.*number.field = windows.at(number.name)[row];
    for (const WindowShare& share : kWindowShares) window.*share.field = windows.at(share.name)[row];
    const bool integrals = windows.at("has_integrals")[row];
    for (size_t p = 0; p < points; ++p) {
      window.visits.push_back(windows.at("visits")[p][row]);
      if (integrals) window.latencies.push_back({windows.at("inside_ns")[p][row], windows.at("departures")[p][row]});
    }
  }
  return data;
}

}  // namespace

Result<std::string> causal_json(std::span<const causal_report::CausalData> programs) {
  text::JsonWriter json;
  json.begin_object().value("format", "stab-causal").value("version", kVersion).begin_array("programs");
  for (const causal_report::CausalData& data : programs) {
    STAB_TRY(const causal_report::CausalReport report, causal_report::analyse_causal(data));
    json.begin_object();
    causal_report::write_causal(json, report);
    json.end();
  }
  json.end().begin_array("data");
  for (const causal_report::CausalData& data : programs) {
    json.begin_object();
    write_design(json, data);
    write_trials(json, data);
    write_windows(json, data);
    json.end();
  }
  json.end().end();
  return json.take();
}

Result<std::vector<causal_report::CausalData>> read_causal(const Json& described) {
  std::vector<causal_report::CausalData> out;
  try {
    if (described.at("format") != "stab-causal" || described.at("version") != kVersion)
      return corrupt("its windows are of another format or version");
    for (const Json& each : described.at("data")) {
      STAB_TRY(causal_report::CausalData data, data_of(each));
      if (const auto fault = causal_report::fault_of(data)) return corrupt("its windows don't fit: " + *fault);
      out.push_back(std::move(data));
    }
  } catch (const Json::exception& exception) {
    return corrupt(std::string("its windows don't fit: ") + exception.what());
  }
  return out;
}

}  // namespace stab::page
