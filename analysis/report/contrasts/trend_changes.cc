#include "analysis/report/contrasts/trend_changes.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/diagnostics/e_divisive.h"
#include "analysis/statistics/distributions/random_values.h"
#include "base/rng.h"

namespace stab::report {
namespace {

constexpr size_t kLeast = 2;  // levels in a segment
// Two segments and the split between them would be all that three levels allow.
constexpr size_t kFewest = 4;
// Values of p below the level that can be told apart: more where there are few lines.
constexpr uint64_t kSteps = 10, kFewerSteps = 4;
constexpr size_t kFewLines = 5;
// Levels squared, times series drawn, over all lines: two seconds.
constexpr double kMostWork = 5e8;

uint64_t rounds_of(size_t lines, double alpha) {
  const uint64_t steps = lines <= kFewLines ? kSteps : kFewerSteps;
  return static_cast<uint64_t>(std::ceil(static_cast<double>(steps * lines) / alpha)) - 1;
}

// The levels of a line that a chain leads to, as places in its points, and the values that the trend has for them.
struct Series {
  std::vector<size_t> places, arms;
  std::vector<double> values;
};

Series series_of(const FittedLine& fitted, size_t anchor, Scale scale) {
  Series out;
  for (size_t i = 0; i < fitted.arms.size(); ++i) {
    const TrendPoint& point = fitted.line->points[i];
    if (fitted.arms[i] != anchor && !point.against_anchor) continue;
    out.places.push_back(i);
    out.arms.push_back(fitted.arms[i]);
    const double value = point.against_anchor ? point.against_anchor->estimate : scale == Scale::kLog ? 1 : 0;
    out.values.push_back(on_scale(scale, value));
  }
  return out;
}

double mean_of(const Series& series, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += series.values[i];
  return sum / static_cast<double>(end - begin);
}

void find_in(const FittedLine& fitted, const Series& series, double alpha, uint64_t rounds, Scale scale) {
  TrendChanges& out = fitted.line->changes;
  const std::vector<statistics::ArmErrors> errors = fitted.network->errors_of(series.arms);
  // How well the variances are known that matter here: as well as those of the step that is known least, since Q is largest
  // where a few levels stand out. The degrees of freedom of all experiments together made 7 % of false alarms in sixteen nights
  // where 5 % were promised; these make 2 %.
  double df = HUGE_VAL;
  for (size_t i = 1; i < series.arms.size(); ++i)
    df = std::min(df, fitted.network->difference(series.arms[i - 1], series.arms[i], 1 - alpha).df);
  const statistics::ArmErrors sessions =
      fitted.sessions.spread ? fitted.network->session_errors_of(series.arms) : statistics::ArmErrors{};
  Rng rng = Rng::stream(1, "trend changes");
  std::vector<double> normals;
  const auto draw = [&](std::span<double> values) {
    std::fill(values.begin(), values.end(), 0.0);
    const auto add = [&](const statistics::ArmErrors& part, double times) {
      normals.resize(part.terms);
      for (double& one : normals) one = statistics::normal_value(rng);
      for (size_t i = 0; i < values.size(); ++i)
        for (size_t j = 0; j < part.terms; ++j) values[i] += times * part.loadings[i * part.terms + j] * normals[j];
    };
    const double times = std::sqrt(df / statistics::chi_squared_value(rng, df));
    for (const statistics::ArmErrors& part : errors) add(part, times);
    if (fitted.sessions.spread) add(sessions, fitted.sessions.spread->quantile(rng.uniform()));
  };
  const Result<statistics::ChangePoints> found = statistics::e_divisive_against(series.values, kLeast, alpha, rounds, draw);
  if (!found) {
    out.refused = found.error().message;
    return;
  }
  out.asked = true;
  out.alpha = alpha;
  if (!found->rejected.empty()) out.p_of_next = found->rejected[0].p_value;
  std::vector<size_t> ends{0, series.values.size()};
  for (const statistics::ChangePoint& point : found->found) ends.push_back(point.first);
  std::sort(ends.begin(), ends.end());
  for (size_t i = 0; i + 1 < ends.size(); ++i)
    out.segments.push_back(
        {series.places[ends[i]], series.places[ends[i + 1] - 1], to_people(scale, mean_of(series, ends[i], ends[i + 1]))});
  for (size_t i = 1; i + 1 < ends.size(); ++i) {
    TrendChange change;
    change.point = series.places[ends[i]];
    change.before = series.places[ends[i] - 1];
    change.levels_before = ends[i] - ends[i - 1];
    change.levels_after = ends[i + 1] - ends[i];
    const double shift = mean_of(series, ends[i], ends[i + 1]) - mean_of(series, ends[i - 1], ends[i]);
    change.shift = to_people(scale, shift);
    const auto at = std::find_if(found->found.begin(), found->found.end(),
                                 [&](const statistics::ChangePoint& point) { return point.first == ends[i]; });
    change.statistic = at->statistic;
    change.p_value = at->p_value;
    out.found.push_back(change);
  }
}

}  // namespace

void find_changes(std::vector<FittedLine> lines, size_t anchor, double alpha, Scale scale) {
  std::vector<Series> series;
  double work = 0;
  for (const FittedLine& fitted : lines) {
    series.push_back(series_of(fitted, anchor, scale));
    work += static_cast<double>(series.back().values.size() * series.back().values.size());
  }
  size_t asked = lines.size();
  if (work * static_cast<double>(rounds_of(asked, alpha)) > kMostWork) asked = 1;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string& refused = lines[i].line->changes.refused;
    const size_t n = series[i].values.size();
    if (i >= asked) {
      refused = "too many workloads to ask each of them for changes; the line over all of them was asked";
    } else if (n < kFewest) {
      refused = "changes are looked for in " + std::to_string(kFewest) + " levels and more that a chain ties together; there " +
                (n == 1 ? "is " : "are ") + std::to_string(n);
    } else {
      find_in(lines[i], series[i], alpha / static_cast<double>(asked), rounds_of(asked, alpha), scale);
    }
  }
}

}  // namespace stab::report
