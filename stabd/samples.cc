// analysis/ sees no database and no plan, so this file translates: names of levels to indexes, the engine's
// ledger to disturbance bits, missing counters to words.
#include "stabd/samples.h"

#include <algorithm>
#include <map>

#include "stabd/dose.h"
#include "stabd/expand.h"

namespace stab::engine {
namespace {

using analysis::Disturbance;

bool is_layout(plan::FactorKind kind) { return kind != plan::FactorKind::kTreatment; }

std::vector<analysis::Factor> factors_of(const plan::Plan& plan) {
  std::vector<analysis::Factor> factors;
  for (const plan::Factor& factor : plan.factors) {
    analysis::Factor out;
    out.name = factor.name;
    for (const plan::Level& level : factor.levels) out.levels.push_back(level.name);
    out.layout = is_layout(factor.kind);
    factors.push_back(std::move(out));
  }
  return factors;
}

std::string unit_of(const std::string& response) {
  if (response == "wall_time" || response == "user_time" || response == "system_time") return "s";
  if (response == "max_rss") return "KiB";
  if (response == "task-clock" || response == "cpu-clock") return "ns";
  return "";
}

// The plan's responses first, the first of them primary, then counters that it only records.
std::vector<analysis::Response> responses_of(const plan::Plan& plan) {
  std::vector<analysis::Response> responses;
  const auto add = [&](const std::string& name, plan::Scale scale) {
    const auto same = [&](const analysis::Response& other) { return other.name == name; };
    if (std::any_of(responses.begin(), responses.end(), same)) return;
    responses.push_back({name, unit_of(name),
                         scale == plan::Scale::kLog ? analysis::Scale::kLog : analysis::Scale::kLinear,
                         plan.experiment.margin});
  };
  for (const plan::Response& response : plan.experiment.responses) add(response.name, response.scale);
  if (responses.empty()) add("wall_time", plan::Scale::kLog);
  return responses;
}

std::optional<analysis::Dose> dose_of(const std::string& json) {
  if (json.empty()) return {};
  const Result<std::optional<Dose>> parsed = parse_dose(json);
  if (!parsed || !*parsed) return {};
  const Dose& dose = **parsed;
  analysis::Dose out;
  out.code_layouts_built = static_cast<uint64_t>(dose.layouts_built);
  out.code_layouts_executed = static_cast<uint64_t>(dose.layouts_executed);
  out.functions = static_cast<uint64_t>(dose.functions);
  out.functions_moved = static_cast<uint64_t>(dose.functions_moved);
  out.stack_layouts = static_cast<uint64_t>(dose.refills);
  out.pads = static_cast<uint64_t>(dose.pads);
  if (dose.allocations > 0)
    out.heap_share = 1.0 - static_cast<double>(dose.allocations_mmapped) / static_cast<double>(dose.allocations);
  out.helper_cpu_ns = static_cast<uint64_t>(dose.helper_cpu_ns);
  out.degradations = dose.degradations;
  return out;
}

// On a log scale a value must be above 0: a counter that stayed at 0 has no logarithm.
bool has_no_logarithm(const std::optional<double>& value, const analysis::Response& response) {
  return value && response.scale == analysis::Scale::kLog && *value <= 0;
}

int index_of_level(const analysis::Factor& factor, const std::string& level) {
  const auto at = std::find(factor.levels.begin(), factor.levels.end(), level);
  return at == factor.levels.end() ? -1 : static_cast<int>(at - factor.levels.begin());
}

Result<std::vector<uint16_t>> levels_of(const store::CellRow& cell, const std::vector<analysis::Factor>& factors) {
  std::vector<uint16_t> levels;
  for (const analysis::Factor& factor : factors) {
    const auto at = cell.levels.find(factor.name);
    const int index = at == cell.levels.end() ? -1 : index_of_level(factor, at->second);
    if (index < 0) return Error{ErrorCode::kCorrupt, "cell '" + cell.name + "' has no level of '" + factor.name + "'", {}};
    levels.push_back(static_cast<uint16_t>(index));
  }
  return levels;
}

int64_t count(const store::Progress& progress, store::TrialState state) {
  const auto at = progress.by_state.find(state);
  return at == progress.by_state.end() ? 0 : at->second;
}

}  // namespace

uint32_t disturbances(const std::map<std::string, double>& ledger) {
  const auto value = [&](const char* key) {
    const auto at = ledger.find(key);
    return at == ledger.end() ? 0.0 : at->second;
  };
  uint32_t bits = 0;
  const auto mark = [&](bool when, Disturbance what) { bits |= when ? analysis::bit(what) : 0; };
  // Moving to its CPU before the exec is not counted by the kernel as the program's, any later move is one.
  mark(value("migrations") > 1, Disturbance::kMigrated);
  // Some switches are the scheduler's own housekeeping; tens mean that somebody else wanted the CPU.
  mark(value("involuntary_switches") > 10, Disturbance::kPreempted);
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

Result<analysis::Samples> load_samples(store::Store& store, const store::ExperimentRow& experiment) {
  STAB_TRY(const ExpandedPlan expanded, expand_stored(experiment));
  analysis::Samples samples;
  samples.experiment = experiment.name + " (" + std::to_string(experiment.id) + ")";
  samples.alpha = expanded.plan.experiment.alpha;
  samples.factors = factors_of(expanded.plan);
  samples.responses = responses_of(expanded.plan);
  for (const plan::Subject& subject : expanded.subjects) samples.workloads.push_back(subject.name);

  STAB_TRY(const std::vector<store::CellRow> cells, store.cells(experiment.id));
  std::map<int, std::vector<uint16_t>> levels;
  for (const store::CellRow& cell : cells) {
    STAB_TRY(levels[cell.index], levels_of(cell, samples.factors));
  }

  std::map<store::Id, size_t> at;
  for (size_t r = 0; r < samples.responses.size(); ++r) {
    const analysis::Response& response = samples.responses[r];
    size_t without_logarithm = 0;
    STAB_TRY(const std::vector<store::SampleRow> rows, store.samples(experiment.id, response.name));
    for (const store::SampleRow& row : rows) {
      const auto [place, is_new] = at.emplace(row.trial, samples.trials.size());
      if (is_new) {
        STAB_TRY(const store::Outcome outcome, store.outcome(row.trial));
        analysis::Trial trial;
        trial.workload = static_cast<uint32_t>(row.subject);
        trial.levels = levels[row.cell];
        trial.block = row.block;
        trial.order = row.order;
        trial.seed = row.seed;
        trial.link = static_cast<uint64_t>(row.link);
        trial.values.resize(samples.responses.size());
        trial.dose = dose_of(outcome.dose_json);
        trial.disturbances = disturbances(outcome.ledger);
        for (const std::string& rule : outcome.excluded_by)
          trial.excluded += (trial.excluded.empty() ? "" : "; ") + rule;
        samples.trials.push_back(std::move(trial));
      }
      if (has_no_logarithm(row.value, response)) {
        ++without_logarithm;
      } else {
        samples.trials[place->second].values[r] = row.value;
      }
    }
    if (without_logarithm > 0)
      samples.unavailable.push_back(response.name + ": " + std::to_string(without_logarithm) +
                                    " trials counted 0, which has no logarithm; give it scale = \"raw\"");
    STAB_TRY(const auto reasons, store.missing_reasons(experiment.id, response.name));
    for (const auto& [reason, trials] : reasons)
      samples.unavailable.push_back(response.name + ": " + reason);
  }

  STAB_TRY(const store::Progress progress, store.progress(experiment.id));
  samples.planned = static_cast<uint32_t>(progress.planned_total);
  samples.failed = static_cast<uint32_t>(count(progress, store::TrialState::kFailed) +
                                         count(progress, store::TrialState::kTimeout) +
                                         count(progress, store::TrialState::kQuarantined));
  samples.incomplete = experiment.state != store::ExperimentState::kDone;
  return samples;
}

}  // namespace stab::engine
