#include "analysis/report/contrasts/control_blocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::report {
namespace {

using Key = std::tuple<Population, std::string, std::string, std::string, std::string>;

Key key_of(const Contrast& contrast) {
  return {contrast.population, contrast.response, contrast.workload, contrast.factor, contrast.level};
}

Key key_of(const SlicingBias& bias) {
  return {bias.population, bias.response, bias.workload, bias.factor, bias.level};
}

UnitsByResponse units_alone(const Samples& samples) {
  const Samples alone = blocks_alone(samples);
  UnitsByResponse units(samples.responses.size());
  for (size_t r = 0; r < samples.responses.size(); ++r)
    for (uint32_t w = 0; w < samples.workloads.size(); ++w) units[r].push_back(units_of(alone, w, r));
  return units;
}

double estimate_of(const Contrast& contrast) { return on_scale(contrast.scale, contrast.interval.estimate); }

// pre: standard error and degrees of freedom are those of the test
void put_test(const statistics::TTest& test, SlicingBias& bias) {
  bias.bias = to_people(bias.scale, test);
  bias.standard_error = test.standard_error;
  bias.df = test.df;
  bias.p_value = bias.p_holm = test.p_value;
  for (const double number : {bias.bias.estimate, bias.bias.low, bias.bias.high, test.standard_error, test.p_value})
    if (!std::isfinite(number)) bias.refused = "its interval is beyond what a double holds; rescale the response";
}

SlicingBias named(const Contrast& contrast) {
  SlicingBias bias;
  bias.response = contrast.response;
  bias.workload = contrast.workload;
  bias.population = contrast.population;
  bias.factor = contrast.factor;
  bias.level = contrast.level;
  bias.baseline = contrast.baseline;
  bias.scale = contrast.scale;
  bias.margin = contrast.margin;
  return bias;
}

// Of one workload, or of these: the blocks of one kind have no part in the other's estimate. Welch's error, with the degrees of
// freedom of the kind that has fewer: with those the level holds whatever the two spreads are (Mickey & Brown 1966, Annals of
// Mathematical Statistics 37, 639). Satterthwaite's are estimated, and of three blocks alone too many just where their spread
// came out too small: after Holm over seven questions that spoke in 7.6 % of experiments instead of 5.
void compare_kinds(const Contrast& sliced, const Contrast& alone, double alpha, SlicingBias& bias) {
  const double error = std::hypot(sliced.standard_error, alone.standard_error);
  if (!(error > 0)) {
    bias.refused = "the blocks of neither kind vary";
    return;
  }
  put_test(statistics::t_test_of(estimate_of(sliced) - estimate_of(alone), error, std::min(sliced.df, alone.df), 0,
                                 statistics::Alternative::kTwoSided, 1 - alpha),
           bias);
}

// Of programs like these: the same programs are in both kinds, so what slicing does to each is one value.
void compare_programs(const Samples& samples, const std::vector<const SlicingBias*>& of_workloads, SlicingBias& bias) {
  std::vector<double> values;
  for (const SlicingBias* one : of_workloads) {
    if (!one->refused.empty()) {
      bias.refused = "refused for " + one->workload + ": " + one->refused;
      return;
    }
    values.push_back(on_scale(one->scale, one->bias.estimate));
  }
  if (values.size() != samples.workloads.size()) {
    bias.refused = "not each " + samples.workload_word + " has a difference of its own";
    return;
  }
  const auto test =
      statistics::one_sample_t(means_by_program(samples, values), 0, statistics::Alternative::kTwoSided, 1 - samples.alpha);
  if (test) put_test(*test, bias);
  else bias.refused = test.error().message;
}

// Holm over the questions of each family, as in judged_contrast.cc; then which answers slicing moves.
void judge(const Samples& samples, std::vector<SlicingBias>& biases) {
  std::map<FamilyOfQuestions, std::vector<SlicingBias*>> families;
  for (SlicingBias& bias : biases) {
    if (!bias.refused.empty()) continue;
    const auto response = std::find_if(samples.responses.begin(), samples.responses.end(),
                                       [&](const Response& one) { return one.name == bias.response; });
    families[family_of(samples, static_cast<size_t>(response - samples.responses.begin()), bias.population)].push_back(&bias);
  }
  for (const auto& [which, family] : families) {
    std::vector<double> p_values;
    for (const SlicingBias* bias : family) p_values.push_back(bias->p_value);
    const std::vector<double> adjusted = statistics::holm(p_values);
    for (size_t i = 0; i < family.size(); ++i) {
      family[i]->p_holm = adjusted[i];
      family[i]->moves =
          adjusted[i] < samples.alpha && std::fabs(on_scale(family[i]->scale, family[i]->bias.estimate)) > family[i]->margin;
    }
  }
}

std::vector<CellOverlap> overlaps_of(const Samples& samples) {
  std::map<std::pair<uint32_t, std::vector<uint16_t>>, std::pair<double, uint64_t>> cells;
  for (const Trial& trial : samples.trials) {
    if (!answers(samples, trial) || !trial.overlap) continue;
    auto& [sum, count] = cells[{trial.workload, trial.levels}];
    sum += *trial.overlap;
    count += 1;
  }
  std::vector<CellOverlap> out;
  for (const auto& [cell, of] : cells) {
    CellOverlap one{samples.workloads[cell.first], {}, of.first / static_cast<double>(of.second), of.second};
    for (size_t f = 0; f < samples.factors.size(); ++f) one.levels.push_back(samples.factors[f].levels[cell.second[f]]);
    out.push_back(std::move(one));
  }
  return out;
}

bool same_answer(const Contrast& a, const Contrast& b) {
  return a.verdict == b.verdict && (a.verdict != Verdict::kChanged || (estimate_of(a) > 0) == (estimate_of(b) > 0));
}

// The answer of the blocks alone in the place of the sliced ones'.
Contrast in_place_of(const Contrast& sliced, Contrast alone, double alpha) {
  alone.by_alone = true;
  if (!alone.refused.empty()) {
    alone.refused = "slicing changes it, and the blocks alone don't answer it: " + alone.refused;
    return alone;
  }
  if (alone.verdict == Verdict::kUnsure || alone.verdict == Verdict::kWithheld || same_answer(sliced, alone)) return alone;
  alone.p_holm = std::min(1.0, kOnlyAlone * alone.p_holm);
  alone.p_equivalence_holm = std::min(1.0, kOnlyAlone * alone.p_equivalence_holm);
  if ((alone.verdict == Verdict::kChanged ? alone.p_holm : alone.p_equivalence_holm) >= alpha) alone.verdict = Verdict::kUnsure;
  return alone;
}

}  // namespace

Samples blocks_alone(const Samples& samples) {
  Samples alone = samples;
  alone.is_sliced = false;
  std::erase_if(alone.trials, [](const Trial& trial) { return !trial.ran_alone; });
  return alone;
}

Slicing slicing_of(const Samples& samples, const UnitsByResponse& units) {
  Slicing out;
  out.sliced_blocks = blocks_of(samples, false);
  out.alone_blocks = blocks_of(samples, true);
  out.overlaps = overlaps_of(samples);
  if (out.alone_blocks < 2) {
    out.refused =
        (out.alone_blocks == 0 ? "no block ran alone" : "one block ran alone, and two are the fewest that have a spread") +
        std::string(": what slicing does to these differences is not known");
    return out;
  }
  // Not at a look's levels: what is asked is how large the bias is, and the guard above doesn't rest on how often that is asked.
  const LookLevels at_once(samples.alpha);
  const std::vector<Contrast> of_sliced = contrasts_of(samples, units, {at_once});
  std::map<Key, Contrast> of_alone;
  for (Contrast& contrast : contrasts_of(samples, units_alone(samples), {at_once}))
    of_alone.emplace(key_of(contrast), std::move(contrast));
  for (const Contrast& sliced : of_sliced) {
    SlicingBias& bias = out.biases.emplace_back(named(sliced));
    const auto alone = of_alone.find(key_of(sliced));
    if (!sliced.refused.empty()) {
      bias.refused = "the sliced blocks: " + sliced.refused;
    } else if (alone == of_alone.end()) {
      bias.refused = "the blocks alone have no error of their own";
    } else if (!alone->second.refused.empty()) {
      bias.refused = "the blocks alone: " + alone->second.refused;
    }
    if (!bias.refused.empty()) continue;
    bias.sliced = sliced.interval;
    bias.alone = alone->second.interval;
    bias.sliced_n = sliced.n;
    bias.alone_n = alone->second.n;
    if (bias.population != Population::kLikeThese) compare_kinds(sliced, alone->second, samples.alpha, bias);
  }
  for (SlicingBias& bias : out.biases) {
    if (bias.population != Population::kLikeThese || !bias.refused.empty()) continue;
    std::vector<const SlicingBias*> of_workloads;
    for (const SlicingBias& one : out.biases)
      if (one.population == Population::kOneWorkload && one.response == bias.response && one.factor == bias.factor &&
          one.level == bias.level)
        of_workloads.push_back(&one);
    compare_programs(samples, of_workloads, bias);
  }
  judge(samples, out.biases);
  return out;
}

Status answer_from_alone(const Samples& samples, const Slicing& slicing, std::vector<Contrast>& contrasts) {
  std::set<Key> moved;
  for (const SlicingBias& bias : slicing.biases)
    if (bias.moves) moved.insert(key_of(bias));
  if (moved.empty()) return {};
  STAB_TRY(const LookLevels levels, levels_of(samples, blocks_of(samples, true)));
  std::map<Key, Contrast> alone;
  for (Contrast& contrast : contrasts_of(samples, units_alone(samples), {levels}))
    alone.emplace(key_of(contrast), std::move(contrast));
  for (Contrast& contrast : contrasts)
    if (moved.contains(key_of(contrast))) contrast = in_place_of(contrast, alone.at(key_of(contrast)), samples.alpha);
  return {};
}

void leave_to_alone(const Slicing& slicing, Report& report) {
  std::set<Key> moved;
  for (const SlicingBias& bias : slicing.biases)
    if (bias.moves) moved.insert(key_of(bias));
  constexpr char kLeft[] = "slicing changes this difference: the blocks alone answer it, by the mean";
  const auto refuse = [&](Population population, auto& one) {
    const bool is_moved = moved.contains({population, one.response, one.workload, one.factor, one.level});
    if (is_moved) one.refused = kLeft;
    return is_moved;
  };
  for (EstimatorContrast& one : report.estimators)
    if (refuse(one.population, one)) one.verdict = Verdict::kWithheld;
  for (ShiftFunction& one : report.shift_functions)
    if (refuse(Population::kOneWorkload, one)) one.points.clear();
  for (MachineContrast& one : report.machine_contrasts)
    refuse(one.workload.empty() ? Population::kThese : Population::kOneWorkload, one);
}

}  // namespace stab::report
