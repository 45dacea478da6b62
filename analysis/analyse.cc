// analyse(): from samples to a report. Reads as the table of contents: check, reduce to units, describe,
// contrast, ANOVA for both questions, diagnostics, doses, caveats. The method is fixed by the design; diagnostics
// never choose it.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/anova.h"
#include "analysis/caveats.h"
#include "analysis/contrasts.h"
#include "analysis/descriptive.h"
#include "analysis/draws.h"
#include "analysis/normality.h"
#include "analysis/report.h"
#include "analysis/robust_anova.h"
#include "analysis/sequence.h"
#include "analysis/strata.h"
#include "analysis/units.h"
#include "analysis/variance_tests.h"

namespace stab::analysis {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------

std::string describe_trial(const Samples& samples, const Trial& trial) {
  std::string cell = samples.workloads[trial.workload];
  for (size_t f = 0; f < samples.factors.size(); ++f)
    cell += ", " + samples.factors[f].name + "=" + samples.factors[f].levels[trial.levels[f]];
  return "trial " + std::to_string(trial.order) + " (" + cell + ")";
}

Status check(const Samples& samples) {
  if (samples.responses.empty()) return bad_input("no response to analyse");
  if (samples.workloads.empty()) return bad_input("no " + samples.workload_word + " to analyse");
  if (!samples.programs.empty() && samples.programs.size() != samples.workloads.size())
    return bad_input("not each " + samples.workload_word + " has a program");
  if (!(samples.alpha > 0 && samples.alpha < 0.5))
    return bad_input("alpha must lie between 0 and 0.5, got " + std::to_string(samples.alpha));
  for (const Factor& factor : samples.factors)
    if (factor.levels.empty() || factor.baseline >= factor.levels.size())
      return bad_input("factor '" + factor.name + "' has no level or no valid baseline");
  if (samples.factors.size() > 16) return bad_input("more than 16 factors");
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
      if (std::fabs(value) > kLargestValue)
        return bad_input(describe_trial(samples, trial) + ": " + response.name + " is so large that its square overflows");
      if (response.scale == Scale::kLog && value <= 0)
        return bad_input(describe_trial(samples, trial) + ": " + response.name + " is " + std::to_string(value) +
                         ", which has no logarithm; give the response scale = \"raw\" in the plan, or zeros = \"missing\" to leave such trials out");
      usable += r == 0;
    }
  }
  if (usable == 0) return bad_input("no trial has a value of " + samples.responses[0].name);
  return {};
}

UnitsByResponse all_units(const Samples& samples) {
  UnitsByResponse units(samples.responses.size());
  for (size_t r = 0; r < samples.responses.size(); ++r)
    for (uint32_t w = 0; w < samples.workloads.size(); ++w) units[r].push_back(units_of(samples, w, r));
  return units;
}

// ---- descriptions ---------------------------------------------------------------------------------------

double to_people(Scale scale, double x) { return scale == Scale::kLog ? std::exp(x) : x; }

Cell describe_cell(const Samples& samples, size_t response, uint32_t workload, const CellUnits& units) {
  const Response& facts = samples.responses[response];
  Cell cell;
  cell.response = facts.name;
  cell.workload = samples.workloads[workload];
  for (size_t f = 0; f < samples.factors.size(); ++f)
    cell.levels.push_back(samples.factors[f].levels[units.levels[f]]);
  cell.n = units.raw.size();
  const Moments raw = moments(units.raw);
  cell.mean = raw.mean;
  cell.median = median(units.raw);
  if (raw.n >= 2) cell.sd = raw.sd();
  cell.geometric_mean = geometric_mean(units.raw);
  cell.one_layout = units.one_layout;
  if (units.moments.n >= 2) {
    const ConfidenceInterval interval = mean_interval(units.moments, 1 - samples.alpha);
    cell.mean_interval = Interval{to_people(facts.scale, units.moments.mean), to_people(facts.scale, interval.low),
                                  to_people(facts.scale, interval.high)};
  }
  if (const auto test = shapiro_wilk(units.values)) {
    cell.shapiro_w = test->statistic;
    cell.shapiro_p = test->p_value;
  }
  return cell;
}

// ---- analysis of variance -------------------------------------------------------------------------------

// The factors that vary in this experiment; the others have nothing to test.
std::vector<size_t> varying_factors(const Samples& samples) {
  std::vector<size_t> varying;
  for (size_t f = 0; f < samples.factors.size(); ++f)
    if (samples.factors[f].levels.size() > 1) varying.push_back(f);
  return varying;
}

FactorCodes empty_codes(const Samples& samples, const std::vector<size_t>& varying) {
  FactorCodes codes;
  for (size_t f : varying) {
    codes.names.push_back(samples.factors[f].name);
    codes.level_names.push_back(samples.factors[f].levels);
  }
  codes.codes.resize(varying.size());
  return codes;
}

// p of each term against its variation between draws: a draw has every cell once, as a subject of repeated measures
// has. pre: codes name the varying factors of `samples`
std::vector<double> drawwise_p(const FactorCodes& codes, const std::vector<std::vector<double>>& draws) {
  std::vector<size_t> counts;
  size_t cells = 1;
  for (const auto& levels : codes.level_names) {
    counts.push_back(levels.size());
    cells *= levels.size();
  }
  std::vector<double> p_values;
  if (draws.empty() || draws[0].size() != cells) return p_values;
  if (const auto within = within_anova(draws, codes.names, counts))
    for (const WithinRow& row : *within) p_values.push_back(row.p_greenhouse_geisser);
  return p_values;
}

// The same where links are crossed with blocks: p of each term of one df, as the contrast that it is. Empty where no
// cell has several links or a cell is missing.
std::vector<std::optional<double>> linkwise_p(const Samples& samples, const WorkloadUnits& units,
                                              const std::vector<size_t>& varying, const std::vector<TermMask>& terms) {
  size_t cells = 1;
  for (size_t f : varying) cells *= samples.factors[f].levels.size();
  if (units.cells.size() != cells || std::none_of(units.cells.begin(), units.cells.end(), is_linked)) return {};
  const LinkFit fit = fit_links(samples, units);
  std::vector<std::optional<double>> p_values;
  bool any = false;
  for (TermMask term : terms) {
    p_values.emplace_back();
    bool one_df = true;
    CellCoefficients coefficients;
    for (const CellUnits& cell : units.cells) {
      double sign = 1;
      for (size_t v = 0; v < varying.size(); ++v) {
        if (!(term >> v & 1)) continue;
        one_df &= samples.factors[varying[v]].levels.size() == 2;
        sign *= cell.levels[varying[v]] == 0 ? -1 : 1;
      }
      coefficients[&cell] = sign / (static_cast<double>(cells) / 2);
    }
    if (!one_df) continue;
    const auto contrast = link_contrast(fit, units, coefficients, samples.alpha);
    if (!contrast) return {};
    p_values.back() = contrast->test.p_value;
    any = true;
  }
  if (!any) p_values.clear();
  return p_values;
}

// Links come back in several cells, so that rows of different cells aren't independent, as HC3 takes them to be.
bool recurring_links(const WorkloadUnits& units) {
  return std::count_if(units.cells.begin(), units.cells.end(), is_linked) > 1;
}

AnovaTable within_one_workload(const Samples& samples, size_t response, uint32_t workload,
                               const WorkloadUnits& units, const std::vector<size_t>& varying) {
  const Response& facts = samples.responses[response];
  AnovaTable table;
  table.response = facts.name;
  table.workload = samples.workloads[workload];
  table.title = "factors as fixed effects within this " + samples.workload_word;
  table.scale = facts.scale;
  FactorCodes codes = empty_codes(samples, varying);
  std::vector<double> values;
  std::vector<uint32_t> blocks;
  double origin = 0;
  for (const CellUnits& cell : units.cells)
    if (!cell.values.empty()) origin = cell.values[0];
  for (const CellUnits& cell : units.cells) {
    for (size_t i = 0; i < cell.values.size(); ++i) {
      values.push_back(cell.values[i] - origin);
      blocks.push_back(units.collapsed ? 0 : cell.blocks[i]);
      for (size_t f = 0; f < varying.size(); ++f) codes.codes[f].push_back(cell.levels[varying[f]]);
    }
  }
  const std::vector<TermMask> terms = crossed_terms((TermMask{1} << varying.size()) - 1);
  auto rows = blocked_anova(codes, values, blocks, terms, SumsType::kTwo);
  if (!rows) {
    table.refused = rows.error().message;
    return table;
  }
  table.rows = *std::move(rows);
  bool by_link = false;
  const auto draws = complete_draws(samples, units.cells, &by_link);
  if (const auto p = drawwise_p(codes, draws); !p.empty()) {
    table.robust_method = by_link ? "links" : "blocks";
    table.p_robust.assign(p.begin(), p.end());
  } else if (const auto by_term = linkwise_p(samples, units, varying, terms); !by_term.empty()) {
    table.robust_method = "links";
    table.p_robust = by_term;
  } else if (const auto robust = hc3_anova(aggregate(codes, values), terms, SumsType::kTwo); robust && !recurring_links(units)) {
    table.robust_method = "HC3";
    for (size_t t = 0; t < terms.size(); ++t) table.p_robust.push_back((*robust)[t].p_value);
  }
  if (!table.p_robust.empty()) table.p_robust.resize(table.rows.size());
  return table;
}

// cells[workload][cell] as the means of each program's workloads.
std::vector<std::vector<double>> cells_by_program(const Samples& samples, const std::vector<std::vector<double>>& cells) {
  std::vector<std::vector<double>> out(program_count(samples));
  for (size_t c = 0; c < cells[0].size(); ++c) {
    std::vector<double> of_workloads;
    for (const std::vector<double>& workload : cells) of_workloads.push_back(workload[c]);
    const std::vector<double> means = means_by_program(samples, of_workloads);
    for (size_t p = 0; p < out.size(); ++p) out[p].push_back(means[p]);
  }
  return out;
}

// Cells that hold one value each have no error of their own; only comparisons over workloads can use them.
bool single_values(const WorkloadUnits& units) {
  return std::all_of(units.cells.begin(), units.cells.end(), [](const CellUnits& cell) { return cell.moments.n < 2; });
}

// time ~ factors + Error(program / factors), on the means of each program's cells: those of its workloads', averaged.
AnovaTable over_programs(const Samples& samples, size_t response, const std::vector<WorkloadUnits>& workloads,
                          const std::vector<size_t>& varying) {
  const Response& facts = samples.responses[response];
  AnovaTable table;
  table.response = facts.name;
  table.title = "do the factors matter for " + samples.program_word + "s like these: each term against its "
                "variation between " + samples.program_word + "s";
  table.scale = facts.scale;
  table.within_subjects = true;
  std::vector<std::string> names;
  std::vector<size_t> counts;
  size_t cells = 1;
  for (size_t f : varying) {
    names.push_back(samples.factors[f].name);
    counts.push_back(samples.factors[f].levels.size());
    cells *= counts.back();
  }
  std::vector<std::vector<double>> values;
  for (size_t w = 0; w < workloads.size(); ++w) {
    values.emplace_back();
    for (const CellUnits& cell : workloads[w].cells) values.back().push_back(cell.moments.mean);
    if (values.back().size() != cells) {
      const bool all_alike = std::all_of(workloads.begin(), workloads.end(), [&](const WorkloadUnits& other) {
        return other.cells.size() == workloads[0].cells.size();
      });
      table.refused = samples.workloads[w] + " lacks values in " + std::to_string(cells - values.back().size()) + " of " +
                      std::to_string(cells) + " cells; " +
                      (all_alike ? "the design leaves cells out: its contrasts above compare those that are there"
                                 : "fill them or leave the " + samples.workload_word + " out");
      return table;
    }
  }
  auto rows = within_anova(cells_by_program(samples, values), names, counts);
  if (!rows) {
    table.refused = rows.error().message;
    return table;
  }
  for (WithinRow& row : *rows) {
    table.errors.push_back({row.error_df, row.error_sum_squares, row.greenhouse_geisser, row.p_greenhouse_geisser});
    table.rows.push_back(std::move(row.anova));
  }
  return table;
}

// ---- where the spread comes from ------------------------------------------------------------------------

std::optional<SpreadComponents> components_of(const Samples& samples, size_t response, uint32_t workload,
                                              const WorkloadUnits& units) {
  SpreadComponents out;
  out.response = samples.responses[response].name;
  out.workload = samples.workloads[workload];
  double between = 0, between_df = 0, within = 0, within_df = 0, runs = 0, share_of_run = 0;
  for (const CellUnits& cell : units.cells) {
    if (cell.one_layout || cell.moments.n < 2) continue;
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
  if (within_df > 0) {
    // A mean of r runs varies by layout + run / r.
    out.run = within / within_df;
    out.layout -= *out.run * share_of_run / between_df;
  }
  return out;
}

// ---- diagnostics ----------------------------------------------------------------------------------------

template <typename Test>
void add_diagnostic(Diagnostic diagnostic, const Result<Test>& test, double Test::*statistic,
                    std::vector<Diagnostic>& out) {
  if (test) {
    diagnostic.statistic = (*test).*statistic;
    diagnostic.p_value = test->p_value;
  }
  if (!test) diagnostic.refused = test.error().message;
  out.push_back(std::move(diagnostic));
}

void diagnose(const Samples& samples, size_t response, uint32_t workload, const WorkloadUnits& units,
              std::vector<Diagnostic>& out) {
  // What is left of each unit beyond its cell and, where trials are units, beyond its block.
  std::map<uint32_t, std::pair<double, double>> of_block;  // sum and count of deviations from the cell
  const bool blocked = samples.unit == Unit::kLayout && !units.collapsed;
  for (const CellUnits& cell : units.cells) {
    for (size_t i = 0; blocked && i < cell.values.size(); ++i) {
      auto& [sum, count] = of_block[cell.blocks[i]];
      sum += cell.values[i] - cell.moments.mean;
      count += 1;
    }
  }
  std::vector<std::pair<uint32_t, double>> in_order;  // (order, standardized residual)
  std::vector<std::vector<double>> groups;
  std::vector<double> residuals;
  for (const CellUnits& cell : units.cells) {
    if (cell.moments.n < 2) continue;
    std::vector<double> left(cell.values);
    for (size_t i = 0; i < left.size(); ++i) {
      left[i] -= cell.moments.mean;
      if (!blocked) continue;
      const auto& [sum, count] = of_block[cell.blocks[i]];
      if (count > 1) left[i] -= sum / count;
    }
    // Cells differ in spread by design; without standardizing, a mixture of normals would look heavy-tailed.
    const Moments spread = moments(left);
    const double sd = spread.m2 > 0 ? spread.sd() : 0;
    for (size_t i = 0; i < left.size(); ++i) {
      const double residual = sd > 0 ? left[i] / sd : 0;
      residuals.push_back(residual);
      in_order.emplace_back(cell.orders[i], residual);
    }
    groups.push_back(std::move(left));
  }
  std::sort(in_order.begin(), in_order.end());
  std::vector<double> sequence;
  for (const auto& [order, residual] : in_order) sequence.push_back(residual);

  Diagnostic base;
  base.response = samples.responses[response].name;
  base.workload = samples.workloads[workload];
  base.n = residuals.size();
  const auto named = [&base](std::string name, std::string statistic) {
    Diagnostic diagnostic = base;
    diagnostic.name = std::move(name);
    diagnostic.statistic_name = std::move(statistic);
    return diagnostic;
  };
  // At a hundred thousand values each test finds the smallest departure, and ranking them takes longer than all
  // the rest of the report.
  constexpr size_t kMostValues = 100'000;
  if (residuals.size() > kMostValues) {
    for (const char* test : {"normality", "brown-forsythe", "drift"}) {
      Diagnostic diagnostic = named(test, "");
      diagnostic.refused = "not tested beyond 100000 values: any departure would show; look at the figures";
      out.push_back(std::move(diagnostic));
    }
    add_diagnostic(named("lag-1 autocorrelation", "r"), lag1_autocorrelation(sequence), &SequenceTest::statistic, out);
    return;
  }
  if (residuals.size() <= 5000)
    add_diagnostic(named("shapiro-wilk", "W"), shapiro_wilk(residuals), &NormalityTest::statistic, out);
  else
    add_diagnostic(named("anderson-darling", "A2"), anderson_darling(residuals), &NormalityTest::statistic, out);
  add_diagnostic(named("brown-forsythe", "F"), levene(groups, Centre::kMedian), &OneWay::f, out);
  add_diagnostic(named("drift", "rho"), drift(sequence), &SequenceTest::statistic, out);
  add_diagnostic(named("lag-1 autocorrelation", "r"), lag1_autocorrelation(sequence), &SequenceTest::statistic, out);
}

// ---- doses and validity ---------------------------------------------------------------------------------

std::vector<DoseSummary> doses_of(const Samples& samples) {
  std::vector<DoseSummary> summaries;
  for (uint32_t w = 0; w < samples.workloads.size(); ++w) {
    for (size_t f = 0; f < samples.factors.size(); ++f) {
      const Factor& factor = samples.factors[f];
      if (!factor.layout || (factor.name != "code" && factor.name != "stack" && factor.name != "heap")) continue;
      for (uint32_t level = 0; level < factor.levels.size(); ++level) {
        if (fixes_layout(factor.levels[level])) continue;
        std::vector<double> layouts, shares;
        for (const Trial& trial : samples.trials) {
          if (trial.workload != w || trial.levels[f] != level || !trial.dose || !trial.excluded.empty()) continue;
          const Dose& dose = *trial.dose;
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
                            std::min(1.0, mean(shares))};
        std::sort(layouts.begin(), layouts.end());
        if (!layouts.empty()) {
          summary.minimum = layouts.front();
          summary.median = quantile_sorted(layouts, 0.5);
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

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kChanged: return "changed";
    case Verdict::kEquivalent: return "equivalent";
    case Verdict::kUnsure: return "unsure";
    case Verdict::kWithheld: return "withheld";
  }
  return "withheld";
}

Result<Report> analyse_units(const Samples& samples, const std::vector<std::vector<WorkloadUnits>>& units) {
  Report report;
  report.experiment = samples.experiment;
  report.alpha = samples.alpha;
  report.workloads = samples.workloads;
  report.workload_word = samples.workload_word;
  report.programs = samples.programs;
  report.program_word = samples.program_word;
  if (samples.unit == Unit::kRow) report.trial_word = "row";
  report.factors = samples.factors;
  report.responses = samples.responses;
  report.planned = samples.planned;
  report.failed = samples.failed;
  for (const Trial& trial : samples.trials) ++(trial.excluded.empty() ? report.analysed : report.excluded);
  if (samples.trials.empty())
    for (const WorkloadUnits& workload : units[0])
      for (const CellUnits& cell : workload.cells) report.analysed += cell.raw.size();

  STAB_TRY(LookLevels levels, levels_of(samples));
  StoppedAt stopped{std::move(levels)};
  UnitsByResponse first_stage;
  const Stopping& stopping = samples.stopping;
  const uint32_t replicates = replicates_of(samples);
  if (stopping.rule == StoppingRule::kPrecision && stopping.first > 0 && replicates > stopping.first) {
    first_stage = all_units(first_blocks(samples, stopping.first));
    stopped.first_stage = &first_stage;
    stopped.shrinks = std::sqrt(static_cast<double>(stopping.first) / static_cast<double>(replicates));
  }
  report.interval_level = stopped.levels.interval();
  report.stopping = stopping_text(stopping, replicates, samples.incomplete);
  report.contrasts = contrasts_of(samples, units, stopped);
  const std::vector<size_t> varying = varying_factors(samples);
  for (size_t r = 0; r < samples.responses.size(); ++r) {
    for (uint32_t w = 0; w < samples.workloads.size(); ++w) {
      for (const CellUnits& cell : units[r][w].cells) report.cells.push_back(describe_cell(samples, r, w, cell));
      if (samples.unit == Unit::kLayout)
        if (auto components = components_of(samples, r, w, units[r][w])) report.components.push_back(*components);
      // With several workloads and one value a cell, only the table over programs has an error term.
      if (samples.workloads.size() > 1 && single_values(units[r][w])) continue;
      if (!varying.empty()) report.anovas.push_back(within_one_workload(samples, r, w, units[r][w], varying));
      diagnose(samples, r, w, units[r][w], report.diagnostics);
    }
    if (!varying.empty() && program_count(samples) > 1)
      report.anovas.push_back(over_programs(samples, r, units[r], varying));
  }
  report.doses = doses_of(samples);
  report.validity = validity_of(samples);
  report.caveats = caveats_of(samples, report);
  return report;
}

Result<Report> analyse(const Samples& samples) {
  STAB_CHECK_OK(check(samples));
  // From here on every analysed value is finite, and positive where the scale is logarithmic.
  return analyse_units(samples, all_units(samples));
}

}  // namespace stab::analysis
