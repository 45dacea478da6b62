#include "analysis/causal_report/load_arrivals.h"

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::causal_report {

std::string_view name(ArrivalsVerdict verdict) {
  constexpr std::array<std::string_view, 4> kWords{"open", "closed", "unsure", "unknown"};
  return kWords[static_cast<size_t>(verdict)];
}

ArrivalsCheck check_arrivals(std::span<const LoadedTrial> trials, double alpha) {
  ArrivalsCheck out;
  std::map<double, std::vector<double>> by_load;  // logarithms of arrivals a second of real time
  for (const LoadedTrial& trial : trials) {
    if (!(trial.arrivals > 0 && trial.wall_s > 0)) return out;
    by_load[trial.load].push_back(std::log(static_cast<double>(trial.arrivals) / trial.wall_s));
  }
  double freedom = 0, squares = 0;
  for (const auto& [load, values] : by_load) {
    const auto n = static_cast<double>(values.size());
    freedom += n - 1;
    if (n > 1) squares += (n - 1) * statistics::moments(values).sd() * statistics::moments(values).sd();
  }
  if (by_load.size() < 2 || freedom < 2) return out;
  const double variance = squares / freedom, t = statistics::t_quantile_upper(alpha / 2, freedom);
  const std::vector<double>& first = by_load.begin()->second;
  for (const auto& [load, values] : by_load) {
    if (&values == &first) continue;
    const double difference = statistics::mean(values) - statistics::mean(first);
    if (out.share && std::exp(difference) >= out.share->estimate) continue;
    const double half =
        t * std::sqrt(variance * (1 / static_cast<double>(values.size()) + 1 / static_cast<double>(first.size())));
    out.share = report::Interval{std::exp(difference), std::exp(difference - half), std::exp(difference + half)};
    out.load = load;
  }
  out.verdict = out.share->high < kFewestOfArrivals  ? ArrivalsVerdict::kClosed
                : out.share->low < kFewestOfArrivals ? ArrivalsVerdict::kUnsure
                                                     : ArrivalsVerdict::kOpen;
  return out;
}

}  // namespace stab::causal_report
