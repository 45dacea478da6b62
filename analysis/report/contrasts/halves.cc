#include "analysis/report/contrasts/halves.h"

#include <algorithm>
#include <optional>

#include "analysis/report/contrasts/cell_pairs.h"

namespace stab::report {
namespace {

constexpr size_t kMostShown = 24;

using Levels = std::vector<uint32_t>;

bool is_randomized(const Samples& samples, const Levels& cell) {
  for (size_t f = 0; f < samples.factors.size(); ++f)
    if (samples.factors[f].moves_a_part() && !samples.factors[f].is_fixed(cell[f])) return true;
  return false;
}

// The one treatment in which two cells differ.
std::optional<size_t> treatment_between(const Samples& samples, const Levels& a, const Levels& b) {
  std::optional<size_t> found;
  for (size_t f = 0; f < samples.factors.size(); ++f) {
    if (a[f] == b[f]) continue;
    if (found || samples.factors[f].layout) return {};
    found = f;
  }
  return found;
}

Interval turned(Scale scale, const Interval& interval) {
  if (scale == Scale::kLog) return {1 / interval.estimate, 1 / interval.high, 1 / interval.low};
  return {-interval.estimate, -interval.high, -interval.low};
}

}  // namespace

std::vector<HalfContrast> halves_of(const Samples& samples, const std::vector<WorkloadUnits>& units, double level) {
  size_t plain = 0, randomized = 0;
  for (const WorkloadUnits& workload : units)
    for (const CellUnits& cell : workload.cells) ++(is_randomized(samples, cell.levels) ? randomized : plain);
  const bool treated = std::any_of(samples.factors.begin(), samples.factors.end(),
                                   [](const Factor& factor) { return !factor.layout && factor.levels.size() > 1; });
  if (plain == 0 || randomized == 0 || !treated) return {};
  std::vector<HalfContrast> out;
  for (const CellPairs& family : cell_pairs(samples, 0, units, level).families) {
    if (family.workload.empty()) continue;
    for (const CellPair& pair : family.pairs) {
      const Levels &a = family.cells[pair.a], &b = family.cells[pair.b];
      const auto treatment = treatment_between(samples, a, b);
      if (!treatment) continue;
      const Factor& factor = samples.factors[*treatment];
      const bool turn = b[*treatment] == factor.baseline;
      if (!turn && a[*treatment] != factor.baseline) continue;
      HalfContrast& half = out.emplace_back();
      half.workload = family.workload;
      half.within = text_of_levels(samples, a, treatment);
      half.randomized = is_randomized(samples, a);
      half.factor = factor.name;
      half.level = factor.levels[(turn ? a : b)[*treatment]];
      half.baseline = factor.levels[factor.baseline];
      half.n = pair.n;
      half.refused = pair.refused;
      if (pair.refused.empty()) half.interval = turn ? turned(samples.responses[0].scale, pair.one) : pair.one;
    }
  }
  if (out.size() > kMostShown) out.clear();
  std::stable_sort(out.begin(), out.end(),
                   [](const HalfContrast& x, const HalfContrast& y) { return x.randomized < y.randomized; });
  return out;
}

}  // namespace stab::report
