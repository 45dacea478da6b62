// `stabctl stats mixed`: levels of factors against their first ones, where rows share random effects: programs, machines, links.
#include <map>

#include "analysis/commands/stats/stats_methods.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/models/mixed_model.h"

namespace stab::commands {
namespace {

// "program" or "program:build": one level for each combination that is there.
Result<statistics::RandomTerm> random_term(const std::string& text, const StatsData& data) {
  statistics::RandomTerm term{text, std::vector<uint32_t>(data.response().size()), 0};
  std::string rest = text;
  std::vector<std::vector<uint32_t>> keys(term.codes.size());
  while (true) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const CsvColumn* column = data.named(rest.substr(0, colon));
    if (column == nullptr) return bad_input("--random takes columns such as program,program:build, got '" + text + "'");
    for (size_t row = 0; row < keys.size(); ++row) keys[row].push_back(column->codes[row]);
    if (colon == rest.size()) break;
    rest.erase(0, colon + 1);
  }
  std::map<std::vector<uint32_t>, uint32_t> numbers;
  for (size_t row = 0; row < keys.size(); ++row)
    term.codes[row] = numbers.try_emplace(keys[row], static_cast<uint32_t>(numbers.size())).first->second;
  term.levels = static_cast<uint32_t>(numbers.size());
  return term;
}

Result<text::Finding> mixed(const Arguments& args, const StatsData& data) {
  if (!args.has("random"))
    return bad_input("name the random effects with --random program,machine or --random program,program:build");
  STAB_TRY(const double conf, confidence_of(args));
  const std::string word = args.text("ddf", "satterthwaite");
  if (word != "satterthwaite" && word != "kenward-roger")
    return bad_input("--ddf takes satterthwaite or kenward-roger, got '" + word + "'");
  constexpr size_t kMostTerms = 8, kMostColumns = 200, kMostRows = 100'000;
  const std::vector<double>& values = data.response();
  if (values.size() > kMostRows)
    return bad_input("a mixed model takes at most " + std::to_string(kMostRows) + " rows; average what repeats");
  std::vector<statistics::RandomTerm> random;
  for (const std::string& text : args.list("random")) {
    STAB_TRY(statistics::RandomTerm term, random_term(text, data));
    random.push_back(std::move(term));
  }
  if (random.size() > kMostTerms) return bad_input("a mixed model takes at most 8 random terms");
  std::vector<std::vector<double>> columns{std::vector<double>(values.size(), 1.0)};
  std::vector<std::string> names{"(intercept)"};
  for (const CsvColumn& group : data.groups()) {
    for (uint32_t level = 1; level < group.levels.size(); ++level) {
      if (columns.size() >= kMostColumns) return bad_input("a mixed model takes at most 200 levels of fixed effects");
      names.push_back(group.name + ": " + group.levels[level] + " - " + group.levels[0]);
      columns.emplace_back(values.size());
      for (size_t row = 0; row < values.size(); ++row) columns.back()[row] = group.codes[row] == level ? 1 : 0;
    }
  }
  STAB_TRY(const statistics::MixedFit fit,
           statistics::fit_mixed(columns, names, random, values,
                                 word == "satterthwaite" ? statistics::DegreesOfFreedom::kSatterthwaite
                                                         : statistics::DegreesOfFreedom::kKenwardRoger));
  std::vector<text::Finding> fixed, components;
  for (const statistics::FixedEffect& effect : fit.fixed) {
    const double half = statistics::t_quantile_upper((1 - conf) / 2, effect.df) * effect.standard_error;
    text::Finding row;
    row.add("term", effect.name).add("estimate", effect.estimate).add("standard_error", effect.standard_error);
    row.add("df", effect.df).add("statistic", effect.t).add("p_value", effect.p_value);
    row.add("conf_low", effect.estimate - half).add("conf_high", effect.estimate + half);
    fixed.push_back(std::move(row));
  }
  double total = 0;
  for (const double variance : fit.variances) total += variance;
  std::vector<std::string> warnings;
  for (size_t i = 0; i < fit.variances.size(); ++i) {
    text::Finding row;
    row.add("component", fit.random_names[i]).add_count(i + 1 == fit.variances.size() ? "rows" : "levels", fit.levels[i]);
    row.add("variance", fit.variances[i]).add("share", fit.variances[i] / total);
    components.push_back(std::move(row));
    if (i + 1 == fit.variances.size()) continue;
    constexpr uint32_t kFew = 5;
    if (fit.variances[i] <= 0)
      warnings.push_back("'" + fit.random_names[i] +
                         "' has no variance here (a singular fit): it is taken as known to be 0, which " +
                         std::to_string(fit.levels[i]) + " levels can't show");
    else if (fit.levels[i] < kFew)
      warnings.push_back("'" + fit.random_names[i] + "' has " + std::to_string(fit.levels[i]) +
                         " levels: its variance is hardly known, and others of its kind are guessed from few");
  }
  text::Finding finding;
  finding.add_count("n", values.size()).add("degrees_of_freedom", word).add("conf_level", conf);
  finding.add("reml_criterion", fit.criterion).add_flag("singular", fit.singular);
  finding.add("rows", std::move(fixed)).add("components", std::move(components));
  if (!warnings.empty()) finding.add("warnings", std::move(warnings));
  return finding;
}

constexpr StatsMethod kMixedMethods[] = {
    {"mixed", "levels of --group against the first, random intercepts of --random crossed or nested, by REML",
     "response group levels random log ddf conf", mixed},
};

}  // namespace

std::span<const StatsMethod> mixed_methods() {
  return kMixedMethods;
}

}  // namespace stab::commands
