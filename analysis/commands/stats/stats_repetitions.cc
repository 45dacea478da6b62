// `stabctl stats repetitions` and `plan-repetitions`: where to repeat, and how often, for an interval of a given half width at
// the least cost; from a pilot's rows, or from variances that are known.
#include <cmath>

#include "analysis/commands/stats/stats_methods.h"
#include "analysis/statistics/models/variance_components.h"
#include "analysis/statistics/planning/repetitions.h"

namespace stab::commands {
namespace {

constexpr size_t kMostLevels = 8;

Result<statistics::RepetitionsAsked> asked_of(const Arguments& args) {
  statistics::RepetitionsAsked asked;
  STAB_TRY(const auto half_width, args.number("half-width"));
  if (!half_width || !(*half_width > 0))
    return bad_input(
        "say how narrow the interval is to be with --half-width, a number > 0 on the response's scale (0.01 is 1 % "
        "with --log)");
  asked.half_width = *half_width;
  STAB_TRY(asked.alpha, args.number("alpha", 0.05));
  if (!(asked.alpha > 0 && asked.alpha < 1)) return bad_input("--alpha takes a level between 0 and 1");
  STAB_TRY(const uint64_t sides, args.count("sides", 2, 1));
  if (sides > 2) return bad_input("--sides takes 1 (a mean) or 2 (a difference), got '" + args.text("sides") + "'");
  asked.sides = static_cast<uint32_t>(sides);
  STAB_TRY(asked.least, args.count("least", 3, 2));
  constexpr uint64_t kMostLeast = 100'000;
  if (asked.least > kMostLeast) return bad_input("--least takes at most 100000");
  return asked;
}

Result<std::vector<double>> costs_of(const Arguments& args, size_t levels) {
  STAB_TRY(std::vector<double> costs, args.numbers("costs", {}));
  if (costs.size() != levels)
    return bad_input("--costs takes " + std::to_string(levels) + " numbers, the outermost level first and one value last, got " +
                     std::to_string(costs.size()));
  for (const double cost : costs)
    if (!(cost > 0)) return bad_input("--costs takes numbers > 0; write 0.001 for what costs next to nothing");
  return costs;
}

Result<text::Finding> planned(const std::vector<std::string>& names, const std::vector<statistics::Level>& levels,
                              const statistics::RepetitionsAsked& asked) {
  STAB_TRY(const statistics::Repetitions plan, statistics::plan_repetitions(levels, asked));
  double total = 0;
  for (const statistics::Level& level : levels) total += level.variance;
  std::vector<text::Finding> rows;
  uint64_t values = 1;
  for (size_t i = 0; i < levels.size(); ++i) {
    values *= plan.counts[i];
    text::Finding row;
    row.add("level", names[i]).add("variance", levels[i].variance).add("share", levels[i].variance / total);
    row.add("cost", levels[i].cost).add_count("repetitions", plan.counts[i]);
    std::optional<double> unrounded;
    if (i > 0 && std::isfinite(plan.unrounded[i - 1])) unrounded = plan.unrounded[i - 1];
    row.add("unrounded", unrounded);
    rows.push_back(std::move(row));
  }
  text::Finding finding;
  finding.add("half_width", plan.half_width).add("asked", asked.half_width).add("alpha", asked.alpha);
  finding.add_count("sides", asked.sides).add_count("values_a_side", values).add("cost", plan.cost);
  // What people do who repeat outermost only: each value with all that it costs.
  statistics::Level together{total, 0};
  for (const statistics::Level& level : levels) together.cost += level.cost;
  const auto outermost_only = statistics::plan_repetitions(std::vector<statistics::Level>{together}, asked);
  finding.add("cost_of_repeating_all", outermost_only ? std::optional<double>(outermost_only->cost) : std::nullopt);
  finding.add("rows", std::move(rows));
  return finding;
}

Result<text::Finding> from_pilot(const Arguments& args, const StatsData& data) {
  if (!data.grouped()) return bad_input("name the nested levels, outermost first, with --group build,link,process");
  STAB_TRY(const statistics::RepetitionsAsked asked, asked_of(args));
  STAB_TRY(const auto parts, statistics::variance_components(data.factors(), data.response()));
  if (parts.size() > kMostLevels) return bad_input("at most 7 levels can be planned besides the values themselves");
  STAB_TRY(const std::vector<double> costs, costs_of(args, parts.size()));
  std::vector<statistics::Level> levels;
  std::vector<std::string> names;
  for (size_t i = 0; i < parts.size(); ++i) {
    levels.push_back({parts[i].reml, costs[i]});
    names.push_back(i + 1 == parts.size() ? "value" : parts[i].name);
  }
  return planned(names, levels, asked);
}

Result<text::Finding> from_variances(const Arguments& args) {
  STAB_TRY(const statistics::RepetitionsAsked asked, asked_of(args));
  STAB_TRY(const std::vector<double> variances, args.numbers("variances", {}));
  if (variances.empty() || variances.size() > kMostLevels)
    return bad_input("plan-repetitions needs --variances and --costs, 1 to 8 numbers each, the outermost level first");
  STAB_TRY(const std::vector<double> costs, costs_of(args, variances.size()));
  std::vector<statistics::Level> levels;
  std::vector<std::string> names = args.list("names");
  if (!names.empty() && names.size() != variances.size())
    return bad_input("--names takes as many names as there are --variances");
  for (size_t i = 0; i < variances.size(); ++i) {
    if (variances[i] < 0) return bad_input("--variances takes numbers >= 0");
    levels.push_back({variances[i], costs[i]});
    if (names.size() <= i) names.push_back("level " + std::to_string(i + 1));
  }
  return planned(names, levels, asked);
}

constexpr StatsMethod kRepetitionMethods[] = {
    {"repetitions", "where to repeat for --half-width at the least cost, from a pilot's nested --group and --costs",
     "response group log costs half-width alpha sides least", from_pilot},
    {"plan-repetitions", "the same from --variances and --costs, outermost level first",
     "variances costs names half-width alpha sides least", nullptr, from_variances},
};

}  // namespace

std::span<const StatsMethod> repetition_methods() {
  return kRepetitionMethods;
}

}  // namespace stab::commands
