// `stabctl stats`: methods for one sample and for two. Each function turns flags and columns into one call of
// the library and names the numbers that come back; field names are part of docs/reference/stats.md.
#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/commands/stats/by_group.h"
#include "analysis/commands/stats/stats_methods.h"
#include "analysis/statistics/diagnostics/e_divisive.h"
#include "analysis/statistics/diagnostics/sequence.h"
#include "analysis/statistics/diagnostics/variance_interval.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/looks/bets.h"
#include "analysis/statistics/looks/confidence_sequence.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/effect_size.h"
#include "analysis/statistics/two_samples/fieller.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "analysis/statistics/two_samples/resampling.h"
#include "base/number_text.h"

namespace stab::commands {
namespace {

Result<text::Finding> describe_one(const Arguments& args, const std::vector<double>& values) {
  STAB_CHECK_OK(statistics::check_sample(values, 1, "describe"));
  STAB_CHECK_OK(statistics::check_squares(values));
  STAB_TRY(const double conf, confidence_of(args));
  std::vector<double> sorted(values);
  std::sort(sorted.begin(), sorted.end());
  const statistics::Moments all = statistics::moments(values);
  text::Finding finding;
  finding.add_count("n", all.n).add("mean", all.mean).add("median", statistics::quantile_sorted(sorted, 0.5));
  finding.add("geometric_mean", statistics::geometric_mean(values));
  std::optional<double> sd, variance, standard_error, low, high, median_low, median_high, ratio_low, ratio_high;
  if (all.n >= 2) {
    sd = all.sd();
    variance = all.variance();
    standard_error = all.standard_error();
    const statistics::ConfidenceInterval interval = statistics::mean_interval(all, conf);
    low = interval.low;
    high = interval.high;
    if (statistics::geometric_mean(values)) {
      std::vector<double> logs;
      for (double value : values) logs.push_back(std::log(value));
      const statistics::ConfidenceInterval ratio = statistics::mean_interval(statistics::moments(logs), conf);
      ratio_low = std::exp(ratio.low);
      ratio_high = std::exp(ratio.high);
      if (std::isinf(*ratio_high)) ratio_low = ratio_high = std::nullopt;  // logarithms too far apart for their number
    }
  }
  if (const auto interval = statistics::median_interval(values, conf)) {
    median_low = interval->low;
    median_high = interval->high;
  }
  finding.add("sd", sd).add("variance", variance).add("standard_error", standard_error).add("mad", statistics::mad(values));
  finding.add("min", sorted.front()).add("q25", statistics::quantile_sorted(sorted, 0.25));
  finding.add("q75", statistics::quantile_sorted(sorted, 0.75)).add("max", sorted.back());
  finding.add("conf_low", low).add("conf_high", high);
  finding.add("median_conf_low", median_low).add("median_conf_high", median_high);
  finding.add("geometric_conf_low", ratio_low).add("geometric_conf_high", ratio_high).add("conf_level", conf);
  return finding;
}

Result<text::Finding> describe(const Arguments& args, const StatsData& data) { return by_group(args, data, describe_one); }

Result<text::Finding> quantiles_one(const Arguments& args, const std::vector<double>& values) {
  STAB_CHECK_OK(statistics::check_sample(values, 1, "quantile"));
  STAB_TRY(const std::vector<double> probs, args.numbers("probs", {0, 0.25, 0.5, 0.75, 1}));
  STAB_TRY(const uint64_t type, args.count("type", 7, 1));
  if (type > 9) return bad_input("--type takes 1 to 9 (Hyndman & Fan), got '" + args.text("type") + "'");
  std::vector<double> found;
  for (double p : probs) {
    if (p < 0 || p > 1) return bad_input("--probs takes numbers from 0 to 1");
    found.push_back(statistics::quantile_type(values, p, static_cast<int>(type)));
  }
  text::Finding finding;
  finding.add_count("n", values.size()).add("probs", probs).add("quantiles", found).add_count("type", type);
  return finding;
}

Result<text::Finding> quantiles(const Arguments& args, const StatsData& data) { return by_group(args, data, quantiles_one); }

// ---- t tests --------------------------------------------------------------------------------------------

void add_test(text::Finding& finding, const statistics::TTest& test, const Arguments& args, double mu, double conf) {
  finding.add("statistic", test.statistic).add("df", test.df).add("p_value", test.p_value);
  finding.add("estimate", test.estimate).add("standard_error", test.standard_error);
  finding.add("conf_low", test.conf_low).add("conf_high", test.conf_high).add("conf_level", conf);
  finding.add("mu", mu).add("alternative", args.text("alternative", "two.sided"));
}

void add_groups(text::Finding& finding, const NamedSample& first, const NamedSample& second) {
  finding.add("groups", std::vector<std::string>{first.name, second.name});
  finding.add("means", std::vector<double>{statistics::mean(first.values), statistics::mean(second.values)});
  finding.add("n", std::vector<double>{static_cast<double>(first.values.size()),
                                       static_cast<double>(second.values.size())});
}

Result<text::Finding> one_sample(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double mu, args.number("mu", 0));
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const statistics::Alternative alternative, alternative_of(args));
  STAB_TRY(const statistics::TTest test, statistics::one_sample_t(data.response(), mu, alternative, conf));
  text::Finding finding;
  finding.add_count("n", data.response().size());
  add_test(finding, test, args, mu, conf);
  return finding;
}

template <auto Test>
Result<text::Finding> two_sample(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double mu, args.number("mu", 0));
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const statistics::Alternative alternative, alternative_of(args));
  STAB_TRY(const auto two, data.samples(2, 2));
  STAB_CHECK_OK(check_squares(two));
  STAB_TRY(const statistics::TTest test,
           Test(statistics::moments(two[0].values), statistics::moments(two[1].values), mu, alternative, conf));
  text::Finding finding;
  add_groups(finding, two[0], two[1]);
  add_test(finding, test, args, mu, conf);
  return finding;
}

Result<text::Finding> paired(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double mu, args.number("mu", 0));
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const statistics::Alternative alternative, alternative_of(args));
  STAB_TRY(const Pairs pairs, data.pairs());
  STAB_TRY(const statistics::TTest test, statistics::paired_t(pairs.first, pairs.second, mu, alternative, conf));
  text::Finding finding;
  finding.add("groups", std::vector<std::string>{pairs.first_name, pairs.second_name});
  finding.add_count("n", pairs.first.size());
  finding.add("paired_by", pairs.by_row_order ? "row order" : "subject or column");
  add_test(finding, test, args, mu, conf);
  return finding;
}

Result<text::Finding> tost_method(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double alpha, args.number("alpha", 0.05));
  STAB_TRY(const auto delta, args.number("delta"));
  STAB_TRY(const auto given_low, args.number("low"));
  STAB_TRY(const auto given_high, args.number("high"));
  if (!delta && !(given_low && given_high))
    return bad_input("tost needs the equivalence bounds: --delta D for -D to D, or --low L --high H");
  if (delta && *delta <= 0) return bad_input("--delta takes a number > 0");
  if (!(alpha > 0 && alpha < 0.5)) return bad_input("--alpha takes a level between 0 and 0.5");
  const double low = given_low.value_or(delta ? -*delta : 0), high = given_high.value_or(delta ? *delta : 0);
  if (!(low < high)) return bad_input("tost needs --low < --high");
  text::Finding finding;
  statistics::Tost result;
  if (!data.grouped() && data.responses().size() == 1) {
    STAB_TRY(result, statistics::tost_one_sample(data.response(), low, high, alpha));
  } else if (args.has("paired") || data.pair()) {
    STAB_TRY(const Pairs pairs, data.pairs());
    std::vector<double> difference;
    double largest = 0;
    for (size_t i = 0; i < pairs.first.size(); ++i) {
      difference.push_back(pairs.first[i] - pairs.second[i]);
      largest = std::max({largest, std::fabs(pairs.first[i]), std::fabs(pairs.second[i])});
    }
    STAB_TRY(result, statistics::tost_one_sample(difference, low, high, alpha, largest));
  } else {
    STAB_TRY(const auto two, data.samples(2, 2));
    STAB_CHECK_OK(check_squares(two));
    add_groups(finding, two[0], two[1]);
    STAB_TRY(result, statistics::tost(statistics::moments(two[0].values), statistics::moments(two[1].values), low, high, alpha,
                                      args.has("equal-variance") ? statistics::VarianceAssumption::kEqual
                                                                 : statistics::VarianceAssumption::kUnequal));
  }
  finding.add("estimate", result.above_low.estimate).add("df", result.above_low.df);
  finding.add("low", low).add("high", high);
  finding.add("statistic_low", result.above_low.statistic).add("p_value_low", result.above_low.p_value);
  finding.add("statistic_high", result.below_high.statistic).add("p_value_high", result.below_high.p_value);
  finding.add("p_value", result.p_value).add("conf_low", result.conf_low).add("conf_high", result.conf_high);
  finding.add("conf_level", 1 - 2 * alpha).add_flag("equivalent", result.p_value < alpha);
  return finding;
}

// ---- ranks ----------------------------------------------------------------------------------------------

Result<statistics::RankOptions> rank_options(const Arguments& args) {
  statistics::RankOptions options;
  STAB_TRY(options.mu, args.number("mu", 0));
  STAB_TRY(options.conf, confidence_of(args));
  STAB_TRY(options.alternative, alternative_of(args));
  if (args.has("exact") && args.has("asymptotic")) return bad_input("--exact and --asymptotic exclude each other");
  if (args.has("exact")) options.method = statistics::RankMethod::kExact;
  if (args.has("asymptotic")) options.method = statistics::RankMethod::kAsymptotic;
  options.continuity = !args.has("no-continuity");
  return options;
}

void add_rank_test(text::Finding& finding, const statistics::RankTest& test, const statistics::RankOptions& options,
                   const Arguments& args) {
  finding.add("statistic", test.statistic).add("p_value", test.p_value).add_flag("exact", test.exact);
  finding.add("estimate", test.estimate).add("conf_low", test.conf_low).add("conf_high", test.conf_high);
  finding.add("conf_level", options.conf).add("achieved_conf_level", test.achieved_conf).add("mu", options.mu);
  finding.add("alternative", args.text("alternative", "two.sided"));
}

Result<text::Finding> wilcoxon(const Arguments& args, const StatsData& data) {
  STAB_TRY(const statistics::RankOptions options, rank_options(args));
  text::Finding finding;
  std::vector<double> values = data.response();
  if (data.grouped() || data.responses().size() > 1) {
    STAB_TRY(const Pairs pairs, data.pairs());
    values.clear();
    for (size_t i = 0; i < pairs.first.size(); ++i) values.push_back(pairs.first[i] - pairs.second[i]);
    finding.add("groups", std::vector<std::string>{pairs.first_name, pairs.second_name});
    finding.add("paired_by", pairs.by_row_order ? "row order" : "subject or column");
  }
  STAB_TRY(const statistics::RankTest test, statistics::wilcoxon_signed_rank(values, options));
  finding.add_count("n", values.size());
  add_rank_test(finding, test, options, args);
  return finding;
}

Result<text::Finding> mann_whitney_method(const Arguments& args, const StatsData& data) {
  STAB_TRY(const statistics::RankOptions options, rank_options(args));
  STAB_TRY(const auto two, data.samples(2, 2));
  STAB_TRY(const statistics::RankTest test, statistics::mann_whitney(two[0].values, two[1].values, options));
  text::Finding finding;
  finding.add("groups", std::vector<std::string>{two[0].name, two[1].name});
  finding.add("n", std::vector<double>{static_cast<double>(two[0].values.size()),
                                       static_cast<double>(two[1].values.size())});
  add_rank_test(finding, test, options, args);
  return finding;
}

// ---- effect sizes ---------------------------------------------------------------------------------------

// The two estimates of the standardized difference; `unbiased`: Hedges' g.
Result<text::Finding> standardized_difference(const Arguments& args, const StatsData& data, bool unbiased) {
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const auto two, data.samples(2, 2));
  STAB_CHECK_OK(check_squares(two));
  STAB_TRY(const statistics::StandardizedDifference d,
           statistics::cohen_d(statistics::moments(two[0].values), statistics::moments(two[1].values), conf));
  text::Finding finding;
  add_groups(finding, two[0], two[1]);
  const double factor = unbiased ? d.correction : 1;
  finding.add("estimate", unbiased ? d.hedges_g : d.estimate);
  finding.add("conf_low", d.conf_low * factor).add("conf_high", d.conf_high * factor);
  if (!unbiased) finding.add("hedges_g", d.hedges_g);
  finding.add("conf_level", conf);
  return finding;
}

Result<text::Finding> cohen(const Arguments& args, const StatsData& data) { return standardized_difference(args, data, false); }

Result<text::Finding> hedges(const Arguments& args, const StatsData& data) { return standardized_difference(args, data, true); }

Result<text::Finding> ratio(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(auto two, data.samples(2, 2));
  for (NamedSample& sample : two) {
    for (double& value : sample.values) {
      if (value <= 0) return bad_input("ratio: group '" + sample.name + "' has the value " + number_text(value) +
                                       ", which has no logarithm");
      value = std::log(value);
    }
  }
  STAB_CHECK_OK(check_squares(two));
  STAB_TRY(const statistics::TTest test,
           statistics::welch_t(statistics::moments(two[0].values), statistics::moments(two[1].values), 0,
                               statistics::Alternative::kTwoSided, conf));
  text::Finding finding;
  finding.add("groups", std::vector<std::string>{two[0].name, two[1].name});
  finding.add("geometric_means",
              std::vector<double>{std::exp(statistics::mean(two[0].values)), std::exp(statistics::mean(two[1].values))});
  finding.add("statistic", test.statistic).add("df", test.df).add("p_value", test.p_value);
  finding.add("estimate", std::exp(test.estimate)).add("conf_low", std::exp(*test.conf_low));
  finding.add("conf_high", std::exp(*test.conf_high)).add("conf_level", conf);
  return finding;
}

Result<text::Finding> fieller_method(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const double rho, args.number("rho", 1));
  text::Finding finding;
  statistics::RatioOfMeans result;
  if (args.has("paired") || data.pair()) {
    STAB_TRY(const Pairs pairs, data.pairs());
    STAB_TRY(result, statistics::fieller_paired(pairs.first, pairs.second, rho, conf));
    finding.add("groups", std::vector<std::string>{pairs.first_name, pairs.second_name});
    finding.add("means", std::vector<double>{statistics::mean(pairs.first), statistics::mean(pairs.second)});
    finding.add("paired_by", pairs.by_row_order ? "row order" : "subject or column");
  } else {
    STAB_TRY(const auto two, data.samples(2, 2));
    STAB_CHECK_OK(check_squares(two));
    add_groups(finding, two[0], two[1]);
    STAB_TRY(result, statistics::fieller(statistics::moments(two[0].values), statistics::moments(two[1].values), rho, conf));
  }
  finding.add("estimate", result.estimate).add("conf_low", result.conf_low).add("conf_high", result.conf_high);
  finding.add("conf_level", conf).add("df", result.df);
  finding.add("rho", rho).add("statistic", result.statistic).add("df_at_rho", result.test_df).add("p_value", result.p_value);
  return finding;
}

Result<text::Finding> variance_one(const Arguments& args, const std::vector<double>& values) {
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const statistics::VarianceInterval variance, statistics::variance_interval(values, conf));
  text::Finding finding;
  finding.add_count("n", values.size()).add("df", variance.df).add("estimate", variance.estimate);
  finding.add("conf_low", variance.normal.low).add("conf_high", variance.normal.high);
  std::optional<double> low, high, sd_low, sd_high;
  if (variance.robust) {
    low = variance.robust->low;
    high = variance.robust->high;
    sd_low = std::sqrt(*low);
    sd_high = std::sqrt(*high);
  }
  finding.add("robust_conf_low", low).add("robust_conf_high", high);
  finding.add("sd", std::sqrt(variance.estimate)).add("sd_conf_low", std::sqrt(variance.normal.low));
  finding.add("sd_conf_high", std::sqrt(variance.normal.high));
  finding.add("sd_robust_conf_low", sd_low).add("sd_robust_conf_high", sd_high).add("conf_level", conf);
  return finding;
}

Result<text::Finding> variance_method(const Arguments& args, const StatsData& data) { return by_group(args, data, variance_one); }

// ---- resampling -----------------------------------------------------------------------------------------

Result<text::Finding> bootstrap(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const uint64_t resamples, args.count("resamples", 10000, 100));
  STAB_TRY(const uint64_t seed, args.count("seed", 1, 0));
  const std::string statistic = args.text("statistic", "mean");
  statistics::BootstrapStatistic which = statistics::BootstrapStatistic::kMean;
  if (statistic == "median") which = statistics::BootstrapStatistic::kMedian;
  else if (statistic == "sd") which = statistics::BootstrapStatistic::kSd;
  else if (statistic != "mean") return bad_input("--statistic takes mean, median or sd, got '" + statistic + "'");
  text::Finding finding;
  STAB_TRY(const statistics::BootstrapInterval interval,
           statistics::bca_bootstrap(data.response(), which, resamples, conf, seed));
  finding.add_count("n", data.response().size()).add("estimate", interval.estimate);
  finding.add("conf_low", interval.conf_low).add("conf_high", interval.conf_high).add("conf_level", conf);
  finding.add("bias", interval.bias).add("standard_error", interval.standard_error);
  finding.add("z0", interval.z0).add("acceleration", interval.acceleration);
  finding.add_count("resamples", resamples).add_count("seed", seed);
  return finding;
}

Result<text::Finding> permutation(const Arguments& args, const StatsData& data) {
  STAB_TRY(const uint64_t resamples, args.count("resamples", 10000, 100));
  STAB_TRY(const uint64_t seed, args.count("seed", 1, 0));
  STAB_TRY(const statistics::Alternative alternative, alternative_of(args));
  STAB_TRY(const auto two, data.samples(2, 2));
  const statistics::FactorCodes factors = data.factors();
  const std::vector<uint32_t> blocks = data.block() ? data.block()->codes
                                                    : std::vector<uint32_t>(data.response().size(), 0);
  STAB_TRY(const statistics::PermutationTest test,
           statistics::block_permutation(data.response(), factors.codes[0], blocks, alternative, resamples, seed));
  text::Finding finding;
  add_groups(finding, two[0], two[1]);
  finding.add("estimate", test.difference).add("p_value", test.p_value).add_flag("exact", test.exact);
  finding.add_count("permutations", test.permutations).add_count("seed", seed);
  finding.add("alternative", args.text("alternative", "two.sided"));
  return finding;
}

// ---- sequences ------------------------------------------------------------------------------------------

Result<text::Finding> autocorrelation(const Arguments&, const StatsData& data) {
  STAB_TRY(const statistics::SequenceTest test, statistics::lag1_autocorrelation(data.response()));
  text::Finding finding;
  finding.add_count("n", data.response().size()).add("statistic", test.statistic).add("p_value", test.p_value);
  return finding;
}

Result<text::Finding> drift_method(const Arguments&, const StatsData& data) {
  STAB_TRY(const statistics::SequenceTest test, statistics::drift(data.response()));
  text::Finding finding;
  finding.add_count("n", data.response().size()).add("statistic", test.statistic).add("p_value", test.p_value);
  return finding;
}

Result<text::Finding> change_point_method(const Arguments& args, const StatsData& data) {
  STAB_CHECK_OK(statistics::check_sample(data.response(), 3, "change points"));
  STAB_TRY(const double penalty, args.number("penalty", statistics::default_penalty(data.response())));
  STAB_TRY(const uint64_t least, args.count("least", 1, 1));
  STAB_TRY(const auto changes, statistics::change_points(data.response(), penalty, least));
  std::vector<text::Finding> segments;
  std::vector<double> rows;
  size_t first = 0;
  for (size_t i = 0; i <= changes.size(); ++i) {
    const size_t end = i < changes.size() ? changes[i] : data.response().size();
    text::Finding segment;
    segment.add_count("first_row", data.row_of(first)).add_count("last_row", data.row_of(end - 1));
    segment.add("mean", statistics::mean(std::span(data.response()).subspan(first, end - first)));
    segments.push_back(std::move(segment));
    if (i < changes.size()) rows.push_back(static_cast<double>(data.row_of(end - 1)));
    first = end;
  }
  text::Finding finding;
  finding.add_count("n", data.response().size()).add("penalty", penalty);
  finding.add("change_points", rows).add("segments", std::move(segments));
  return finding;
}

// Rows are the file's, counted from 1; a change lies behind its row.
Result<text::Finding> e_divisive_method(const Arguments& args, const StatsData& data) {
  const std::vector<double>& values = data.response();
  STAB_TRY(const uint64_t least, args.count("least", 5, 2));
  STAB_TRY(const double alpha, args.number("alpha", 0.05));
  STAB_TRY(const uint64_t resamples, args.count("resamples", 999, 1));
  STAB_TRY(const uint64_t seed, args.count("seed", 1, 0));
  STAB_TRY(statistics::ChangePoints changes, statistics::e_divisive(values, least, alpha, resamples, seed));
  std::sort(changes.found.begin(), changes.found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<double> rows, statistics, p_values;
  std::vector<text::Finding> segments;
  for (size_t i = 0; i <= changes.found.size(); ++i) {
    const size_t first = i == 0 ? 0 : changes.found[i - 1].first;
    const size_t end = i < changes.found.size() ? changes.found[i].first : values.size();
    const auto stretch = std::span(values).subspan(first, end - first);
    const std::vector<double> part(stretch.begin(), stretch.end());
    text::Finding segment;
    segment.add_count("first_row", data.row_of(first))
        .add_count("last_row", data.row_of(end - 1))
        .add("mean", statistics::mean(part))
        .add("median", statistics::median(part));
    segments.push_back(std::move(segment));
    if (i == changes.found.size()) break;
    rows.push_back(static_cast<double>(data.row_of(end - 1)));
    statistics.push_back(changes.found[i].statistic);
    p_values.push_back(changes.found[i].p_value);
  }
  std::optional<double> next_row, next_statistic, next_p;  // the strongest that is none
  if (!changes.rejected.empty()) {
    next_row = static_cast<double>(data.row_of(changes.rejected[0].first - 1));
    next_statistic = changes.rejected[0].statistic;
    next_p = changes.rejected[0].p_value;
  }
  text::Finding finding;
  finding.add_count("n", values.size()).add_count("least", least).add("alpha", alpha).add_count("resamples", resamples);
  finding.add_count("seed", seed).add("change_points", rows).add("statistics", statistics).add("p_values", p_values);
  finding.add("rejected_change_point", next_row).add("rejected_statistic", next_statistic).add("rejected_p_value", next_p);
  finding.add("segments", std::move(segments));
  return finding;
}

// The interval after all rows, of a sequence whose intervals after each number of rows hold together.
Result<text::Finding> sequence_method(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double mu, args.number("mu", 0));
  STAB_TRY(const uint64_t narrowest_at, args.count("narrowest-at", 20, 2));
  constexpr uint64_t kMostNarrowest = 1'000'000'000;
  if (narrowest_at > kMostNarrowest)
    return bad_input("--narrowest-at takes at most " + std::to_string(kMostNarrowest) + ", got " + std::to_string(narrowest_at));
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const statistics::TTest test, statistics::one_sample_t(data.response(), mu, statistics::Alternative::kTwoSided, conf));
  const auto n = static_cast<double>(data.response().size());
  const double alpha = 1 - conf, g = statistics::mixture_narrowest_at(static_cast<double>(narrowest_at), alpha);
  const double critical = statistics::sequence_critical_t(n, g, alpha),
               log_e = statistics::mixture_log_ratio(test.statistic, n, g);
  statistics::Bets bets(mu, g);
  for (const double value : data.response()) bets.add(value);
  std::optional<double> low, high, at;  // absent: no bounded interval yet
  if (std::isfinite(critical)) {
    at = critical;
    const statistics::BetEnds of_t{test.estimate - critical * test.standard_error,
                                   test.estimate + critical * test.standard_error};
    const statistics::BetEnds ends = statistics::widened_by_bets(data.response(), g, alpha, of_t);
    if (std::isfinite(ends.low)) low = ends.low;
    if (std::isfinite(ends.high)) high = ends.high;
  }
  // Half of alpha a side. All bets lost is no number.
  const double log_bet = std::max(bets.log_above(), bets.log_below()) - std::log(2);
  std::optional<double> shown_bet;
  if (std::isfinite(log_bet)) shown_bet = log_bet;
  text::Finding finding;
  finding.add_count("n", data.response().size()).add("statistic", test.statistic).add("df", test.df);
  finding.add("p_value", std::exp(-std::max(0.0, std::min(log_e, log_bet)))).add("log_e_value", log_e).add("log_bet", shown_bet);
  finding.add("critical_value", at);
  finding.add("estimate", test.estimate).add("standard_error", test.standard_error);
  finding.add("conf_low", low).add("conf_high", high).add("conf_level", conf).add("mu", mu);
  finding.add_count("narrowest_at", narrowest_at).add("mixture_variance", g);
  return finding;
}

constexpr StatsMethod kSampleMethods[] = {
    {"describe", "n, means, quantiles, spread and their intervals", "response group levels log conf", describe},
    {"quantile", "quantiles, --type 1 to 9 of Hyndman & Fan (7)", "response group levels log probs type", quantiles},
    {"one-sample-t", "mean against --mu", "response log mu alternative conf", one_sample},
    {"confidence-sequence", "mean against --mu, however often one looks",
     "response log mu narrowest-at conf", sequence_method},
    {"student", "two means, equal variances", "response group levels log mu alternative conf", two_sample<statistics::student_t>},
    {"welch", "two means, unequal variances", "response group levels log mu alternative conf", two_sample<statistics::welch_t>},
    {"paired-t", "two means, paired by --pair", "response group levels pair log mu alternative conf", paired},
    {"tost", "equivalence within --delta (or --low, --high)",
     "response group levels pair paired log delta low high alpha equal-variance", tost_method},
    {"wilcoxon", "signed ranks of one sample or of pairs",
     "response group levels pair log mu alternative conf exact asymptotic no-continuity", wilcoxon},
    {"mann-whitney", "ranks of two samples",
     "response group levels log mu alternative conf exact asymptotic no-continuity", mann_whitney_method},
    {"cohen-d", "standardized difference", "response group levels log conf", cohen},
    {"hedges-g", "standardized difference, unbiased", "response group levels log conf", hedges},
    {"ratio", "ratio of geometric means (Welch on logs)", "response group levels conf", ratio},
    {"fieller", "ratio of means, the second one an estimate, too (Fieller)", "response group levels pair paired rho conf",
     fieller_method},
    {"variance", "interval of a variance: chi-squared, and Bonett's, which allows for heavy tails",
     "response group levels log conf", variance_method},
    {"bootstrap", "BCa interval of --statistic mean, median or sd",
     "response log statistic resamples seed conf", bootstrap},
    {"permutation", "difference of means, shuffled within --block",
     "response group levels block log alternative resamples seed", permutation},
    {"autocorrelation", "lag-1 autocorrelation in row order", "response log", autocorrelation},
    {"drift", "Spearman correlation with row order", "response log", drift_method},
    {"change-points", "changes of the mean in row order (PELT)", "response log penalty least", change_point_method},
    {"e-divisive", "changes of any kind in row order, each with its p (E-divisive)",
     "response log least alpha resamples seed", e_divisive_method},
};

}  // namespace

std::span<const StatsMethod> sample_methods() { return kSampleMethods; }

}  // namespace stab::commands
