// `stabctl stats shift-function`: how two samples differ at several quantiles.
#include <algorithm>

#include "analysis/commands/stats/stats_methods.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/quantile_contrast.h"

namespace stab::commands {
namespace {

Result<text::Finding> shift_function(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const std::vector<double> probabilities, args.numbers("probs", {0.1, 0.25, 0.5, 0.75, 0.9}));
  constexpr size_t kMost = 100;
  if (probabilities.empty() || probabilities.size() > kMost) return bad_input("--probs takes 1 to 100 numbers");
  const bool together = data.pair() != nullptr;
  std::vector<statistics::WeightedSample> samples;
  std::vector<std::string> names;
  if (together) {
    STAB_TRY(const Pairs pairs, data.pairs());
    samples = {{pairs.first, 1}, {pairs.second, -1}};
    names = {pairs.first_name, pairs.second_name};
  } else {
    STAB_TRY(const auto two, data.samples(2, 2));
    samples = {{two[0].values, 1}, {two[1].values, -1}};
    names = {two[0].name, two[1].name};
  }
  STAB_TRY(const statistics::QuantileContrasts found, statistics::quantile_contrasts(samples, together, probabilities));
  const double least_df = *std::min_element(found.df.begin(), found.df.end());
  const double band = statistics::simultaneous_critical_t(found.correlations, least_df, 1 - conf);
  std::vector<text::Finding> rows;
  for (size_t q = 0; q < probabilities.size(); ++q) {
    const double estimate = found.estimates[q], error = found.standard_errors[q], df = found.df[q];
    const double alone = statistics::t_quantile_upper((1 - conf) / 2, df), all = std::max(alone, band);
    text::Finding row;
    row.add("probability", probabilities[q]).add("first", statistics::harrell_davis(samples[0].values, probabilities[q]));
    row.add("second", statistics::harrell_davis(samples[1].values, probabilities[q])).add("estimate", estimate);
    row.add("standard_error", error).add("df", df).add("p_value", statistics::t_two_sided(estimate / error, df));
    row.add("conf_low", estimate - alone * error).add("conf_high", estimate + alone * error);
    row.add("band_low", estimate - all * error).add("band_high", estimate + all * error);
    rows.push_back(std::move(row));
  }
  text::Finding finding;
  finding.add("groups", names).add_count("n", found.n).add("conf_level", conf).add("critical_value", band);
  finding.add("rows", std::move(rows));
  return finding;
}

constexpr StatsMethod kQuantileMethods[] = {
    {"shift-function", "two samples at several quantiles (Harrell-Davis), with a band that holds for all at once",
     "response group levels pair log probs conf", shift_function},
};

}  // namespace

std::span<const StatsMethod> quantile_methods() {
  return kQuantileMethods;
}

}  // namespace stab::commands
