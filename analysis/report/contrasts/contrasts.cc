// What the report is for: which differences there are, how large, how sure.
//
// A contrast weighs the cells of a level equally and compares them with the same cells of the baseline, cell by
// cell of the other factors. Where the plan ran in blocks the contrast is taken within each block, and the blocks'
// values are what is averaged: whatever the machine did to a whole block cancels, and the spread of the blocks'
// values is the error, whichever cells it comes from. Elsewhere each cell contributes its own variance (Welch,
// Satterthwaite). Variances are never pooled: shuffled cells vary more by design.
// In a fraction no two cells differ in one factor alone. There the effect is that of the linear model of main effects
// over all cells (effects.h), a linear combination of their means like any other, and it carries its aliases.
// Over several workloads there are two questions with two error terms. "These programs" takes the
// workloads as given: the error is that of the cells. "Programs like these" takes theirs as a sample of programs:
// the error is how much the effect differs from program to program, a t test on one estimate for each, the mean of
// its workloads'.
#include "analysis/report/contrasts/contrasts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/report/contrasts/contrast_estimate.h"
#include "analysis/report/contrasts/judged_contrast.h"

namespace stab::report {
namespace {

bool has_replicates(const WorkloadUnits& workload) {
  return std::any_of(workload.cells.begin(), workload.cells.end(), [](const CellUnits& cell) { return cell.moments.n > 1; });
}

}  // namespace

FamilyOfQuestions family_of(const Samples& samples, size_t response, Population population) {
  const Response& of = samples.responses[response];
  const size_t own = of.declared || of.is_benchmark() ? 0 : response + 1;
  const uint32_t workload = of.is_benchmark() ? 1 + *of.only_workload : 0;
  return {population, own, of.family, workload};
}

std::vector<Contrast> contrasts_of(const Samples& samples, const UnitsByResponse& units, const StoppedAt& stopped) {
  std::vector<FamilyMember> members;
  const LookLevels at_the_end(samples.alpha);
  const auto levels_for = [&](Population population) -> const LookLevels& {
    return population == Population::kLikeThese && is_judged_at_the_end(samples) ? at_the_end : stopped.levels;
  };
  const auto add = [&](Population population, size_t response, size_t factor, uint32_t level,
                       ContrastEstimate estimate) -> Contrast& {
    Contrast described = describe_contrast(samples, levels_for(population), response, factor, level, estimate);
    members.push_back({response, std::move(described), std::move(estimate)});
    members.back().contrast.population = population;
    return members.back().contrast;
  };
  for (size_t response = 0; response < units.size(); ++response) {
    const std::vector<WorkloadUnits>& workloads = units[response];
    // With one value a cell there is no error within workloads; the question about others like them remains.
    const bool own_errors = workloads.size() < 2 || samples.responses[response].is_benchmark() ||
                            std::any_of(workloads.begin(), workloads.end(), has_replicates);
    std::vector<std::optional<LinkFit>> fits(workloads.size()), first_fits(workloads.size());
    std::vector<std::pair<size_t, uint32_t>> asked;
    std::vector<std::vector<ContrastEstimate>> parts;
    for (size_t factor = 0; factor < samples.factors.size(); ++factor) {
      for (uint32_t level = 0; level < samples.factors[factor].levels.size(); ++level) {
        if (level == samples.factors[factor].baseline) continue;
        asked.emplace_back(factor, level);
        parts.emplace_back();
        for (size_t w = 0; w < workloads.size(); ++w) {
          const Response& facts = samples.responses[response];
          if (facts.only_workload && *facts.only_workload != w) continue;
          const auto estimate_of = [&](const WorkloadUnits& of, std::optional<LinkFit>& fit) {
            ContrastEstimate estimate = within_workload(samples, factor, level, of, fit);
            if (facts.margin_is_share && facts.scale == Scale::kLinear)
              add_share(estimate, samples, factor, facts.margin, of, fit);
            return estimate;
          };
          ContrastEstimate part = estimate_of(workloads[w], fits[w]);
          if (stopped.first_stage)
            part = two_stages(std::move(part), estimate_of((*stopped.first_stage)[response][w], first_fits[w]), stopped.shrinks,
                              samples.alpha);
          parts.back().push_back(std::move(part));
          if (!own_errors) continue;
          add(Population::kOneWorkload, response, factor, level, parts.back().back()).workload = samples.workloads[w];
        }
      }
    }
    if (workloads.size() < 2 || samples.responses[response].is_benchmark()) continue;
    for (size_t i = 0; i < asked.size(); ++i) {
      const auto [factor, level] = asked[i];
      if (own_errors)
        add(Population::kThese, response, factor, level, over_these(parts[i], samples));
      if (program_count(samples) > 1)
        add(Population::kLikeThese, response, factor, level, over_like_these(parts[i], samples));
    }
  }
  std::map<FamilyOfQuestions, std::vector<FamilyMember*>> families;
  for (FamilyMember& member : members)
    families[family_of(samples, member.response, member.contrast.population)].push_back(&member);
  for (const auto& [question, family] : families)
    judge_family(samples, levels_for(std::get<0>(question)), family, stopped.settles);
  std::vector<Contrast> contrasts;
  for (FamilyMember& member : members) contrasts.push_back(std::move(member.contrast));
  return contrasts;
}

Interval to_people(Scale scale, const statistics::TTest& test) {
  const auto shown = [&](double x) { return to_people(scale, x); };
  return {shown(test.estimate), shown(test.conf_low.value_or(test.estimate)), shown(test.conf_high.value_or(test.estimate))};
}

}  // namespace stab::report
