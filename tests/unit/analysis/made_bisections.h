// Searches for a commit among commits whose costs are known, in comparisons with normal errors: what they end with.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/commands/bisect/bisect.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {

struct MadeHistory {
  std::vector<double> costs;  // of each position, as shares of the good commit's, which is 0
  double error = 0.005;       // standard error of one comparison
  double unbuilt = 0;         // share of commits between that don't build
};

// Right: a commit that made it slower, by itself. Wrong: one that did not. The rest is honest: a range, nothing, unsure.
// Of the commits that are named beyond the first: how many are right, and how many searches name a wrong one, first or not.
// What the model has said of answers of one kind, and whether that held: that the commit, or one of the range, made it slower; of
// the others, that no commit made it slower by the margin.
struct SaidOfAnswers {
  int answers = 0, held = 0;
  double said = 0;  // a sum
};

struct BisectTally {
  int right = 0, wrong = 0, range = 0, none = 0, unsure = 0;
  int held = 0;  // of the ranges, those with a commit that made it slower
  int more_right = 0, any_wrong = 0;
  int complete = 0;  // searches that name each commit that did something, and no other one
  long comparisons = 0;
  SaidOfAnswers by_end[4];  // in the order of BisectEnd; the last one is kCannotTell
  // By tenths of what was said: [0] of a commit or a range, [1] of nothing and unsure.
  SaidOfAnswers by_tenth[2][10];
};

// ends_alone: it is stopped once the ends were compared. What is said where they are not shown to be apart is all there is then.
inline commands::Bisection made_bisection(const MadeHistory& history, double margin, Rng& rng, bool ends_alone = false) {
  commands::Bisection search;
  search.alpha = 0.01;  // as stabctl has it
  for (size_t i = 0; i < history.costs.size(); ++i) search.commits.push_back({std::to_string(i), "commit"});
  std::vector<bool> builds(history.costs.size(), true);
  for (size_t i = 1; i + 1 < builds.size(); ++i) builds[i] = rng.uniform() >= history.unbuilt;
  const auto compare = [&](const commands::BisectQuestion& asked) -> Result<std::optional<commands::BisectStep>> {
    if (ends_alone && !search.steps.empty()) return std::optional<commands::BisectStep>();
    commands::BisectStep step;
    step.change = step.interval = "-";
    step.margin = asked.margin.value_or(margin);
    step.finding = commands::CommitFinding::kNotBuilt;
    if (!builds[asked.position] || !builds[asked.against]) return std::optional(step);
    // As worse_by() decides: not slower by the margin, one-sided; slower, by both sides of the interval.
    const double change = history.costs[asked.position] - history.costs[asked.against];
    step.cost = (asked.faster ? -change : change) + history.error * standard_normal(rng);
    const double half = history.error * statistics::normal_quantile(1 - asked.alpha / 2);
    step.cost_low = step.cost - half;
    step.cost_high = step.cost + half;
    const double high = step.cost + history.error * statistics::normal_quantile(1 - asked.alpha);
    step.finding = high < step.margin    ? commands::CommitFinding::kNotSlower
                   : step.cost_low > 0 ? commands::CommitFinding::kSlower
                                       : commands::CommitFinding::kUnsure;
    return std::optional(step);
  };
  const Status done = commands::run_bisection(search, compare);
  if (!done) search.end = commands::BisectEnd::kCannotTell;
  return search;
}

inline void count_said(BisectTally& tally, const MadeHistory& history, double margin, const commands::Bisection& search) {
  if (!search.probability) return;
  const bool is_narrowed = search.end == commands::BisectEnd::kCommit || search.end == commands::BisectEnd::kRange;
  const size_t first = is_narrowed ? search.not_slower + 1 : 1, last = is_narrowed ? search.slower : history.costs.size() - 1;
  bool any = false;
  for (size_t at = first; at <= last; ++at) {
    const double change = history.costs[at] - history.costs[at - 1];
    any |= is_narrowed ? change > 0 : change > margin - 1e-12;
  }
  const int tenth = std::clamp(static_cast<int>(10 * *search.probability), 0, 9);
  for (SaidOfAnswers* of : {&tally.by_end[static_cast<int>(search.end)], &tally.by_tenth[is_narrowed ? 0 : 1][tenth]}) {
    ++of->answers;
    of->said += *search.probability;
    of->held += any == is_narrowed;
  }
}

inline void count(BisectTally& tally, const MadeHistory& history, const commands::Bisection& search) {
  tally.comparisons += static_cast<long>(search.steps.size());
  const auto did = [&](size_t at, bool faster) {
    const double change = history.costs[at] - history.costs[at - 1];
    return faster ? change < 0 : change > 0;
  };
  int named = 0, wrong = 0, culprits = 0;
  if (search.end == commands::BisectEnd::kCommit) {
    ++named;
    wrong += !did(search.slower, search.faster);
  }
  for (const commands::BisectPart& part : search.further) {
    if (part.end != commands::BisectEnd::kCommit) continue;
    ++named;
    ++(did(part.slower, part.faster) ? tally.more_right : wrong);
  }
  for (size_t at = 1; at < history.costs.size(); ++at) culprits += history.costs[at] != history.costs[at - 1];
  tally.any_wrong += wrong > 0;
  tally.complete += wrong == 0 && named == culprits;
  switch (search.end) {
    case commands::BisectEnd::kCommit:
      ++(history.costs[search.slower] > history.costs[search.slower - 1] ? tally.right : tally.wrong);
      break;
    case commands::BisectEnd::kRange:
      ++tally.range;
      for (size_t at = search.not_slower + 1; at <= search.slower; ++at)
        if (did(at, search.faster)) {
          ++tally.held;
          break;
        }
      break;
    case commands::BisectEnd::kNone:
    case commands::BisectEnd::kPlace: ++tally.none; break;
    case commands::BisectEnd::kCannotTell: ++tally.unsure; break;
  }
}

// One step of `by` at a random commit.
inline MadeHistory with_one_step(size_t commits, double by, Rng& rng) {
  MadeHistory history;
  const size_t culprit = 1 + rng.below(commits);
  for (size_t i = 0; i <= commits; ++i) history.costs.push_back(i >= culprit ? by : 0);
  return history;
}

// These steps, at commits of their own, in any order.
inline MadeHistory with_these_steps(size_t commits, const std::vector<double>& steps, Rng& rng) {
  MadeHistory history;
  std::vector<double> changes(commits + 1, 0);
  for (const double step : steps) {
    size_t at = 1 + rng.below(commits);
    while (changes[at] != 0) at = 1 + rng.below(commits);
    changes[at] = step;
  }
  double cost = 0;
  for (const double change : changes) history.costs.push_back(cost += change);
  return history;
}

// Steps up and down at `steps` random commits, normal with the standard deviation `by`.
inline MadeHistory with_steps(size_t commits, size_t steps, double by, Rng& rng) {
  MadeHistory history;
  history.costs.assign(commits + 1, 0);
  for (size_t step = 0; step < steps; ++step) {
    const size_t at = 1 + rng.below(commits);
    const double change = by * standard_normal(rng);
    for (size_t i = at; i <= commits; ++i) history.costs[i] += change;
  }
  return history;
}

// The histories of the tables of docs/evaluation/records/simulated-answers.md, each with its name there.
using NamedHistory = std::pair<std::string, std::function<MadeHistory(Rng&)>>;
inline std::vector<NamedHistory> table_histories(size_t commits) {
  std::vector<NamedHistory> out;
  const std::string of = std::to_string(commits) + " commits, ";
  for (const double by : {0.01, 0.02, 0.03})
    out.emplace_back(of + "one of +" + std::to_string(static_cast<int>(100 * by + 0.5)) + " %",
                     [=](Rng& rng) { return with_one_step(commits, by, rng); });
  out.emplace_back(of + "none", [=](Rng&) {
    MadeHistory history;
    history.costs.assign(commits + 1, 0);
    return history;
  });
  for (const auto& [name, steps] : {std::pair{"+3 % and +2 %", std::vector<double>{0.03, 0.02}},
                                    std::pair{"+4 % and -2 %", std::vector<double>{0.04, -0.02}}})
    out.emplace_back(of + name, [=, steps = steps](Rng& rng) { return with_these_steps(commits, steps, rng); });
  out.emplace_back(of + "four of either sign, sd 2 %", [=](Rng& rng) { return with_steps(commits, 4, 0.02, rng); });
  out.emplace_back(of + "one of +3 %, a third doesn't build", [=](Rng& rng) {
    MadeHistory history = with_one_step(commits, 0.03, rng);
    history.unbuilt = 1.0 / 3;
    return history;
  });
  return out;
}

}  // namespace stab::analysis
