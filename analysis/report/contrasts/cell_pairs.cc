#include "analysis/report/contrasts/cell_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/report/contrasts/combination.h"
#include "analysis/statistics/distributions/distributions.h"

namespace stab::report {
namespace {

using Levels = std::vector<uint32_t>;

struct Tested {
  statistics::TTest test;
  uint64_t n = 0;
  std::string refused;
  Shared shared;
  bool by_link = false;
  Route route = Route::kCells;
};
// Of one workload, by the two cells' levels.
using TestedPairs = std::map<std::pair<Levels, Levels>, Tested>;

// In a treatment whose differences are to hold over layouts.
bool differ_over_layouts(const Samples& samples, const CellUnits& a, const CellUnits& b) {
  for (size_t f = 0; f < samples.factors.size(); ++f)
    if (a.levels[f] != b.levels[f] && samples.factors[f].holds_over_layouts()) return true;
  return false;
}

TestedPairs tested_pairs(const Samples& samples, const WorkloadUnits& workload) {
  TestedPairs out;
  std::optional<LinkFit> fit;
  for (size_t a = 0; a < workload.cells.size(); ++a) {
    for (size_t b = a + 1; b < workload.cells.size(); ++b) {
      const CellUnits &first = workload.cells[a], &second = workload.cells[b];
      Tested& tested = out[{first.levels, second.levels}];
      if ((first.one_layout || second.one_layout) && differ_over_layouts(samples, first, second)) {
        tested.refused = kOneLayoutASide;
        continue;
      }
      Combination found = test_combination({{&second, 1}, {&first, -1}}, {}, first.moments.mean, samples.alpha, workload, fit);
      tested = {found.test, found.n, std::move(found.refused), std::move(found.shared), found.by_link, found.route};
    }
  }
  return out;
}

// The pairs that each workload has, averaged over all of them.
TestedPairs over_these(const Samples& samples, const std::vector<TestedPairs>& workloads) {
  TestedPairs out;
  for (const auto& [cells, first] : workloads[0]) {
    Tested over;
    over.n = first.n;
    std::vector<MeanPart> tests;
    for (size_t w = 0; w < workloads.size(); ++w) {
      const auto at = workloads[w].find(cells);
      if (at == workloads[w].end()) break;
      if (!at->second.refused.empty() && over.refused.empty())
        over.refused = "refused for " + samples.workloads[w] + ": " + at->second.refused;
      const Tested& one = at->second;
      tests.push_back({&one.test, &one.shared, one.by_link, sharing_group(samples, w, one.route)});
      over.n = std::min(over.n, at->second.n);
    }
    if (tests.size() < workloads.size()) continue;
    if (over.refused.empty()) over.test = mean_of(tests, samples.alpha).test;
    out.emplace(cells, std::move(over));
  }
  return out;
}

Interval interval_at(Scale scale, const statistics::TTest& test, double level) {
  const double half = statistics::t_quantile(1 - level / 2, test.df) * test.standard_error;
  return {to_people(scale, test.estimate), to_people(scale, test.estimate - half), to_people(scale, test.estimate + half)};
}

bool is_finite(const Interval& interval) {
  return std::isfinite(interval.estimate) && std::isfinite(interval.low) && std::isfinite(interval.high);
}

CellPairs family(std::string workload, const TestedPairs& tested, Scale scale, double level) {
  CellPairs out{std::move(workload), {}, {}};
  std::map<Levels, size_t> places;
  size_t answered = 0;
  for (const auto& [cells, pair] : tested) {
    places[cells.first], places[cells.second];
    answered += pair.refused.empty();
  }
  for (auto& [levels, place] : places) {
    place = out.cells.size();
    out.cells.push_back(levels);
  }
  for (const auto& [cells, pair] : tested) {
    CellPair& added = out.pairs.emplace_back();
    added.a = places[cells.first];
    added.b = places[cells.second];
    added.n = pair.n;
    added.refused = pair.refused;
    if (!added.refused.empty()) continue;
    added.one = interval_at(scale, pair.test, level);
    added.all = interval_at(scale, pair.test, level / static_cast<double>(answered));
    if (!is_finite(added.one) || !is_finite(added.all))
      added = {added.a, added.b, {}, {}, added.n, "its interval is beyond what a double holds; rescale the response"};
  }
  return out;
}

}  // namespace

PairsOfResponse cell_pairs(const Samples& samples, size_t response, const std::vector<WorkloadUnits>& units, double level) {
  PairsOfResponse out;
  for (const WorkloadUnits& workload : units) out.asked += workload.cells.size() * (workload.cells.size() - 1) / 2;
  out.too_many = out.asked > kMostCellPairs;
  if (out.asked == 0 || out.too_many) return out;
  const Scale scale = samples.responses[response].scale;
  std::vector<TestedPairs> tested;
  for (size_t w = 0; w < units.size(); ++w) {
    tested.push_back(tested_pairs(samples, units[w]));
    out.families.push_back(family(samples.workloads[w], tested.back(), scale, level));
  }
  if (units.size() > 1) out.families.push_back(family("", over_these(samples, tested), scale, level));
  return out;
}

}  // namespace stab::report
