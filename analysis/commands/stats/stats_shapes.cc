// `stabctl stats`: what shape a sample has: normality, modes, points of a QQ plot.
#include <algorithm>
#include <span>

#include "analysis/commands/stats/by_group.h"
#include "analysis/commands/stats/stats_methods.h"
#include "analysis/statistics/diagnostics/normality.h"
#include "analysis/statistics/diagnostics/unimodality.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::commands {
namespace {

Result<text::Finding> shapiro_one(const Arguments&, const std::vector<double>& values) {
  STAB_TRY(const statistics::NormalityTest test, statistics::shapiro_wilk(values));
  text::Finding finding;
  finding.add_count("n", values.size()).add("statistic", test.statistic).add("p_value", test.p_value);
  return finding;
}

Result<text::Finding> shapiro(const Arguments& args, const StatsData& data) { return by_group(args, data, shapiro_one); }

// The groups are those of a test at 5 %, by the places of their first values among the sorted ones.
Result<text::Finding> dip_one(const Arguments&, const std::vector<double>& values) {
  STAB_TRY(const statistics::DipTest test, statistics::dip_test(values));
  std::vector<double> sorted = values, first, medians;
  std::sort(sorted.begin(), sorted.end());
  for (const auto group : statistics::groups_of_values(sorted, 0.05)) {
    first.push_back(group.front());
    medians.push_back(statistics::quantile_sorted(group, 0.5));
  }
  text::Finding finding;
  finding.add_count("n", values.size()).add("statistic", test.dip).add("p_value", test.p_value);
  finding.add("lowest_of_groups", first).add("medians_of_groups", medians);
  return finding;
}

Result<text::Finding> dip(const Arguments& args, const StatsData& data) { return by_group(args, data, dip_one); }

Result<text::Finding> anderson_one(const Arguments&, const std::vector<double>& values) {
  STAB_TRY(const statistics::NormalityTest test, statistics::anderson_darling(values));
  text::Finding finding;
  finding.add_count("n", values.size()).add("statistic", test.statistic).add("adjusted_statistic", test.adjusted);
  finding.add("p_value", test.p_value);
  return finding;
}

Result<text::Finding> anderson(const Arguments& args, const StatsData& data) { return by_group(args, data, anderson_one); }

// Points of a normal QQ plot: R's qqnorm() with ppoints().
Result<text::Finding> qq(const Arguments&, const StatsData& data) {
  STAB_CHECK_OK(statistics::check_sample(data.response(), 2, "qq"));
  std::vector<double> sorted = data.response(), theoretical;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  const double a = n <= 10 ? 3.0 / 8 : 0.5;
  for (size_t i = 0; i < sorted.size(); ++i)
    theoretical.push_back(statistics::normal_quantile((static_cast<double>(i + 1) - a) / (n + 1 - 2 * a)));
  text::Finding finding;
  finding.add_count("n", sorted.size()).add("theoretical", theoretical).add("sample", sorted);
  return finding;
}

constexpr StatsMethod kShapeMethods[] = {
    {"shapiro-wilk", "normality, 3 to 5000 values", "response group levels log", shapiro},
    {"anderson-darling", "normality, tails weigh more", "response group levels log", anderson},
    {"dip", "one mode or several (Hartigan and Hartigan)", "response group levels log", dip},
    {"qq", "points of a normal QQ plot", "response log", qq},
};

}  // namespace

std::span<const StatsMethod> shape_methods() { return kShapeMethods; }

}  // namespace stab::commands
