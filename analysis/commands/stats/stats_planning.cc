// `stabctl stats`: methods that take no file: power, sample sizes, sequential looks, and a count of successes.
#include <cmath>

#include "analysis/commands/stats/stats_methods.h"
#include "analysis/statistics/looks/alpha_spending.h"
#include "analysis/statistics/planning/power.h"
#include "analysis/statistics/two_samples/proportion.h"

namespace stab::commands {
namespace {

constexpr double kMostN = 1e9;

Result<bool> two_sided_of(const Arguments& args) {
  const std::string text = args.text("alternative", "two.sided");
  if (text != "two.sided" && text != "one.sided")
    return bad_input("--alternative takes two.sided or one.sided, got '" + text + "'");
  return text == "two.sided";
}

// As power.t.test(): exactly one of n, delta, power is left out.
Result<text::Finding> power_t(const Arguments& args) {
  STAB_TRY(const auto n, args.number("n"));
  STAB_TRY(const auto delta, args.number("delta"));
  STAB_TRY(auto power, args.number("power"));
  statistics::TPower plan;
  STAB_TRY(plan.sd, args.number("sd", 1));
  STAB_TRY(plan.alpha, args.number("alpha", 0.05));
  STAB_TRY(plan.two_sided, two_sided_of(args));
  if (!(plan.sd > 0)) return bad_input("--sd takes a number > 0");
  if (!(plan.alpha > 0 && plan.alpha < 1)) return bad_input("--alpha takes a level between 0 and 1");
  const std::string design = args.text("design", "two.sample");
  if (design == "one.sample") plan.design = statistics::TDesign::kOneSample;
  else if (design == "paired") plan.design = statistics::TDesign::kPaired;
  else if (design != "two.sample") return bad_input("--design takes two.sample, one.sample or paired, got '" + design + "'");
  if (n.has_value() + delta.has_value() + power.has_value() != 2)
    return bad_input("power-t needs two of --n, --delta, --power and finds the third");
  plan.n = n.value_or(0);
  plan.delta = delta.value_or(0);
  const bool strict = args.has("strict");
  if (n && !(*n >= 2 && *n <= kMostN)) return bad_input("--n takes a number from 2 to 1000000000, got '" + args.text("n") + "'");
  if (!n) {
    STAB_TRY(plan.n, statistics::t_sample_size(plan, *power, strict));
    if (plan.n == 2) power.reset();  // the fewest there are reach more than what was asked for
  }
  if (!delta) {
    STAB_TRY(plan.delta, statistics::t_detectable(plan, *power, strict));
  }
  if (!power) {
    if (plan.delta < 0) plan.delta = -plan.delta;
    power = statistics::t_power(plan, strict);
  }
  text::Finding finding;
  finding.add("n", plan.n).add("n_whole", std::ceil(plan.n)).add("delta", plan.delta).add("sd", plan.sd);
  finding.add("alpha", plan.alpha).add("power", power).add("design", design);
  finding.add("alternative", plan.two_sided ? "two.sided" : "one.sided");
  return finding;
}

// As power.anova.test(): n or power is left out.
Result<text::Finding> power_anova(const Arguments& args) {
  statistics::AnovaPower plan;
  STAB_TRY(const uint64_t groups, args.count("groups", 0, 2));
  STAB_TRY(const auto n, args.number("n"));
  STAB_TRY(auto power, args.number("power"));
  STAB_TRY(const auto between, args.number("between-var"));
  STAB_TRY(plan.within_variance, args.number("within-var", 1));
  STAB_TRY(plan.alpha, args.number("alpha", 0.05));
  if (!args.has("groups") || !between)
    return bad_input("power-anova needs --groups, --between-var (variance of the group means) and --n or --power");
  if (n.has_value() == power.has_value()) return bad_input("power-anova needs one of --n and --power and finds the other");
  if (!(*between >= 0) || !(plan.within_variance > 0) || !(plan.alpha > 0 && plan.alpha < 1))
    return bad_input("variances must be > 0 and --alpha between 0 and 1");
  if (n && !(*n >= 2 && *n <= kMostN)) return bad_input("--n takes a number from 2 to 1000000000, got '" + args.text("n") + "'");
  constexpr uint64_t kMostGroups = 1'000'000;
  if (groups > kMostGroups)
    return bad_input("--groups takes at most " + std::to_string(kMostGroups) + ", got " + std::to_string(groups));
  plan.groups = static_cast<double>(groups);
  plan.between_variance = *between;
  plan.n = n.value_or(0);
  if (!n) {
    STAB_TRY(plan.n, statistics::anova_sample_size(plan, *power));
    if (plan.n == 2) power.reset();  // as in power-t
  }
  if (!power) power = statistics::anova_power(plan);
  text::Finding finding;
  finding.add_count("groups", groups).add("n", plan.n).add("n_whole", std::ceil(plan.n));
  finding.add("between_variance", plan.between_variance).add("within_variance", plan.within_variance);
  finding.add("alpha", plan.alpha).add("power", power);
  return finding;
}

Result<text::Finding> power_layouts(const Arguments& args) {
  STAB_TRY(const auto layout_sd, args.number("layout-sd"));
  STAB_TRY(const auto run_sd, args.number("run-sd"));
  STAB_TRY(const auto margin, args.number("delta"));
  STAB_TRY(const uint64_t runs, args.count("runs", 1, 1));
  STAB_TRY(const double alpha, args.number("alpha", 0.05));
  STAB_TRY(const double power, args.number("power", 0.8));
  if (!layout_sd || !run_sd || !margin)
    return bad_input("power-layouts needs --layout-sd, --run-sd and --delta (all on the response's scale)");
  if (*layout_sd < 0 || *run_sd < 0) return bad_input("standard deviations must be >= 0");
  constexpr uint64_t kMostRuns = 1'000'000;
  if (runs > kMostRuns) return bad_input("--runs takes at most " + std::to_string(kMostRuns) + ", got " + std::to_string(runs));
  const statistics::Components components{*layout_sd, *run_sd};
  STAB_TRY(const uint64_t layouts, statistics::layouts_for_margin(components, runs, *margin, alpha, power));
  text::Finding finding;
  finding.add_count("layouts", layouts).add_count("runs_per_layout", runs).add_count("trials", layouts * runs);
  finding.add("delta", *margin).add("alpha", alpha).add("power", power);
  return finding;
}

Result<text::Finding> spending(const Arguments& args) {
  STAB_TRY(const double alpha, args.number("alpha", 0.05));
  STAB_TRY(const bool two_sided, two_sided_of(args));
  std::vector<double> fractions;
  if (args.has("fractions")) {
    STAB_TRY(fractions, args.numbers("fractions", {}));
  } else {
    STAB_TRY(const uint64_t looks, args.count("looks", 5, 1));
    if (looks > 50) return bad_input("--looks takes at most 50");
    for (uint64_t k = 1; k <= looks; ++k) fractions.push_back(static_cast<double>(k) / static_cast<double>(looks));
  }
  const std::string name = args.text("function", "obrien-fleming");
  statistics::Spending which = statistics::Spending::kObrienFleming;
  if (name == "pocock") which = statistics::Spending::kPocock;
  else if (name == "classic-obrien-fleming") which = statistics::Spending::kClassicObrienFleming;
  else if (name == "classic-pocock") which = statistics::Spending::kClassicPocock;
  else if (name != "obrien-fleming")
    return bad_input("--function takes obrien-fleming, pocock, classic-obrien-fleming or classic-pocock, got '" + name + "'");
  STAB_TRY(const auto looks, statistics::alpha_spending(which, fractions, alpha, !two_sided));
  std::vector<text::Finding> rows;
  for (const statistics::Look& look : looks) {
    text::Finding row;
    row.add("fraction", look.fraction).add("critical_value", look.z).add("nominal_p", look.nominal_p);
    row.add("alpha_spent", look.spent);
    rows.push_back(std::move(row));
  }
  text::Finding finding;
  finding.add("function", name).add("alpha", alpha).add("alternative", two_sided ? "two.sided" : "one.sided");
  finding.add("rows", std::move(rows));
  return finding;
}

Result<text::Finding> binomial(const Arguments& args) {
  if (!args.has("successes") || !args.has("trials"))
    return bad_input("binomial needs --successes and --trials, such as --successes 3 --trials 100");
  STAB_TRY(const uint64_t successes, args.count("successes", 0, 0));
  STAB_TRY(const uint64_t trials, args.count("trials", 0, 1));
  STAB_TRY(const double p, args.number("p", 0.5));
  STAB_TRY(const statistics::Alternative alternative, alternative_of(args));
  STAB_TRY(const double conf, confidence_of(args));
  STAB_TRY(const statistics::ProportionTest test, statistics::exact_binomial(successes, trials, p, alternative, conf));
  text::Finding finding;
  finding.add_count("successes", successes).add_count("trials", trials).add("p", p);
  finding.add("alternative", args.text("alternative", "two.sided")).add("estimate", test.estimate);
  finding.add("conf_low", test.conf_low).add("conf_high", test.conf_high).add("conf_level", conf);
  finding.add("p_value", test.p_value);
  return finding;
}

constexpr StatsMethod kPlanningMethods[] = {
    {"binomial", "a proportion: --successes of --trials against --p, Clopper-Pearson interval",
     "successes trials p alternative conf", nullptr, binomial},
    {"power-t", "two of --n, --delta, --power give the third (t tests)",
     "n delta power sd alpha design alternative strict", nullptr, power_t},
    {"power-anova", "--groups, --between-var and one of --n, --power give the other",
     "groups n power between-var within-var alpha", nullptr, power_anova},
    {"power-layouts", "layouts for --delta from a pilot's --layout-sd and --run-sd",
     "layout-sd run-sd delta runs alpha power", nullptr, power_layouts},
    {"alpha-spending", "critical values of declared looks", "function looks fractions alpha alternative", nullptr,
     spending},
};

}  // namespace

std::span<const StatsMethod> planning_methods() { return kPlanningMethods; }

}  // namespace stab::commands
