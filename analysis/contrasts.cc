// What the report is for: which differences there are, how large, how sure.
//
// A contrast weighs the cells of a level equally and compares them with the same cells of the baseline, cell by
// cell of the other factors. Where the plan ran in blocks the contrast is taken within each block, and the blocks'
// values are what is averaged: whatever the machine did to a whole block cancels, and the spread of the blocks'
// values is the error, whichever cells it comes from. Elsewhere each cell contributes its own variance (Welch,
// Satterthwaite). Variances are never pooled: shuffled cells vary more by design.
// Over several workloads there are two questions with two error terms. "These programs" takes the
// workloads as given: the error is that of the cells. "Programs like these" takes theirs as a sample of programs:
// the error is how much the effect differs from program to program, a t test on one estimate for each, the mean of
// its workloads'.
#include "analysis/contrasts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/distributions.h"
#include "analysis/draws.h"
#include "analysis/multiplicity.h"
#include "analysis/rank_tests.h"
#include "analysis/t_tests.h"

namespace stab::analysis {
namespace {

constexpr char kThese[] = "these programs";
constexpr char kLikeThese[] = "programs like these";

// What a contrast is before it is put in people's units.
struct Estimate {
  TTest test;                  // two-sided, 1 - alpha
  uint64_t n = 0;              // smallest cell
  bool one_layout = false;
  std::string refused;
  std::optional<double> point;  // the estimate alone, also where its own error can't be had
  std::optional<double> p_rank;
  bool blocked = false;
  bool by_link = false;
  double level = 0;             // the mean of the baseline's cells: what a relative margin is a share of
};

// A contrast in both shapes, with the response it belongs to.
struct Candidate {
  size_t response = 0;
  Contrast contrast;
  Estimate estimate;
};

Estimate refuse(std::string reason) {
  Estimate estimate;
  estimate.refused = std::move(reason);
  return estimate;
}

// level against baseline of one factor in one workload.
// `fit`: of the workload, made when it is first needed.
Estimate within_workload(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload,
                         std::optional<LinkFit>& fit) {
  const Factor& facts = samples.factors[factor];
  // Pairs of cells that differ in this factor only.
  std::map<std::vector<uint32_t>, std::pair<const CellUnits*, const CellUnits*>> pairs;
  for (const CellUnits& cell : workload.cells) {
    std::vector<uint32_t> others = cell.levels;
    others[factor] = 0;
    if (cell.levels[factor] == level) pairs[others].first = &cell;
    if (cell.levels[factor] == facts.baseline) pairs[others].second = &cell;
  }
  std::vector<WeightedCell> cells;
  std::vector<Stratum2> strata;
  std::map<const CellUnits*, double> coefficients;
  Estimate estimate;
  size_t compared = 0, single = 0;
  // A treatment is compared across layouts: pairs of cells that hold one layout each say nothing about others,
  // so they take no part as long as there are better ones.
  const auto repeats = [](const auto& pair) { return pair.first->one_layout || pair.second->one_layout; };
  for (const auto& [others, pair] : pairs) {
    if (!pair.first || !pair.second) continue;
    ++compared;
    if (repeats(pair)) ++single;
  }
  if (compared == 0) return refuse("no cell holds both levels with the other factors equal");
  const bool skip_single = !facts.layout && single < compared;
  if (!facts.layout && single == compared)
    return refuse("one layout a side: the difference may be luck of the linker; randomize code, or link with "
                  "several seeds");
  for (const auto& [others, pair] : pairs) {
    if (!pair.first || !pair.second || (skip_single && repeats(pair))) continue;
    cells.push_back({pair.first->moments, 1});
    cells.push_back({pair.second->moments, -1});
    strata.push_back({pair.first->values, pair.second->values});
    coefficients[pair.first] = 1;
    coefficients[pair.second] = -1;
    estimate.by_link |= is_linked(*pair.first) || is_linked(*pair.second);
    estimate.one_layout |= repeats(pair);
  }
  estimate.n = cells[0].moments.n;
  estimate.point = 0;
  for (WeightedCell& cell : cells) {
    cell.coefficient /= static_cast<double>(cells.size()) / 2;
    estimate.n = std::min(estimate.n, cell.moments.n);
    *estimate.point += cell.coefficient * cell.moments.mean;
    if (cell.coefficient < 0) estimate.level -= cell.coefficient * cell.moments.mean;
  }
  for (auto& [cell, coefficient] : coefficients) coefficient /= static_cast<double>(cells.size()) / 2;
  if (const auto values = block_contrasts(samples, coefficients)) {
    estimate.blocked = true;
    estimate.n = values->size();
    const auto blocked = one_sample_t(*values, 0, Alternative::kTwoSided, 1 - samples.alpha);
    if (!blocked) {
      estimate.refused = blocked.error().message;
      return estimate;
    }
    estimate.test = *blocked;
    estimate.point = blocked->estimate;
    if (const auto ranks = wilcoxon_signed_rank(*values, {})) estimate.p_rank = ranks->p_value;
    return estimate;
  }
  if (estimate.by_link && !fit) fit = fit_links(samples, workload);
  if (const auto linked = fit ? link_contrast(*fit, workload, coefficients, samples.alpha) : std::nullopt) {
    estimate.blocked = linked->blocked;
    estimate.test = linked->test;
    estimate.point = linked->test.estimate;
    if (const auto p = van_elteren_p(strata)) estimate.p_rank = *p;
    return estimate;
  }
  auto test = welch_contrast(cells, 0, Alternative::kTwoSided, 1 - samples.alpha);
  if (!test) {
    estimate.refused = test.error().message;
    return estimate;
  }
  estimate.test = *test;
  // Ranking a million values takes longer than all the rest, and says the same as means there.
  constexpr uint64_t kMostRanked = 100'000;
  uint64_t values = 0;
  for (const WeightedCell& cell : cells) values += cell.moments.n;
  if (values <= kMostRanked)
    if (const auto p = van_elteren_p(strata)) estimate.p_rank = *p;
  return estimate;
}

// The spread of the first stage, not of all replicates, is what the interval may rest on: the second stage is as long
// as the first one's spread asked for. Where repeats shrink the error less than that (links that recur), its own holds.
Estimate two_stages(Estimate all, const Estimate& first, double shrinks, double alpha) {
  if (!all.refused.empty()) return all;
  if (!first.refused.empty()) return refuse("refused in the first stage: " + first.refused);
  all.test = t_test_of(all.test.estimate, std::max(all.test.standard_error, shrinks * first.test.standard_error),
                       std::min(all.test.df, first.test.df), 0, Alternative::kTwoSided, 1 - alpha);
  return all;
}

// The mean over workloads that are taken as given.
Estimate over_these(const std::vector<Estimate>& parts, const std::vector<std::string>& names, double alpha) {
  double estimate = 0, variance = 0, denominator = 0;
  Estimate result;
  result.n = parts[0].n;
  const auto count = static_cast<double>(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Estimate& part = parts[i];
    if (!part.refused.empty()) return refuse("refused for " + names[i] + ": " + part.refused);
    const double share = part.test.standard_error * part.test.standard_error / (count * count);
    estimate += part.test.estimate / count;
    variance += share;
    denominator += share * share / part.test.df;
    result.one_layout |= part.one_layout;
    result.level += part.level / count;
    result.by_link |= part.by_link;
    result.n = std::min(result.n, part.n);
  }
  result.test = t_test_of(estimate, std::sqrt(variance), variance * variance / denominator, 0,
                          Alternative::kTwoSided, 1 - alpha);
  return result;
}

// The mean over programs that stand for others.
Estimate over_like_these(const std::vector<Estimate>& parts, const Samples& samples) {
  std::vector<double> estimates, levels;
  Estimate result;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Estimate& part = parts[i];
    if (!part.point) return refuse("refused for " + samples.workloads[i] + ": " + part.refused);
    estimates.push_back(*part.point);
    levels.push_back(part.level);
    result.one_layout |= part.one_layout;
  }
  estimates = means_by_program(samples, estimates);
  result.level = moments(means_by_program(samples, levels)).mean;
  result.n = estimates.size();
  auto test = one_sample_t(estimates, 0, Alternative::kTwoSided, 1 - samples.alpha);
  if (!test) return refuse(test.error().message);
  result.test = *test;
  return result;
}

bool has_replicates(const WorkloadUnits& workload) {
  return std::any_of(workload.cells.begin(), workload.cells.end(), [](const CellUnits& cell) { return cell.moments.n > 1; });
}

double margin_on_scale(const Response& response, const Estimate& estimate) {
  if (response.scale == Scale::kLog) return std::log1p(response.margin);
  return response.margin_is_share ? response.margin * std::fabs(estimate.level) : response.margin;
}

// Half the width of an interval at the two-sided level that a look gives it.
double half_width(const TTest& test, double two_sided_level) {
  return t_quantile(1 - two_sided_level / 2, test.df) * test.standard_error;
}

Contrast describe(const Samples& samples, const LookLevels& levels, size_t response, size_t factor, uint32_t level,
                  const Estimate& estimate) {
  const Response& facts = samples.responses[response];
  Contrast contrast;
  contrast.response = facts.name;
  contrast.factor = samples.factors[factor].name;
  contrast.level = samples.factors[factor].levels[level];
  contrast.baseline = samples.factors[factor].levels[samples.factors[factor].baseline];
  contrast.scale = facts.scale;
  contrast.layout = samples.factors[factor].layout;
  contrast.one_layout_a_side = estimate.one_layout;
  contrast.refused = estimate.refused;
  if (!estimate.refused.empty()) return contrast;
  const TTest& test = estimate.test;
  const double half = half_width(test, levels.interval()), narrow = half_width(test, levels.equivalence());
  const auto to_people = [&](double x) { return facts.scale == Scale::kLog ? std::exp(x) : x; };
  contrast.interval = {to_people(test.estimate), to_people(test.estimate - half), to_people(test.estimate + half)};
  contrast.equivalence = {contrast.interval.estimate, to_people(test.estimate - narrow),
                          to_people(test.estimate + narrow)};
  contrast.baseline_mean = estimate.level;
  contrast.margin = margin_on_scale(facts, estimate);
  contrast.standard_error = test.standard_error;
  contrast.df = test.df;
  contrast.n = estimate.n;
  contrast.p_value = levels.p(test.p_value);
  contrast.p_holm = contrast.p_value;
  if (estimate.p_rank) contrast.p_rank = levels.p(*estimate.p_rank);
  contrast.blocked = estimate.blocked;
  contrast.by_link = estimate.by_link;
  return contrast;
}

// Adjusts within a family and judges each member.
void judge(const Samples& samples, const LookLevels& levels, const std::vector<Candidate*>& family) {
  std::vector<double> p_values;
  for (const Candidate* candidate : family)
    if (candidate->contrast.refused.empty()) p_values.push_back(candidate->contrast.p_value);
  const std::vector<double> adjusted = holm(p_values);
  size_t next = 0;
  for (Candidate* candidate : family) {
    Contrast& contrast = candidate->contrast;
    if (!contrast.refused.empty()) continue;
    contrast.p_holm = adjusted[next++];
    if (samples.incomplete || beyond_last_look(samples)) continue;  // verdicts only at declared looks
    const TTest& test = candidate->estimate.test;
    const double half = half_width(test, levels.interval()), narrow = half_width(test, levels.equivalence());
    contrast.verdict = verdict_of(test.estimate - half, test.estimate + half, test.estimate - narrow,
                                  test.estimate + narrow, contrast.margin, contrast.p_holm < samples.alpha);
    if (contrast.verdict == Verdict::kUnsure && contrast.population != kLikeThese)
      contrast.settles_n = settling_replicates(test.estimate, test.standard_error, candidate->estimate.n,
                                               contrast.margin, levels.interval(), levels.equivalence() / 2);
  }
}

}  // namespace

Verdict verdict_of(double low, double high, double equivalence_low, double equivalence_high, double margin,
                   bool significant_after_holm) {
  if (equivalence_low > -margin && equivalence_high < margin) return Verdict::kEquivalent;
  const bool excludes_zero = low > 0 || high < 0;
  const bool inside = low > -margin && high < margin;
  if (excludes_zero && !inside && significant_after_holm) return Verdict::kChanged;
  return Verdict::kUnsure;
}

std::optional<uint64_t> settling_replicates(double estimate, double standard_error, uint64_t n, double margin,
                                            double change_level, double equivalence_level) {
  // Normal approximation: a standard error that shrinks as 1/sqrt(n) must fit (z_crit + z_power) times into the
  // distance to be shown: from zero for a change, to the margin for equivalence.
  const double z_power = normal_quantile(0.8);
  const double size = std::fabs(estimate);
  const auto needed = [&](double distance, double z) {
    const double ratio = (z + z_power) * standard_error / distance;
    return static_cast<double>(n) * ratio * ratio;
  };
  std::optional<double> best;
  if (size > margin) best = needed(size, normal_quantile(1 - change_level / 2));
  if (size < margin) best = needed(margin - size, normal_quantile(1 - equivalence_level));
  if (!best || *best > 1e9) return std::nullopt;
  return std::max<uint64_t>(n + 1, static_cast<uint64_t>(std::ceil(*best)));
}

std::vector<Contrast> contrasts_of(const Samples& samples, const UnitsByResponse& units, const StoppedAt& stopped) {
  std::vector<Candidate> candidates;
  const auto add = [&](size_t response, size_t factor, uint32_t level, Estimate estimate) -> Contrast& {
    candidates.push_back({response, describe(samples, stopped.levels, response, factor, level, estimate), std::move(estimate)});
    return candidates.back().contrast;
  };
  for (size_t response = 0; response < units.size(); ++response) {
    const std::vector<WorkloadUnits>& workloads = units[response];
    // With one value a cell there is no error within workloads; the question about others like them remains.
    const bool own_errors = workloads.size() < 2 || std::any_of(workloads.begin(), workloads.end(), has_replicates);
    std::vector<std::optional<LinkFit>> fits(workloads.size()), first_fits(workloads.size());
    std::vector<std::pair<size_t, uint32_t>> asked;
    std::vector<std::vector<Estimate>> parts;
    for (size_t factor = 0; factor < samples.factors.size(); ++factor) {
      for (uint32_t level = 0; level < samples.factors[factor].levels.size(); ++level) {
        if (level == samples.factors[factor].baseline) continue;
        asked.emplace_back(factor, level);
        parts.emplace_back();
        for (size_t w = 0; w < workloads.size(); ++w) {
          Estimate part = within_workload(samples, factor, level, workloads[w], fits[w]);
          if (stopped.first_stage)
            part = two_stages(std::move(part), within_workload(samples, factor, level, (*stopped.first_stage)[response][w], first_fits[w]),
                              stopped.shrinks, samples.alpha);
          parts.back().push_back(std::move(part));
          if (!own_errors) continue;
          add(response, factor, level, parts.back().back()).workload = samples.workloads[w];
        }
      }
    }
    if (workloads.size() < 2) continue;
    for (size_t i = 0; i < asked.size(); ++i) {
      const auto [factor, level] = asked[i];
      if (own_errors) add(response, factor, level, over_these(parts[i], samples.workloads, samples.alpha)).population = kThese;
      if (program_count(samples) > 1)
        add(response, factor, level, over_like_these(parts[i], samples)).population = kLikeThese;
    }
  }
  // A family for each question: each workload alone, these together, those like them. Responses that were not
  // declared are families of their own.
  std::map<std::pair<std::string, size_t>, std::vector<Candidate*>> families;
  for (Candidate& candidate : candidates) {
    const size_t own = samples.responses[candidate.response].declared ? 0 : candidate.response + 1;
    families[{candidate.contrast.population, own}].push_back(&candidate);
  }
  for (const auto& [question, family] : families) judge(samples, stopped.levels, family);
  std::vector<Contrast> contrasts;
  for (Candidate& candidate : candidates) contrasts.push_back(std::move(candidate.contrast));
  return contrasts;
}

}  // namespace stab::analysis
