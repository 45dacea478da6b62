// The bootstrap of clusters against that of values: a cluster of one value each is the same.
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/two_samples/resampling.h"

namespace stab::analysis {
namespace {

TEST(ClusterBootstrap, IsThatOfValues) {
  const std::vector<double> values{3.1, 4.7, 2.2, 5.0, 3.9, 4.4, 9.5, 2.8};
  const auto mean = [&](std::span<const double> counts) -> std::optional<double> {
    double sum = 0, all = 0;
    for (size_t i = 0; i < counts.size(); ++i) sum += counts[i] * values[i], all += counts[i];
    return sum / all;
  };
  const auto clusters = statistics::bca_clusters(values.size(), mean, 20000, 0.95, 3);
  const auto plain = statistics::bca_bootstrap(values, statistics::BootstrapStatistic::kMean, 20000, 0.95, 4);
  ASSERT_TRUE(clusters && plain);
  EXPECT_DOUBLE_EQ(clusters->estimate, plain->estimate);
  EXPECT_NEAR(clusters->acceleration, plain->acceleration, 1e-12);
  EXPECT_NEAR(clusters->conf_low, plain->conf_low, 0.05);
  EXPECT_NEAR(clusters->conf_high, plain->conf_high, 0.15);
  EXPECT_FALSE(statistics::bca_clusters(4, mean, 2000, 0.95, 3));
}

}  // namespace
}  // namespace stab::analysis
