// Run-order diagnostics. They look at residuals, so that the design's own effects don't count as drift.
#include "analysis/statistics/diagnostics/sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::statistics {

Result<SequenceTest> lag1_autocorrelation(std::span<const double> values) {
  STAB_CHECK_OK(check_sample(values, 10, "lag-1 autocorrelation"));
  const Moments all = moments(values);
  if (constant(values)) return bad_input("all values are equal: they have no correlation");
  STAB_CHECK_OK(check_squares(values));
  double sum = 0;
  for (size_t i = 0; i + 1 < values.size(); ++i) sum += (values[i] - all.mean) * (values[i + 1] - all.mean);
  const auto n = static_cast<double>(values.size());
  SequenceTest test;
  test.statistic = sum / all.m2;
  test.p_value = 2 * normal_upper(std::sqrt(n) * std::fabs(test.statistic + 1 / n));
  return test;
}

Result<SequenceTest> drift(std::span<const double> values) {
  STAB_CHECK_OK(check_sample(values, 10, "drift"));
  if (constant(values)) return bad_input("all values are equal: there is no drift to test");
  const std::vector<double> ranks = average_ranks(values);
  const Moments rank_moments = moments(ranks);
  const auto n = static_cast<double>(values.size());
  double products = 0;
  for (size_t i = 0; i < ranks.size(); ++i)
    products += (ranks[i] - rank_moments.mean) * (static_cast<double>(i) - (n - 1) / 2);
  SequenceTest test;
  test.statistic = products / std::sqrt(rank_moments.m2 * n * (n * n - 1) / 12);
  const double r = std::clamp(test.statistic, -1.0, 1.0);
  test.p_value = r * r >= 1 ? 0 : t_two_sided(r * std::sqrt((n - 2) / (1 - r * r)), n - 2);
  return test;
}

namespace {

// One group's deviations: their number and power sums. Their sum is 0.
struct Powers {
  double n = 0, p2 = 0, p4 = 0;
  size_t neighbours = 0, triples = 0;  // runs of two and of three of this group in the sequence

  double square() const { return p2 / n; }                                                      // E x^2
  double pair() const { return n < 2 ? 0 : -p2 / (n * (n - 1)); }                               // E ab
  double two_squares() const { return n < 2 ? 0 : (p2 * p2 - p4) / (n * (n - 1)); }             // E a^2 b^2
  double triple() const { return n < 3 ? 0 : (2 * p4 - p2 * p2) / (n * (n - 1) * (n - 2)); }    // E a b^2 c
  double four() const {                                                                         // E abcd
    return n < 4 ? 0 : (3 * p2 * p2 - 6 * p4) / (n * (n - 1) * (n - 2) * (n - 3));
  }
};

// Ranks as deviations from their group's mean; groups numbered from 0.
struct Ranked {
  std::vector<double> deviations;
  std::vector<uint32_t> group;
  size_t groups = 0;
};

Ranked ranked_within(std::span<const double> values, std::span<const uint32_t> groups) {
  Ranked ranked;
  ranked.deviations = average_ranks(values);
  std::unordered_map<uint32_t, uint32_t> numbers;
  for (uint32_t group : groups)
    ranked.group.push_back(numbers.try_emplace(group, static_cast<uint32_t>(numbers.size())).first->second);
  ranked.groups = numbers.size();
  std::vector<double> sums(ranked.groups), counts(ranked.groups);
  for (size_t i = 0; i < values.size(); ++i) {
    sums[ranked.group[i]] += ranked.deviations[i];
    counts[ranked.group[i]] += 1;
  }
  for (size_t i = 0; i < values.size(); ++i) ranked.deviations[i] -= sums[ranked.group[i]] / counts[ranked.group[i]];
  return ranked;
}

// Share of all orders of one group whose product sum with the positions is as far from 0 as `observed`.
double exact_drift_p(std::vector<double> deviations, double observed) {
  std::sort(deviations.begin(), deviations.end());
  const double middle = (static_cast<double>(deviations.size()) - 1) / 2;
  double as_far = 0, orders = 0;
  do {  // ties make equal orders appear once, each as likely as the others
    double sum = 0;
    for (size_t i = 0; i < deviations.size(); ++i) sum += deviations[i] * (static_cast<double>(i) - middle);
    as_far += std::fabs(sum) >= std::fabs(observed) - 1e-9;
    orders += 1;
  } while (std::next_permutation(deviations.begin(), deviations.end()));
  return as_far / orders;
}

}  // namespace

// Mean and variance of sum x_t x_(t+1) over all orders within groups: for one group Wald & Wolfowitz (1943), "An exact
// test for randomness in the non-parametric case based on serial correlation", Annals of Mathematical Statistics 14, 378.
// Products of two places count by which of their four values belong together.
Result<SequenceTest> lag1_within(std::span<const double> values, std::span<const uint32_t> groups) {
  STAB_CHECK_OK(check_sample(values, 10, "lag-1 autocorrelation"));
  const Ranked ranked = ranked_within(values, groups);
  const std::vector<double>& x = ranked.deviations;
  const std::vector<uint32_t>& g = ranked.group;
  std::vector<Powers> powers(ranked.groups);
  double squares = 0, sum = 0;
  for (size_t t = 0; t < x.size(); ++t) {
    Powers& own = powers[g[t]];
    own.n += 1;
    own.p2 += x[t] * x[t];
    own.p4 += x[t] * x[t] * x[t] * x[t];
    squares += x[t] * x[t];
    if (t + 1 < x.size()) sum += x[t] * x[t + 1];
  }
  if (squares <= 1e-9) return bad_input("values don't vary within their groups: they have no correlation");
  // Places where two groups meet: (lower, higher) number; how often, and how often at both ends of one value.
  struct Meeting {
    double places = 0, chains = 0;
  };
  std::unordered_map<uint64_t, Meeting> meetings;
  const auto meeting = [&](uint32_t a, uint32_t b) -> Meeting& {
    return meetings[uint64_t{std::min(a, b)} << 32 | std::max(a, b)];
  };
  double between = 0;  // 2 sum over chains a b a of E(a a') E b^2
  for (size_t t = 0; t + 1 < x.size(); ++t) {
    if (g[t] == g[t + 1]) ++powers[g[t]].neighbours;
    else meeting(g[t], g[t + 1]).places += 1;
    if (t + 2 >= x.size() || g[t] != g[t + 2]) continue;
    if (g[t] == g[t + 1]) {
      ++powers[g[t]].triples;
      continue;
    }
    meeting(g[t], g[t + 1]).chains += 1;
    between += 2 * powers[g[t]].pair() * powers[g[t + 1]].square();
  }
  double mean = 0, second = between;
  for (const Powers& own : powers) {
    const auto places = static_cast<double>(own.neighbours), chains = static_cast<double>(own.triples);
    mean += places * own.pair();
    second += places * own.two_squares() + 2 * chains * own.triple() + (places * places - places - 2 * chains) * own.four();
    second -= places * places * own.pair() * own.pair();  // with mean^2 below: products of different groups
  }
  second += mean * mean;
  for (const auto& [key, meets] : meetings) {
    const Powers &a = powers[key >> 32], &b = powers[key & 0xffffffff];
    second += meets.places * a.square() * b.square() +
              (meets.places * meets.places - meets.places - 2 * meets.chains) * a.pair() * b.pair();
  }
  const double variance = second - mean * mean;
  if (!(variance > 1e-12 * squares * squares / static_cast<double>(x.size())))
    return bad_input("each order within the groups has the same products: nothing to test");
  SequenceTest test;
  test.statistic = (sum - mean) / squares;
  test.p_value = std::min(1.0, 2 * normal_upper(std::fabs(sum - mean) / std::sqrt(variance)));
  return test;
}

Result<SequenceTest> drift_within(std::span<const double> values, std::span<const uint32_t> groups) {
  STAB_CHECK_OK(check_sample(values, 5, "drift"));
  const Ranked ranked = ranked_within(values, groups);
  std::vector<double> squares(ranked.groups), sums(ranked.groups), counts(ranked.groups), place_squares(ranked.groups);
  for (size_t t = 0; t < values.size(); ++t) {
    sums[ranked.group[t]] += static_cast<double>(t);
    counts[ranked.group[t]] += 1;
  }
  double product = 0;
  for (size_t t = 0; t < values.size(); ++t) {
    const uint32_t group = ranked.group[t];
    const double place = static_cast<double>(t) - sums[group] / counts[group];
    product += ranked.deviations[t] * place;
    squares[group] += ranked.deviations[t] * ranked.deviations[t];
    place_squares[group] += place * place;
  }
  double variance = 0, all = 0, all_places = 0, free = 0;
  for (size_t group = 0; group < ranked.groups; ++group) {
    if (counts[group] < 2) continue;
    variance += squares[group] * place_squares[group] / (counts[group] - 1);
    all += squares[group];
    all_places += place_squares[group];
    free += counts[group] - 1;
  }
  if (all <= 1e-9) return bad_input("all values are equal: there is no drift to test");
  SequenceTest test;
  test.statistic = product / std::sqrt(all * all_places);
  constexpr size_t kExact = 8;  // 8! orders take a few milliseconds
  if (ranked.groups == 1 && values.size() <= kExact) {
    test.p_value = exact_drift_p(ranked.deviations, product);
    return test;
  }
  if (free < 3) return bad_input("each group holds one value: no order to compare with");
  const double r = std::clamp(product / std::sqrt(variance * free), -1.0, 1.0);
  test.p_value = r * r >= 1 ? 0 : t_two_sided(r * std::sqrt((free - 1) / (1 - r * r)), free - 1);
  return test;
}

double default_penalty(std::span<const double> values) {
  // Var(x_(i+1) - x_i) = 2 sigma^2; the median of |difference| resists the jumps at change points.
  if (values.size() < 3) return 0;
  std::vector<double> difference;
  for (size_t i = 0; i + 1 < values.size(); ++i) difference.push_back(values[i + 1] - values[i]);
  const double spread = mad(difference);
  double variance = spread * spread / 2;
  // A clock or counter so coarse that most neighbours are equal: von Neumann's (1941) mean square difference, which
  // jumps inflate, but less the fewer they are.
  if (variance == 0) {
    double squares = 0;
    for (double step : difference) squares += step * step;
    variance = squares / (2 * static_cast<double>(difference.size()));
  }
  return 2 * std::log(static_cast<double>(values.size())) * variance;
}

Result<std::vector<size_t>> change_points(std::span<const double> values, double penalty, size_t least_length) {
  STAB_CHECK_OK(check_sample(values, 2, "change points"));
  if (values.size() > kMostSearched)
    return bad_input("change points are searched in at most " + std::to_string(kMostSearched) + " values, got " +
                     std::to_string(values.size()) + ": without changes each place is held against all before it; average "
                     "neighbours");
  if (constant(values)) return bad_input("all values are equal: there is no change to find");
  STAB_CHECK_OK(check_squares(values));
  if (!(penalty > 0)) return bad_input("the penalty must be > 0");
  const size_t least = std::max<size_t>(least_length, 1);
  const size_t n = values.size();
  const double origin = moments(values).mean;
  std::vector<long double> sum(n + 1, 0), squares(n + 1, 0);
  for (size_t i = 0; i < n; ++i) {
    const long double x = values[i] - origin;
    sum[i + 1] = sum[i] + x;
    squares[i + 1] = squares[i] + x * x;
  }
  const auto cost = [&](size_t from, size_t to) {  // of the segment [from, to)
    const long double s = sum[to] - sum[from];
    return static_cast<double>(squares[to] - squares[from] - s * s / static_cast<long double>(to - from));
  };
  // F(t): least cost of [0, t). A candidate that is already worse than F(t) without penalty can never win
  // again (their theorem 3.1), so it is pruned.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> best(n + 1, kInfinity);
  std::vector<size_t> previous(n + 1, 0);
  best[0] = -penalty;
  struct Candidate {
    size_t from;
    double cost;      // of [0, t) with the last split here, without a penalty
    size_t worse_at;  // the first t where that is more than F(t)
  };
  constexpr size_t kNever = std::numeric_limits<size_t>::max();
  std::vector<Candidate> candidates{{0, 0, kNever}};
  for (size_t t = least; t <= n; ++t) {
    for (Candidate& one : candidates) {
      if (t - one.from < least) break;  // nor are those behind it far enough
      one.cost = best[one.from] + cost(one.from, t);
      const double total = one.cost + penalty;
      if (total < best[t]) {
        best[t] = total;
        previous[t] = one.from;
      }
    }
    for (Candidate& one : candidates) {
      if (t - one.from < least) break;
      if (one.worse_at == kNever && one.cost > best[t]) one.worse_at = t;
    }
    // The newest split that step t + 1 may use. Pruning against it, not against t, keeps segments of the least
    // length exact.
    if (t + 1 < 2 * least) continue;
    const size_t newest = t + 1 - least;
    std::erase_if(candidates, [&](const Candidate& one) { return one.worse_at <= newest; });
    if (std::isfinite(best[newest])) candidates.push_back({newest, 0, kNever});
  }
  std::vector<size_t> changes;
  for (size_t t = n; previous[t] > 0; t = previous[t]) changes.push_back(previous[t]);
  std::reverse(changes.begin(), changes.end());
  return changes;
}

}  // namespace stab::statistics
