// The dip, by the steps (i) to (vii) of the paper's section 2, as written there: the interval that may hold the mode shrinks
// from both ends, and left of it the distribution is compared with its greatest convex minorant, right of it with its least
// concave majorant. Heights are numbers of values; the dip is half of the largest distance as a share of n.
//
// tests/reference/analysis/generate_dip.R has what R's diptest says.
#include "analysis/statistics/diagnostics/unimodality.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/diagnostics/dip_quantiles.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::statistics {
namespace {

constexpr size_t kLeast = 4;
constexpr size_t kMostGroups = 8;

// Corners of the points (x[i], i) with first <= i <= last: of the greatest convex minorant, or of the least concave majorant.
std::vector<size_t> corners_of(std::span<const double> x, size_t first, size_t last, bool convex) {
  std::vector<size_t> corners;
  for (size_t i = first; i <= last; ++i) {
    while (corners.size() > 1) {
      const size_t a = corners[corners.size() - 2], b = corners.back();
      const double turn = (x[b] - x[a]) * static_cast<double>(i - b) - (x[i] - x[b]) * static_cast<double>(b - a);
      if (convex ? turn > 0 : turn < 0) break;
      corners.pop_back();
    }
    corners.push_back(i);
  }
  return corners;
}

// Its height over each of the points from its first corner on.
std::vector<double> heights_of(std::span<const double> x, const std::vector<size_t>& corners) {
  std::vector<double> heights;
  for (size_t c = 0; c + 1 < corners.size(); ++c) {
    const size_t from = corners[c], to = corners[c + 1];
    const double slope = static_cast<double>(to - from) / (x[to] - x[from]);
    for (size_t i = from; i < to; ++i) heights.push_back(static_cast<double>(from) + slope * (x[i] - x[from]));
  }
  heights.push_back(static_cast<double>(corners.back()));
  return heights;
}

size_t first_at_least(const std::vector<size_t>& corners, size_t i) {
  return *std::lower_bound(corners.begin(), corners.end(), i);
}
size_t last_at_most(const std::vector<size_t>& corners, size_t i) {
  return *(std::upper_bound(corners.begin(), corners.end(), i) - 1);
}

// Beside p: twice the dip, in values, and where it is.
struct Dip {
  double twice = 1;
  size_t upper_from = 0;
};

// pre: x ascending, without ties. The distribution jumps at x[i] from i to i + 1; the minorant touches it below the jumps, at
// the points' heights, the majorant above them, 1 higher.
Dip dip_of(std::span<const double> x) {
  Dip dip;
  size_t low = 0, high = x.size() - 1;
  while (low < high) {
    const std::vector<size_t> minorant = corners_of(x, low, high, true), majorant = corners_of(x, low, high, false);
    const std::vector<double> below = heights_of(x, minorant), above = heights_of(x, majorant);
    double distance = 0;
    size_t next_low = low, next_high = high;
    const auto look = [&](size_t at, size_t left, size_t right) {
      const double here = above[at - low] + 1 - below[at - low];
      if (here < distance) return;
      distance = here, next_low = left, next_high = right;
    };
    for (const size_t at : minorant) look(at, at, first_at_least(majorant, at));
    for (const size_t at : majorant) look(at, last_at_most(minorant, at), at);
    if (distance <= dip.twice) break;
    for (size_t i = low; i <= next_low; ++i)  // from the minorant up to the upper end of the jump
      if (const double d = static_cast<double>(i + 1) - below[i - low]; d > dip.twice) dip = {d, i + 1};
    for (size_t i = next_high; i <= high; ++i)
      if (const double d = above[i - low] + 1 - static_cast<double>(i); d > dip.twice) dip = {d, i};
    if (next_low == low && next_high == high) break;
    low = next_low, high = next_high;
  }
  return dip;
}

// The smallest step between two values is taken for that of the clock; where steps vary, as on a log scale, that to the nearer
// neighbour, if it is of that size.
std::vector<double> without_ties(std::span<const double> sorted) {
  std::vector<double> out(sorted.begin(), sorted.end());
  double step = HUGE_VAL;
  bool ties = false;
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] > sorted[i - 1]) step = std::min(step, sorted[i] - sorted[i - 1]);
    else ties = true;
  }
  if (!ties) return out;
  for (size_t from = 0; from < sorted.size();) {
    size_t to = from + 1;
    while (to < sorted.size() && sorted[to] == sorted[from]) ++to;
    double room = HUGE_VAL;
    if (from > 0) room = std::min(room, sorted[from] - sorted[from - 1]);
    if (to < sorted.size()) room = std::min(room, sorted[to] - sorted[from]);
    constexpr double kSameSize = 4;
    if (room > kSameSize * step) room = step;
    const auto count = static_cast<double>(to - from);
    for (size_t i = from; i < to; ++i) out[i] += room * ((static_cast<double>(i - from) + 0.5) / count - 0.5);
    from = to;
  }
  // Beyond the last digit of a value there is no room to be spread over; what is still tied counts as one value more often.
  return out;
}

// log p of a scaled dip among the quantiles of one size. What lies beyond the last quantile goes on in a straight line, which
// is above the true tail, as that falls faster and faster; below kSmallest nobody has simulated anything, and p stays there.
double log_p(const double (&quantiles)[kDipTailCount], double scaled) {
  if (scaled <= quantiles[0]) return 0;
  size_t above = 1;
  while (above + 1 < kDipTailCount && scaled > quantiles[above]) ++above;
  const double a = quantiles[above - 1], b = quantiles[above];
  const double from = std::log(kDipTails[above - 1]), to = std::log(kDipTails[above]);
  constexpr double kSmallest = 1e-5;
  return b > a ? std::max(std::log(kSmallest), from + (scaled - a) / (b - a) * (to - from)) : to;
}

double p_of(double dip, size_t size) {
  const double n = static_cast<double>(size), scaled = std::sqrt(n) * dip;
  if (n >= kDipSizes[kDipSizeCount - 1]) return std::exp(log_p(kDipQuantiles[kDipSizeCount - 1], scaled));
  size_t row = 0;
  while (kDipSizes[row + 1] <= n) ++row;
  const double share = std::log(n / kDipSizes[row]) / std::log(kDipSizes[row + 1] / kDipSizes[row]);
  return std::exp((1 - share) * log_p(kDipQuantiles[row], scaled) + share * log_p(kDipQuantiles[row + 1], scaled));
}

// pre: sorted, not constant
DipTest test_of(std::span<const double> sorted) {
  std::vector<double> x = without_ties(sorted);
  x.erase(std::unique(x.begin(), x.end()), x.end());
  if (x.size() < kLeast) return {};
  // At a size at which differences of neighbours don't underflow.
  const double origin = x.front(), range = x.back() - x.front();
  for (double& value : x) value = (value - origin) / range;
  x.erase(std::unique(x.begin(), x.end()), x.end());
  if (x.size() < kLeast) return {};
  const Dip found = dip_of(x);
  DipTest test;
  test.dip = found.twice / (2 * static_cast<double>(x.size()));
  test.p_value = p_of(test.dip, x.size());
  test.upper_from = x.size() == sorted.size() ? found.upper_from : 0;
  return test;
}

// The groups that begin there.
std::vector<std::span<const double>> groups_at(std::span<const double> sorted, const std::vector<size_t>& starts) {
  std::vector<std::span<const double>> groups;
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : sorted.size();
    groups.push_back(sorted.subspan(starts[i], end - starts[i]));
  }
  return groups;
}

// The splits, moved until each value is in the group whose median is nearest.
void settle(std::span<const double> sorted, std::vector<size_t>& starts) {
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> medians;
    for (const auto group : groups_at(sorted, starts)) medians.push_back(quantile_sorted(group, 0.5));
    std::vector<size_t> next{0};
    for (size_t i = 1; i < starts.size(); ++i) {
      const double middle = medians[i - 1] + (medians[i] - medians[i - 1]) / 2;
      next.push_back(static_cast<size_t>(std::upper_bound(sorted.begin(), sorted.end(), middle) - sorted.begin()));
      if (next[i] <= next[i - 1] || next[i] == sorted.size()) return;  // a group would be empty
    }
    if (next == starts) return;
    starts = std::move(next);
  }
}

void split(std::span<const double> sorted, size_t offset, double level, std::vector<size_t>& starts) {
  if (sorted.size() < 2 * kLeast || sorted.front() == sorted.back() || starts.size() >= kMostGroups) return;
  const DipTest test = test_of(sorted);
  if (test.p_value > level || test.upper_from == 0 || test.upper_from >= sorted.size()) return;
  const size_t at = test.upper_from;
  starts.push_back(offset + at);
  split(sorted.first(at), offset, level, starts);
  split(sorted.subspan(at), offset + at, level, starts);
}

}  // namespace

Result<DipTest> dip_test(std::span<const double> values) {
  STAB_CHECK_OK(check_sample(values, kLeast, "the dip test"));
  if (constant(values)) return bad_input("all values are equal: they have no shape");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return test_of(sorted);
}

std::vector<std::span<const double>> groups_of_values(std::span<const double> sorted, double level) {
  std::vector<size_t> starts{0};
  split(sorted, 0, level, starts);
  std::sort(starts.begin(), starts.end());
  settle(sorted, starts);
  return groups_at(sorted, starts);
}

}  // namespace stab::statistics
