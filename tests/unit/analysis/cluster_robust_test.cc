// Cluster-robust least squares against clubSandwich (tests/reference/analysis/cluster_robust.R), and what holds of any: weights
// are numbers of equal rows for the estimate, order and names of clusters don't matter, what says nothing is refused.
#include "analysis/statistics/cluster_robust.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/rng.h"
#include "tests/places.h"

namespace stab::analysis {
namespace {

struct Combination {
  std::vector<double> weights, is, without;
};
struct Case {
  std::string name;
  ClusteredRows rows;
  std::vector<Combination> combinations;
};

std::vector<double> rest_of(std::istringstream& words) {
  std::vector<double> out;
  for (double value; words >> value;) out.push_back(value);
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/cluster_robust.txt");
  bool grouped = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, shape;
    words >> kind;
    if (kind == "case") {
      all.push_back({});
      words >> all.back().name >> shape;
      grouped = shape == "grouped";
      all.back().rows.columns.resize(grouped ? 3 : 4);
    } else if (kind == "row") {
      ClusteredRows& rows = all.back().rows;
      uint32_t cluster = 0, group = 0;
      words >> cluster >> group;
      const std::vector<double> numbers = rest_of(words);
      rows.clusters.push_back(cluster);
      if (grouped) rows.groups.push_back(group);
      rows.weights.push_back(numbers[0]);
      rows.response.push_back(numbers[1]);
      if (!grouped) rows.columns[3].push_back(1);
      for (size_t j = 0; j < 3; ++j) rows.columns[j].push_back(numbers[2 + j]);
    } else if (kind == "combination") {
      all.back().combinations.push_back({rest_of(words), {}, {}});
      if (!grouped) all.back().combinations.back().weights.push_back(0);
    } else if (kind == "is") {
      all.back().combinations.back().is = rest_of(words);
    } else if (kind == "without") {
      all.back().combinations.back().without = rest_of(words);
    }
  }
  return all;
}

void expect_close(double have, double want, double tolerance) { EXPECT_NEAR(have, want, tolerance * std::fabs(want) + 1e-12); }

TEST(ClusterRobust, AgreesWithClubSandwich) {
  const std::vector<Case> all = cases();
  ASSERT_EQ(all.size(), 4u);
  for (const Case& at : all) {
    SCOPED_TRACE(at.name);
    const auto fit = ClusterRobustFit::of(at.rows);
    ASSERT_TRUE(fit) << fit.error().message;
    ASSERT_EQ(at.combinations.size(), 4u);
    for (const Combination& combination : at.combinations) {
      const auto found = fit->estimate(combination.weights);
      ASSERT_TRUE(found) << found.error().message;
      expect_close(found->estimate, combination.is[0], 1e-9);
      expect_close(found->standard_error, combination.is[1], 1e-9);
      expect_close(found->df, combination.is[2], 1e-8);
      double squares = 0;
      for (const double score : found->scores) squares += score * score;
      expect_close(std::sqrt(squares), found->standard_error, 1e-12);
      ASSERT_EQ(combination.without.size(), fit->clusters());
      for (size_t left_out = 0; left_out < fit->clusters(); ++left_out) {
        std::vector<double> counts(fit->clusters(), 1.0);
        counts[left_out] = 0;
        const auto without = fit->recounted(combination.weights, counts);
        ASSERT_TRUE(without);
        expect_close(*without, combination.without[left_out], 1e-9);
      }
    }
  }
}

// Each cluster counted twice is each row with twice the weight: the same estimate, and half of the rows' variance is no claim
// made.
TEST(ClusterRobust, ScaleAndOrderChangeNothing) {
  Case at = cases()[1];
  const auto before = ClusterRobustFit::of(at.rows)->estimate(at.combinations[0].weights);
  ClusteredRows turned = at.rows;
  for (double& weight : turned.weights) weight *= 1000;
  for (double& value : turned.response) value = 7 * value + 100;
  for (auto* each : {&turned.clusters, &turned.groups}) std::reverse(each->begin(), each->end());
  for (auto* each : {&turned.response, &turned.weights}) std::reverse(each->begin(), each->end());
  for (Column& column : turned.columns) std::reverse(column.begin(), column.end());
  const auto after = ClusterRobustFit::of(turned)->estimate(at.combinations[0].weights);
  ASSERT_TRUE(before && after);
  expect_close(after->estimate, 7 * before->estimate, 1e-9);
  expect_close(after->standard_error, 7 * before->standard_error, 1e-9);
  expect_close(after->df, before->df, 1e-9);
}

TEST(ClusterRobust, RefusesWhatTheRowsDoNotSay) {
  const ClusteredRows good = cases()[0].rows;
  ClusteredRows rows = good;
  rows.columns.push_back(rows.columns[0]);
  auto fit = ClusterRobustFit::of(rows);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->estimate(std::vector<double>{1, 0, 0, 0}));  // which of the two columns it is can't be told
  EXPECT_TRUE(fit->estimate(std::vector<double>{1, 0, 0, 1}));   // their sum can
  rows = good;
  std::fill(rows.clusters.begin(), rows.clusters.end(), 0);
  EXPECT_FALSE(ClusterRobustFit::of(rows));
  rows = good;
  rows.clusters[0] = rows.clusters[0] == 0 ? 1 : 0;  // its group now lies in two
  EXPECT_FALSE(ClusterRobustFit::of(rows));
  rows = good;
  rows.response[3] = NAN;
  EXPECT_FALSE(ClusterRobustFit::of(rows));
  rows = good;
  for (size_t row = 0; row < rows.clusters.size(); ++row)
    if (rows.clusters[row] != 0) rows.columns[1][row] = 0;
  fit = ClusterRobustFit::of(rows);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->estimate(std::vector<double>{0, 1, 0}));  // one cluster alone has this arm: it has no spread
  rows = good;
  for (size_t row = 0; row < rows.clusters.size(); ++row) rows.response[row] = rows.columns[0][row] + 2 * rows.columns[2][row];
  fit = ClusterRobustFit::of(rows);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->estimate(std::vector<double>{1, 0, 0}));  // it fits to the last digit
}

TEST(ClusterRobust, BootstrapOfClustersIsThatOfValues) {
  const std::vector<double> values{3.1, 4.7, 2.2, 5.0, 3.9, 4.4, 9.5, 2.8};
  const auto mean = [&](std::span<const double> counts) -> std::optional<double> {
    double sum = 0, all = 0;
    for (size_t i = 0; i < counts.size(); ++i) sum += counts[i] * values[i], all += counts[i];
    return sum / all;
  };
  const auto clusters = bca_clusters(values.size(), mean, 20000, 0.95, 3);
  const auto plain = bca_bootstrap(values, BootstrapStatistic::kMean, 20000, 0.95, 4);
  ASSERT_TRUE(clusters && plain);
  EXPECT_DOUBLE_EQ(clusters->estimate, plain->estimate);
  EXPECT_NEAR(clusters->acceleration, plain->acceleration, 1e-12);
  EXPECT_NEAR(clusters->conf_low, plain->conf_low, 0.05);
  EXPECT_NEAR(clusters->conf_high, plain->conf_high, 0.15);
  EXPECT_FALSE(bca_clusters(4, mean, 2000, 0.95, 3));
}

}  // namespace
}  // namespace stab::analysis
