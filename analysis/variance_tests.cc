// Levene's and Brown and Forsythe's tests: unequal spread becomes unequal mean distance, and that is a one-way
// analysis of variance.
#include "analysis/variance_tests.h"

#include <cmath>
#include <string>

#include "analysis/distributions.h"

namespace stab::analysis {

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
  if (within <= 0) return bad_input("the values don't vary within groups: there is nothing to test against");
  result.f = static_cast<double>(between) / result.df1 / (within / result.df2);
  result.p_value = f_upper(result.f, result.df1, result.df2);
  return result;
}

Result<OneWay> levene(const std::vector<std::vector<double>>& groups, Centre centre) {
  std::vector<std::vector<double>> distances;
  for (const auto& group : groups) {
    STAB_CHECK_OK(check_sample(group, 2, centre == Centre::kMean ? "levene" : "brown-forsythe"));
    const double middle = centre == Centre::kMean ? mean(group) : median(group);
    distances.emplace_back();
    for (double value : group) distances.back().push_back(std::fabs(value - middle));
  }
  return one_way(distances);
}

}  // namespace stab::analysis
