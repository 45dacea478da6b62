// analysis/ sees no database and no plan, so this file translates: names of levels to indexes, the engine's
// ledger to disturbance bits, missing counters to words, the plan's stopping rule to the analysis' own.
#include "stabd/engine/results/load_samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "analysis/report/contrasts/stopping_decision.h"
#include "base/printable.h"
#include "base/wording.h"
#include "plan/layout_replay.h"
#include "plan/slicing.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/ended_in_time.h"
#include "stabd/engine/results/equal_builds.h"
#include "stabd/engine/results/load_environments.h"
#include "stabd/engine/trial/dose.h"
#include "stabd/engine/trial/layout_output.h"
#include "stabd/engine/trial/simulated.h"
#include "stabd/engine/trial/trial_metrics.h"

namespace stab::engine {
namespace {

using report::Disturbance;

// What disturbances() asks a ledger for.
constexpr std::string_view kDisturbing[] = {"migrations", "involuntary_switches", "steal_ns", "throttle_count",
                                            "frequency_min_khz", "frequency_max_khz", "psi_memory_us", "psi_io_us",
                                            "major_faults", "swap_in_pages", "swap_out_pages", "kernel_log_lines", "submits",
                                            "overlap", "foreign_switches"};

bool is_layout(plan::FactorKind kind) { return kind != plan::FactorKind::kTreatment && kind != plan::FactorKind::kLoad; }

std::vector<report::Factor> factors_of(const plan::Plan& plan) {
  std::vector<report::Factor> factors;
  for (const plan::Factor& factor : plan.factors) {
    report::Factor out;
    out.name = factor.name;
    for (const plan::Level& level : factor.levels) out.levels.push_back(level.name);
    out.layout = is_layout(factor.kind);
    out.of_binaries = factor.kind == plan::FactorKind::kTreatment && plan.experiment.about == plan::About::kBinaries;
    for (const plan::Level& level : factor.levels) out.fixed.push_back(plan::keeps_layout(factor.kind, level));
    factors.push_back(std::move(out));
  }
  return factors;
}

std::string unit_of(const std::string& response) {
  if (const plan::SimulatedResponse* simulated = plan::simulated_response(response)) return std::string(simulated->unit);
  if (response == "wall_time" || response == "cpu_time" || response == "user_time" || response == "system_time" ||
      response == "region_time")
    return "s";
  if (response == "max_rss") return "KiB";
  if (response.starts_with(plan::kProgressCpuPrefix)) return "/CPU s";
  if (!plan::progress_point(response).empty()) return "/s";
  if (response == "task-clock" || response == "cpu-clock") return "ns";
  return "";
}

bool asks_for(const std::vector<report::Response>& responses, std::string_view name) {
  return std::any_of(responses.begin(), responses.end(), [&](const report::Response& of) { return of.name == name; });
}

// Whether times of a program's own answer the plan; the time of all of it is then a by-product.
bool reads_benchmarks(const plan::Plan& plan) {
  return std::any_of(plan.programs.begin(), plan.programs.end(), [](const plan::Program& program) {
    return std::any_of(program.workloads.begin(), program.workloads.end(),
                       [](const plan::Workload& workload) { return workload.metrics.has_value(); });
  });
}

// The plan's responses first, the first of them primary, then what came along: CPU time next to wall time, and counters.
std::vector<report::Response> responses_of(const plan::Plan& plan) {
  std::vector<report::Response> responses;
  const auto add = [&](const std::string& name, plan::Scale scale, bool declared) {
    const auto same = [&](const report::Response& other) { return other.name == name; };
    if (std::any_of(responses.begin(), responses.end(), same)) return;
    responses.push_back({.name = name,
                         .unit = unit_of(name),
                         .scale = scale == plan::Scale::kLog ? report::Scale::kLog : report::Scale::kLinear,
                         .margin = plan.experiment.margin,
                         .margin_is_share = true,
                         .declared = declared,
                         .higher_is_better = !plan::progress_point(name).empty()});
  };
  for (const plan::Response& response : plan.experiment.responses) add(response.name, response.scale, true);
  if (responses.empty()) add("wall_time", plan::Scale::kLog, true);
  if (plan.counters.simulation.on())
    for (const plan::SimulatedResponse& simulated : plan::kSimulatedResponses)
      add(std::string(simulated.name), plan::default_scale(simulated.name), false);
  else if (asks_for(responses, "wall_time") && !reads_benchmarks(plan))
    add("cpu_time", plan::default_scale("cpu_time"), false);
  for (const std::string& event : plan.counters.events) add(event, plan::default_scale(event), false);
  return responses;
}

bool zeros_are_missing(const plan::Plan& plan, const std::string& response) {
  for (const plan::Response& declared : plan.experiment.responses)
    if (declared.name == response) return declared.zeros_missing;
  return false;
}

report::Stopping stopping_of(const plan::Stopping& stopping) {
  report::Stopping out;
  if (stopping.rule == plan::StoppingRule::kLooks) out.rule = report::StoppingRule::kLooks;
  if (stopping.rule == plan::StoppingRule::kPrecision) out.rule = report::StoppingRule::kPrecision;
  if (stopping.rule == plan::StoppingRule::kSequence) out.rule = report::StoppingRule::kSequence;
  if (stopping.spending == plan::Spending::kPocock) out.spending = statistics::Spending::kPocock;
  for (int replicates : stopping.looks) out.looks.push_back(static_cast<uint32_t>(replicates));
  out.first = static_cast<uint32_t>(stopping.first);
  out.half_width = stopping.half_width;
  out.max = static_cast<uint32_t>(stopping.max);
  out.until_worse = stopping.until_worse;
  return out;
}

std::optional<report::Dose> dose_of(const std::string& json) {
  if (json.empty()) return {};
  const Result<std::optional<Dose>> parsed = parse_dose(json);
  if (!parsed || !*parsed) return {};
  const Dose& dose = **parsed;
  report::Dose out;
  out.code_layouts_built = static_cast<uint64_t>(dose.layouts_built);
  out.code_layouts_executed = static_cast<uint64_t>(dose.layouts_executed);
  out.functions = static_cast<uint64_t>(dose.functions + dose.library_functions);
  out.functions_moved = static_cast<uint64_t>(dose.functions_moved + dose.library_functions_moved);
  out.stack_layouts = static_cast<uint64_t>(dose.refills);
  out.pads = static_cast<uint64_t>(dose.pads + dose.library_pads);
  if (dose.heap_bytes > 0)
    out.heap_bytes_share = 1.0 - static_cast<double>(dose.heap_bytes_mmapped) / static_cast<double>(dose.heap_bytes);
  if (dose.heap_layouts) out.heap_layouts = static_cast<uint64_t>(*dose.heap_layouts);
  if (dose.allocations > 0)
    out.heap_share = 1.0 - static_cast<double>(dose.allocations_mmapped) / static_cast<double>(dose.allocations);
  out.helper_cpu_ns = static_cast<uint64_t>(dose.helper_cpu_ns);
  out.epochs = static_cast<uint64_t>(dose.epochs);
  out.epochs_unentered = static_cast<uint64_t>(dose.epochs_unentered);
  out.degradations = dose.degradations;
  return out;
}

using Missing = std::map<std::string, std::vector<std::string>>;  // reason: responses

std::string list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// "no PMU counts 'cycles'" becomes "no PMU counts it": counters that are missing for one reason are said together.
std::string without_name(std::string reason, const std::string& response) {
  const std::string quoted = "'" + response + "'";
  if (const size_t at = reason.find(quoted); at != std::string::npos) reason.replace(at, quoted.size(), "it");
  return reason;
}

void drop_response(report::Samples& samples, size_t response) {
  samples.responses.erase(samples.responses.begin() + static_cast<long>(response));
  for (report::Trial& trial : samples.trials) trial.values.erase(trial.values.begin() + static_cast<long>(response));
}

// On a log scale a value must be above 0: a counter that stayed at 0 has no logarithm. Where the plan says so such
// trials have no value; otherwise the response is refused, whole, because leaving out just the zeros would bias it. The
// primary response is left to analyse(), which refuses the report and names the trial.
void drop_without_logarithm(const plan::Plan& plan, report::Samples& samples) {
  for (size_t r = samples.responses.size(); r-- > 0;) {
    const report::Response response = samples.responses[r];
    if (response.scale != report::Scale::kLog) continue;
    const bool missing = zeros_are_missing(plan, response.name);
    size_t zeros = 0;
    for (report::Trial& trial : samples.trials) {
      if (!trial.values[r] || *trial.values[r] > 0) continue;
      ++zeros;
      if (missing) trial.values[r].reset();
    }
    if (zeros == 0 || (!missing && r == 0)) continue;
    const std::string counted = response.name + ": " + std::to_string(zeros) + " trials counted 0, which has no logarithm";
    if (missing) {
      samples.unavailable.push_back({counted + "; they are left out, as the plan declares",
                                     "compare with the raw scale if zeros are more frequent in one cell"});
      continue;
    }
    samples.unavailable.push_back({counted + ": refused", "in the plan, say response = [..., { name = \"" + response.name +
                                                              "\", scale = \"raw\" }], or zeros = \"missing\""});
    drop_response(samples, r);
  }
}

// Counters that came along and that nothing was measured of: the caveats say why, tables of refusals would say it again.
void drop_without_values(report::Samples& samples) {
  for (size_t r = samples.responses.size(); r-- > 1;) {
    const auto measured = [&](const report::Trial& trial) { return trial.values[r].has_value(); };
    if (samples.responses[r].declared || std::any_of(samples.trials.begin(), samples.trials.end(), measured)) continue;
    drop_response(samples, r);
  }
}

// Where trials of some cells have a benchmark and those of others don't: it was added, taken away or renamed between them.
// Where some of a cell's trials lack it, they say why, or the program left it out of its output.
struct Coverage {
  size_t have = 0, lack = 0;
};

std::string coverage_words(const std::string& benchmark, const std::map<int, Coverage>& cells, const plan::Design& design) {
  std::string with, without;
  size_t lacking = 0, all = 0;
  for (const auto& [cell, trials] : cells) {
    std::string& names = trials.have > 0 ? with : without;
    names += (names.empty() ? "" : ", ") + design.cells[static_cast<size_t>(cell)].name;
    lacking += trials.lack;
    all += trials.have + trials.lack;
  }
  if (lacking == 0) return {};
  if (!without.empty() && !with.empty())
    return benchmark + ": measured in " + with + " and not in " + without + ": added, removed or renamed between them";
  return benchmark + ": " + std::to_string(lacking) + " of " + std::to_string(all) + " trials have no value of it";
}

constexpr size_t kShownUneven = 10;

// The benchmarks that workloads found in their own output: a response each, of that workload alone.
Status add_benchmarks(store::Store& store, const store::ExperimentRow& experiment, const ExpandedPlan& expanded,
                      const std::map<store::Id, size_t>& at, const std::vector<store::TrialFacts>& facts,
                      report::Samples& samples) {
  std::set<int> sources;  // subjects with metrics
  for (size_t s = 0; s < expanded.subjects.size(); ++s)
    if (expanded.workload_of(static_cast<int>(s)).metrics) sources.insert(static_cast<int>(s));
  if (sources.empty()) return {};
  std::vector<std::string> uneven;
  std::map<int, std::set<std::string>> benchmarks;  // by subject
  STAB_TRY(const std::vector<std::string> names, store.response_names(experiment.id));
  for (const std::string& stored : names) {
    if (!stored.starts_with(kMetricPrefix)) continue;
    const std::string name = stored.substr(kMetricPrefix.size());
    STAB_TRY(const std::vector<store::SampleRow> rows, store.samples(experiment.id, stored));
    STAB_TRY(const auto reasons, store.missing_reasons(experiment.id, stored));
    std::map<int, std::map<store::Id, double>> values;  // by subject
    for (const store::SampleRow& row : rows)
      if (row.value) values[row.subject][row.trial] = *row.value;
    for (const auto& [reason, trials] : reasons)
      samples.unavailable.push_back({name + ": " + std::to_string(trials) + " trials have no value: " + reason,
                                     "repair or leave out the benchmark"});
    for (const auto& [subject, measured] : values) {
      if (!sources.contains(subject)) continue;
      const plan::Metrics& metrics = *expanded.workload_of(subject).metrics;
      benchmarks[subject].insert(name);
      report::Response response;
      response.name = sources.size() > 1 ? expanded.subjects[static_cast<size_t>(subject)].name + ": " + name : name;
      const auto same = [&](const report::Response& other) { return other.name == response.name; };
      if (std::any_of(samples.responses.begin(), samples.responses.end(), same)) response.name = stored;
      response.unit = "s";
      response.margin = expanded.plan.experiment.margin;
      response.margin_is_share = true;
      response.only_workload = static_cast<uint32_t>(subject);
      response.family = metrics.family_of(name);
      response.declared = !response.family.empty();
      response.error_rate = response.declared ? report::ErrorRate::kFamilyWise : report::ErrorRate::kFalseDiscovery;
      for (report::Trial& trial : samples.trials) trial.values.emplace_back();
      std::map<int, Coverage> cells;
      for (const store::TrialFacts& fact : facts) {
        if (fact.subject != subject || !fact.excluded_by.empty()) continue;
        const auto value = measured.find(fact.trial);
        ++(value == measured.end() ? cells[fact.cell].lack : cells[fact.cell].have);
        if (value != measured.end()) samples.trials[at.at(fact.trial)].values.back() = value->second;
      }
      if (reasons.empty())
        if (std::string words = coverage_words(response.name, cells, expanded.design); !words.empty())
          uneven.push_back(std::move(words));
      samples.responses.push_back(std::move(response));
    }
  }
  // The preflight refuses them, where there was one.
  for (const auto& [subject, names_of] : benchmarks)
    for (const plan::Metrics::Unasked& unasked : expanded.workload_of(subject).metrics->unasked(names_of))
      samples.unavailable.push_back({expanded.subjects[static_cast<size_t>(subject)].name + ": family " +
                                         in_quotes(unasked.family) + " asks for " + in_quotes(unasked.pattern) +
                                         ", and no benchmark with values has that name",
                                     "its question is not asked; docs/how-to/use-your-suite.md"});
  for (size_t i = 0; i < std::min(uneven.size(), kShownUneven); ++i)
    samples.unavailable.push_back({uneven[i], "compare what all cells measure; docs/how-to/use-your-suite.md"});
  if (uneven.size() > kShownUneven)
    samples.unavailable.push_back({std::to_string(uneven.size() - kShownUneven) + " more benchmarks are not in all trials",
                                   "compare what all cells measure; docs/how-to/use-your-suite.md"});
  return {};
}

int index_of_level(const report::Factor& factor, const std::string& level) {
  const auto at = std::find(factor.levels.begin(), factor.levels.end(), level);
  return at == factor.levels.end() ? -1 : static_cast<int>(at - factor.levels.begin());
}

Result<std::vector<uint16_t>> levels_of(const store::CellRow& cell, const std::vector<report::Factor>& factors) {
  std::vector<uint16_t> levels;
  for (const report::Factor& factor : factors) {
    const auto at = cell.levels.find(factor.name);
    const int index = at == cell.levels.end() ? -1 : index_of_level(factor, at->second);
    if (index < 0) return Error{ErrorCode::kCorrupt, "cell '" + cell.name + "' has no level of '" + factor.name + "'", {}};
    levels.push_back(static_cast<uint16_t>(index));
  }
  return levels;
}

// Which machine ran each block, where parts came from several; what of them differs, and what was lost with one.
Status load_machines(store::Store& store, store::Id experiment, const plan::Plan& plan, report::Samples& samples) {
  if (plan.machines.count < 1) return {};
  STAB_TRY(const std::vector<store::SlotEpochRow> epochs, store.slot_epochs(experiment));
  STAB_TRY(const std::vector<store::PartRow> parts, store.parts(experiment));
  std::map<std::pair<int, int64_t>, const store::SlotEpochRow*> of;
  for (const store::SlotEpochRow& row : epochs) {
    of[{row.slot, row.epoch}] = &row;
    if (row.state == store::SlotState::kLost)
      samples.lost_machines.push_back("slot " + std::to_string(row.slot) + " on " +
                                      (row.machine.empty() ? row.host : row.machine));
  }
  std::map<std::string, uint32_t> numbers;  // in order of their names, so that a report doesn't depend on who was first
  std::map<uint32_t, std::string> machine_of;
  std::map<std::string, const store::SlotEpochRow*> facts_of;
  for (const store::PartRow& part : parts) {
    const auto row = of.find({part.slot, part.epoch});
    if (part.fate != store::PartFate::kRecorded || row == of.end()) continue;
    machine_of[part.block] = row->second->machine;
    numbers[row->second->machine] = 0;
    facts_of[row->second->machine] = row->second;
  }
  if (numbers.size() < 2) return {};
  for (auto& [name, number] : numbers) {
    number = static_cast<uint32_t>(samples.machines.size());
    samples.machines.push_back(name);
  }
  for (report::Trial& trial : samples.trials) {
    const auto machine = machine_of.find(trial.block);
    if (machine == machine_of.end())
      return Error{ErrorCode::kCorrupt, "block " + std::to_string(trial.block) + " is recorded and of no machine", {}};
    trial.machine = numbers[machine->second];
  }
  for (const plan::SameFact& fact : plan::kSameFacts) {
    std::set<std::string> values;
    for (const auto& [name, row] : facts_of) {
      const auto value = row->facts.find(std::string(fact.fact));
      values.insert(value == row->facts.end() ? "not told" : value->second);
    }
    if (values.size() < 2) continue;
    std::string text(fact.word);
    for (const std::string& value : values) text += (value == *values.begin() ? ": " : " | ") + value;
    samples.machine_differences.push_back(text);
  }
  return {};
}

// A sequence may be judged at any time, by whole blocks: what is of a block that still has trials to come is left out.
Status keep_whole_blocks(store::Store& store, store::Id experiment, report::Samples& samples) {
  STAB_TRY(const uint32_t whole, whole_blocks(store, experiment));
  samples = report::first_blocks(samples, whole);
  return {};
}

// Layouts of binaries are numbered by their links, which are fewer.
constexpr uint64_t kAboveLinks = uint64_t{1} << 30;

// A replay asks about one layout, so runs of it are what is counted: each is a draw of its own, as each fresh layout is. Fresh
// ones of binaries as they were linked are draws of links, as ever; where there is one link, what is fresh is drawn by the seed.
void count_replays(const plan::Plan& plan, report::Samples& samples) {
  if (!plan.layout.replay) return;
  const plan::LayoutReplay& replay = *plan.layout.replay;
  const auto factor = static_cast<uint32_t>(plan.factor_index(plan::kReplayFactor));
  samples.replayed = report::ReplayedTrial{static_cast<uint64_t>(replay.trial), replay.of.name, factor, replay.excess};
  for (report::Trial& trial : samples.trials) {
    const bool fresh = trial.levels[factor] == 0;
    if (fresh && plan.link.seeds > 1 && trial.fixed_code) continue;
    trial.fixed_code = false;
    trial.layout = kAboveLinks + 2 * uint64_t{trial.block} + (fresh ? 0 : 1);
  }
}

// Last, as texts are compared with what is stored before. A database or a bundle may be anybody's; names of factors, levels,
// programs and workloads come from its plan, where such ones are refused.
// Attempts that failed, of trials that gave a value when they were run again. facts: of those that gave one
Status count_repeated(store::Store& store, store::Id experiment, const ExpandedPlan& expanded,
                      const std::vector<store::TrialFacts>& facts, report::Samples& samples) {
  std::unordered_set<uint32_t> positions;
  for (const store::TrialFacts& fact : facts) positions.insert(fact.order);
  store::Store::TrialFilter filter;
  filter.kind = store::TrialKind::kMain;
  std::map<std::pair<int, int>, uint32_t> of_cell;  // by cell and subject
  for (const store::TrialState state : {store::TrialState::kFailed, store::TrialState::kTimeout}) {
    filter.state = state;
    STAB_TRY(const std::vector<store::TrialRow> rows, store.trials(experiment, filter));
    for (const store::TrialRow& row : rows)
      if (positions.contains(row.order)) ++of_cell[{row.cell, row.subject}];
  }
  std::vector<std::pair<uint32_t, std::string>> cells;
  for (const auto& [place, attempts] : of_cell) {
    samples.repeated += attempts;
    const auto cell = static_cast<size_t>(place.first), subject = static_cast<size_t>(place.second);
    if (cell >= expanded.design.cells.size() || subject >= expanded.subjects.size())
      return Error{ErrorCode::kCorrupt, "a failed trial is of a cell that the plan doesn't make", {}};
    // One of its kind needs no name.
    std::string name = expanded.design.cells.size() > 1 ? expanded.design.cells[cell].name : "";
    if (expanded.subjects.size() > 1) name = expanded.subjects[subject].name + (name.empty() ? "" : ", " + name);
    if (!name.empty()) cells.emplace_back(attempts, name);
  }
  std::stable_sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [attempts, name] : cells) samples.repeated_cells.push_back(name + ": " + std::to_string(attempts));
  return {};
}

void make_printable(report::Samples& samples) {
  samples.experiment = one_line(samples.experiment);
  for (report::Response& response : samples.responses) {
    response.name = one_line(response.name);
    response.unit = one_line(response.unit);
    response.family = one_line(response.family);
  }
  if (samples.replayed) samples.replayed->experiment = one_line(samples.replayed->experiment);
  for (report::Unavailable& one : samples.unavailable) one = {one_line(one.what), one_line(one.cure)};
  for (auto* texts : {&samples.machines, &samples.machine_differences, &samples.lost_machines, &samples.early_looks,
                      &samples.simulated, &samples.layout_outputs, &samples.equal_builds, &samples.repeated_cells})
    for (std::string& text : *texts) text = one_line(text);
  for (std::string& fact : samples.environment_facts) fact = one_line(fact);
  for (report::Environment& environment : samples.environments)
    for (std::string& value : environment.values) value = one_line(value);
  for (report::Trial& trial : samples.trials) {
    trial.excluded = one_line(trial.excluded);
    if (!trial.dose) continue;
    for (std::string& word : trial.dose->degradations) word = one_line(word);
  }
}

}  // namespace

Result<uint32_t> whole_blocks(store::Store& store, store::Id experiment) {
  store::Store::TrialFilter filter;
  filter.kind = store::TrialKind::kMain;
  uint32_t whole = UINT32_MAX;
  for (const store::TrialState state : {store::TrialState::kPlanned, store::TrialState::kClaimed, store::TrialState::kStarted,
                                       store::TrialState::kCancelled}) {
    filter.state = state;
    STAB_TRY(const std::vector<store::TrialRow> open, store.trials(experiment, filter));
    for (const store::TrialRow& trial : open) whole = std::min(whole, trial.block);
  }
  return whole;
}

uint32_t disturbances(const std::map<std::string, double>& ledger) {
  const auto value = [&](const char* key) {
    const auto at = ledger.find(key);
    return at == ledger.end() ? 0.0 : at->second;
  };
  uint32_t bits = 0;
  const auto mark = [&](bool when, Disturbance what) { bits |= when ? report::bit(what) : 0; };
  // Moving to its CPU before the exec is not counted by the kernel as the program's, any later move is one.
  mark(value("migrations") > 1, Disturbance::kMigrated);
  // Some switches are the scheduler's own housekeeping; tens mean that somebody else wanted the CPU. In a sliced block the others
  // of the block want it by design, so that switches to those who aren't of it count, where the kernel tells.
  mark(value(ledger.contains("overlap") ? "foreign_switches" : "involuntary_switches") > 10, Disturbance::kPreempted);
  mark(value("steal_ns") > 0, Disturbance::kSteal);
  mark(value("throttle_count") > 0, Disturbance::kThrottled);
  const double slow = value("frequency_min_khz"), fast = value("frequency_max_khz");
  mark(fast > 0 && slow < 0.98 * fast, Disturbance::kFrequency);
  // 1 ms in which somebody waited for memory or disk.
  mark(value("psi_memory_us") > 1000 || value("psi_io_us") > 1000, Disturbance::kPressure);
  mark(value("major_faults") > 0, Disturbance::kMajorFaults);
  mark(value("swap_in_pages") + value("swap_out_pages") > 0, Disturbance::kSwapped);
  mark(value("kernel_log_lines") > 0, Disturbance::kKernelLog);
  mark(value("submits") > 0, Disturbance::kLaboratoryBusy);
  return bits;
}

namespace {

// In one random order of all trials a replicate is no block: what it has of two cells ran at different times. There each draw is
// by itself, with all its runs.
uint32_t block_of(const store::TrialFacts& fact, const ExpandedPlan& expanded) {
  if (expanded.plan.experiment.order != plan::Order::kRandom) return fact.block;
  return fact.block * static_cast<uint32_t>(expanded.design.cells.size()) + static_cast<uint32_t>(fact.cell);
}

// What the plan says of its experiment.
report::Samples declared_samples(const store::ExperimentRow& experiment, const ExpandedPlan& expanded) {
  report::Samples samples;
  samples.experiment = experiment.name + " (" + std::to_string(experiment.id) + ")";
  samples.alpha = expanded.plan.experiment.alpha;
  samples.factors = factors_of(expanded.plan);
  samples.responses = responses_of(expanded.plan);
  static_assert(static_cast<int>(report::Estimator::Kind::kMixed) == static_cast<int>(plan::Estimator::Kind::kMixed));
  for (const plan::Estimator& estimator : expanded.plan.analysis.estimators)
    samples.estimators.push_back({static_cast<report::Estimator::Kind>(estimator.kind), estimator.probability});
  samples.shift_quantiles = expanded.plan.analysis.shift;
  samples.planned_replicates = static_cast<uint32_t>(expanded.plan.experiment.replicates);
  samples.stopping = stopping_of(expanded.plan.stopping);
  samples.is_sliced = expanded.plan.experiment.blocks == plan::BlockMode::kSliced;
  for (const plan::Subject& subject : expanded.subjects) samples.workloads.push_back(subject.name);
  if (expanded.subjects.size() > expanded.plan.programs.size()) {
    samples.workload_word = "workload";
    for (const plan::Subject& subject : expanded.subjects)
      samples.programs.push_back(expanded.plan.programs[static_cast<size_t>(subject.program)].name);
  }
  return samples;
}

using PlaceOfTrial = std::map<store::Id, size_t>;  // in Samples::trials

// Its trials, without values, and what is known of each.
Result<std::vector<store::TrialFacts>> load_trials(store::Store& store, store::Id experiment, const ExpandedPlan& expanded,
                                                   report::Samples& samples, PlaceOfTrial& at) {
  STAB_TRY(const std::vector<store::CellRow> cells, store.cells(experiment));
  std::map<int, std::vector<uint16_t>> levels;
  for (const store::CellRow& cell : cells) {
    STAB_TRY(levels[cell.index], levels_of(cell, samples.factors));
  }
  std::vector<std::optional<report::Dose>> doses;
  STAB_TRY(std::vector<store::TrialFacts> facts,
           store.trial_facts(experiment, kDisturbing, [&](const std::string& json) { doses.push_back(dose_of(json)); }));
  for (const store::TrialFacts& fact : facts) {
    if (fact.cell < 0 || static_cast<size_t>(fact.cell) >= expanded.design.cells.size())
      return Error{ErrorCode::kCorrupt, "trial " + std::to_string(fact.trial) + " is of a cell that the plan doesn't make", {}};
    report::Trial trial;
    trial.workload = static_cast<uint32_t>(fact.subject);
    trial.levels = levels[fact.cell];
    trial.block = block_of(fact, expanded);
    trial.order = fact.order;
    trial.seed = fact.seed;
    trial.layout = fact.layout;
    trial.fixed_code = expanded.design.cells[static_cast<size_t>(fact.cell)].fixed_code;
    trial.link = static_cast<uint64_t>(fact.link);
    trial.values.resize(samples.responses.size());
    trial.dose = std::move(doses[samples.trials.size()]);
    // What disturbs a machine changes no count of a simulator's.
    trial.disturbances = expanded.plan.counters.simulation.on() ? 0 : disturbances(fact.ledger);
    trial.ran_alone = samples.is_sliced && plan::runs_alone(expanded.plan, fact.block);
    if (const auto overlap = fact.ledger.find("overlap"); samples.is_sliced && overlap != fact.ledger.end())
      trial.overlap = overlap->second;
    for (const std::string& rule : fact.excluded_by) trial.excluded += (trial.excluded.empty() ? "" : "; ") + rule;
    at.emplace(fact.trial, samples.trials.size());
    samples.trials.push_back(std::move(trial));
  }
  return facts;
}

// What each trial measured, and why a response has no value.
Result<Missing> load_values(store::Store& store, store::Id experiment, const PlaceOfTrial& at, report::Samples& samples) {
  Missing missing;
  for (size_t r = 0; r < samples.responses.size(); ++r) {
    const std::string& response = samples.responses[r].name;
    STAB_TRY(const std::vector<store::SampleRow> rows, store.samples(experiment, response));
    for (const store::SampleRow& row : rows)
      if (const auto place = at.find(row.trial); place != at.end()) samples.trials[place->second].values[r] = row.value;
    STAB_TRY(const auto reasons, store.missing_reasons(experiment, response));
    for (const auto& [reason, trials] : reasons) missing[without_name(reason, response)].push_back(response);
  }
  return missing;
}

// What its runs have said of it.
void tell_events(const std::vector<store::EventRow>& events, const plan::Simulation& simulation, report::Samples& samples) {
  std::set<std::string> idle;  // every run of the experiment says it
  for (const store::EventRow& event : events)
    if (event.kind == kIdleRule && idle.insert(event.text).second)
      samples.unavailable.push_back({event.text, "docs/explanation/how-a-run-is-measured.md says where they come from"});
  for (const store::EventRow& event : events)
    if (event.kind == kLayoutOutput) samples.layout_outputs.push_back(event.text);
    else if (event.kind == kUnmasked) samples.early_looks.push_back(event.text);
    else if (event.kind == kSimulationEvent && idle.insert(event.text).second) samples.simulated.push_back(event.text);
  // Machines that ran parts of it do not pass this event on.
  if (simulation.on() && samples.simulated.empty()) samples.simulated.push_back(plan::words_of(simulation));
}

// How many of its trials there should be, and which of them failed.
Status count_trials(store::Store& store, store::Id experiment, const ExpandedPlan& expanded,
                    const std::vector<store::TrialFacts>& facts, report::Samples& samples) {
  STAB_TRY(const store::Progress progress, store.progress(experiment));
  samples.planned = static_cast<uint32_t>(progress.planned_total);
  samples.failed = static_cast<uint32_t>(progress.count(store::TrialState::kFailed) +
                                         progress.count(store::TrialState::kTimeout) +
                                         progress.count(store::TrialState::kQuarantined));
  if (progress.attempts <= progress.planned_total) return {};
  return count_repeated(store, experiment, expanded, facts, samples);
}

}  // namespace

Result<report::Samples> load_samples(store::Store& store, const store::ExperimentRow& experiment) {
  STAB_TRY(const ExpandedPlan expanded, expand_stored(experiment));
  return load_samples(store, experiment, expanded);
}

Result<report::Samples> load_samples(store::Store& store, const store::ExperimentRow& experiment,
                                     const ExpandedPlan& expanded) {
  report::Samples samples = declared_samples(experiment, expanded);
  PlaceOfTrial at;
  STAB_TRY(const std::vector<store::TrialFacts> facts, load_trials(store, experiment.id, expanded, samples, at));
  count_replays(expanded.plan, samples);
  STAB_CHECK_OK(load_machines(store, experiment.id, expanded.plan, samples));
  STAB_CHECK_OK(load_environments(store, experiment.id, facts, samples));
  STAB_TRY(const Missing missing, load_values(store, experiment.id, at, samples));
  drop_without_logarithm(expanded.plan, samples);
  drop_without_values(samples);
  STAB_CHECK_OK(add_benchmarks(store, experiment, expanded, at, facts, samples));
  for (const auto& [reason, names] : missing)
    samples.unavailable.push_back({list(names) + ": " + reason, "stabctl doctor says what this machine can count"});
  STAB_TRY(const std::vector<store::EventRow> events, store.events(experiment.id));
  tell_events(events, expanded.plan.counters.simulation, samples);
  STAB_TRY(samples.equal_builds, equal_builds(store, experiment.id, expanded));
  STAB_CHECK_OK(count_trials(store, experiment.id, expanded, facts, samples));
  samples.incomplete = experiment.state != store::ExperimentState::kDone;
  if (samples.incomplete && samples.stopping.rule == report::StoppingRule::kSequence)
    STAB_CHECK_OK(keep_whole_blocks(store, experiment.id, samples));
  judge_as_ended(events, samples);
  make_printable(samples);
  return samples;
}

}  // namespace stab::engine
