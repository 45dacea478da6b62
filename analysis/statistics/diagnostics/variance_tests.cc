// Levene's and Brown and Forsythe's tests: unequal spread becomes unequal mean distance, and that is a one-way
// analysis of variance.
#include "analysis/statistics/diagnostics/variance_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::statistics {

Result<OneWay> one_way(const std::vector<std::vector<double>>& groups) {
  if (groups.size() < 2) return bad_input("one-way needs at least 2 groups, got " + std::to_string(groups.size()));
  // Deviations from one common value keep the digits of data with a large mean (NIST StRD, SmLs07-09).
  double origin = 0;
  for (const auto& group : groups)
    if (!group.empty()) origin = group[0];
  Moments total;
  double within = 0;
  std::vector<Moments> parts;
  for (const auto& group : groups) {
    if (group.empty()) return bad_input("a group has no values");
    STAB_CHECK_OK(check_sample(group, 1, "one-way"));
    std::vector<double> shifted(group);
    for (double& value : shifted) value -= origin;
    parts.push_back(moments(shifted));
    within += parts.back().m2;
    total = merge(total, parts.back());
  }
  long double weighted = 0;
  for (const Moments& part : parts) weighted += static_cast<long double>(part.n) * part.mean;
  const long double centre = weighted / static_cast<long double>(total.n);
  long double between = 0;
  for (const Moments& part : parts)
    between += static_cast<long double>(part.n) * (part.mean - centre) * (part.mean - centre);
  OneWay result;
  result.df1 = static_cast<double>(groups.size() - 1);
  result.df2 = static_cast<double>(total.n) - static_cast<double>(groups.size());
  if (result.df2 < 1) return bad_input("each group has one value: no degrees of freedom are left; add replicates");
  if (within <= 0) return no_spread("values of each group");
  result.f = static_cast<double>(between) / result.df1 / (within / result.df2);
  result.p_value = f_upper(result.f, result.df1, result.df2);
  return result;
}

Result<OneWay> levene(const std::vector<std::vector<double>>& groups, Centre centre) {
  std::vector<std::vector<double>> distances;
  for (const auto& group : groups) {
    STAB_CHECK_OK(check_sample(group, 2, centre == Centre::kMean ? "levene" : "brown-forsythe"));
    // From one of the values on: distances of values that lie close together are exact then.
    std::vector<double> shifted(group);
    for (double& value : shifted) value -= group[0];
    const double middle = centre == Centre::kMean ? mean(shifted) : median(shifted);
    distances.emplace_back();
    for (double value : shifted) distances.back().push_back(std::fabs(value - middle));
  }
  // Two values lie equally far from their centre, up to rounding.
  double within = 0, largest = 0, n = 0;
  for (const auto& group : distances) {
    within += moments(group).m2;
    n += static_cast<double>(group.size());
    largest = std::max(largest, *std::max_element(group.begin(), group.end()));
  }
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * largest;
  if (within <= n * rounding * rounding)
    return bad_input(
        "in each group all values lie equally far from its centre: there is no variation to compare; add replicates");
  return one_way(distances);
}

namespace {

// Each value as a deviation from its group's mean.
std::vector<std::vector<double>> deviations_of(const std::vector<std::vector<double>>& blocks) {
  std::vector<std::vector<double>> out(blocks);
  for (size_t group = 0; group < blocks[0].size(); ++group) {
    std::vector<double> values;
    for (const auto& block : blocks) values.push_back(block[group]);
    const double centre = mean(values);
    for (auto& block : out) block[group] -= centre;
  }
  return out;
}

// Rows are blocks: squares between groups against squares within blocks and groups.
OneWay two_way(const std::vector<std::vector<double>>& blocks) {
  const auto n = static_cast<double>(blocks.size()), groups = static_cast<double>(blocks[0].size());
  std::vector<double> group_means(blocks[0].size()), block_means;
  double all = 0;
  for (const auto& block : blocks) {
    block_means.push_back(mean(block));
    all += block_means.back() / n;
    for (size_t group = 0; group < block.size(); ++group) group_means[group] += block[group] / n;
  }
  double between = 0, rest = 0;
  for (double group : group_means) between += n * (group - all) * (group - all);
  for (size_t b = 0; b < blocks.size(); ++b)
    for (size_t group = 0; group < group_means.size(); ++group) {
      const double left = blocks[b][group] - block_means[b] - group_means[group] + all;
      rest += left * left;
    }
  OneWay result;
  result.df1 = groups - 1;
  result.df2 = (groups - 1) * (n - 1);
  result.f = rest > 0 ? between / result.df1 / (rest / result.df2) : 0;
  return result;
}

// The share of the blocks' mean deviations that is the blocks' own and not an average of their values' errors: 1 - MS within /
// MS between blocks, as a best linear predictor shrinks random effects (Henderson 1975).
double own_share(const std::vector<std::vector<double>>& deviations) {
  const auto n = static_cast<double>(deviations.size()), groups = static_cast<double>(deviations[0].size());
  double between = 0, within = 0;
  for (const auto& block : deviations) {
    const double centre = mean(block);
    between += groups * centre * centre;
    for (double value : block) within += (value - centre) * (value - centre);
  }
  if (between <= 0) return 0;
  return std::max(0.0, 1 - within / ((n - 1) * (groups - 1)) / (between / (n - 1)));
}

// Residuals of one group correlate by -1 / (n - 1), and so their distances do by r > 0: the mean distances of groups vary
// (1 + (n - 1) r) / (1 - r) times as much as distances within a group say. r of |x| and |y| for normal x and y that correlate
// by q: (sqrt(1 - q^2) + q asin q - 1) / (pi / 2 - 1).
double inflation(double n) {
  const double q = -1 / (n - 1);
  const double r = (std::sqrt(1 - q * q) + q * std::asin(q) - 1) / (std::acos(0.0) - 1);
  return (1 + (n - 1) * r) / (1 - r);
}

}  // namespace

// Levene's distances with blocks in the model, and the correction for correlated residuals: O'Neill & Mathews (2002), "Levene
// tests of homogeneity of variance for general block and treatment designs", Biometrics 58, 216. With two groups and nothing
// taken off for the block |u| - |v| has the sign of (u - v)(u + v): the product of difference and sum whose correlation Pitman
// (1939) and Morgan (1939) test, in the robust form of Grambsch (1994), Biometrika 81, 359.
Result<OneWay> levene_in_blocks(const std::vector<std::vector<double>>& blocks) {
  if (blocks.size() < 3)
    return bad_input("spread within blocks takes at least 3 complete blocks, got " + std::to_string(blocks.size()));
  if (blocks[0].size() < 2) return bad_input("a comparison of spread needs 2 groups, got " + std::to_string(blocks[0].size()));
  std::vector<std::vector<double>> distances = deviations_of(blocks);
  const double share = blocks[0].size() > 2 ? own_share(distances) : 0;
  for (auto& block : distances) {
    const double own = share * mean(block);
    for (double& value : block) value = std::fabs(value - own);
  }
  OneWay result = two_way(distances);
  result.f /= inflation(static_cast<double>(blocks.size()));
  if (!(result.f > 0) || !std::isfinite(result.f))
    return bad_input("the values don't vary within groups: there is nothing to test against");
  result.p_value = f_upper(result.f, result.df1, result.df2);
  return result;
}

}  // namespace stab::statistics
