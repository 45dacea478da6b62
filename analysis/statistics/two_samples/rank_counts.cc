// Two samples of 100,000 have 10^10 differences. The k-th one is found by bisection on its value: counting the
// pairs at or below a value takes one pass over the sorted samples. When few enough are left between the bounds,
// they are collected and selected.
#include "analysis/statistics/two_samples/rank_counts.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stab::statistics {
namespace {

// Kth smallest of a family of sorted rows. A row i holds values row(i, j) for j in [first(i), last(i)), ascending
// in j, and rows go up with i.
template <typename Count, typename Collect>
double select(double low, double high, uint64_t total, uint64_t k, const Count& count, const Collect& collect) {
  // invariant: count(low) < k <= count(high), where count(v) is the number of values <= v
  uint64_t below = 0, upto = total;
  constexpr uint64_t kCollect = 1 << 15;
  // Narrows the bounds to a value; false where it is outside them.
  const auto narrow = [&](double value) {
    if (!(value > low && value < high)) return false;
    const uint64_t at = count(value);
    if (at < k) {
      low = value;
      below = at;
    } else {
      high = value;
      upto = at;
    }
    return true;
  };
  for (int step = 0; step < 200 && upto - below > kCollect; ++step) {
    // The counts are close to linear between near bounds: a pair of guesses on both sides of the interpolated place
    // takes off most of what is left. Halving keeps the pace where they aren't.
    constexpr double kAside = 1.0 / 64;
    const double share = static_cast<double>(k - below) / static_cast<double>(upto - below);
    const double from = low, width = high - low;
    narrow(from + width * (share - kAside));
    narrow(from + width * (share + kAside));
    if (step % 2 == 1 && !narrow(low + (high - low) / 2)) break;
  }
  // Neighbouring doubles, or few values: those in (low, high].
  if (upto - below > kCollect) return high;
  std::vector<double> values;
  values.reserve(upto - below);
  collect(low, high, values);
  const auto position = values.begin() + static_cast<ptrdiff_t>(k - below - 1);
  std::nth_element(values.begin(), position, values.end());
  return *position;
}

}  // namespace

double kth_difference(std::span<const double> x, std::span<const double> y, uint64_t k) {
  // #{x_i - y_j <= v}: as i grows, the y that are large enough shrink from the front.
  const auto count = [&](double v) {
    uint64_t pairs = 0;
    size_t j = 0;
    for (double value : x) {
      while (j < y.size() && value - y[j] > v) ++j;
      pairs += y.size() - j;
    }
    return pairs;
  };
  const auto collect = [&](double low, double high, std::vector<double>& out) {
    size_t from = 0, to = 0;  // y[from..to) give differences in (low, high]
    for (double value : x) {
      while (from < y.size() && value - y[from] > high) ++from;
      to = std::max(to, from);
      while (to < y.size() && value - y[to] > low) ++to;
      for (size_t j = from; j < to; ++j) out.push_back(value - y[j]);
    }
  };
  const double least = x.front() - y.back(), most = x.back() - y.front();
  const double step = std::max(std::fabs(least), std::fabs(most)) * 1e-15 + 1e-300;
  return select(least - step, most, static_cast<uint64_t>(x.size()) * y.size(), k, count, collect);
}

double kth_walsh_average(std::span<const double> x, uint64_t k) {
  const auto count = [&](double v) {
    uint64_t pairs = 0;
    size_t j = x.size();  // x[0..j) give averages <= v with x[i]
    for (size_t i = 0; i < x.size(); ++i) {
      while (j > 0 && (x[i] + x[j - 1]) / 2 > v) --j;
      if (j > i) pairs += j - i;
    }
    return pairs;
  };
  const auto collect = [&](double low, double high, std::vector<double>& out) {
    size_t to = x.size(), from = x.size();
    for (size_t i = 0; i < x.size(); ++i) {
      while (to > 0 && (x[i] + x[to - 1]) / 2 > high) --to;
      while (from > 0 && (x[i] + x[from - 1]) / 2 > low) --from;
      for (size_t j = std::max(from, i); j < to; ++j) out.push_back((x[i] + x[j]) / 2);
    }
  };
  const double step = std::max(std::fabs(x.front()), std::fabs(x.back())) * 1e-15 + 1e-300;
  return select(x.front() - step, x.back(), static_cast<uint64_t>(x.size()) * (x.size() + 1) / 2, k, count,
                collect);
}

}  // namespace stab::statistics
