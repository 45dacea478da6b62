#include "analysis/page/distribution.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::page {

Density density_of(std::span<const double> sorted) {
  constexpr size_t kFewest = 5, kGrid = 121, kBins = 1024;
  Density out;
  if (sorted.size() < kFewest || sorted.front() == sorted.back()) return out;
  const double sd = statistics::moments(sorted).sd();
  const double low = statistics::quantile_sorted(sorted, 0.25), high = statistics::quantile_sorted(sorted, 0.75),
               middle = high - low;
  const double spread = middle > 0 ? std::min(sd, middle / 1.34) : sd;
  const auto n = static_cast<double>(sorted.size());
  out.bandwidth = 0.9 * spread * std::pow(n, -0.2);
  if (!(out.bandwidth > 0) || !std::isfinite(out.bandwidth)) return out;
  const double tail = 2.5 * out.bandwidth, reach = 4 * (middle > 0 ? middle : sd);
  out.from = std::max(sorted.front() - tail, low - reach);
  out.to = std::min(sorted.back() + tail, high + reach);
  // Many values: binned first, so that the sum has at most kBins terms for each point of the grid.
  std::vector<std::pair<double, double>> weighted;
  if (sorted.size() <= kBins) {
    for (const double value : sorted) weighted.emplace_back(value, 1.0);
  } else {
    std::vector<double> counts(kBins);
    const double bin = (out.to - out.from + 2 * tail) / kBins, origin = out.from - tail;
    for (const double value : sorted)
      if (const double at = (value - origin) / bin; at >= 0 && at < kBins) ++counts[static_cast<size_t>(at)];
    for (size_t i = 0; i < kBins; ++i)
      if (counts[i] > 0) weighted.emplace_back(origin + (static_cast<double>(i) + 0.5) * bin, counts[i]);
  }
  for (size_t i = 0; i < kGrid; ++i) {
    const double x = out.from + (out.to - out.from) * static_cast<double>(i) / (kGrid - 1);
    double sum = 0;
    for (const auto& [value, weight] : weighted) sum += weight * statistics::normal_density((x - value) / out.bandwidth);
    out.height.push_back(sum / (n * out.bandwidth));
  }
  return out;
}

std::vector<double> quantiles_of(std::span<const double> sorted, size_t most) {
  if (sorted.size() <= most) return {sorted.begin(), sorted.end()};
  std::vector<double> out;
  for (size_t i = 0; i < most; ++i)
    out.push_back(statistics::quantile_sorted(sorted, static_cast<double>(i) / static_cast<double>(most - 1)));
  return out;
}

NormalPairs normal_pairs(std::span<const double> sorted, size_t most) {
  constexpr size_t kEnds = 25;  // of each tail all are shown: that is where departures are
  NormalPairs out;
  const size_t n = sorted.size(), step = n <= most ? 1 : (n - 2 * kEnds) / (most - 2 * kEnds) + 1;
  for (size_t i = 0; i < n; i += i < kEnds || i + kEnds >= n ? 1 : std::min(step, n - kEnds - i)) {
    out.normal.push_back(statistics::normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(n)));
    out.value.push_back(sorted[i]);
  }
  return out;
}

}  // namespace stab::page
