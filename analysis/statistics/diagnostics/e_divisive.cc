// The largest Q of all splits of a segment of n values takes n^2 steps and memory for n: for each split the sums of distances
// follow its end, and each value's distances to what lies before the split gain one from split to split.
#include "analysis/statistics/diagnostics/e_divisive.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/statistics/two_samples/descriptive.h"
#include "base/number_text.h"
#include "base/rng.h"

namespace stab::statistics {
namespace {

constexpr double kMostPairings = 2e10;  // n^2 times permutations, of 2.4 ns: a minute for each split that is asked about

struct Split {
  size_t at = 0;  // first index of what follows it; 0: the segment is too short
  double q = 0;
};

class Search {
 public:
  explicit Search(size_t least) : least_(least) {}

  // Of values[from, to).
  Split best(std::span<const double> values, size_t from, size_t to) {
    const size_t n = to - from;
    Split out;
    if (n < 2 * least_) return out;
    const double* x = &values[from];
    before_.assign(n, 0);
    across_.assign(n, 0);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < i; ++j) before_[i] += std::fabs(x[i] - x[j]);
    double left = 0;  // within [0, split)
    out.q = -HUGE_VAL;
    for (size_t split = 1; split + least_ <= n; ++split) {
      left += before_[split - 1];
      const double added = x[split - 1];
      for (size_t i = split; i < n; ++i) across_[i] += std::fabs(x[i] - added);
      if (split < least_) continue;
      double between = 0, right = 0;
      const auto m = static_cast<double>(split);
      for (size_t end = split + 1; end <= n; ++end) {
        between += across_[end - 1];
        right += before_[end - 1] - across_[end - 1];
        if (end - split < least_) continue;
        const auto k = static_cast<double>(end - split);
        const double q = (2 * between - 2 * k / (m - 1) * left - 2 * m / (k - 1) * right) / (m + k);
        if (q > out.q) out = {from + split, q};
      }
    }
    return out;
  }

 private:
  size_t least_;
  std::vector<double> before_;  // of each value: the distances to all before it in the segment
  std::vector<double> across_;  // and to those before the split
};

// A power of two, by which values are divided without rounding.
double scale_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return std::ldexp(1.0, std::ilogb(largest));
}

Status check(std::span<const double> values, size_t least, double alpha, uint64_t rounds) {
  STAB_CHECK_OK(check_sample(values, 4, "e-divisive"));
  if (constant(values)) return bad_input("all values are equal: there is no change to find");
  if (least < 2) return bad_input("a segment has 2 values at least: distances within it are compared");
  if (!(alpha > 0 && alpha < 1)) return bad_input("alpha must lie between 0 and 1");
  if (1 / (static_cast<double>(rounds) + 1) > alpha)
    return bad_input("with " + std::to_string(rounds) + " permutations p is never below " +
                     number_text(1 / (static_cast<double>(rounds) + 1)) + "; ask for more");
  const auto n = static_cast<double>(values.size());
  if (n * n * (static_cast<double>(rounds) + 1) > kMostPairings)
    return bad_input(std::to_string(values.size()) + " values with " + std::to_string(rounds) +
                     " permutations take too long: their number squared times the permutations is at most 2e10");
  return {};
}

// Distances of such sizes that their sums hold: as shares of about the largest value.
std::vector<double> shares_of(std::span<const double> values, double scale) {
  std::vector<double> series(values.begin(), values.end());
  for (double& value : series) value /= scale;
  return series;
}

// `redraw` makes another series without a change but at `ends`, of the same scale as `series`.
using Redraw = std::function<void(std::span<const size_t> ends, std::span<double>)>;

// pre: check() holds. scale: what Q is to be multiplied with
ChangePoints search_for(std::span<const double> series, double scale, size_t least, double alpha, uint64_t rounds,
                        const Redraw& redraw) {
  ChangePoints out;
  Search search(least);
  std::vector<size_t> ends{0, series.size()};
  const auto best_of_all = [&](std::span<const double> of) {
    Split best;
    best.q = -HUGE_VAL;
    for (size_t segment = 0; segment + 1 < ends.size(); ++segment) {
      const Split one = search.best(of, ends[segment], ends[segment + 1]);
      if (one.at > 0 && one.q > best.q) best = one;
    }
    return best;
  };
  std::vector<double> other(series.begin(), series.end());
  while (true) {
    const Split split = best_of_all(series);
    if (split.at == 0) return out;
    uint64_t as_large = 1, asked = 0;
    std::copy(series.begin(), series.end(), other.begin());
    // More than so many, and p lies above alpha whatever the rest says.
    const double most = alpha * (static_cast<double>(rounds) + 1);
    while (asked < rounds && static_cast<double>(as_large) <= most) {
      redraw(ends, other);
      ++asked;
      // A permutation that makes the same split has the same Q but for rounding.
      as_large += best_of_all(other).q >= split.q - 1e-12 * std::fabs(split.q);
    }
    const double p = static_cast<double>(as_large) / (static_cast<double>(asked) + 1);
    const ChangePoint point{split.at, split.q * scale, p};
    if (p > alpha) {
      out.rejected.push_back(point);
      return out;
    }
    out.found.push_back(point);
    ends.insert(std::lower_bound(ends.begin(), ends.end(), split.at), split.at);
  }
}

}  // namespace

Result<ChangePoints> e_divisive(std::span<const double> values, size_t least, double alpha, uint64_t permutations,
                                uint64_t seed) {
  STAB_CHECK_OK(check(values, least, alpha, permutations));
  const double scale = scale_of(values);
  const std::vector<double> series = shares_of(values, scale);
  Rng rng = Rng::stream(seed, "e-divisive");
  return search_for(series, scale, least, alpha, permutations, [&rng](std::span<const size_t> ends, std::span<double> order) {
    for (size_t segment = 0; segment + 1 < ends.size(); ++segment)
      rng.shuffle(order.subspan(ends[segment], ends[segment + 1] - ends[segment]));
  });
}

Result<ChangePoints> e_divisive_in_groups(std::span<const double> values, std::span<const uint32_t> groups, size_t least,
                                          double alpha, uint64_t permutations, uint64_t seed) {
  STAB_CHECK_OK(check(values, least, alpha, permutations));
  const double scale = scale_of(values);
  const std::vector<double> series = shares_of(values, scale);
  Rng rng = Rng::stream(seed, "e-divisive in groups");
  struct Part {
    size_t from = 0, size = 0;
  };
  std::vector<Part> parts;  // of one segment: a group, or what a change has left of it
  return search_for(series, scale, least, alpha, permutations, [&](std::span<const size_t> ends, std::span<double> order) {
    for (size_t segment = 0; segment + 1 < ends.size(); ++segment) {
      parts.clear();
      for (size_t i = ends[segment]; i < ends[segment + 1]; ++i) {
        if (i == ends[segment] || groups[i] != groups[i - 1]) parts.push_back({i, 0});
        ++parts.back().size;
      }
      rng.shuffle(parts);
      size_t at = ends[segment];
      for (const Part& part : parts) {
        std::copy_n(series.begin() + static_cast<ptrdiff_t>(part.from), part.size, order.begin() + static_cast<ptrdiff_t>(at));
        rng.shuffle(order.subspan(at, part.size));
        at += part.size;
      }
    }
  });
}

Result<ChangePoints> e_divisive_against(std::span<const double> values, size_t least, double alpha, uint64_t rounds,
                                        const SeriesWithoutChange& draw) {
  STAB_CHECK_OK(check(values, least, alpha, rounds));
  return search_for(values, 1, least, alpha, rounds, [&draw](std::span<const size_t>, std::span<double> other) { draw(other); });
}

}  // namespace stab::statistics
