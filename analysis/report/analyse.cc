// analyse(): from samples to a report. Reads as the table of contents: check, reduce to units, describe,
// contrast, ANOVA for both questions, diagnostics, doses, caveats. The method is fixed by the design; diagnostics
// never choose it.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/report/caveats/caveats.h"
#include "analysis/report/conditions/diagnostics.h"
#include "analysis/report/conditions/modes.h"
#include "analysis/report/conditions/run_changes.h"
#include "analysis/report/contrasts/anova_tables.h"
#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/contrasts/control_blocks.h"
#include "analysis/report/contrasts/estimators.h"
#include "analysis/report/contrasts/halves.h"
#include "analysis/report/contrasts/machines.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/diagnostics/normality.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "base/number_text.h"

namespace stab::report {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------

std::string describe_trial(const Samples& samples, const Trial& trial) {
  std::string cell = samples.workloads[trial.workload];
  for (size_t f = 0; f < samples.factors.size(); ++f)
    cell += ", " + samples.factors[f].name + "=" + samples.factors[f].levels[trial.levels[f]];
  return "trial " + std::to_string(trial.order) + " (" + cell + ")";
}

// Of the levels of code: a process has one random layout.
bool has_one_layout(const std::string& level) { return level == "once" || level == "direct"; }

// What a reader can do about an experiment without a single value.
std::string why_no_value(const Samples& samples) {
  if (samples.trials.empty() && samples.failed > 0)
    return ": " + plural(samples.failed, "trial") + " failed; 'stabctl logs' says why";
  if (samples.trials.empty() && samples.incomplete) return ": none has passed yet";
  const auto is_kept = [](const Trial& trial) { return trial.excluded.empty(); };
  if (samples.is_sliced && std::any_of(samples.trials.begin(), samples.trials.end(), [&](const Trial& trial) {
        return is_kept(trial) && trial.ran_alone;
      }))
    return " in a sliced block: so far blocks ran alone only, which are the control";
  if (samples.trials.empty() || std::any_of(samples.trials.begin(), samples.trials.end(), is_kept)) return "";
  return ": the plan's exclusion rules leave out all " + std::to_string(samples.trials.size());
}

}  // namespace

Status check_samples(const Samples& samples) {
  if (samples.responses.empty()) return bad_input("no response to analyse");
  if (samples.workloads.empty()) return bad_input("no " + samples.workload_word + " to analyse");
  if (!samples.programs.empty() && samples.programs.size() != samples.workloads.size())
    return bad_input("not each " + samples.workload_word + " has a program");
  if (!(samples.alpha > 0 && samples.alpha < 0.5))
    return bad_input("alpha must lie between 0 and 0.5, got " + number_text(samples.alpha));
  for (const Factor& factor : samples.factors)
    if (factor.levels.empty() || factor.baseline >= factor.levels.size())
      return bad_input("factor '" + factor.name + "' has no level or no valid baseline");
  if (samples.factors.size() > 16) return bad_input("more than 16 factors");
  for (const Estimator& estimator : samples.estimators)
    if (estimator.kind == Estimator::Kind::kQuantile && !(estimator.probability > 0 && estimator.probability < 1))
      return bad_input("a quantile lies between 0 and 1, got " + number_text(estimator.probability));
  for (const double probability : samples.shift_quantiles)
    if (!(probability > 0 && probability < 1))
      return bad_input("a quantile lies between 0 and 1, got " + number_text(probability));
  for (const Response& response : samples.responses)
    if (response.only_workload && *response.only_workload >= samples.workloads.size())
      return bad_input("'" + response.name + "' is of no " + samples.workload_word + " that there is");
  for (const Trial& trial : samples.trials)
    if (!samples.machines.empty() && trial.machine >= samples.machines.size())
      return bad_input("trial " + std::to_string(trial.order) + " is of an unknown machine");
  if (samples.environment_facts.size() > kMostEnvironmentFacts || samples.environments.size() > kMostEnvironments + 1)
    return bad_input(std::to_string(samples.environment_facts.size()) + " facts of " +
                     std::to_string(samples.environments.size()) + " environments: there are at most " +
                     std::to_string(kMostEnvironmentFacts) + " of " + std::to_string(kMostEnvironments + 1));
  for (const Environment& environment : samples.environments)
    if (environment.values.size() != samples.environment_facts.size())
      return bad_input("an environment has " + std::to_string(environment.values.size()) + " facts of " +
                       std::to_string(samples.environment_facts.size()));
  for (const Trial& trial : samples.trials)
    if (!samples.environments.empty() && trial.environment >= samples.environments.size())
      return bad_input("trial " + std::to_string(trial.order) + " is of an unknown environment");
  if (samples.replayed &&
      (samples.replayed->factor >= samples.factors.size() || samples.factors[samples.replayed->factor].levels.size() != 2 ||
       !std::isfinite(samples.replayed->excess.value_or(0))))
    return bad_input("it replays a trial and has no two layouts to compare");
  std::map<std::pair<uint32_t, uint32_t>, bool> alone;  // by workload and block
  for (const Trial& trial : samples.trials) {
    if (trial.ran_alone && !samples.is_sliced)
      return bad_input("trial " + std::to_string(trial.order) +
                       " is of a block that ran alone, in an experiment that isn't sliced");
    if (trial.ran_alone != alone.try_emplace({trial.workload, trial.block}, trial.ran_alone).first->second)
      return bad_input("block " + std::to_string(trial.block) + " ran alone and in slices; a block is of one kind");
    if (trial.overlap && !(*trial.overlap >= 0 && *trial.overlap <= 1))
      return bad_input("trial " + std::to_string(trial.order) + " ran beside its block for no share between 0 and 1 of its time");
  }
  size_t usable = 0;
  for (const Trial& trial : samples.trials) {
    if (trial.workload >= samples.workloads.size() || trial.levels.size() != samples.factors.size() ||
        trial.values.size() != samples.responses.size())
      return bad_input("trial " + std::to_string(trial.order) + " doesn't fit the design");
    for (size_t f = 0; f < trial.levels.size(); ++f)
      if (trial.levels[f] >= samples.factors[f].levels.size())
        return bad_input("trial " + std::to_string(trial.order) + " has an unknown level of " +
                         samples.factors[f].name);
    if (!trial.excluded.empty()) continue;
    for (size_t r = 0; r < trial.values.size(); ++r) {
      if (!trial.values[r]) continue;
      const double value = *trial.values[r];
      const Response& response = samples.responses[r];
      if (!std::isfinite(value))
        return bad_input(describe_trial(samples, trial) + ": " + response.name + " is " +
                         (std::isnan(value) ? "NaN" : "infinite") + "; repair or exclude it");
      if (std::fabs(value) > statistics::kLargestValue)
        return bad_input(describe_trial(samples, trial) + ": " + response.name + " is so large that its square overflows");
      if (response.scale == Scale::kLog && value <= 0)
        return bad_input(describe_trial(samples, trial) + ": " + response.name + " is " + number_text(value) +
                         ", which has no logarithm; give the response scale = \"raw\" in the plan, or zeros = \"missing\" to "
                         "leave such trials out");
      usable += r == 0 && answers(samples, trial);
    }
  }
  if (usable == 0) return bad_input("no trial has a value of " + samples.responses[0].name + why_no_value(samples));
  return {};
}

namespace {

UnitsByResponse all_units(const Samples& samples) {
  UnitsByResponse units(samples.responses.size());
  for (size_t r = 0; r < samples.responses.size(); ++r)
    for (uint32_t w = 0; w < samples.workloads.size(); ++w) units[r].push_back(units_of(samples, w, r));
  return units;
}

// ---- descriptions ---------------------------------------------------------------------------------------

Cell describe_cell(const Samples& samples, size_t response, uint32_t workload, const CellUnits& units) {
  const Response& facts = samples.responses[response];
  Cell cell;
  cell.response = facts.name;
  cell.workload = samples.workloads[workload];
  for (size_t f = 0; f < samples.factors.size(); ++f)
    cell.levels.push_back(samples.factors[f].levels[units.levels[f]]);
  cell.n = units.raw.size();
  const statistics::Moments raw = statistics::moments(units.raw);
  cell.mean = raw.mean;
  cell.median = statistics::median(units.raw);
  if (raw.n >= 2) cell.sd = raw.sd();
  cell.geometric_mean = statistics::geometric_mean(units.raw);
  cell.one_layout = units.one_layout;
  if (units.moments.n >= 2) {
    const statistics::ConfidenceInterval interval = statistics::mean_interval(units.moments, 1 - samples.alpha);
    cell.mean_interval = Interval{to_people(facts.scale, units.moments.mean), to_people(facts.scale, interval.low),
                                  to_people(facts.scale, interval.high)};
    if (!std::isfinite(cell.mean_interval->high) || !std::isfinite(cell.mean_interval->low)) cell.mean_interval.reset();
  }
  if (const auto test = statistics::shapiro_wilk(units.values)) {
    cell.shapiro_w = test->statistic;
    cell.shapiro_p = test->p_value;
  }
  return cell;
}

// Cells that hold one value each have no error of their own; only comparisons over workloads can use them.
bool single_values(const WorkloadUnits& units) {
  return std::all_of(units.cells.begin(), units.cells.end(), [](const CellUnits& cell) { return cell.moments.n < 2; });
}

// ---- where the spread comes from ------------------------------------------------------------------------

// The variance of units in a model of cells and blocks: what the machine did to a block is in all of its cells, and in no layout.
// Absent where there are no two cells to tell, or units lie in several blocks.
std::optional<double> variance_within_blocks(const std::vector<const CellUnits*>& cells) {
  if (cells.size() < 2) return {};
  std::map<uint32_t, std::vector<double>> blocks;
  size_t units = 0;
  for (const CellUnits* cell : cells) {
    if (cell->spans_blocks) return {};
    units += cell->values.size();
    for (size_t i = 0; i < cell->values.size(); ++i) blocks[cell->blocks[i]].push_back(cell->values[i] - cell->moments.mean);
  }
  double squares = 0, held = 0;
  for (const auto& [block, values] : blocks) {
    if (values.size() != cells.size()) continue;
    held += 1;
    squares += statistics::moments(values).m2;
  }
  const auto count = static_cast<double>(cells.size());
  if (held < 2 || (2 * held * count < static_cast<double>(units) && !cells[0]->sliced)) return {};
  return squares / ((count - 1) * (held - 1));
}

std::optional<SpreadComponents> components_of(const Samples& samples, size_t response, uint32_t workload,
                                              const WorkloadUnits& units) {
  SpreadComponents out;
  out.response = samples.responses[response].name;
  out.workload = samples.workloads[workload];
  double between = 0, between_df = 0, within = 0, within_df = 0, runs = 0, share_of_run = 0;
  std::vector<const CellUnits*> counted;
  for (const CellUnits& cell : units.cells) {
    if (cell.one_layout || cell.moments.n < 2) continue;
    counted.push_back(&cell);
    between += cell.moments.m2;
    between_df += static_cast<double>(cell.moments.n - 1);
    within += cell.within_unit_m2;
    within_df += static_cast<double>(cell.within_unit_df);
    out.layouts += cell.moments.n;
    runs += static_cast<double>(cell.raw.size());
    share_of_run += static_cast<double>(cell.moments.n - 1) * static_cast<double>(cell.moments.n) /
                    static_cast<double>(cell.raw.size());
  }
  if (between_df == 0) return {};
  out.runs_per_layout = runs / static_cast<double>(out.layouts);
  out.layout = between / between_df;
  if (counted[0]->sliced) {
    const std::optional<double> within_blocks = variance_within_blocks(counted);
    if (!within_blocks) return {};
    out.block = out.layout - *within_blocks;
    out.layout = *within_blocks;
  }
  if (within_df > 0) {
    // A mean of r runs varies by layout + run / r.
    out.run = within / within_df;
    // Runs of one layout ran in one block, so what blocks add would be taken for the layouts'.
    out.layout = variance_within_blocks(counted).value_or(out.layout);
    out.layout -= *out.run * share_of_run / between_df;
  }
  return out;
}

// ---- doses and validity ---------------------------------------------------------------------------------

std::vector<DoseSummary> doses_of(const Samples& samples) {
  std::vector<DoseSummary> summaries;
  const auto code = static_cast<size_t>(std::find_if(samples.factors.begin(), samples.factors.end(), [](const Factor& factor) {
                                          return factor.layout && factor.name == "code";
                                        }) - samples.factors.begin());
  for (uint32_t w = 0; w < samples.workloads.size(); ++w) {
    for (size_t f = 0; f < samples.factors.size(); ++f) {
      const Factor& factor = samples.factors[f];
      if (!factor.moves_a_part()) continue;
      for (uint32_t level = 0; level < factor.levels.size(); ++level) {
        if (factor.is_fixed(level)) continue;
        std::vector<double> layouts, shares, epochs, unentered;
        size_t draws = 0;  // trials whose code is one layout's
        for (const Trial& trial : samples.trials) {
          if (trial.workload != w || trial.levels[f] != level || !trial.dose || !answers(samples, trial)) continue;
          const Dose& dose = *trial.dose;
          draws += code < samples.factors.size() && has_one_layout(samples.factors[code].levels[trial.levels[code]]);
          if (dose.epochs > 0) {
            epochs.push_back(static_cast<double>(dose.epochs));
            unentered.push_back(static_cast<double>(dose.epochs_unentered) / static_cast<double>(dose.epochs));
          }
          if (factor.name == "code") {
            layouts.push_back(static_cast<double>(dose.code_layouts_executed));
            shares.push_back(dose.functions ? static_cast<double>(dose.functions_moved) /
                                                  static_cast<double>(dose.functions)
                                            : 0);
          }
          if (factor.name == "stack") {
            layouts.push_back(static_cast<double>(dose.stack_layouts));
            shares.push_back(dose.functions ? static_cast<double>(dose.pads) / static_cast<double>(dose.functions)
                                            : 0);
          }
          if (factor.name == "heap") {
            if (dose.heap_layouts) layouts.push_back(static_cast<double>(*dose.heap_layouts));
            shares.push_back(dose.heap_share);
          }
        }
        if (shares.empty()) continue;
        DoseSummary summary{samples.workloads[w], factor.name, factor.levels[level], shares.size(), {}, {}, {},
                            std::min(1.0, statistics::mean(shares)), {}, 0};
        if (!epochs.empty()) {
          summary.epochs = statistics::median(epochs);
          if (factor.name != "heap") summary.unentered = statistics::median(unentered);
        }
        summary.one_draw = draws == shares.size() || (!samples.simulated.empty() && epochs.empty());
        std::sort(layouts.begin(), layouts.end());
        if (!layouts.empty()) {
          summary.minimum = layouts.front();
          summary.median = statistics::quantile_sorted(layouts, 0.5);
          summary.maximum = layouts.back();
        }
        summaries.push_back(std::move(summary));
      }
    }
  }
  return summaries;
}

std::vector<ValidityCount> validity_of(const Samples& samples) {
  std::vector<uint64_t> counts(kDisturbanceCount);
  std::map<std::string, uint64_t> excluded;
  for (const Trial& trial : samples.trials) {
    if (!trial.excluded.empty()) {
      ++excluded[trial.excluded];
      continue;
    }
    for (uint32_t i = 0; i < kDisturbanceCount; ++i) counts[i] += trial.disturbances >> i & 1;
  }
  std::vector<ValidityCount> out;
  for (uint32_t i = 0; i < kDisturbanceCount; ++i)
    if (counts[i] > 0) out.push_back({std::string(disturbance_word(i)), counts[i]});
  for (const auto& [reason, count] : excluded) out.push_back({"excluded: " + reason, count});
  return out;
}

}  // namespace

namespace {

constexpr std::string_view kPopulations[] = {"", "these programs", "programs like these"};

}  // namespace

std::string_view name(Population population) { return kPopulations[static_cast<size_t>(population)]; }

std::optional<Population> population(std::string_view name) {
  for (const Population one : {Population::kOneWorkload, Population::kThese, Population::kLikeThese})
    if (stab::report::name(one) == name) return one;
  return {};
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kChanged: return "changed";
    case Verdict::kEquivalent: return "equivalent";
    case Verdict::kUnsure: return "unsure";
    case Verdict::kWithheld: return "withheld";
  }
  return "withheld";
}

Result<Report> analyse_units(const Samples& samples, const std::vector<std::vector<WorkloadUnits>>& units, Depth depth) {
  Report report;
  report.experiment = samples.experiment;
  report.alpha = samples.alpha;
  report.workloads = samples.workloads;
  report.workload_word = samples.workload_word;
  report.programs = samples.programs;
  report.program_word = samples.program_word;
  if (samples.unit == Unit::kRow) report.trial_word = samples.row_word;
  report.factors = samples.factors;
  report.responses = samples.responses;
  report.planned = samples.planned;
  report.failed = samples.failed;
  for (const Trial& trial : samples.trials) ++(trial.excluded.empty() ? report.analysed : report.excluded);
  if (samples.trials.empty())
    for (const WorkloadUnits& workload : units[0])
      for (const CellUnits& cell : workload.cells) report.analysed += cell.raw.size();
  std::set<std::vector<uint32_t>> cells;
  for (const std::vector<WorkloadUnits>& of_response : units)
    for (const WorkloadUnits& workload : of_response)
      for (const CellUnits& cell : workload.cells) cells.insert(cell.levels);
  report.cell_count = cells.size();

  STAB_TRY(LookLevels levels, levels_of(samples));
  StoppedAt stopped{std::move(levels)};
  UnitsByResponse first_stage;
  const Stopping& stopping = samples.stopping;
  const uint32_t replicates = replicates_of(samples);
  if (stopping.rule == StoppingRule::kPrecision && stopping.first > 0 && replicates > stopping.first) {
    const Samples first = first_blocks(samples, stopping.first);
    first_stage = all_units(first);
    stopped.first_stage = &first_stage;
    stopped.shrinks = std::sqrt(static_cast<double>(blocks_of(first, false)) / static_cast<double>(blocks_of(samples, false)));
  }
  report.interval_level = stopped.levels.interval();
  report.stopping = stopping_text(stopping, replicates, samples.incomplete);
  if (stopped.levels.is_sequence()) {
    report.sequence_replicates = std::max(2u, blocks_of(samples, false));
    report.sequence_mixture = stopped.levels.mixture();
  }
  report.contrasts = contrasts_of(samples, units, stopped);
  if (samples.is_sliced) {
    report.slicing = slicing_of(samples, units);
    STAB_CHECK_OK(answer_from_alone(samples, *report.slicing, report.contrasts));
  }
  report.replay = replay_answer(samples, units[0], report);
  report.estimators = estimator_contrasts_of(samples, units, stopped.levels);
  report.shift_functions = shift_functions_of(samples, units, stopped.levels);
  report.machine_contrasts = machine_contrasts_of(samples);
  if (report.slicing) leave_to_alone(*report.slicing, report);
  const std::vector<size_t> varying = varying_factors(samples);
  for (size_t r = 0; r < samples.responses.size(); ++r) {
    const bool benchmark = samples.responses[r].is_benchmark();
    for (uint32_t w = 0; w < samples.workloads.size(); ++w) {
      for (const CellUnits& cell : units[r][w].cells) report.cells.push_back(describe_cell(samples, r, w, cell));
      // A suite has hundreds of benchmarks, and nobody reads as many tables: they get cells and contrasts.
      if (benchmark) continue;
      if (samples.unit == Unit::kLayout)
        if (auto components = components_of(samples, r, w, units[r][w])) report.components.push_back(*components);
      // With several workloads and one value a cell, only the table over programs has an error term.
      if (samples.workloads.size() > 1 && single_values(units[r][w])) continue;
      if (!varying.empty()) report.anovas.push_back(within_one_workload(samples, r, w, units[r][w], varying));
      diagnose(samples, r, w, units[r][w], report.diagnostics);
    }
    if (!varying.empty() && !benchmark && program_count(samples) > 1)
      report.anovas.push_back(over_programs(samples, r, units[r], varying));
  }
  if (depth == Depth::kWhole) {
    find_modes(samples, units, report.cells);
    RunSearch search = search_run(samples);
    report.run_changes = std::move(search.runs);
    report.runs_not_searched = search.not_searched;
    report.environment = environment_table_of(samples, report.contrasts);
    report.environment_changes = environment_changes_of(samples, report.environment);
    report.level_summaries = level_summaries_of(samples, units);
    report.halves = halves_of(samples, units[0], report.interval_level);
  }
  report.doses = doses_of(samples);
  report.validity = validity_of(samples);
  report.caveats = caveats_of(samples, report);
  return report;
}

Result<Report> analyse(const Samples& samples, Depth depth) {
  STAB_CHECK_OK(check_samples(samples));
  // From here on every analysed value is finite, and positive where the scale is logarithmic.
  return analyse_units(samples, all_units(samples), depth);
}

}  // namespace stab::report
