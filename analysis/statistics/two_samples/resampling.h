// Bootstrap and permutation, with a seed: the same input gives the same answer everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/two_samples/t_tests.h"
#include "base/result.h"

namespace stab::statistics {

enum class BootstrapStatistic { kMean, kMedian, kSd };

struct BootstrapInterval {
  double estimate = 0;
  double conf_low = 0;
  double conf_high = 0;
  double bias = 0;
  double standard_error = 0;
  double z0 = 0;            // bias correction
  double acceleration = 0;
};

// Efron (1987), bias-corrected and accelerated; acceleration by the jackknife. Needs 5 values, not constant, and
// enough resamples that the interval's ends are inside them.
Result<BootstrapInterval> bca_bootstrap(std::span<const double> values, BootstrapStatistic statistic,
                                        uint64_t resamples, double conf, uint64_t seed);

// The same from replicates that were drawn elsewhere, and the estimates with each unit left out in turn.
Result<BootstrapInterval> bca_interval(double estimate, std::vector<double> replicates, std::vector<double> left_out,
                                       double conf);

// Efron's BCa interval (1987) of a statistic of clusters, which are drawn with replacement: statistic(counts) has cluster c
// counts[c] times. Acceleration by leaving clusters out in turn. A draw without a value is drawn again; refused where a tenth of
// them have none. kBadInput: fewer than 5 clusters, or as bca_bootstrap().
using ClusterStatistic = std::function<std::optional<double>(std::span<const double> counts)>;
Result<BootstrapInterval> bca_clusters(size_t clusters, const ClusterStatistic& statistic, uint64_t resamples, double conf,
                                       uint64_t seed);

struct PermutationTest {
  double difference = 0;    // weighted mean over blocks of (mean of group 0 - mean of group 1)
  double p_value = 1;       // sampled: (b + 1) / (m + 1) (Phipson & Smyth 2010), never 0
  bool exact = false;       // all permutations were counted
  uint64_t permutations = 0;
};

// Labels are exchanged within blocks only. Blocks weigh n0 n1 / (n0 + n1). Exact when there are at most
// `resamples` permutations. pre: group is 0 or 1
Result<PermutationTest> block_permutation(std::span<const double> values, std::span<const uint32_t> group,
                                          std::span<const uint32_t> block, Alternative alternative,
                                          uint64_t resamples, uint64_t seed);

}  // namespace stab::statistics
