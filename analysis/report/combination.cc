#include "analysis/report/combination.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/clusters.h"
#include "analysis/statistics/satterthwaite.h"

namespace stab::analysis {
namespace {

// By the clusters that the data name. pre: there are some
void by_clusters(Combination& out, const Result<ClusterContrast>& clustered, const std::vector<Stratum2>& strata) {
  out.route = Route::kClusters;
  if (!clustered) {
    out.refused = clustered.error().message;
    return;
  }
  out.test = clustered->test;
  out.point = out.test.estimate;
  out.n = clustered->clusters;
  out.blocked = clustered->crossed;
  if (clustered->crossed) {
    if (const auto p = signed_rank_p(clustered->draws)) out.p_rank = *p;
  } else if (clustered->nested) {
    if (const auto p = van_elteren_p(strata)) out.p_rank = *p;
  }
}

}  // namespace

Combination test_combination(const CellCoefficients& coefficients, const std::vector<Stratum2>& strata, double level,
                             double alpha, const WorkloadUnits& workload, std::optional<LinkFit>& fit) {
  Combination out;
  std::vector<WeightedCell> cells;
  out.n = UINT64_MAX;
  for (const auto& [cell, coefficient] : coefficients) {
    cells.push_back({cell->moments, coefficient});
    out.n = std::min(out.n, cell->moments.n);
    out.point += coefficient * cell->moments.mean;
    out.by_link |= is_linked(*cell);
  }
  if (const auto clustered = cluster_contrast(coefficients, alpha)) {
    by_clusters(out, *clustered, strata);
    return out;
  }
  bool recurring = false;
  if (const auto values = block_contrasts(coefficients, &recurring)) {
    out.blocked = true;
    out.route = Route::kBlocks;
    out.n = values->size();
    const auto blocked = one_sample_t(*values, 0, Alternative::kTwoSided, 1 - alpha, std::fabs(level));
    if (!blocked) {
      out.refused = blocked.error().message;
      return out;
    }
    out.test = *blocked;
    out.point = blocked->estimate;
    if (const auto p = signed_rank_p(*values)) out.p_rank = *p;
    if (!recurring) out.draws = *values;
    return out;
  }
  if (out.by_link && !fit) fit = fit_links(workload);
  if (const auto linked = fit ? link_contrast(*fit, workload, coefficients, alpha) : std::nullopt) {
    out.blocked = linked->blocked;
    out.route = Route::kLinks;
    out.test = linked->test;
    out.point = linked->test.estimate;
    if (!strata.empty())
      if (const auto p = van_elteren_p(strata)) out.p_rank = *p;
    return out;
  }
  auto test = welch_contrast(cells, 0, Alternative::kTwoSided, 1 - alpha);
  if (!test) {
    out.refused = test.error().message;
    return out;
  }
  out.test = *test;
  // Ranking a million values takes longer than all the rest, and says the same as means there.
  constexpr uint64_t kMostRanked = 100'000;
  uint64_t values = 0;
  for (const WeightedCell& cell : cells) values += cell.moments.n;
  if (values <= kMostRanked && !strata.empty())
    if (const auto p = van_elteren_p(strata)) out.p_rank = *p;
  return out;
}

TTest mean_of(const std::vector<const TTest*>& parts, double alpha) {
  double estimate = 0;
  VarianceSum variance;
  const auto count = static_cast<double>(parts.size());
  for (const TTest* part : parts) {
    estimate += part->estimate / count;
    variance.add(part->standard_error * part->standard_error / (count * count), part->df);
  }
  return t_test_of(estimate, std::sqrt(variance.sum()), variance.df(), 0, Alternative::kTwoSided, 1 - alpha);
}

}  // namespace stab::analysis
