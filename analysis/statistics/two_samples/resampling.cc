// Resampling. Means are resampled as sums, medians by selection; a permutation test moves labels, not values, so
// each rearrangement costs one pass.
#include "analysis/statistics/two_samples/resampling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "base/rng.h"

namespace stab::statistics {
namespace {

// pre: values may be reordered
double evaluate(BootstrapStatistic statistic, std::vector<double>& values) {
  const size_t n = values.size();
  if (statistic == BootstrapStatistic::kMedian) {
    const auto middle = values.begin() + static_cast<ptrdiff_t>(n / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (n % 2 == 1) return *middle;
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
  }
  double sum = 0;
  for (double value : values) sum += value;
  const double centre = sum / static_cast<double>(n);
  if (statistic == BootstrapStatistic::kMean) return centre;
  double squares = 0;
  for (double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(n - 1));
}

// The statistic without each value in turn, from what the others share: one pass, however many values.
std::vector<double> leave_one_out(std::span<const double> values, BootstrapStatistic statistic) {
  const size_t n = values.size();
  const auto count = static_cast<double>(n);
  std::vector<double> left_out(n);
  if (statistic == BootstrapStatistic::kMedian) {
    std::vector<double> x(values.begin(), values.end());
    std::sort(x.begin(), x.end());
    const size_t k = n / 2;
    for (size_t i = 0; i < n; ++i) {
      if (n % 2 == 0) left_out[i] = i < k ? x[k] : x[k - 1];
      else if (i < k) left_out[i] = 0.5 * (x[k] + x[k + 1]);
      else if (i > k) left_out[i] = 0.5 * (x[k - 1] + x[k]);
      else left_out[i] = 0.5 * (x[k - 1] + x[k + 1]);
    }
    return left_out;
  }
  const Moments all = moments(values);
  for (size_t i = 0; i < n; ++i) {
    const double deviation = values[i] - all.mean;
    if (statistic == BootstrapStatistic::kMean) left_out[i] = -deviation / (count - 1);
    else left_out[i] = std::sqrt(std::max(0.0, all.m2 - deviation * deviation * count / (count - 1)) / (count - 2));
  }
  return left_out;
}

// Influence by leaving one out: Efron (1987), eq. 6.6: a = sum l^3 / (6 (sum l^2)^1.5).
double acceleration_of(std::vector<double> influence) {
  const double centre = mean(influence);
  double largest = 0;
  for (double& value : influence) {
    value = centre - value;
    largest = std::max(largest, std::fabs(value));
  }
  if (!(largest > 0)) return 0;
  double squares = 0, cubes = 0;
  for (double value : influence) {
    const double l = value / largest;
    squares += l * l;
    cubes += l * l * l;
  }
  return cubes / (6 * std::pow(squares, 1.5));
}

// Minutes, and replicates that fit into memory.
Status check_resamples(uint64_t resamples, size_t values) {
  constexpr uint64_t kMostResamples = 10'000'000;
  constexpr double kMostDraws = 1e11;
  if (resamples > kMostResamples)
    return bad_input("--resamples takes at most " + std::to_string(kMostResamples) + ", got " + std::to_string(resamples));
  if (static_cast<double>(resamples) * static_cast<double>(values) > kMostDraws)
    return bad_input(std::to_string(resamples) + " resamples of " + std::to_string(values) +
                     " values take too long; fewer resamples do");
  return {};
}

}  // namespace

Result<BootstrapInterval> bca_interval(double estimate, std::vector<double> replicates, std::vector<double> left_out,
                                       double conf) {
  const uint64_t resamples = replicates.size();
  BootstrapInterval result;
  result.estimate = estimate;
  const Moments all = moments(replicates);
  // The same values in another order may differ in their last digits.
  constexpr double kSameValues = 1e-10;
  const double rounding = kSameValues * all.sd();
  uint64_t below = 0, equal = 0;
  for (double replicate : replicates) {
    below += replicate < result.estimate - rounding;
    equal += std::fabs(replicate - result.estimate) <= rounding;
  }
  // Ties count half, so that a discrete statistic (the median) isn't taken for a biased one.
  const double share = (static_cast<double>(below) + 0.5 * static_cast<double>(equal)) / static_cast<double>(resamples);
  if (share <= 0 || share >= 1) return bad_input("every resample lies on one side of the estimate; BCa can't correct that");
  result.bias = all.mean - result.estimate;
  result.standard_error = all.sd();
  result.z0 = normal_quantile(share);
  result.acceleration = acceleration_of(std::move(left_out));
  std::sort(replicates.begin(), replicates.end());
  const auto endpoint = [&](double quantile) {
    // Efron (1987), eq. 3.4.
    const double z = result.z0 + quantile;
    const double slope = 1 - result.acceleration * z;
    // Beyond the pole every replicate lies on one side of the end.
    const double level = slope > 0 ? normal_cdf(result.z0 + z / slope) : (z > 0 ? 1.0 : 0.0);
    // Interpolates between order statistics on the normal scale, as boot::boot.ci (Davison & Hinkley 1997, 5.7).
    const double rank = level * static_cast<double>(resamples + 1);
    const auto k = static_cast<uint64_t>(rank);
    if (k == 0) return replicates.front();
    if (k >= resamples) return replicates.back();
    const auto r = static_cast<double>(resamples + 1);
    const double z_low = normal_quantile(static_cast<double>(k) / r);
    const double z_high = normal_quantile(static_cast<double>(k + 1) / r);
    const double fraction = (normal_quantile(level) - z_low) / (z_high - z_low);
    return replicates[k - 1] + fraction * (replicates[k] - replicates[k - 1]);
  };
  const double lower = normal_quantile((1 - conf) / 2);  // of the small tail: (1 + conf) / 2 may round to 1
  result.conf_low = endpoint(lower);
  result.conf_high = endpoint(-lower);
  return result;
}

Result<BootstrapInterval> bca_bootstrap(std::span<const double> values, BootstrapStatistic statistic,
                                        uint64_t resamples, double conf, uint64_t seed) {
  STAB_CHECK_OK(check_sample(values, 5, "bootstrap"));
  if (constant(values)) return bad_input("all values are equal: resampling them says nothing");
  if (resamples < 100) return bad_input("bootstrap needs at least 100 resamples");
  STAB_CHECK_OK(check_resamples(resamples, values.size()));
  if (statistic == BootstrapStatistic::kSd) STAB_CHECK_OK(check_squares(values));
  Rng rng = Rng::stream(seed, "bootstrap");
  const uint64_t n = values.size();
  std::vector<double> sample(values.begin(), values.end());
  const double estimate = evaluate(statistic, sample);
  std::vector<double> replicates(resamples);
  // One random number serves two draws: the high halves of 32-bit products, biased by less than n / 2^32.
  for (double& replicate : replicates) {
    for (size_t i = 0; i < n; i += 2) {
      const uint64_t bits = rng.next();
      sample[i] = values[((bits & 0xffffffff) * n) >> 32];
      if (i + 1 < n) sample[i + 1] = values[((bits >> 32) * n) >> 32];
    }
    replicate = evaluate(statistic, sample);
  }
  return bca_interval(estimate, std::move(replicates), leave_one_out(values, statistic), conf);
}

namespace {

struct Block {
  std::vector<double> values;
  size_t first = 0;      // how many carry label 0
  double first_sum = 0;  // observed sum of label 0
};

// The statistic as a function of the label-0 sums:
// mean0 - mean1 = sum0 (1/n0 + 1/n1) - total / n1, times n0 n1 / (n0 + n1), is sum0 - total n0 / n.
double centred(const std::vector<Block>& blocks, const std::vector<double>& sums) {
  double total = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    double all = 0;
    for (double value : blocks[b].values) all += value;
    total += sums[b] - all * static_cast<double>(blocks[b].first) / static_cast<double>(blocks[b].values.size());
  }
  return total;
}

bool as_extreme(double value, double observed, Alternative alternative) {
  const double slack = 1e-9 * std::fabs(observed);  // equal up to rounding counts as equal
  if (alternative == Alternative::kGreater) return value >= observed - slack;
  if (alternative == Alternative::kLess) return value <= observed + slack;
  return std::fabs(value) >= std::fabs(observed) - slack;
}

template <typename Visit>
void subset_sums(const std::vector<double>& values, size_t start, size_t take, double sum, const Visit& visit) {
  if (take == 0) return visit(sum);
  for (size_t i = start; i + take <= values.size(); ++i)
    subset_sums(values, i + 1, take - 1, sum + values[i], visit);
}

// The sums of all subsets of size `take`. Few subsets of many values leave few out or take few: the depth is theirs.
std::vector<double> all_subset_sums(const std::vector<double>& values, size_t take) {
  std::vector<double> sums;
  if (2 * take <= values.size()) {
    subset_sums(values, 0, take, 0, [&](double sum) { sums.push_back(sum); });
    return sums;
  }
  double total = 0;
  for (double value : values) total += value;
  subset_sums(values, 0, values.size() - take, 0, [&](double sum) { sums.push_back(total - sum); });
  return sums;
}

}  // namespace

Result<PermutationTest> block_permutation(std::span<const double> values, std::span<const uint32_t> group,
                                          std::span<const uint32_t> block, Alternative alternative,
                                          uint64_t resamples, uint64_t seed) {
  STAB_CHECK_OK(check_sample(values, 2, "permutation"));
  STAB_CHECK_OK(check_resamples(resamples, values.size()));
  if (constant(values)) return bad_input("all values are equal: exchanging them says nothing");
  std::map<uint32_t, Block> by_key;
  const double origin = moments(values).mean;
  for (size_t row = 0; row < values.size(); ++row) {
    Block& at = by_key[block[row]];
    at.values.push_back(values[row] - origin);
    if (group[row] == 0) {
      ++at.first;
      at.first_sum += values[row] - origin;
    }
  }
  std::vector<Block> blocks;
  double log_count = 0, weights = 0;
  for (auto& [key, at] : by_key) {
    if (at.first == 0 || at.first == at.values.size()) continue;  // one label only: nothing to exchange
    const auto n = static_cast<double>(at.values.size()), n0 = static_cast<double>(at.first);
    weights += n0 * (n - n0) / n;
    log_count += log_choose(n, n0);
    blocks.push_back(std::move(at));
  }
  if (blocks.empty()) return bad_input("no block holds both groups: there is nothing to exchange");
  std::vector<double> sums;
  for (const Block& at : blocks) sums.push_back(at.first_sum);
  const double observed = centred(blocks, sums);
  PermutationTest test;
  test.difference = observed / weights;
  test.exact = log_count <= std::log(static_cast<double>(resamples)) + 1e-9;
  uint64_t extreme = 0;
  if (test.exact) {
    // The cross product of the blocks' subsets.
    std::vector<std::vector<double>> all(blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) all[b] = all_subset_sums(blocks[b].values, blocks[b].first);
    std::vector<size_t> at(blocks.size(), 0);
    while (true) {
      for (size_t b = 0; b < blocks.size(); ++b) sums[b] = all[b][at[b]];
      ++test.permutations;
      extreme += as_extreme(centred(blocks, sums), observed, alternative);
      size_t b = 0;
      while (b < at.size() && ++at[b] == all[b].size()) at[b++] = 0;
      if (b == at.size()) break;
    }
    test.p_value = static_cast<double>(extreme) / static_cast<double>(test.permutations);
    return test;
  }
  Rng rng = Rng::stream(seed, "permutation");
  for (uint64_t i = 0; i < resamples; ++i) {
    for (size_t b = 0; b < blocks.size(); ++b) {
      // A partial Fisher-Yates: the first `first` places are a random subset.
      std::vector<double>& pool = blocks[b].values;
      sums[b] = 0;
      for (size_t k = 0; k < blocks[b].first; ++k) {
        std::swap(pool[k], pool[k + rng.below(pool.size() - k)]);
        sums[b] += pool[k];
      }
    }
    extreme += as_extreme(centred(blocks, sums), observed, alternative);
  }
  test.permutations = resamples;
  test.p_value = (static_cast<double>(extreme) + 1) / (static_cast<double>(resamples) + 1);
  return test;
}

Result<BootstrapInterval> bca_clusters(size_t clusters, const ClusterStatistic& statistic, uint64_t resamples, double conf,
                                       uint64_t seed) {
  if (clusters < 5) return bad_input("a bootstrap of clusters needs at least 5 of them, there are " + std::to_string(clusters));
  if (resamples < 100 || resamples > 1'000'000)
    return bad_input("a bootstrap of clusters takes 100 to 1000000 resamples, not " + std::to_string(resamples));
  std::vector<double> counts(clusters, 1.0);
  const std::optional<double> whole = statistic(counts);
  if (!whole) return bad_input("the clusters together give no estimate");
  Rng rng = Rng::stream(seed, "bootstrap-clusters");
  std::vector<double> replicates;
  const uint64_t most_draws = resamples + resamples / 10 + 1;
  for (uint64_t draw = 0; draw < most_draws && replicates.size() < resamples; ++draw) {
    std::fill(counts.begin(), counts.end(), 0.0);
    for (size_t i = 0; i < clusters; ++i) ++counts[rng.below(clusters)];
    if (const std::optional<double> value = statistic(counts)) replicates.push_back(*value);
  }
  if (replicates.size() < resamples)
    return bad_input("a tenth of the resamples give no estimate: a cluster or two carry it alone");
  std::vector<double> influence;
  for (size_t left_out = 0; left_out < clusters; ++left_out) {
    std::fill(counts.begin(), counts.end(), 1.0);
    counts[left_out] = 0;
    const std::optional<double> without = statistic(counts);
    if (!without) return bad_input("without one of the clusters there is no estimate");
    influence.push_back(*without);
  }
  return bca_interval(*whole, std::move(replicates), std::move(influence), conf);
}

}  // namespace stab::statistics
