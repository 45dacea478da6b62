// See settling.h for the method.
#include "analysis/report/report_data/settling.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/distributions/distributions.h"

namespace stab::report {
namespace {

// How often the estimate shows the difference and the verdict is not "unsure" all the same: an interval inside the margin is
// no change, and where Holm asks more of equivalence than of the interval it isn't "equivalent" either.
double told_change_power(const statistics::Estimated& truth, double margin, const SettlingLevels& levels) {
  const double change = statistics::t_quantile_upper(levels.change / 2, truth.df),
               interval = statistics::t_quantile_upper(levels.interval / 2, truth.df);
  const double equivalence = statistics::t_quantile_upper(levels.equivalence, truth.df);
  const double shift = std::fabs(truth.difference) / truth.standard_error, room = margin / truth.standard_error;
  const double kinks[] = {room / (change + equivalence), room / (change + interval)};
  return statistics::over_spread(truth.df, kinks, [&](double s) {
    const double from = change * s;
    const double gap_low = std::max(from, room - equivalence * s), gap_high = std::max(gap_low, room - interval * s);
    return statistics::normal_upper(from - shift) -
           (statistics::normal_upper(gap_low - shift) - statistics::normal_upper(gap_high - shift));
  });
}

}  // namespace

double KnownError::standard_error_at(double draws) const { return standard_error * std::sqrt(static_cast<double>(n) / draws); }

statistics::Estimated KnownError::at(double difference, uint64_t draws) const {
  const auto count = static_cast<double>(draws);
  return {difference, standard_error_at(count), df_at(count)};
}

double KnownError::df_at(double draws) const {
  if (!df_grows) return df;
  const auto now = static_cast<double>(n);
  return n > 1 ? df * (draws - 1) / (now - 1) : df * draws;
}

std::optional<uint64_t> settling_replicates(double estimate, const KnownError& error, double margin,
                                            const std::function<SettlingLevels(uint64_t)>& levels_at) {
  const double size = std::fabs(estimate);
  const auto at = [&](uint64_t n) { return error.at(size, n); };
  const uint64_t least = error.n + 1;
  const uint64_t equivalent =
      size < margin
          ? statistics::fewest(least, kMostSettling,
                               [&](uint64_t n) {
                                 return statistics::equivalence_power(at(n), margin, levels_at(n).equivalence) >= kSettlingPower;
                               })
          : 0;
  const auto shows = [&](uint64_t n) { return statistics::change_power(at(n), levels_at(n).change) >= kSettlingPower; };
  const uint64_t limit = equivalent > 0 ? equivalent : kMostSettling;
  uint64_t changed = size > 0 ? statistics::fewest(least, limit, shows) : 0;
  // Few steps, and only where Holm leaves a gap between the two verdicts.
  constexpr double kStep = 1.02;
  while (changed > 0 && changed < limit && told_change_power(at(changed), margin, levels_at(changed)) < kSettlingPower)
    changed = std::min(limit, std::max(changed + 1, static_cast<uint64_t>(kStep * static_cast<double>(changed))));
  if (changed == 0) changed = equivalent;
  if (changed == 0) return std::nullopt;
  return equivalent > 0 ? std::min(changed, equivalent) : changed;
}

std::optional<uint64_t> settling_replicates(double estimate, const KnownError& error, double margin,
                                            const SettlingLevels& levels) {
  return settling_replicates(estimate, error, margin, [&](uint64_t) { return levels; });
}

std::optional<uint64_t> settling_worse(double estimate, const KnownError& error, double margin,
                                       const std::function<SettlingLevels(uint64_t)>& levels_at) {
  // Each is a test on one side: of the difference against 0, as half of one on two sides, and of the margin against it.
  const auto smallest = [&](double distance, const auto& two_sided) -> uint64_t {
    if (!(distance > 0)) return 0;
    return statistics::fewest(error.n + 1, kMostSettling, [&](uint64_t n) {
      return statistics::change_power(error.at(distance, n), two_sided(levels_at(n))) >= kSettlingPower;
    });
  };
  const uint64_t worse = smallest(estimate, [](const SettlingLevels& levels) { return levels.change; });
  const uint64_t not_worse = smallest(margin - estimate, [](const SettlingLevels& levels) { return 2 * levels.equivalence; });
  if (worse == 0 && not_worse == 0) return std::nullopt;
  return worse == 0 ? not_worse : not_worse == 0 ? worse : std::min(worse, not_worse);
}

bool is_worth_running(const Contrast& contrast) {
  constexpr uint64_t kTimes = 10, kFew = 100;
  constexpr double kDay = 24 * 60 * 60;
  return contrast.settles_n && *contrast.settles_n <= std::max(kFew, kTimes * contrast.n) &&
         contrast.settles_seconds.value_or(0) <= kDay;
}

std::string settling_text(const Report& report, const Contrast& contrast, std::string_view of_each) {
  if (contrast.by_alone) return "more blocks alone are needed to decide (now " + std::to_string(contrast.n) + ")";
  if (contrast.population == Population::kLikeThese) return "more " + report.program_word + "s are needed to decide";
  if (!contrast.settles_n) return "no number of " + replicates_word(report) + " up to 1,000,000,000 would decide";
  const std::string unit = contrast.by_link    ? "links a side"
                           : !of_each.empty() ? std::string(of_each)
                                              : replicates_word(report) + " of each cell";
  const std::string many = std::to_string(*contrast.settles_n) + " " + unit;
  const std::string now = " (now " + std::to_string(contrast.n) + ")";
  const std::string cost =
      contrast.settles_seconds ? ", " + machine_time_text(*contrast.settles_seconds) + " more of machine time" : "";
  if (is_worth_running(contrast)) return many + " are needed to decide" + now + cost;
  const bool may_slice = !report.slicing && contrast.response == "wall_time";
  return "deciding would take " + many + now + cost + "; a wider margin or less noise decides sooner" +
         (may_slice ? ", and so does blocks = \"sliced\" below [experiment] if the programs keep one CPU busy" : "");
}

}  // namespace stab::report
