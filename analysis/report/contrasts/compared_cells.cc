// Cells are compared in pairs that differ in one factor alone. In a fraction no two cells do: there all cells carry the effect,
// by the linear model of main effects.
#include "analysis/report/contrasts/compared_cells.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "analysis/report/contrasts/combination.h"
#include "analysis/statistics/models/effects.h"

namespace stab::report {
namespace {

// No two cells differ in this factor alone: a fraction. Its effect is in the means of all cells.
Result<ComparedCells> over_all_cells(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload) {
  const Factor& facts = samples.factors[factor];
  STAB_TRY(const statistics::MainEffect effect,
           statistics::main_effect(cell_codes(samples, workload.cells), factor, level, facts.baseline));
  ComparedCells comparison;
  comparison.aliases = effect.aliases;
  double baselines = 0;
  for (size_t c = 0; c < workload.cells.size(); ++c) {
    const CellUnits& cell = workload.cells[c];
    if (cell.levels[factor] == facts.baseline) {
      comparison.level += cell.moments.mean;
      baselines += 1;
    }
    if (std::fabs(effect.weights[c]) < 1e-12) continue;  // takes no part
    comparison.coefficients[&cell] = effect.weights[c];
    comparison.one_layout |= cell.one_layout;
  }
  comparison.level /= baselines;
  if (comparison.one_layout && facts.holds_over_layouts())
    return bad_input("some cells ran in one layout each, and the effects of a fraction are taken from all cells: the difference "
                     "may be link-order bias; randomize code, or link with several seeds");
  return comparison;
}

}  // namespace

Result<ComparedCells> compared_cells(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload) {
  const Factor& facts = samples.factors[factor];
  std::map<std::vector<uint32_t>, std::pair<const CellUnits*, const CellUnits*>> pairs;
  for (const CellUnits& cell : workload.cells) {
    std::vector<uint32_t> others = cell.levels;
    others[factor] = 0;
    if (cell.levels[factor] == level) pairs[others].first = &cell;
    if (cell.levels[factor] == facts.baseline) pairs[others].second = &cell;
  }
  size_t compared = 0, single = 0;
  // A treatment is compared across layouts: pairs of cells that hold one layout each say nothing about others,
  // so they take no part as long as there are better ones.
  const auto repeats = [](const auto& pair) { return pair.first->one_layout || pair.second->one_layout; };
  for (const auto& [others, pair] : pairs) {
    if (!pair.first || !pair.second) continue;
    ++compared;
    if (repeats(pair)) ++single;
  }
  if (compared == 0) return over_all_cells(samples, factor, level, workload);
  const bool skip_single = facts.holds_over_layouts() && single < compared;
  if (facts.holds_over_layouts() && single == compared) return bad_input(kOneLayoutASide);
  ComparedCells comparison;
  const auto weight = static_cast<double>(skip_single ? compared - single : compared);
  for (const auto& [others, pair] : pairs) {
    if (!pair.first || !pair.second || (skip_single && repeats(pair))) continue;
    comparison.strata.push_back({pair.first->values, pair.second->values});
    comparison.coefficients[pair.first] = 1 / weight;
    comparison.coefficients[pair.second] = -1 / weight;
    comparison.level += pair.second->moments.mean / weight;
    comparison.one_layout |= repeats(pair);
  }
  return comparison;
}

}  // namespace stab::report
