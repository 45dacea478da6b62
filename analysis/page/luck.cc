#include "analysis/page/luck.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/page/distribution.h"
#include "analysis/report/experiment/draws.h"

namespace stab::page {
namespace {

constexpr size_t kMostDrawn = 201;
constexpr size_t kMostLinks = 300;  // of a side: 90,000 pairs tell as much as a million

struct Links {
  std::vector<double> means;
  uint64_t fewest_runs = 0;
};

Links links_of(const report::CellUnits& cell) {
  std::map<uint64_t, std::pair<double, uint64_t>> sums;
  for (size_t i = 0; i < cell.trial_values.size(); ++i) {
    auto& [sum, runs] = sums[cell.trial_layouts[i]];
    sum += cell.trial_values[i];
    ++runs;
  }
  Links out;
  for (const auto& [link, sum] : sums) {
    if (out.means.size() == kMostLinks) break;
    out.means.push_back(sum.first / static_cast<double>(sum.second));
    out.fewest_runs = out.fewest_runs == 0 ? sum.second : std::min(out.fewest_runs, sum.second);
  }
  return out;
}

LuckOfLinks compare(const std::string& workload, const report::CellUnits& level, const report::CellUnits& baseline,
                    double margin) {
  const bool same = &level == &baseline;
  const Links b = links_of(level), a = links_of(baseline);
  LuckOfLinks out;
  out.workload = workload;
  out.level = level.levels;
  out.baseline = baseline.levels;
  out.links = std::min(a.means.size(), b.means.size());
  out.fewest_runs = std::min(a.fewest_runs, b.fewest_runs);
  out.truth = same ? 0 : statistics::mean(b.means) - statistics::mean(a.means);
  std::vector<double> differences;
  for (size_t i = 0; i < a.means.size(); ++i) {
    for (size_t j = 0; j < b.means.size(); ++j) {
      if (same && i == j) continue;
      const double difference = b.means[j] - a.means[i];
      differences.push_back(difference);
      out.wrong += !same && difference * out.truth < 0;
      out.beyond_margin += std::fabs(difference - out.truth) > margin;
    }
  }
  out.pairs = differences.size();
  out.wrong /= static_cast<double>(out.pairs);
  out.beyond_margin /= static_cast<double>(out.pairs);
  std::sort(differences.begin(), differences.end());
  out.differences = quantiles_of(differences, kMostDrawn);
  return out;
}

// The two differ in one factor, a treatment, in which `other` has the baseline.
bool is_comparison(const report::Samples& samples, const report::CellUnits& cell, const report::CellUnits& other) {
  size_t differing = 0, at = 0;
  for (size_t f = 0; f < cell.levels.size(); ++f) {
    if (cell.levels[f] == other.levels[f]) continue;
    ++differing;
    at = f;
  }
  return differing == 1 && !samples.factors[at].layout && other.levels[at] == samples.factors[at].baseline;
}

}  // namespace

std::vector<LuckOfLinks> luck_of(const report::Samples& samples, const std::string& workload, const report::WorkloadUnits& units,
                                 double margin) {
  std::vector<LuckOfLinks> out;
  for (const report::CellUnits& cell : units.cells) {
    if (!report::is_linked(cell) || cell.trial_links.empty()) continue;
    for (const report::CellUnits& other : units.cells)
      if (report::is_linked(other) && is_comparison(samples, cell, other)) out.push_back(compare(workload, cell, other, margin));
    out.push_back(compare(workload, cell, cell, margin));
  }
  return out;
}

}  // namespace stab::page
