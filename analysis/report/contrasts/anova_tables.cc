// A report's analyses of variance: which factors matter within each workload, and for programs like these. A plan need
// not run all combinations of levels: terms are those that its cells can tell apart (effects.h), the others are named.
#include "analysis/report/contrasts/anova_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/report/experiment/draws.h"
#include "analysis/statistics/models/anova.h"
#include "analysis/statistics/models/effects.h"
#include "analysis/statistics/models/robust_anova.h"
#include "analysis/statistics/models/strata.h"
#include "analysis/statistics/two_samples/rank_tests.h"

namespace stab::report {

// Below: within one workload, then over programs.
std::vector<size_t> varying_factors(const Samples& samples) {
  std::vector<size_t> varying;
  for (size_t f = 0; f < samples.factors.size(); ++f)
    if (samples.factors[f].levels.size() > 1) varying.push_back(f);
  return varying;
}

namespace {

// Directions of terms over so many cells take seconds; a full crossing needs none.
constexpr size_t kMostCells = 256;

statistics::FactorCodes empty_codes(const Samples& samples, const std::vector<size_t>& varying) {
  statistics::FactorCodes codes;
  for (size_t f : varying) {
    codes.names.push_back(samples.factors[f].name);
    codes.level_names.push_back(samples.factors[f].levels);
  }
  codes.codes.resize(varying.size());
  return codes;
}

statistics::FactorCodes varying_codes(const Samples& samples, const std::vector<size_t>& varying,
                                      const std::vector<CellUnits>& cells) {
  statistics::FactorCodes codes = empty_codes(samples, varying);
  for (const CellUnits& cell : cells)
    for (size_t v = 0; v < varying.size(); ++v) codes.codes[v].push_back(cell.levels[varying[v]]);
  return codes;
}

// The other names of the rows' effects, where not all combinations of levels ran.
void name_effects(const statistics::Effects& effects, AnovaTable& table) {
  if (effects.crossing) return;
  for (const statistics::EstimableTerm& term : effects.terms) table.aliases.push_back(term.aliases);
  table.left_out = effects.left_out;
}

// Subjects or draws in rows, the cells in columns.
Result<std::vector<statistics::WithinRow>> within_cells(const std::vector<std::vector<double>>& values,
                                                        const statistics::FactorCodes& cells,
                                                        const statistics::Effects& effects) {
  if (effects.crossing) {
    std::vector<size_t> counts;
    for (const auto& levels : cells.level_names) counts.push_back(levels.size());
    return statistics::within_anova(values, cells.names, counts);
  }
  return statistics::within_anova(values, cells, effects.terms);
}

// p of each term against its variation between draws: a draw has every cell once, as a subject of repeated measures
// has. Empty where there are no such draws.
std::vector<double> drawwise_p(const statistics::FactorCodes& cells, const statistics::Effects& effects,
                               const std::vector<std::vector<double>>& draws) {
  std::vector<double> p_values;
  if (draws.empty()) return p_values;
  if (const auto within = within_cells(draws, cells, effects))
    for (const statistics::WithinRow& row : *within) p_values.push_back(row.p_greenhouse_geisser);
  return p_values;
}

// The same where links are crossed with blocks: p of each term of one df, as the contrast that it is. Empty where no
// cell has several links.
std::vector<std::optional<double>> linkwise_p(const Samples& samples, const WorkloadUnits& units,
                                              const statistics::Effects& effects) {
  if (std::none_of(units.cells.begin(), units.cells.end(), is_linked)) return {};
  const LinkFit fit = fit_links(units);
  if (!fit.blocked && units.cells[0].sliced) return {};
  std::vector<std::optional<double>> p_values;
  bool any = false;
  for (const statistics::EstimableTerm& term : effects.terms) {
    p_values.emplace_back();
    if (term.directions.size() != 1) continue;
    CellCoefficients coefficients;
    for (size_t c = 0; c < units.cells.size(); ++c)
      if (std::fabs(term.directions[0][c]) > 1e-12) coefficients[&units.cells[c]] = term.directions[0][c];
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

// Whether units of different cells have a block in common; else blocks say nothing, as in one random order of all trials.
bool share_blocks(const WorkloadUnits& units) {
  std::map<uint32_t, const CellUnits*> of_block;
  for (const CellUnits& cell : units.cells)
    for (const uint32_t block : cell.blocks)
      if (of_block.try_emplace(block, &cell).first->second != &cell) return true;
  return false;
}

}  // namespace

AnovaTable within_one_workload(const Samples& samples, size_t response, uint32_t workload,
                               const WorkloadUnits& units, const std::vector<size_t>& varying) {
  const Response& facts = samples.responses[response];
  AnovaTable table;
  table.response = facts.name;
  table.workload = samples.workloads[workload];
  table.title = "factors as fixed effects within this " + samples.workload_word;
  table.scale = facts.scale;
  table.refused = units.anova_refused;
  if (!table.refused.empty()) return table;
  statistics::FactorCodes codes = empty_codes(samples, varying);
  std::vector<double> values;
  std::vector<uint32_t> blocks;
  double origin = 0, largest = facts.scale == Scale::kLog ? 1 : 0;  // a logarithm has its value's relative error
  for (const CellUnits& cell : units.cells) {
    if (!cell.values.empty()) origin = cell.values[0];
    for (const double value : cell.values) largest = std::max(largest, std::fabs(value));
  }
  const bool in_blocks = !units.spans_blocks && share_blocks(units);
  for (const CellUnits& cell : units.cells) {
    for (size_t i = 0; i < cell.values.size(); ++i) {
      values.push_back(cell.values[i] - origin);
      blocks.push_back(in_blocks ? cell.blocks[i] : 0);
      for (size_t f = 0; f < varying.size(); ++f) codes.codes[f].push_back(cell.levels[varying[f]]);
    }
  }
  const statistics::FactorCodes cells = varying_codes(samples, varying, units.cells);
  const statistics::Effects effects = statistics::effects_of(cells, units.cells.size() <= kMostCells);
  std::vector<statistics::TermMask> terms;
  for (const statistics::EstimableTerm& term : effects.terms) terms.push_back(term.term);
  const auto rows_of = [&](statistics::SumsType type) {
    return statistics::blocked_anova(codes, values, blocks, terms, type, statistics::Dependent::kLeaveOut,
                                     statistics::rounding_of(largest, 1));
  };
  auto rows = rows_of(statistics::SumsType::kTwo);
  if (!rows) {
    table.refused = rows.error().message;
    return table;
  }
  bool by_link = false;
  const auto draws = complete_draws(units.cells, &by_link);
  if (const auto p = drawwise_p(cells, effects, draws); !p.empty()) {
    table.robust_method = by_link ? "links" : "blocks";
    table.p_robust.assign(p.begin(), p.end());
  } else if (const auto by_term = linkwise_p(samples, units, effects); !by_term.empty()) {
    table.robust_method = "links";
    table.p_robust = by_term;
  } else if (const auto robust = statistics::hc3_anova(statistics::aggregate(codes, values), terms, statistics::SumsType::kThree);
             robust && !recurring_links(units) && !units.cells[0].sliced) {
    // Type II with HC3 weighs a factor's cells by their spreads, which is no question that somebody asks: of two cells that
    // differ by d and -d, the quieter one decides. Type III weighs cells alike, as contrasts do, and p beside it has to.
    if (auto alike = rows_of(statistics::SumsType::kThree)) {
      rows = std::move(alike);
      table.type = 3;
      table.robust_method = "HC3";
      for (size_t t = 0; t < terms.size(); ++t) table.p_robust.push_back((*robust)[t].p_value);
    }
  }
  table.rows = *std::move(rows);
  name_effects(effects, table);
  if (!table.p_robust.empty()) table.p_robust.resize(table.rows.size());
  return table;
}

namespace {

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

}  // namespace

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
  // Each workload's cells are those that any has: the design's.
  std::set<std::vector<uint32_t>> design;
  for (const WorkloadUnits& workload : workloads)
    for (const CellUnits& cell : workload.cells) design.insert(cell.levels);
  std::vector<std::vector<double>> values;
  for (size_t w = 0; w < workloads.size(); ++w) {
    values.emplace_back();
    for (const CellUnits& cell : workloads[w].cells) values.back().push_back(cell.moments.mean);
    if (values.back().size() == design.size()) continue;
    table.refused = samples.workloads[w] + " lacks values in " + std::to_string(design.size() - values.back().size()) + " of " +
                    std::to_string(design.size()) + " cells; fill them or leave the " + samples.workload_word + " out";
    return table;
  }
  const statistics::FactorCodes cells = varying_codes(samples, varying, workloads[0].cells);
  const statistics::Effects effects = statistics::effects_of(cells, design.size() <= kMostCells);
  auto rows = within_cells(cells_by_program(samples, values), cells, effects);
  if (!rows) {
    table.refused = rows.error().message;
    return table;
  }
  name_effects(effects, table);
  for (statistics::WithinRow& row : *rows) {
    table.errors.push_back({row.error_df, row.error_sum_squares, row.greenhouse_geisser, row.p_greenhouse_geisser});
    table.rows.push_back(std::move(row.anova));
  }
  return table;
}

}  // namespace stab::report
