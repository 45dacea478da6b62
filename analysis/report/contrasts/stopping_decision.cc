// The method is in stopping_decision.h.
#include "analysis/report/contrasts/stopping_decision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/worse.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/looks/confidence_sequence.h"

namespace stab::report {
namespace {

constexpr double kLargestAlpha = 0.49;  // boundaries are for alpha below one half

// The alphas at which the boundary is computed; between them logarithms are interpolated, 3 a decade leave less than
// 1 % of error in a p-value, and none at alpha itself.
std::vector<double> knots(double alpha) {
  std::vector<double> at{alpha, 2 * alpha};
  for (int third = -24; third <= -1; ++third) at.push_back(std::pow(10, third / 3.0));
  at.push_back(kLargestAlpha);
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  return at;
}

std::vector<double> fractions_of(const Stopping& stopping) {
  std::vector<double> fractions;
  for (uint32_t replicates : stopping.looks)
    fractions.push_back(static_cast<double>(replicates) / static_cast<double>(stopping.looks.back()));
  return fractions;
}

// The time of a workload that measures itself: a suite chooses its number of iterations, and where benchmarks of it are declared,
// they are what is asked.
bool is_beside_declared_benchmarks(const Report& report, const Contrast& contrast) {
  return contrast.response == "wall_time" &&
         std::any_of(report.responses.begin(), report.responses.end(), [&](const Response& other) {
           return other.is_benchmark() && other.declared && report.workloads[*other.only_workload] == contrast.workload;
         });
}

// Of a declared response, with an error that more replicates make smaller. Of few of them the blocks alone are made. Who asks
// whether something is worse asks of each workload, and their mean answers that of none.
bool holds_up(const Stopping& stopping, const Report& report, const Contrast& contrast) {
  if (!contrast.refused.empty() || contrast.population == Population::kLikeThese || contrast.by_alone) return false;
  if (stopping.until_worse && contrast.population == Population::kThese) return false;
  if (stopping.until_worse && is_beside_declared_benchmarks(report, contrast)) return false;
  for (const Response& response : report.responses)
    if (response.name == contrast.response) return response.declared;
  return false;
}

Worse answer_to_gate(const Report& report, const Contrast& contrast) {
  return worse_by(response_of(report, contrast.response), contrast, report.alpha, contrast.p_holm);
}

// Whether it may end an experiment as a regression: shown to be worse, by what says something of its workload.
bool ends_as_worse(const Report& report, const Contrast& contrast) {
  return !is_time_of_suite(report, contrast) && answer_to_gate(report, contrast) == Worse::kYes;
}

// Whether more replicates have nothing to add. A gate doesn't ask by how much something got better.
bool is_settled(const Stopping& stopping, const Report& report, const Contrast& contrast) {
  if (stopping.until_worse) return answer_to_gate(report, contrast) != Worse::kUnsure;
  return contrast.verdict == Verdict::kChanged || contrast.verdict == Verdict::kEquivalent;
}

}  // namespace

Result<LookLevels> LookLevels::at_look(statistics::Spending spending, const std::vector<double>& fractions, size_t index,
                                       double alpha) {
  if (spending != statistics::Spending::kObrienFleming && spending != statistics::Spending::kPocock)
    return bad_input("looks are judged by a spending function: obrien-fleming or pocock");
  if (!(alpha > 0 && 2 * alpha < kLargestAlpha)) return bad_input("with declared looks alpha must be below 0.245");
  const std::vector<double> upto(fractions.begin(), fractions.begin() + static_cast<long>(index) + 1);
  // The same look is judged again and again, by each reader of a report and by simulations thousands of times; a curve takes 25
  // ms.
  using Asked = std::tuple<statistics::Spending, std::vector<double>, double>;
  thread_local std::map<Asked, LookLevels> known;
  constexpr size_t kMostKnown = 64;
  const Asked asked{spending, upto, alpha};
  if (const auto found = known.find(asked); found != known.end()) return found->second;
  LookLevels levels(alpha);
  for (double a : knots(alpha)) {
    STAB_TRY(const std::vector<statistics::Look> looks, statistics::alpha_spending(spending, upto, a, false));
    const double nominal = looks.back().nominal_p;
    if (a == alpha) levels.interval_ = nominal;
    if (a == 2 * alpha) levels.equivalence_ = nominal;
    levels.curve_.emplace_back(std::log(std::max(nominal, 1e-300)), std::log(a));
  }
  if (known.size() >= kMostKnown) known.clear();
  known.emplace(asked, levels);
  return levels;
}

LookLevels LookLevels::in_sequence(uint32_t replicates, double narrowest_at, double alpha) {
  LookLevels levels(alpha);
  levels.replicates_ = replicates;
  levels.mixture_ = statistics::mixture_narrowest_at(narrowest_at, alpha);
  const auto nominal = [&](double level) {
    const double critical = statistics::sequence_critical_t(levels.replicates_, levels.mixture_, level);
    // A level that figures can draw with, where there is none: nothing is judged by it.
    constexpr double kUnbounded = 1e-12;
    return std::isinf(critical) ? kUnbounded : statistics::t_two_sided(critical, levels.replicates_ - 1);
  };
  levels.bounded_ = std::isfinite(statistics::sequence_critical_t(levels.replicates_, levels.mixture_, alpha));
  levels.interval_ = nominal(alpha);
  levels.equivalence_ = nominal(2 * alpha);
  return levels;
}

double LookLevels::p(double nominal) const {
  if (mixture_ > 0) {
    constexpr double kSmallest = 1e-300;  // what is below it is as far out as any t
    const double t = nominal < kSmallest ? HUGE_VAL : statistics::t_quantile_upper(std::min(nominal, 1.0) / 2, replicates_ - 1);
    return std::exp(std::min(0.0, -statistics::mixture_log_ratio(t, replicates_, mixture_)));
  }
  if (curve_.empty()) return nominal;
  const double x = std::log(std::max(nominal, 1e-300));
  if (x <= curve_.front().first) return std::exp(curve_.front().second);
  if (x > curve_.back().first) return 1;
  const auto above = std::lower_bound(curve_.begin(), curve_.end(), x,
                                      [](const auto& knot, double value) { return knot.first < value; });
  const auto below = above - 1;
  const double share = (x - below->first) / (above->first - below->first);
  return std::exp(below->second + share * (above->second - below->second));
}

uint32_t replicates_of(const Samples& samples) {
  uint32_t replicates = 0;
  if (has_blocks(samples)) {
    for (const Trial& trial : samples.trials) replicates = std::max(replicates, trial.block + 1);
    return replicates;
  }
  std::map<std::pair<uint32_t, std::vector<uint16_t>>, std::set<uint32_t>> draws;  // by workload and cell
  for (const Trial& trial : samples.trials) {
    std::set<uint32_t>& of_cell = draws[{trial.workload, trial.levels}];
    of_cell.insert(trial.block);
    replicates = std::max(replicates, static_cast<uint32_t>(of_cell.size()));
  }
  return replicates;
}

uint32_t blocks_of(const Samples& samples, bool alone) {
  if (!samples.is_sliced) return alone ? 0 : replicates_of(samples);
  std::map<uint32_t, std::set<uint32_t>> blocks;  // by workload
  for (const Trial& trial : samples.trials) {
    std::set<uint32_t>& of_workload = blocks[trial.workload];
    if (trial.excluded.empty() && trial.ran_alone == alone) of_workload.insert(trial.block);
  }
  size_t fewest = blocks.empty() ? 0 : SIZE_MAX;
  for (const auto& [workload, of] : blocks) fewest = std::min(fewest, of.size());
  return static_cast<uint32_t>(fewest);
}

size_t look_index(const Stopping& stopping, uint32_t replicates) {
  const auto at = std::lower_bound(stopping.looks.begin(), stopping.looks.end(), replicates);
  return std::min(static_cast<size_t>(at - stopping.looks.begin()), stopping.looks.size() - 1);
}

bool beyond_last_look(const Samples& samples) {
  return samples.stopping.rule == StoppingRule::kLooks && replicates_of(samples) > samples.stopping.looks.back();
}

bool may_be_judged(const Samples& samples) {
  if (samples.stopping.rule == StoppingRule::kSequence) return replicates_of(samples) >= samples.stopping.first;
  return !samples.incomplete && !beyond_last_look(samples);
}

double narrowest_replicates(const Stopping& stopping) {
  return std::max(2.0, std::sqrt(static_cast<double>(stopping.first) * static_cast<double>(stopping.max)));
}

Result<LookLevels> levels_of(const Samples& samples) { return levels_of(samples, blocks_of(samples, false)); }

Result<LookLevels> levels_of(const Samples& samples, uint32_t blocks) {
  const Stopping& stopping = samples.stopping;
  if (stopping.rule == StoppingRule::kSequence)
    return LookLevels::in_sequence(std::max(2u, blocks), narrowest_replicates(stopping), samples.alpha);
  if (stopping.rule != StoppingRule::kLooks || stopping.looks.size() < 2) return LookLevels(samples.alpha);
  return LookLevels::at_look(stopping.spending, fractions_of(stopping), look_index(stopping, replicates_of(samples)),
                             samples.alpha);
}

Samples first_blocks(const Samples& samples, uint32_t replicates) {
  Samples out = samples;
  std::erase_if(out.trials, [&](const Trial& trial) { return trial.block >= replicates; });
  return out;
}

std::optional<Samples> judged_when_time_ended(const Samples& samples, uint32_t blocks) {
  const StoppingRule rule = samples.stopping.rule;
  if (rule == StoppingRule::kPrecision || (rule == StoppingRule::kSequence && blocks < samples.stopping.first))
    return std::nullopt;
  Samples out = first_blocks(samples, blocks);
  out.incomplete = false;
  if (rule != StoppingRule::kLooks) return out;
  std::erase_if(out.stopping.looks, [blocks](uint32_t look) { return look >= blocks; });
  out.stopping.looks.push_back(blocks);
  return out;
}

std::string stopping_text(const Stopping& stopping, uint32_t replicates, bool incomplete) {
  const std::string so_far = std::to_string(replicates) + " replicates";
  switch (stopping.rule) {
    case StoppingRule::kFixed: return {};
    case StoppingRule::kLooks: {
      std::string all;
      for (uint32_t at : stopping.looks) all += (all.empty() ? "" : ", ") + std::to_string(at);
      const std::string rule =
          stopping.spending == statistics::Spending::kPocock || stopping.spending == statistics::Spending::kClassicPocock
              ? "Pocock"
              : "O'Brien-Fleming";
      if (incomplete) return "looks after " + all + " replicates (" + rule + "), " + so_far + " so far";
      return "look " + std::to_string(look_index(stopping, replicates) + 1) + " of " + std::to_string(stopping.looks.size()) +
             " (after " + all + "), " + so_far + "; " + rule +
             " boundaries: intervals and p of the contrasts allow for looking, those of the analysis of variance don't";
    }
    case StoppingRule::kSequence:
      return "confidence sequence from " + std::to_string(stopping.first) + " to " + std::to_string(stopping.max) +
             " replicates, " + so_far + (incomplete ? " so far" : "") +
             ": intervals and p of the contrasts hold at every look, those of the analysis of variance at one";
    case StoppingRule::kPrecision:
      if (incomplete) return "precision: " + std::to_string(stopping.first) + " replicates set the number, " + so_far + " so far";
      return "precision: the spread of " + std::to_string(stopping.first) + " replicates set the number, " + so_far +
             "; intervals are Stein's (how often they cover: docs/explanation/verdicts.md)";
  }
  return {};
}

Result<LookOutcome> look(const Samples& samples, uint32_t replicates) {
  const Stopping& stopping = samples.stopping;
  const bool sequence = stopping.rule == StoppingRule::kSequence;
  const bool declared = stopping.rule == StoppingRule::kLooks &&
                        std::find(stopping.looks.begin(), stopping.looks.end(), replicates) != stopping.looks.end();
  if (!declared && !(sequence && replicates >= stopping.first))
    return bad_input("the plan declares no look after " + std::to_string(replicates) + " replicates");
  Samples upto = first_blocks(samples, replicates);
  upto.incomplete = false;
  if (replicates_of(upto) != replicates)
    return bad_input("the look after " + std::to_string(replicates) + " replicates has not come: " +
                     std::to_string(replicates_of(upto)) + " are recorded");
  LookOutcome outcome;
  if (sequence) {
    STAB_TRY(const LookLevels levels, levels_of(upto));
    outcome.level = levels.interval();
  } else {
    outcome.index = look_index(stopping, replicates);
    outcome.looks = stopping.looks.size();
    STAB_TRY(const std::vector<statistics::Look> bounds,
             statistics::alpha_spending(stopping.spending, fractions_of(stopping), samples.alpha, false));
    outcome.level = bounds[outcome.index].nominal_p;
    outcome.critical_value = bounds[outcome.index].z;
  }
  STAB_TRY(const Report report, analyse(upto, Depth::kVerdicts));
  for (const Contrast& contrast : report.contrasts) {
    if (!holds_up(stopping, report, contrast)) continue;
    ++(is_settled(stopping, report, contrast) ? outcome.settled : outcome.open);
    if (stopping.until_worse && ends_as_worse(report, contrast)) ++outcome.worse;
  }
  const bool last = sequence ? replicates >= stopping.max : outcome.index + 1 == outcome.looks;
  const bool settled = outcome.open == 0 && outcome.settled > 0;
  outcome.stop = last || settled || outcome.worse > 0;
  const std::string which =
      sequence ? "a look" : "look " + std::to_string(outcome.index + 1) + " of " + std::to_string(outcome.looks);
  outcome.text = which + " after " + std::to_string(replicates) + " replicates: " + plural(outcome.settled, "contrast") +
                 " settled, " + std::to_string(outcome.open) + " unsure: " +
                 (last                ? "the end"
                  : settled           ? "nothing is open, so it ends here"
                  : outcome.worse > 0 ? plural(outcome.worse, "regression") + " shown, so it ends here"
                                      : "goes on");
  return outcome;
}

Result<double> widest_half_width(const Samples& samples, uint32_t replicates) {
  Samples upto = first_blocks(samples, replicates);
  upto.incomplete = false;
  STAB_TRY(const Report report, analyse(upto, Depth::kVerdicts));
  double widest = 0;
  bool any = false;
  for (const Contrast& contrast : report.contrasts) {
    if (contrast.workload.empty() || !holds_up(samples.stopping, report, contrast)) continue;
    double width = 0;
    if (contrast.scale == Scale::kLog) {
      width = std::expm1(std::log(contrast.interval.high / contrast.interval.low) / 2);
    } else {
      const double level = std::fabs(contrast.baseline_mean);
      if (level == 0)
        return bad_input("the mean of " + contrast.response + " is 0: no relative precision; give it another scale");
      width = (contrast.interval.high - contrast.interval.low) / 2 / level;
    }
    if (!std::isfinite(width))
      return bad_input("the interval of " + contrast.factor + " in " + contrast.workload +
                       " is too wide to say how many replicates make it narrow");
    widest = std::max(widest, width);
    any = true;
  }
  if (!any) return bad_input("no contrast has an interval after " + std::to_string(replicates) + " replicates");
  return widest;
}

}  // namespace stab::report
