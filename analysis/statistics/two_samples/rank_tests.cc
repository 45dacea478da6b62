// Rank tests. Exact p-values come from the permutation distribution of the ranks themselves, so ties need no
// special table: twice the mid-ranks are whole numbers, and the number of ways to reach each sum is counted by
// the shift algorithm (Streitberg & Roehmel 1986). The normal approximation and R's rule for choosing are the
// default for larger samples.
#include "analysis/statistics/two_samples/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/rank_counts.h"
#include "base/rng.h"

namespace stab::statistics {
namespace {

// P(T = s), T the sum of doubled ranks of a random half (signs) or of a random subset of size `take`.
using Distribution = std::vector<double>;

// The work of the subset count beyond which an exact p is refused; about a second.
constexpr double kMostWork = 1e9;

std::vector<uint64_t> doubled(std::span<const double> ranks) {
  std::vector<uint64_t> whole;
  for (double rank : ranks) whole.push_back(static_cast<uint64_t>(std::llround(2 * rank)));
  return whole;
}

Distribution sign_distribution(const std::vector<uint64_t>& ranks) {
  uint64_t total = 0;
  for (uint64_t rank : ranks) total += rank;
  Distribution p(total + 1, 0.0);
  p[0] = 1;
  uint64_t reach = 0;
  for (uint64_t rank : ranks) {
    reach += rank;
    for (uint64_t s = reach + 1; s-- > 0;) p[s] = 0.5 * (p[s] + (s >= rank ? p[s - rank] : 0));
  }
  return p;
}

Distribution subset_distribution(const std::vector<uint64_t>& ranks, size_t take) {
  std::vector<uint64_t> sorted(ranks);
  std::sort(sorted.begin(), sorted.end());
  uint64_t most = 0;
  for (size_t i = sorted.size() - take; i < sorted.size(); ++i) most += sorted[i];
  const size_t width = most + 1;
  // ways[k][s]: subsets of k ranks with sum s, as a share of all subsets of k of the ranks seen.
  std::vector<double> ways((take + 1) * width, 0.0);
  ways[0] = 1;
  std::vector<uint64_t> smallest{0};  // sums of the smallest ranks
  for (uint64_t rank : sorted) smallest.push_back(smallest.back() + rank);
  for (size_t seen = 1; seen <= sorted.size(); ++seen) {
    const uint64_t rank = sorted[seen - 1];
    for (size_t k = std::min(seen, take); k > 0; --k) {
      // Among k-subsets of `seen` items, a share k/seen holds the newest.
      const double with = static_cast<double>(k) / static_cast<double>(seen);
      double* row = &ways[k * width];
      const double* less = &ways[(k - 1) * width];
      // Sums of k ranks among those seen reach from the k smallest to the k largest.
      const size_t low = smallest[k], high = std::min(width - 1, smallest[seen] - smallest[seen - k]);
      for (size_t s = high + 1; s-- > low;)
        row[s] = (1 - with) * row[s] + (s >= rank ? with * less[s - rank] : 0);
    }
  }
  return Distribution(ways.begin() + static_cast<ptrdiff_t>(take * width), ways.end());
}

// Two-sided: as far from the expectation or farther, on either side.
double exact_p(const Distribution& p, uint64_t at, double expected, Alternative alternative) {
  double sum = 0;
  const double distance = std::fabs(static_cast<double>(at) - expected);
  for (uint64_t s = 0; s < p.size(); ++s) {
    bool counts = false;
    if (alternative == Alternative::kLess) counts = s <= at;
    if (alternative == Alternative::kGreater) counts = s >= at;
    if (alternative == Alternative::kTwoSided)
      counts = std::fabs(static_cast<double>(s) - expected) >= distance * (1 - 1e-12);
    if (counts) sum += p[s];
  }
  return std::min(sum, 1.0);
}

double normal_p(double z, Alternative alternative) {
  if (alternative == Alternative::kLess) return normal_upper(-z);
  if (alternative == Alternative::kGreater) return normal_upper(z);
  return std::min(1.0, 2 * normal_upper(std::fabs(z)));
}

// R's continuity correction of a centred statistic.
double correction(double centred, const RankOptions& options) {
  if (!options.continuity) return 0;
  if (options.alternative == Alternative::kGreater) return 0.5;
  if (options.alternative == Alternative::kLess) return -0.5;
  return centred > 0 ? 0.5 : (centred < 0 ? -0.5 : 0.0);
}

// Interval of the location from the order statistics of pairs. `pick(k)` is the k-th of `pairs`.
template <typename Pick>
void interval(RankTest& test, const RankOptions& options, double pairs, const Pick& pick, double rank_low,
              bool exact_steps, const Distribution* p) {
  const auto whole_pairs = static_cast<uint64_t>(pairs);
  // At a confidence of nearly nothing both ends are the middle, and must not pass each other.
  const double last = options.alternative == Alternative::kTwoSided ? std::floor((pairs + 1) / 2) : pairs;
  const auto low_index = static_cast<uint64_t>(std::clamp(rank_low, 1.0, last));
  if (options.alternative != Alternative::kLess) test.conf_low = pick(low_index);
  if (options.alternative != Alternative::kGreater) test.conf_high = pick(whole_pairs + 1 - low_index);
  test.achieved_conf = options.conf;
  if (!exact_steps) return;
  double tail = 0;  // P(statistic < low_index); the distribution is over doubled ranks
  for (uint64_t s = 0; s < low_index && 2 * s < p->size(); ++s) tail += (*p)[2 * s];
  test.achieved_conf = 1 - (options.alternative == Alternative::kTwoSided ? 2 : 1) * tail;
}

// Smallest q with P(T <= q) >= alpha, T on the scale of whole pairs (R's qwilcox, qsignrank), at least 1.
double quantile_index(const Distribution& p, double alpha) {
  double sum = 0;
  for (uint64_t s = 0; 2 * s < p.size(); ++s) {
    sum += p[2 * s];
    if (sum >= alpha * (1 - 1e-12)) return std::max(1.0, static_cast<double>(s));
  }
  return 1;
}

double tail_alpha(const RankOptions& options) {
  return options.alternative == Alternative::kTwoSided ? (1 - options.conf) / 2 : 1 - options.conf;
}

// The ranks of so many values without ties.
std::vector<double> whole_ranks(size_t count) {
  std::vector<double> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 1.0);
  return ranks;
}

double middle(uint64_t pairs, auto&& pick) {
  if (pairs % 2 == 1) return pick(pairs / 2 + 1);
  return 0.5 * (pick(pairs / 2) + pick(pairs / 2 + 1));
}

}  // namespace

Result<RankTest> wilcoxon_signed_rank(std::span<const double> values, const RankOptions& options) {
  STAB_CHECK_OK(check_sample(values, 1, "wilcoxon"));
  std::vector<double> x;
  for (double value : values)
    if (value - options.mu != 0) x.push_back(value - options.mu);
  if (x.empty()) return bad_input("all values equal mu: there is nothing to test");
  const bool zeros = x.size() < values.size();
  const auto n = static_cast<double>(x.size());
  std::vector<double> size(x.size());
  std::transform(x.begin(), x.end(), size.begin(), [](double value) { return std::fabs(value); });
  double ties = 0;
  const std::vector<double> ranks = average_ranks(size, &ties);
  RankTest test;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] > 0) test.statistic += ranks[i];
  test.exact = options.method == RankMethod::kExact ||
               (options.method == RankMethod::kAutomatic && x.size() < 50 && ties == 0 && !zeros);
  const double expected = n * (n + 1) / 4;
  const double sigma = std::sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48);
  Distribution p;
  if (test.exact) {
    if (n * n * n > kMostWork) return bad_input("an exact p of " + std::to_string(x.size()) + " values takes too "
                                                "long; use the asymptotic one");
    p = sign_distribution(doubled(ranks));
    test.p_value = exact_p(p, static_cast<uint64_t>(std::llround(2 * test.statistic)), 2 * expected,
                           options.alternative);
  } else {
    const double centred = test.statistic - expected;
    if (sigma <= 0) return bad_input("too few values for the normal approximation");
    test.p_value = normal_p((centred - correction(centred, options)) / sigma, options.alternative);
  }
  if (options.zeros_stay) x.resize(values.size(), 0.0);
  std::sort(x.begin(), x.end());
  for (double& value : x) value += options.mu;
  const auto located = static_cast<double>(x.size());
  const auto pairs = static_cast<uint64_t>(located * (located + 1) / 2);
  const auto pick = [&](uint64_t k) { return kth_walsh_average(x, k); };
  test.estimate = middle(pairs, pick);
  if (test.exact && (ties > 0 || x.size() > size.size())) p = sign_distribution(doubled(whole_ranks(x.size())));
  const double alpha = tail_alpha(options);
  const double middle_rank = located * (located + 1) / 4;
  const double spread = options.zeros_stay && zeros ? std::sqrt(middle_rank * (2 * located + 1) / 6) : sigma;
  const double rank_low =
      test.exact ? quantile_index(p, alpha)
                 : std::floor(middle_rank - (options.continuity ? 0.5 : 0) - normal_quantile(1 - alpha) * spread) + 1;
  interval(test, options, static_cast<double>(pairs), pick, rank_low, test.exact, &p);
  return test;
}

Result<RankTest> mann_whitney(std::span<const double> first, std::span<const double> second,
                              const RankOptions& options) {
  STAB_CHECK_OK(check_sample(first, 1, "mann-whitney"));
  STAB_CHECK_OK(check_sample(second, 1, "mann-whitney"));
  std::vector<double> x(first.begin(), first.end()), y(second.begin(), second.end());
  for (double& value : x) value -= options.mu;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  if (x.front() == x.back() && y.front() == y.back() && x.front() == y.front())
    return bad_input("all values are equal: there is nothing to test");
  const auto m = static_cast<double>(x.size()), n = static_cast<double>(y.size());
  // One merge: W counts pairs with x > y, ties as a half; own_ties are ties within a sample.
  RankTest test;
  double ties = 0, own_ties = 0;
  std::vector<double> ranks;
  const bool small = x.size() + y.size() <= 4000;
  double before_x = 0, before_y = 0;
  for (size_t i = 0, j = 0; i < x.size() || j < y.size();) {
    const double value = j == y.size() || (i < x.size() && x[i] <= y[j]) ? x[i] : y[j];
    double in_x = 0, in_y = 0;
    while (i < x.size() && x[i] == value) ++i, ++in_x;
    while (j < y.size() && y[j] == value) ++j, ++in_y;
    test.statistic += in_x * (before_y + 0.5 * in_y);
    const double tied = in_x + in_y;
    ties += tied * tied * tied - tied;
    own_ties += in_x * in_x * in_x - in_x + in_y * in_y * in_y - in_y;
    if (small)
      ranks.insert(ranks.end(), static_cast<size_t>(tied), before_x + before_y + 0.5 * (tied + 1));
    before_x += in_x;
    before_y += in_y;
  }
  test.exact = options.method == RankMethod::kExact ||
               (options.method == RankMethod::kAutomatic && x.size() < 50 && y.size() < 50 && ties == 0);
  const double expected = m * n / 2;
  const auto sigma_with = [&](double tie_sum) {
    return std::sqrt(m * n / 12 * (m + n + 1 - tie_sum / ((m + n) * (m + n - 1))));
  };
  Distribution p;
  const double least_sum = m * (m + 1) / 2;  // of the first sample's ranks
  if (test.exact) {
    const double work = std::min(m, n) * (m + n) * (m + n) * (m + n);
    if (!small || work > kMostWork)
      return bad_input("an exact p of " + std::to_string(x.size()) + " and " + std::to_string(y.size()) +
                       " values takes too long; use the asymptotic one");
    // The count is smaller for the smaller sample; its rank sum says the same.
    const bool swap = n < m;
    const double rank_sum = test.statistic + least_sum;
    const double all = (m + n) * (m + n + 1) / 2;
    p = subset_distribution(doubled(ranks), swap ? y.size() : x.size());
    const double sum = swap ? all - rank_sum : rank_sum;
    Alternative side = options.alternative;
    if (swap && side == Alternative::kLess) side = Alternative::kGreater;
    else if (swap && side == Alternative::kGreater) side = Alternative::kLess;
    const double mean_sum = (swap ? n : m) * (m + n + 1);  // of doubled ranks
    test.p_value = exact_p(p, static_cast<uint64_t>(std::llround(2 * sum)), mean_sum, side);
    // From here on as a distribution of doubled W: drop the least sum.
    const double k = swap ? n : m;
    const auto offset = static_cast<ptrdiff_t>(std::llround(k * (k + 1)));
    if (ties > 0) p = subset_distribution(doubled(whole_ranks(x.size() + y.size())), swap ? y.size() : x.size());
    p.erase(p.begin(), p.begin() + offset);
  } else {
    const double centred = test.statistic - expected;
    test.p_value = normal_p((centred - correction(centred, options)) / sigma_with(ties), options.alternative);
  }
  for (double& value : x) value += options.mu;
  const auto pairs = static_cast<uint64_t>(x.size()) * y.size();
  const auto pick = [&](uint64_t k) { return kth_difference(x, y, k); };
  test.estimate = middle(pairs, pick);
  const double alpha = tail_alpha(options);
  const double rank_low = test.exact ? quantile_index(p, alpha)
                                     : std::floor(expected - (options.continuity ? 0.5 : 0) -
                                                  normal_quantile(1 - alpha) * sigma_with(own_ties)) + 1;
  interval(test, options, static_cast<double>(pairs), pick, rank_low, test.exact, &p);
  return test;
}

Result<ChiSquaredTest> kruskal_wallis(const std::vector<std::vector<double>>& groups) {
  if (groups.size() < 2) return bad_input("kruskal needs at least 2 groups, got " + std::to_string(groups.size()));
  std::vector<double> all;
  for (const auto& group : groups) {
    STAB_CHECK_OK(check_sample(group, 1, "kruskal"));
    all.insert(all.end(), group.begin(), group.end());
  }
  if (constant(all)) return bad_input("all values are equal: there is nothing to test");
  double ties = 0;
  const std::vector<double> ranks = average_ranks(all, &ties);
  const auto n = static_cast<double>(all.size());
  double sum = 0;
  size_t at = 0;
  for (const auto& group : groups) {
    double rank_sum = 0;
    for (size_t i = 0; i < group.size(); ++i) rank_sum += ranks[at++];
    sum += rank_sum * rank_sum / static_cast<double>(group.size());
  }
  ChiSquaredTest test;
  test.statistic = (12 * sum / (n * (n + 1)) - 3 * (n + 1)) / (1 - ties / (n * n * n - n));
  test.df = static_cast<double>(groups.size() - 1);
  test.p_value = chi_squared_upper(std::max(test.statistic, 0.0), test.df);
  return test;
}

Result<ChiSquaredTest> friedman(const std::vector<std::vector<double>>& blocks) {
  if (blocks.size() < 2) return bad_input("friedman needs at least 2 blocks, got " + std::to_string(blocks.size()));
  const size_t treatments = blocks[0].size();
  if (treatments < 2) return bad_input("friedman needs at least 2 treatments");
  std::vector<double> sums(treatments);
  double all_ties = 0;
  for (const auto& block : blocks) {
    STAB_CHECK_OK(check_sample(block, treatments, "a block of friedman"));
    if (block.size() != treatments) return bad_input("blocks differ in size; each needs every treatment once");
    double ties = 0;
    const std::vector<double> ranks = average_ranks(block, &ties);
    for (size_t t = 0; t < treatments; ++t) sums[t] += ranks[t];
    all_ties += ties;
  }
  const auto n = static_cast<double>(blocks.size()), k = static_cast<double>(treatments);
  double squares = 0;
  for (double sum : sums) squares += (sum - n * (k + 1) / 2) * (sum - n * (k + 1) / 2);
  ChiSquaredTest test;
  const double scale = n * k * (k + 1) - all_ties / (k - 1);
  if (scale <= 0) return bad_input("values are equal within each block: there is nothing to test");
  test.statistic = 12 * squares / scale;
  test.df = k - 1;
  test.p_value = chi_squared_upper(test.statistic, test.df);
  return test;
}

namespace {

// One stratum as doubled mid-ranks, those of the first sample first.
struct RankedStratum {
  std::vector<uint64_t> ranks;
  size_t take = 0;        // values of the first sample
  uint64_t sum = 0;       // of its doubled ranks
  double expected = 0;    // of that sum
  double variance = 0;
  double weight() const { return 1 / static_cast<double>(ranks.size() + 1); }
};

// The least common multiple of all n + 1: times it, weights are whole numbers. 0: too large to be of use.
uint64_t common_multiple(const std::vector<RankedStratum>& strata) {
  constexpr uint64_t kMost = 1 << 18;
  uint64_t multiple = 1;
  for (const RankedStratum& stratum : strata) {
    multiple = std::lcm(multiple, stratum.ranks.size() + 1);
    if (multiple > kMost) return 0;
  }
  return multiple;
}

// The distribution of the strata's sums together, each times multiple / (n + 1); empty where it has too many values.
Distribution joint_distribution(const std::vector<RankedStratum>& strata, uint64_t multiple) {
  constexpr uint64_t kMostSums = 1 << 16;
  constexpr double kMostJointWork = 2e6;  // milliseconds: a report has many contrasts
  double work = 0;
  Distribution joint{1.0};
  for (const RankedStratum& stratum : strata) {
    const uint64_t scale = multiple / (stratum.ranks.size() + 1);
    const Distribution own = subset_distribution(stratum.ranks, stratum.take);
    const uint64_t width = joint.size() + (own.size() - 1) * scale;
    work += static_cast<double>(joint.size()) * static_cast<double>(own.size());
    if (width > kMostSums || work > kMostJointWork) return {};
    Distribution next(width, 0.0);
    for (size_t s = 0; s < own.size(); ++s) {
      if (own[s] == 0) continue;
      for (size_t j = 0; j < joint.size(); ++j) next[j + s * scale] += joint[j] * own[s];
    }
    joint = std::move(next);
  }
  return joint;
}

double sampled_p(std::vector<RankedStratum> strata, double distance) {
  constexpr uint64_t kDraws = 9'999;
  Rng rng = Rng::stream(1, "rank permutations");
  uint64_t extreme = 0;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    double at = 0;
    for (RankedStratum& stratum : strata) {
      uint64_t sum = 0;
      for (size_t k = 0; k < stratum.take; ++k) {
        std::swap(stratum.ranks[k], stratum.ranks[k + rng.below(stratum.ranks.size() - k)]);
        sum += stratum.ranks[k];
      }
      at += stratum.weight() * (static_cast<double>(sum) - stratum.expected);
    }
    extreme += std::fabs(at) >= distance * (1 - 1e-9);
  }
  return (static_cast<double>(extreme) + 1) / (static_cast<double>(kDraws) + 1);
}

}  // namespace

Result<double> van_elteren_p(std::span<const Stratum2> strata) {
  std::vector<RankedStratum> ranked;
  size_t first = 0, second = 0;
  for (const Stratum2& stratum : strata) {
    if (stratum.first.empty() || stratum.second.empty()) continue;
    std::vector<double> all(stratum.first.begin(), stratum.first.end());
    all.insert(all.end(), stratum.second.begin(), stratum.second.end());
    double ties = 0;
    const std::vector<double> ranks = average_ranks(all, &ties);
    const auto m = static_cast<double>(stratum.first.size()), n = static_cast<double>(stratum.second.size());
    const double total = m + n;
    RankedStratum one;
    one.ranks = doubled(ranks);
    one.take = stratum.first.size();
    for (size_t i = 0; i < one.take; ++i) one.sum += one.ranks[i];
    one.expected = m * (total + 1);
    one.variance = 4 * m * n / 12 * (total + 1 - ties / (total * (total - 1)));
    first += stratum.first.size();
    second += stratum.second.size();
    ranked.push_back(std::move(one));
  }
  double variance = 0, centred = 0;
  for (const RankedStratum& stratum : ranked) {
    centred += stratum.weight() * (static_cast<double>(stratum.sum) - stratum.expected);
    variance += stratum.weight() * stratum.weight() * stratum.variance;
  }
  if (!(variance > 0)) return bad_input("the values are constant: there is nothing to test");
  if (first >= kExactBelow || second >= kExactBelow)
    return std::min(1.0, 2 * normal_upper(std::fabs(centred) / std::sqrt(variance)));
  const uint64_t multiple = common_multiple(ranked);
  const Distribution joint = multiple > 0 ? joint_distribution(ranked, multiple) : Distribution();
  if (joint.empty()) return sampled_p(std::move(ranked), std::fabs(centred));
  double expected = 0;
  uint64_t at = 0;
  for (const RankedStratum& stratum : ranked) {
    const uint64_t scale = multiple / (stratum.ranks.size() + 1);
    expected += static_cast<double>(scale) * stratum.expected;
    at += scale * stratum.sum;
  }
  return exact_p(joint, at, expected, Alternative::kTwoSided);
}

double signed_rank_least_p(std::span<const double> values) {
  const auto signs = values.size() - static_cast<size_t>(std::count(values.begin(), values.end(), 0.0));
  return std::min(1.0, std::ldexp(2.0, -static_cast<int>(std::min<size_t>(signs, 1000))));
}

double van_elteren_least_p(std::span<const Stratum2> strata) {
  const auto ways = [](size_t n, size_t k) { return log_choose(static_cast<double>(n), static_cast<double>(k)); };
  double above = 0, below = 0;  // logarithms of the shares of arrangements that put the first sample there
  for (const Stratum2& stratum : strata) {
    const size_t take = stratum.first.size(), all = take + stratum.second.size();
    if (take == 0 || take == all) continue;
    std::vector<double> values(stratum.first.begin(), stratum.first.end());
    values.insert(values.end(), stratum.second.begin(), stratum.second.end());
    std::sort(values.begin(), values.end());
    // Values equal to the last that is taken stand in for it.
    const auto share = [&](double last, size_t beyond) {
      const auto equal = static_cast<size_t>(std::count(values.begin(), values.end(), last));
      return ways(equal, take - beyond) - ways(all, take);
    };
    const double highest = values[all - take], lowest = values[take - 1];
    above += share(highest, static_cast<size_t>(values.end() - std::upper_bound(values.begin(), values.end(), highest)));
    below += share(lowest, static_cast<size_t>(std::lower_bound(values.begin(), values.end(), lowest) - values.begin()));
  }
  // Both ends are as far out where nothing is tied.
  const double both = std::fabs(above - below) < 1e-9 ? 2 : 1;
  return std::min(1.0, both * std::exp(std::min(above, below)));
}

double rounding_of(double sizes, size_t terms) {
  constexpr double kOfEachTerm = 8;  // ulps: of its logarithm, its coefficient, their product and what was averaged
  return std::numeric_limits<double>::epsilon() * (kOfEachTerm + static_cast<double>(terms)) * sizes;
}

std::vector<double> without_rounding(std::span<const double> values, double resolution) {
  std::vector<double> out(values.begin(), values.end());
  std::vector<size_t> order(out.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return std::fabs(values[a]) < std::fabs(values[b]); });
  double size = 0;
  for (const size_t i : order) {
    if (std::fabs(values[i]) > size + resolution) size = std::fabs(values[i]);
    out[i] = std::copysign(size, values[i]);
  }
  return out;
}

Result<double> signed_rank_p(std::span<const double> values) {
  RankOptions options;
  if (values.size() < kExactBelow) options.method = RankMethod::kExact;
  STAB_TRY(const RankTest test, wilcoxon_signed_rank(values, options));
  return test.p_value;
}

}  // namespace stab::statistics
