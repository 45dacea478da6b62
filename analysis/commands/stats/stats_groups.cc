// `stabctl stats`: methods for several groups, factors and repeated measures.
#include <algorithm>
#include <cmath>

#include "analysis/commands/stats/stats_methods.h"
#include "analysis/commands/table/formula.h"
#include "analysis/statistics/diagnostics/variance_tests.h"
#include "analysis/statistics/families/comparisons.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/statistics/models/anova.h"
#include "analysis/statistics/models/robust_anova.h"
#include "analysis/statistics/models/strata.h"
#include "analysis/statistics/models/variance_components.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "base/number_text.h"

namespace stab::commands {
namespace {

std::vector<std::vector<double>> values_of(const std::vector<NamedSample>& samples) {
  std::vector<std::vector<double>> groups;
  for (const NamedSample& sample : samples) groups.push_back(sample.values);
  return groups;
}

std::vector<statistics::Moments> moments_of(const std::vector<NamedSample>& samples) {
  std::vector<statistics::Moments> out;
  for (const NamedSample& sample : samples) out.push_back(statistics::moments(sample.values));
  return out;
}

text::Finding one_way_finding(const statistics::OneWay& test) {
  text::Finding finding;
  finding.add("statistic", test.f).add("df", test.df1).add("df2", test.df2).add("p_value", test.p_value);
  return finding;
}

Result<text::Finding> levene_method(const Arguments&, const StatsData& data) {
  STAB_TRY(const auto samples, data.samples(2, SIZE_MAX));
  STAB_CHECK_OK(check_squares(samples));
  STAB_TRY(const statistics::OneWay test, statistics::levene(values_of(samples), statistics::Centre::kMean));
  return one_way_finding(test);
}

Result<text::Finding> brown_forsythe(const Arguments&, const StatsData& data) {
  STAB_TRY(const auto samples, data.samples(2, SIZE_MAX));
  STAB_CHECK_OK(check_squares(samples));
  STAB_TRY(const statistics::OneWay test, statistics::levene(values_of(samples), statistics::Centre::kMedian));
  return one_way_finding(test);
}

Result<text::Finding> welch_anova_method(const Arguments&, const StatsData& data) {
  STAB_TRY(const auto samples, data.samples(2, SIZE_MAX));
  STAB_CHECK_OK(check_squares(samples));
  STAB_TRY(const statistics::OneWay test, statistics::welch_anova(moments_of(samples)));
  return one_way_finding(test);
}

Result<text::Finding> kruskal(const Arguments&, const StatsData& data) {
  STAB_TRY(const auto samples, data.samples(2, SIZE_MAX));
  STAB_TRY(const statistics::ChiSquaredTest test, statistics::kruskal_wallis(values_of(samples)));
  text::Finding finding;
  finding.add("statistic", test.statistic).add("df", test.df).add("p_value", test.p_value);
  return finding;
}

Result<text::Finding> friedman_method(const Arguments&, const StatsData& data) {
  std::vector<std::string> treatments;
  STAB_TRY(const auto blocks, data.complete_blocks(&treatments));
  STAB_TRY(const statistics::ChiSquaredTest test, statistics::friedman(blocks));
  text::Finding finding;
  finding.add_count("blocks", blocks.size()).add("treatments", treatments);
  finding.add("statistic", test.statistic).add("df", test.df).add("p_value", test.p_value);
  return finding;
}

// ---- analysis of variance -------------------------------------------------------------------------------

text::Finding row_finding(const statistics::AnovaRow& row) {
  text::Finding finding;
  finding.add("term", row.term).add("df", row.df).add("sum_squares", row.sum_squares);
  finding.add("mean_square", row.mean_square).add("statistic", row.f).add("p_value", row.p_value);
  finding.add("eta_squared", row.eta_squared).add("partial_eta_squared", row.partial_eta_squared);
  finding.add("partial_omega_squared", row.partial_omega_squared);
  return finding;
}

Status check_crossed(size_t factors) {
  if (factors <= statistics::kMostCrossed) return {};
  return bad_input("crossing " + std::to_string(factors) + " factors makes 2^" + std::to_string(factors) + " terms; at most " +
                   std::to_string(statistics::kMostCrossed) +
                   " are crossed, name the terms you want with --model, or say --additive");
}

struct Model {
  statistics::FactorCodes factors;
  std::vector<statistics::TermMask> terms;
  statistics::SumsType type = statistics::SumsType::kOne;
};

// --group a,b crosses all factors; --model says otherwise; --block is one more factor, additive.
Result<Model> model_of(const Arguments& args, const StatsData& data, uint64_t default_type) {
  if (!data.grouped()) return bad_input("name the factors with --group a,b");
  Model model;
  model.factors = data.factors(true);
  const size_t groups = data.factors().names.size();
  if (model.factors.names.size() > statistics::kMostFactors)
    return bad_input("a model takes at most " + std::to_string(statistics::kMostFactors) + " factors, got " +
                     std::to_string(model.factors.names.size()) + "; leave some out of --group");
  const auto block = statistics::TermMask{1} << groups;
  if (args.has("model")) {
    STAB_TRY(model.terms, parse_formula(args.text("model"), model.factors));
    if (data.block() && std::find(model.terms.begin(), model.terms.end(), block) == model.terms.end())
      model.terms.insert(model.terms.begin(), block);
  } else {
    if (args.has("additive")) {
      for (size_t f = 0; f < groups; ++f) model.terms.push_back(statistics::TermMask{1} << f);
    } else {
      STAB_CHECK_OK(check_crossed(groups));
      model.terms = statistics::crossed_terms(block - 1);
    }
    if (data.block()) model.terms.insert(model.terms.begin(), block);
  }
  // Factors that no term names would split cells for nothing.
  for (size_t f = 0; f < model.factors.names.size(); ++f)
    if (std::none_of(model.terms.begin(), model.terms.end(), [f](statistics::TermMask term) { return term >> f & 1; }))
      return bad_input("factor '" + model.factors.names[f] + "' is in no term of the model; leave it out of --group");
  STAB_TRY(const uint64_t type, args.count("type", default_type, 1));
  if (type > 3) return bad_input("--type takes 1, 2 or 3, got '" + args.text("type") + "'");
  model.type = static_cast<statistics::SumsType>(type);
  return model;
}

text::Finding table_finding(const std::vector<statistics::AnovaRow>& rows, statistics::SumsType type) {
  text::Finding finding;
  const statistics::AnovaRow& residuals = rows.back();
  if (rows.size() == 2) {
    finding.add("statistic", rows[0].f).add("df", rows[0].df).add("df2", residuals.df);
    finding.add("p_value", rows[0].p_value).add("eta_squared", rows[0].partial_eta_squared);
    finding.add("omega_squared", rows[0].partial_omega_squared);
  }
  finding.add_count("type", static_cast<uint64_t>(type));
  std::vector<text::Finding> table;
  for (const statistics::AnovaRow& row : rows) table.push_back(row_finding(row));
  finding.add("rows", std::move(table));
  return finding;
}

Result<text::Finding> anova(const Arguments& args, const StatsData& data) {
  STAB_CHECK_OK(statistics::check_squares(data.response()));
  STAB_TRY(const Model model, model_of(args, data, 1));
  STAB_TRY(const auto rows,
           statistics::factorial_anova(statistics::aggregate(model.factors, data.response_near_zero()), model.terms, model.type));
  return table_finding(rows, model.type);
}

Result<text::Finding> anova_hc3(const Arguments& args, const StatsData& data) {
  STAB_CHECK_OK(statistics::check_squares(data.response()));
  STAB_TRY(const Model model, model_of(args, data, 2));
  STAB_TRY(const auto rows,
           statistics::hc3_anova(statistics::aggregate(model.factors, data.response_near_zero()), model.terms, model.type));
  text::Finding finding;
  if (rows.size() == 2)
    finding.add("statistic", rows[0].f).add("df", rows[0].df).add("df2", rows[1].df).add("p_value", rows[0].p_value);
  finding.add_count("type", static_cast<uint64_t>(model.type));
  std::vector<text::Finding> table;
  for (const statistics::AnovaRow& row : rows) {
    text::Finding line;
    line.add("term", row.term).add("df", row.df).add("statistic", row.f).add("p_value", row.p_value);
    table.push_back(std::move(line));
  }
  finding.add("rows", std::move(table));
  return finding;
}

// aov(response ~ model + Error(pair / (group...))), or Error(block) as --error says.
Result<text::Finding> anova_error(const Arguments& args, const StatsData& data) {
  const CsvColumn* subject = data.pair();
  if (!subject) return bad_input("name the column of the error stratum with --pair (Error(COL) in R)");
  if (!data.grouped()) return bad_input("name the factors with --group a,b");
  statistics::FactorCodes factors = data.factors();
  const size_t groups = factors.names.size();
  if (groups + 1 > statistics::kMostFactors)
    return bad_input("a model takes at most " + std::to_string(statistics::kMostFactors - 1) + " factors besides --pair, got " +
                     std::to_string(groups));
  std::vector<statistics::TermMask> terms;
  if (!args.has("model")) {
    STAB_CHECK_OK(check_crossed(groups));
    terms = statistics::crossed_terms((statistics::TermMask{1} << groups) - 1);
  }
  factors.names.push_back(subject->name);
  factors.level_names.push_back(subject->levels);
  factors.codes.push_back(subject->codes);
  if (args.has("model")) {
    STAB_TRY(terms, parse_formula(args.text("model"), factors));
  }
  const auto subject_mask = statistics::TermMask{1} << groups;
  std::vector<statistics::TermMask> errors{subject_mask};
  if (args.has("error")) {
    STAB_TRY(errors, parse_formula(args.text("error"), factors));
  }
  constexpr size_t kMostRows = 5000;
  if (data.response().size() > kMostRows)
    return bad_input("error strata take at most " + std::to_string(kMostRows) + " rows; average replicates first");
  double columns = 0;
  for (statistics::TermMask term : terms) columns += statistics::column_count(factors, term);
  constexpr double kMostColumns = 1000;
  if (columns > kMostColumns)
    return bad_input("the model has more than 1000 columns; leave out a factor with many levels or an interaction");
  STAB_TRY(const auto strata, statistics::strata_anova(factors, data.response_near_zero(), terms, errors));
  std::vector<text::Finding> rows;
  for (const statistics::Stratum& stratum : strata) {
    for (const statistics::AnovaRow& row : stratum.rows) {
      text::Finding line;
      line.add("stratum", stratum.name).add("term", row.term).add("df", row.df).add("sum_squares", row.sum_squares);
      line.add("mean_square", row.mean_square).add("statistic", row.f).add("p_value", row.p_value);
      rows.push_back(std::move(line));
    }
  }
  text::Finding finding;
  finding.add("rows", std::move(rows));
  return finding;
}

Result<text::Finding> anova_within(const Arguments&, const StatsData& data) {
  const CsvColumn* subject = data.pair();
  if (!subject || !data.grouped())
    return bad_input("anova-within needs the factors in --group and the subject in --pair");
  const statistics::FactorCodes factors = data.factors();
  STAB_CHECK_OK(check_crossed(factors.names.size()));
  size_t cells = 1;
  std::vector<size_t> counts;
  constexpr size_t kMostCells = 1024;  // contrasts of cells have a covariance matrix
  for (const auto& levels : factors.level_names) {
    counts.push_back(levels.size());
    cells *= levels.size();
    if (cells > kMostCells)
      return bad_input(
          "a within-subjects analysis takes at most 1024 cells (levels of all factors multiplied); leave out a factor");
  }
  std::vector<std::vector<double>> sums(subject->levels.size(), std::vector<double>(cells));
  std::vector<std::vector<uint64_t>> seen(subject->levels.size(), std::vector<uint64_t>(cells));
  const std::vector<double> values = data.response_near_zero();
  for (size_t row = 0; row < values.size(); ++row) {
    size_t cell = 0;
    for (size_t f = 0; f < counts.size(); ++f) cell = cell * counts[f] + factors.codes[f][row];
    sums[subject->codes[row]][cell] += values[row];
    ++seen[subject->codes[row]][cell];
  }
  const uint64_t replicates = seen[0][0];
  for (size_t s = 0; s < seen.size(); ++s) {
    for (size_t cell = 0; cell < cells; ++cell) {
      if (seen[s][cell] == 0 || seen[s][cell] != replicates) {
        std::string where;
        size_t rest = cell;
        for (size_t f = counts.size(); f-- > 0; rest /= counts[f])
          where = factors.names[f] + "=" + factors.level_names[f][rest % counts[f]] + (where.empty() ? "" : ", ") + where;
        return bad_input(subject->name + " '" + subject->levels[s] + "' has " + std::to_string(seen[s][cell]) +
                         " values in cell " + where + ", others have " + std::to_string(replicates) +
                         "; complete the cells or leave the subject out");
      }
      sums[s][cell] /= static_cast<double>(seen[s][cell]);
    }
  }
  STAB_TRY(const auto rows, statistics::within_anova(sums, factors.names, counts));
  text::Finding finding;
  const auto scale = static_cast<double>(replicates);  // squares of means of r values are those of the values / r
  if (rows.size() == 1) {
    finding.add("statistic", rows[0].anova.f).add("df", rows[0].anova.df).add("df2", rows[0].error_df);
    finding.add("p_value", rows[0].anova.p_value);
  }
  finding.add_count("subjects", sums.size());
  std::vector<text::Finding> table;
  for (const statistics::WithinRow& row : rows) {
    text::Finding line;
    line.add("term", row.anova.term).add("df", row.anova.df).add("df2", row.error_df);
    line.add("sum_squares", row.anova.sum_squares * scale).add("error_sum_squares", row.error_sum_squares * scale);
    line.add("statistic", row.anova.f).add("p_value", row.anova.p_value);
    line.add("partial_eta_squared", row.anova.partial_eta_squared);
    line.add("gg_epsilon", row.greenhouse_geisser).add("p_value_gg", row.p_greenhouse_geisser);
    line.add("hf_epsilon", row.huynh_feldt).add("p_value_hf", row.p_huynh_feldt);
    line.add("mauchly_w", row.mauchly_w).add("mauchly_p", row.mauchly_p);
    table.push_back(std::move(line));
  }
  finding.add("rows", std::move(table));
  return finding;
}

Result<text::Finding> components(const Arguments&, const StatsData& data) {
  if (!data.grouped()) return bad_input("name the nested factors, outermost first, with --group program,layout");
  STAB_TRY(const auto parts, statistics::variance_components(data.factors(), data.response()));
  double total_ems = 0, total_reml = 0;
  for (const statistics::VarianceComponent& part : parts) {
    total_ems += std::max(part.ems, 0.0);
    total_reml += part.reml;
  }
  std::vector<text::Finding> rows;
  for (const statistics::VarianceComponent& part : parts) {
    text::Finding row;
    row.add("component", part.name).add("df", part.df).add("mean_square", part.mean_square).add("ems", part.ems);
    row.add("reml", part.reml).add("ems_share", std::max(part.ems, 0.0) / total_ems);
    row.add("reml_share", part.reml / total_reml);
    rows.push_back(std::move(row));
  }
  text::Finding finding;
  finding.add("rows", std::move(rows));
  return finding;
}

// ---- multiple comparisons -------------------------------------------------------------------------------

text::Finding comparisons_finding(const statistics::PairwiseComparisons& result, const std::vector<NamedSample>& samples,
                                  double conf) {
  text::Finding finding;
  finding.add("df", result.df).add("critical_value", result.critical).add("conf_level", conf);
  std::vector<text::Finding> rows;
  const auto bound = [](double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; };
  for (const statistics::Comparison& comparison : result.comparisons) {
    text::Finding row;
    row.add("comparison", samples[comparison.first].name + "-" + samples[comparison.second].name);
    row.add("estimate", comparison.estimate).add("standard_error", comparison.standard_error);
    row.add("statistic", comparison.statistic).add("conf_low", bound(comparison.conf_low));
    row.add("conf_high", bound(comparison.conf_high)).add("p_value", comparison.p_value);
    rows.push_back(std::move(row));
  }
  finding.add("rows", std::move(rows));
  return finding;
}

Result<text::Finding> tukey(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const auto samples, data.samples(2, 100));
  STAB_CHECK_OK(check_squares(samples));
  STAB_TRY(const statistics::PairwiseComparisons result, statistics::tukey_hsd(moments_of(samples), conf));
  return comparisons_finding(result, samples, conf);
}

Result<text::Finding> dunnett_method(const Arguments& args, const StatsData& data) {
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const statistics::Alternative alternative, alternative_of(args));
  STAB_TRY(const auto samples, data.samples(2, 100));
  STAB_CHECK_OK(check_squares(samples));
  size_t control = 0;
  if (args.has("control")) {
    while (control < samples.size() && samples[control].name != args.text("control")) ++control;
    if (control == samples.size()) return bad_input("--control names '" + args.text("control") + "', which is no level");
  }
  STAB_TRY(const statistics::PairwiseComparisons result, statistics::dunnett(moments_of(samples), control, alternative, conf));
  return comparisons_finding(result, samples, conf);
}

template <auto Adjust>
Result<text::Finding> adjust(const Arguments&, const StatsData& data) {
  const std::vector<double>& p = data.response();
  for (size_t row = 0; row < p.size(); ++row)
    if (p[row] < 0 || p[row] > 1)
      return bad_input("row " + std::to_string(data.row_of(row)) + ": " + number_text(p[row]) + " is no p-value");
  text::Finding finding;
  finding.add_count("n", p.size()).add("p_values", p).add("adjusted", Adjust(p));
  return finding;
}

constexpr StatsMethod kGroupMethods[] = {
    {"anova", "factorial analysis of variance, --type 1 (default), 2 or 3",
     "response group levels block log model additive type", anova},
    {"anova-hc3", "the same, cells may differ in spread (HC3), --type 2 (default) or 3",
     "response group levels block log model additive type", anova_hc3},
    {"welch-anova", "several means, unequal variances", "response group levels log", welch_anova_method},
    {"anova-within", "repeated measures: --pair has each cell; Greenhouse-Geisser, Huynh-Feldt",
     "response group levels pair log", anova_within},
    {"anova-error", "error strata: Error(--pair), or --error with a formula",
     "response group levels pair log model error", anova_error},
    {"kruskal", "ranks of several samples (Kruskal-Wallis)", "response group levels log", kruskal},
    {"friedman", "ranks within --block or --pair", "response group levels pair block log", friedman_method},
    {"levene", "equal variances, distances from the mean", "response group levels log", levene_method},
    {"brown-forsythe", "equal variances, distances from the median", "response group levels log", brown_forsythe},
    {"variance-components", "nested random factors in --group, by mean squares and REML", "response group log",
     components},
    {"tukey", "all pairs of means (Tukey-Kramer)", "response group levels log conf", tukey},
    {"dunnett", "each mean against --control (default: the first level)",
     "response group levels log conf alternative control", dunnett_method},
    {"holm", "p-values adjusted for a family (Holm)", "response", adjust<statistics::holm>},
    {"bh", "p-values adjusted for false discoveries (Benjamini-Hochberg)", "response", adjust<statistics::benjamini_hochberg>},
    {"hochberg", "p-values adjusted for a family, step-up (Hochberg)", "response", adjust<statistics::hochberg>},
    {"by", "p-values adjusted for false discoveries under any dependence (Benjamini-Yekutieli)", "response",
     adjust<statistics::benjamini_yekutieli>},
    {"bonferroni", "p-values times their number", "response", adjust<statistics::bonferroni>},
};

}  // namespace

std::span<const StatsMethod> group_methods() { return kGroupMethods; }

}  // namespace stab::commands
