// Texts that repeat (why trials are left out, degradations) are numbered in tables of the JSON; 0 is none.
#include "analysis/page/sample_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <nlohmann/json.hpp>

#include "analysis/report/rendering/json_parts.h"
#include "base/split.h"

namespace stab::page {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 3;  // 3: a stopping rule may be a sequence, and has `max`
// The same, and estimators were declared: a reader that doesn't know them would miss a part of the report.
constexpr int kVersionOfEstimators = 4;
// The same with what was recorded of the machine.
constexpr int kVersionOfEnvironments = 5;
// The same of a replay.
constexpr int kVersionOfReplays = 6;
// The same of sliced blocks, whose control a reader that doesn't know of it would take for answers.
constexpr int kVersionOfSlices = 7;
constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kEstimators[] = {"hodges-lehmann", "quantile", "mixed"};
constexpr std::string_view kRules[] = {"fixed", "looks", "precision", "sequence"};
constexpr std::string_view kSpendings[] = {"obrien-fleming", "pocock", "classic-obrien-fleming", "classic-pocock"};

// The numbers of a dose that are counted for every trial which has one.
struct DoseField {
  const char* name;
  uint64_t report::Dose::*field;
};
constexpr DoseField kDoseFields[] = {{"dose/code_layouts_built", &report::Dose::code_layouts_built},
                                     {"dose/code_layouts_executed", &report::Dose::code_layouts_executed},
                                     {"dose/functions", &report::Dose::functions},
                                     {"dose/functions_moved", &report::Dose::functions_moved},
                                     {"dose/stack_layouts", &report::Dose::stack_layouts},
                                     {"dose/pads", &report::Dose::pads},
                                     {"dose/helper_cpu_ns", &report::Dose::helper_cpu_ns},
                                     {"dose/epochs", &report::Dose::epochs},
                                     {"dose/epochs_unentered", &report::Dose::epochs_unentered}};

// Numbers texts from 1 in order of their first appearance.
class TextTableNumbers {
 public:
  uint64_t of(const std::string& text) {
    if (text.empty()) return 0;
    const auto [at, fresh] = numbers_.try_emplace(text, texts_.size() + 1);
    if (fresh) texts_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, uint64_t> numbers_;
  std::vector<std::string> texts_;
};

// Which no runtime writes.
constexpr char kBetweenTexts = '\x1f';

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : std::string(1, kBetweenTexts)) + text;
  return out;
}

template <typename Get>
std::vector<uint64_t> each(const report::Samples& samples, const Get& get) {
  std::vector<uint64_t> out;
  out.reserve(samples.trials.size());
  for (const report::Trial& trial : samples.trials) out.push_back(get(trial));
  return out;
}

// What a trial differs by from the mean of its cell: a share on the log scale, in the response's unit else.
std::vector<double> deviations(const report::Samples& samples, size_t response,
                               const std::vector<report::WorkloadUnits>& workloads) {
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, double> means;
  for (uint32_t w = 0; w < workloads.size(); ++w)
    for (const report::CellUnits& cell : workloads[w].cells) means[{w, cell.levels}] = cell.moments.mean;
  const bool log_scale = samples.responses[response].scale == report::Scale::kLog;
  std::vector<double> out;
  for (const report::Trial& trial : samples.trials) {
    const auto mean = means.find({trial.workload, std::vector<uint32_t>(trial.levels.begin(), trial.levels.end())});
    const std::optional<double>& value = trial.values[response];
    const bool usable = mean != means.end() && value && std::isfinite(*value) && (!log_scale || *value > 0);
    out.push_back(!usable ? kAbsent : log_scale ? std::expm1(std::log(*value) - mean->second) : *value - mean->second);
  }
  return out;
}

void texts(text::JsonWriter& json, std::string_view key, const std::vector<std::string>& list) {
  json.begin_array(key);
  for (const std::string& text : list) json.element(text);
  json.end();
}

int version_of(const report::Samples& samples) {
  if (samples.is_sliced) return kVersionOfSlices;
  if (samples.replayed) return kVersionOfReplays;
  if (samples.environment_facts_compared > 0) return kVersionOfEnvironments;
  return samples.estimators.empty() && samples.shift_quantiles.empty() ? kVersion : kVersionOfEstimators;
}

struct Tables {
  TextTableNumbers exclusions, degradations;
};
Tables tables_of(const report::Samples& samples) {
  Tables tables;
  for (const report::Trial& trial : samples.trials) {
    tables.exclusions.of(trial.excluded);
    if (trial.dose) tables.degradations.of(joined(trial.dose->degradations));
  }
  return tables;
}

}  // namespace

Columns columns_of(const report::Samples& samples, const report::UnitsByResponse& units, const report::Evidence& evidence) {
  Columns out(samples.trials.size());
  Tables tables = tables_of(samples);
  out.add_whole("workload", each(samples, [](const report::Trial& trial) { return trial.workload; }));
  for (size_t f = 0; f < samples.factors.size(); ++f)
    out.add_whole("level/" + std::to_string(f), each(samples, [&](const report::Trial& trial) { return trial.levels[f]; }));
  out.add_whole("block", each(samples, [](const report::Trial& trial) { return trial.block; }));
  out.add_whole("order", each(samples, [](const report::Trial& trial) { return trial.order; }));
  out.add_whole("seed", each(samples, [](const report::Trial& trial) { return trial.seed; }));
  out.add_whole("link", each(samples, [](const report::Trial& trial) { return trial.link; }));
  if (!samples.machines.empty())
    out.add_whole("machine", each(samples, [](const report::Trial& trial) { return trial.machine; }));
  if (samples.environments.size() > 1)
    out.add_whole("environment", each(samples, [](const report::Trial& trial) { return trial.environment; }));
  out.add_whole("layout", each(samples, [](const report::Trial& trial) { return trial.layout; }));
  out.add_whole("fixed_code", each(samples, [](const report::Trial& trial) { return trial.fixed_code; }));
  if (samples.is_sliced) {
    out.add_whole("ran_alone", each(samples, [](const report::Trial& trial) { return trial.ran_alone; }));
    std::vector<double> overlaps;
    for (const report::Trial& trial : samples.trials) overlaps.push_back(trial.overlap.value_or(kAbsent));
    out.add_real("overlap", overlaps);
  }
  out.add_whole("disturbances", each(samples, [](const report::Trial& trial) { return trial.disturbances; }));
  out.add_whole("excluded", each(samples, [&](const report::Trial& trial) { return tables.exclusions.of(trial.excluded); }));
  for (size_t r = 0; r < samples.responses.size(); ++r) {
    std::vector<double> values;
    for (const report::Trial& trial : samples.trials) values.push_back(trial.values[r].value_or(kAbsent));
    out.add_real("value/" + std::to_string(r), values);
    out.add_single("deviation/" + std::to_string(r), deviations(samples, r, units[r]));
  }
  if (std::any_of(samples.trials.begin(), samples.trials.end(),
                  [](const report::Trial& trial) { return trial.dose.has_value(); })) {
    out.add_whole("dose", each(samples, [](const report::Trial& trial) { return trial.dose.has_value(); }));
    for (const DoseField& field : kDoseFields)
      out.add_whole(field.name,
                    each(samples, [&](const report::Trial& trial) { return trial.dose ? (*trial.dose).*field.field : 0; }));
    std::vector<double> heap, heap_share, bytes_share;
    for (const report::Trial& trial : samples.trials) {
      const bool counted = trial.dose && trial.dose->heap_layouts;
      heap.push_back(counted ? static_cast<double>(*trial.dose->heap_layouts) : kAbsent);
      heap_share.push_back(trial.dose ? trial.dose->heap_share : 0);
      bytes_share.push_back(trial.dose ? trial.dose->heap_bytes_share.value_or(kAbsent) : kAbsent);
    }
    out.add_real("dose/heap_layouts", heap);
    out.add_real("dose/heap_share", heap_share);
    out.add_real("dose/heap_bytes_share", bytes_share);
    out.add_whole("dose/degradations", each(samples, [&](const report::Trial& trial) {
                    return trial.dose ? tables.degradations.of(joined(trial.dose->degradations)) : 0;
                  }));
  }
  if (!evidence.trial_numbers.empty()) out.add_whole("trial", evidence.trial_numbers);
  if (!evidence.started_s.empty()) out.add_real("started_s", evidence.started_s);
  if (!evidence.builds_of_trials.empty()) {
    std::vector<uint64_t> builds;
    for (const int32_t build : evidence.builds_of_trials) builds.push_back(static_cast<uint64_t>(build + 1));
    out.add_whole("build", builds);
  }
  for (const report::WeatherTrack& track : evidence.weather) out.add_real("weather/" + track.name, track.values);
  return out;
}

namespace {

void write_factors(text::JsonWriter& json, const std::vector<report::Factor>& factors) {
  json.begin_array("factors");
  for (const report::Factor& factor : factors) {
    json.begin_object().value("name", factor.name).value("layout", factor.layout).value("baseline", factor.baseline);
    if (factor.of_binaries) json.value("of_binaries", true);
    texts(json, "levels", factor.levels);
    json.begin_array("fixed");
    for (size_t level = 0; level < factor.levels.size(); ++level) json.value({}, factor.is_fixed(level));
    json.end().end();
  }
  json.end();
}

void write_responses(text::JsonWriter& json, const std::vector<report::Response>& responses) {
  json.begin_array("responses");
  for (const report::Response& response : responses) {
    json.begin_object().value("name", response.name).value("unit", response.unit)
        .value("scale", report::scale_name(response.scale)).value("margin", response.margin)
        .value("margin_is_share", response.margin_is_share).value("declared", response.declared);
    if (response.higher_is_better) json.value("higher_is_better", true);
    if (response.is_benchmark())
      json.value("only_workload", *response.only_workload).value("family", response.family)
          .value("false_discovery", response.error_rate == report::ErrorRate::kFalseDiscovery);
    json.end();
  }
  json.end();
}

void write_stopping(text::JsonWriter& json, const report::Stopping& stopping) {
  json.begin_object("stopping").value("rule", kRules[static_cast<size_t>(stopping.rule)]);
  json.value("spending", kSpendings[static_cast<size_t>(stopping.spending)]).begin_array("looks");
  for (const uint32_t look : stopping.looks) json.value({}, look);
  json.end().value("first", stopping.first).value("half_width", stopping.half_width)
      .value("max", stopping.max);
  if (stopping.until_worse) json.value("until_worse", true);
  json.end();
}

void write_estimators(text::JsonWriter& json, const report::Samples& samples) {
  if (!samples.estimators.empty()) {
    json.begin_array("estimators");
    for (const report::Estimator& estimator : samples.estimators) {
      json.begin_object().value("kind", kEstimators[static_cast<size_t>(estimator.kind)]);
      json.value("probability", estimator.probability).end();
    }
    json.end();
  }
  if (samples.shift_quantiles.empty()) return;
  json.begin_array("shift_quantiles");
  for (const double probability : samples.shift_quantiles) json.value({}, probability);
  json.end();
}

void write_environment(text::JsonWriter& json, const report::Samples& samples) {
  if (samples.environment_facts_compared == 0) return;
  json.begin_object("environment").value("compared", samples.environment_facts_compared);
  texts(json, "facts", samples.environment_facts);
  json.begin_array("kinds");
  for (const report::Environment& one : samples.environments) {
    json.begin_object().value("recorded", one.recorded);
    texts(json, "values", one.values);
    json.end();
  }
  json.end().end();
}

}  // namespace

std::string samples_json(const report::Samples& samples, const Columns& columns) {
  text::JsonWriter json;
  const Tables tables = tables_of(samples);
  json.begin_object().value("format", "stab-samples")
      .value("version", version_of(samples));
  json.value("experiment", samples.experiment).value("alpha", samples.alpha);
  json.value("unit", samples.unit == report::Unit::kRow ? "row" : "layout");
  texts(json, "workloads", samples.workloads);
  texts(json, "programs", samples.programs);
  json.value("row_word", samples.row_word)
      .value("workload_word", samples.workload_word)
      .value("program_word", samples.program_word);
  write_factors(json, samples.factors);
  write_responses(json, samples.responses);
  json.value("planned", samples.planned).value("failed", samples.failed).value("incomplete", samples.incomplete);
  json.value("planned_replicates", samples.planned_replicates);
  write_stopping(json, samples.stopping);
  write_estimators(json, samples);
  json.begin_array("unavailable");
  for (const report::Unavailable& missing : samples.unavailable)
    json.begin_object().value("what", missing.what).value("cure", missing.cure).end();
  json.end();
  texts(json, "early_looks", samples.early_looks);
  texts(json, "layout_outputs", samples.layout_outputs);
  if (!samples.equal_builds.empty()) texts(json, "equal_builds", samples.equal_builds);
  if (samples.repeated > 0) {
    json.value("repeated", samples.repeated);
    texts(json, "repeated_cells", samples.repeated_cells);
  }
  if (!samples.machines.empty()) texts(json, "machines", samples.machines);
  if (!samples.machine_differences.empty()) texts(json, "machine_differences", samples.machine_differences);
  write_environment(json, samples);
  if (samples.replayed)
    json.begin_object("replayed").value("trial", samples.replayed->trial).value("experiment", samples.replayed->experiment)
        .value("factor", samples.replayed->factor).value("excess", samples.replayed->excess).end();
  if (samples.is_sliced) json.value("sliced", true);
  if (!samples.simulated.empty()) texts(json, "simulated", samples.simulated);
  if (!samples.lost_machines.empty()) texts(json, "lost_machines", samples.lost_machines);
  texts(json, "exclusions", tables.exclusions.texts());
  texts(json, "degradations", tables.degradations.texts());
  columns.describe(json);
  json.end();
  return json.take();
}

namespace {

template <size_t N>
Result<size_t> word(const Json& json, const char* key, const std::string_view (&words)[N]) {
  const auto at = std::find(std::begin(words), std::end(words), json.at(key).get<std::string>());
  if (at == std::end(words)) return corrupt(std::string("'") + key + "' has an unknown word");
  return static_cast<size_t>(at - std::begin(words));
}

// Pages of version 1 say neither which levels leave layout as it is nor which trials share a layout: words and links told it.
// These two functions are their format; nothing else may decide by them.
std::vector<bool> fixed_in_version_1(const std::vector<std::string>& levels) {
  constexpr std::string_view kFixed[] = {"off", "none", "no", "copy", "zero", "base", "0", "false"};
  std::vector<bool> out;
  for (const std::string& level : levels)
    out.push_back(std::find(std::begin(kFixed), std::end(kFixed), level) != std::end(kFixed));
  return out;
}

void number_layouts_of_version_1(report::Samples& samples) {
  const auto code = std::find_if(samples.factors.begin(), samples.factors.end(),
                                 [](const report::Factor& factor) { return factor.layout && factor.name == "code"; });
  const auto at = static_cast<size_t>(code - samples.factors.begin());
  std::map<std::vector<uint64_t>, uint64_t> numbers;
  for (report::Trial& trial : samples.trials) {
    trial.fixed_code = code == samples.factors.end() || code->is_fixed(trial.levels[at]);
    std::vector<uint64_t> key{trial.fixed_code, trial.workload, trial.fixed_code ? trial.link : trial.seed};
    for (size_t f = 0; f < trial.levels.size(); ++f)
      if (!trial.fixed_code || !samples.factors[f].layout) key.push_back(trial.levels[f]);
    trial.layout = numbers.try_emplace(std::move(key), numbers.size()).first->second;
  }
}

// pre: exceptions of nlohmann's are caught by the caller
Result<report::Samples> design_of(const Json& json) {
  report::Samples out;
  if (json.at("format") != "stab-samples" ||
      (json.at("version") != 1 && json.at("version") != 2 && json.at("version") != kVersion &&
       json.at("version") != kVersionOfEstimators && json.at("version") != kVersionOfEnvironments &&
       json.at("version") != kVersionOfReplays && json.at("version") != kVersionOfSlices))
    return corrupt("its trials are of another format or version");
  out.experiment = json.at("experiment");
  out.alpha = json.at("alpha");
  out.unit = json.at("unit") == "row" ? report::Unit::kRow : report::Unit::kLayout;
  out.workloads = json.at("workloads");
  out.programs = json.at("programs");
  out.workload_word = json.at("workload_word");
  out.program_word = json.at("program_word");
  out.row_word = json.at("row_word");
  out.early_looks = json.value("early_looks", std::vector<std::string>());  // absent from older pages
  out.layout_outputs = json.at("layout_outputs");
  // There where several machines ran it.
  const auto texts_of = [&](const char* key) {
    return json.contains(key) ? json.at(key).get<std::vector<std::string>>() : std::vector<std::string>();
  };
  out.equal_builds = texts_of("equal_builds");
  out.machines = texts_of("machines");
  out.repeated = json.value("repeated", uint32_t{0});
  out.repeated_cells = texts_of("repeated_cells");
  out.machine_differences = texts_of("machine_differences");
  out.simulated = texts_of("simulated");
  if (json.contains("environment")) {
    const Json& environment = json.at("environment");
    out.environment_facts_compared = environment.at("compared");
    out.environment_facts = environment.at("facts");
    for (const Json& one : environment.at("kinds")) out.environments.push_back({one.at("recorded"), one.at("values")});
  }
  out.lost_machines = texts_of("lost_machines");
  out.is_sliced = json.value("sliced", false);
  if (json.contains("replayed")) {
    const Json& replayed = json.at("replayed");
    out.replayed = report::ReplayedTrial{replayed.at("trial"), replayed.at("experiment"), replayed.at("factor"), {}};
    if (!replayed.at("excess").is_null()) out.replayed->excess = replayed.at("excess").get<double>();
  }
  for (const Json& factor : json.at("factors"))
    out.factors.push_back(
        {factor.at("name"), factor.at("levels"), factor.at("layout"), factor.at("baseline"),
         json.at("version") == 1 ? fixed_in_version_1(factor.at("levels")) : factor.at("fixed").get<std::vector<bool>>(),
         factor.value("of_binaries", false)});
  for (const Json& response : json.at("responses")) {
    out.responses.push_back({.name = response.at("name"), .unit = response.at("unit"),
                             .scale = response.at("scale") == "log" ? report::Scale::kLog : report::Scale::kLinear,
                             .margin = response.at("margin"), .margin_is_share = response.at("margin_is_share"),
                             .declared = response.at("declared"),
                             .higher_is_better = response.value("higher_is_better", false)});
    if (!response.contains("only_workload")) continue;
    report::Response& benchmark = out.responses.back();
    benchmark.only_workload = response.at("only_workload").get<uint32_t>();
    benchmark.family = response.at("family");
    benchmark.error_rate = response.at("false_discovery") ? report::ErrorRate::kFalseDiscovery : report::ErrorRate::kFamilyWise;
  }
  if (json.contains("estimators")) {
    for (const Json& estimator : json.at("estimators")) {
      STAB_TRY(const size_t kind, word(estimator, "kind", kEstimators));
      out.estimators.push_back({static_cast<report::Estimator::Kind>(kind), estimator.at("probability")});
    }
  }
  out.shift_quantiles = json.value("shift_quantiles", std::vector<double>());
  out.planned = json.at("planned");
  out.failed = json.at("failed");
  out.incomplete = json.at("incomplete");
  out.planned_replicates = json.at("planned_replicates");
  const Json& stopping = json.at("stopping");
  STAB_TRY(const size_t rule, word(stopping, "rule", kRules));
  STAB_TRY(const size_t spending, word(stopping, "spending", kSpendings));
  out.stopping = {static_cast<report::StoppingRule>(rule),
                  static_cast<statistics::Spending>(spending),
                  stopping.at("looks"),
                  stopping.at("first"),
                  stopping.at("half_width"),
                  stopping.value("max", 0u),
                  stopping.value("until_worse", false)};
  for (const Json& missing : json.at("unavailable")) out.unavailable.push_back({missing.at("what"), missing.at("cure")});
  return out;
}

// Looks columns up by name; the first that is missing, or of another type, is remembered.
class Rows {
 public:
  explicit Rows(const Columns& columns) : columns_(columns) {}
  const PackedColumn* whole(const std::string& name) { return typed(name, false); }
  const PackedColumn* real(const std::string& name) { return typed(name, true); }
  const std::string& missing() const { return missing_; }

 private:
  const PackedColumn* typed(const std::string& name, bool floating) {
    const PackedColumn* column = columns_.find(name);
    if (column && (column->type >= ColumnType::kF32) == floating) return column;
    if (missing_.empty()) missing_ = name;
    return nullptr;
  }
  const Columns& columns_;
  std::string missing_;
};

std::optional<double> value_in(const PackedColumn& column, size_t row) {
  const double value = column.real(row);
  return std::isnan(value) ? std::optional<double>() : value;
}

Result<std::string> text_in(const std::vector<std::string>& texts, uint64_t number, const char* table) {
  if (number == 0) return std::string();
  if (number > texts.size()) return corrupt("a trial refers to a text that '" + std::string(table) + "' doesn't hold");
  return texts[number - 1];
}

Status fill_trials(const Columns& columns, const std::vector<std::string>& exclusions,
                   const std::vector<std::string>& degradations, bool has_layouts, report::Samples& samples) {
  Rows rows(columns);
  const PackedColumn *workload = rows.whole("workload"), *block = rows.whole("block"), *order = rows.whole("order"),
                     *seed = rows.whole("seed"), *link = rows.whole("link"), *disturbances = rows.whole("disturbances"),
                     *excluded = rows.whole("excluded"), *layout = has_layouts ? rows.whole("layout") : nullptr,
                     *fixed_code = has_layouts ? rows.whole("fixed_code") : nullptr,
                     *machine = samples.machines.empty() ? nullptr : rows.whole("machine"),
                     *environment = samples.environments.size() > 1 ? rows.whole("environment") : nullptr,
                     *ran_alone = samples.is_sliced ? rows.whole("ran_alone") : nullptr,
                     *overlap = samples.is_sliced ? rows.real("overlap") : nullptr;
  std::vector<const PackedColumn*> levels, values, counts;
  for (size_t f = 0; f < samples.factors.size(); ++f) levels.push_back(rows.whole("level/" + std::to_string(f)));
  for (size_t r = 0; r < samples.responses.size(); ++r) values.push_back(rows.real("value/" + std::to_string(r)));
  const PackedColumn *has_dose = columns.find("dose"), *heap = nullptr, *heap_share = nullptr, *bytes_share = nullptr,
                     *degraded = nullptr;
  if (has_dose) {
    for (const DoseField& field : kDoseFields) counts.push_back(rows.whole(field.name));
    heap = rows.real("dose/heap_layouts");
    heap_share = rows.real("dose/heap_share");
    bytes_share = rows.real("dose/heap_bytes_share");
    degraded = rows.whole("dose/degradations");
  }
  if (!rows.missing().empty()) return corrupt("its trials have no column '" + rows.missing() + "'");
  for (size_t row = 0; row < columns.rows(); ++row) {
    report::Trial trial;
    trial.workload = static_cast<uint32_t>(workload->whole(row));
    for (const PackedColumn* level : levels) trial.levels.push_back(static_cast<uint16_t>(level->whole(row)));
    trial.block = static_cast<uint32_t>(block->whole(row));
    trial.order = static_cast<uint32_t>(order->whole(row));
    trial.seed = seed->whole(row);
    trial.link = link->whole(row);
    if (machine) trial.machine = static_cast<uint32_t>(machine->whole(row));
    if (ran_alone) trial.ran_alone = ran_alone->whole(row) != 0;
    if (overlap) trial.overlap = value_in(*overlap, row);
    if (environment) trial.environment = static_cast<uint32_t>(environment->whole(row));
    if (has_layouts) {
      trial.layout = layout->whole(row);
      trial.fixed_code = fixed_code->whole(row) != 0;
    }
    trial.disturbances = static_cast<uint32_t>(disturbances->whole(row));
    STAB_TRY(trial.excluded, text_in(exclusions, excluded->whole(row), "exclusions"));
    for (const PackedColumn* value : values) trial.values.push_back(value_in(*value, row));
    if (has_dose && has_dose->whole(row)) {
      report::Dose dose;
      for (size_t i = 0; i < counts.size(); ++i) dose.*kDoseFields[i].field = counts[i]->whole(row);
      if (const auto layouts = value_in(*heap, row)) dose.heap_layouts = static_cast<uint64_t>(*layouts);
      dose.heap_share = heap_share->real(row);
      dose.heap_bytes_share = value_in(*bytes_share, row);
      STAB_TRY(const std::string text, text_in(degradations, degraded->whole(row), "degradations"));
      if (!text.empty())
        for (const std::string_view one : split(text, kBetweenTexts)) dose.degradations.emplace_back(one);
      trial.dose = std::move(dose);
    }
    samples.trials.push_back(std::move(trial));
  }
  return {};
}

}  // namespace

Result<ReadSamples> read_samples(const Json& described, std::string_view packed) {
  try {
    STAB_TRY(report::Samples samples, design_of(described));
    std::vector<Columns::Named> named;
    for (const Json& column : described.at("columns")) named.push_back({column.at("name"), column.at("type")});
    STAB_TRY(Columns columns, Columns::unpack(described.at("rows"), named, packed));
    STAB_CHECK_OK(
        fill_trials(columns, described.at("exclusions"), described.at("degradations"), described.at("version") != 1, samples));
    if (described.at("version") == 1) number_layouts_of_version_1(samples);
    return ReadSamples{std::move(samples), std::move(columns)};
  } catch (const Json::exception& error) {
    return corrupt(std::string("the description of its trials is damaged: ") + error.what());
  }
}

}  // namespace stab::page
