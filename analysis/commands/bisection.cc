// The search itself: whether there is anything to find, then between which commits, then whether it is that one.
#include <algorithm>

#include "analysis/commands/bisect.h"

namespace stab::commands {
namespace {

// By how much a commit may be slower than the good one and still count as not slower: half of what is looked for, and never more
// than it is at least. Below half of the gate's margin it is of no interest, and a plan's margin is 100 % at most.
std::optional<double> margin_of_search(const BisectStep& ends) {
  constexpr double kLargest = 1;
  if (!ends.is_share) return std::nullopt;
  return std::min({ends.cost / 2, std::max(ends.cost_low, ends.margin / 2), kLargest});
}

// An unsure answer counts as the side that its estimate is nearer to; half of what lies between the ends parts them.
CommitFinding taken(const BisectStep& step, const BisectStep& ends) {
  if (step.finding != CommitFinding::kUnsure || !step.why.empty()) return step.finding;
  return step.cost > ends.cost / 2 ? CommitFinding::kSlower : CommitFinding::kNotSlower;
}

// Nothing: it was stopped.
Result<std::optional<BisectStep>> ask(Bisection& search, const CompareCommits& compare, size_t position, size_t against,
                                      std::optional<double> margin) {
  STAB_TRY(auto step, compare(position, against, margin));
  if (!step) return step;
  step->position = position;
  step->against = against;
  step->taken = against == 0 && !search.steps.empty() ? taken(*step, search.steps.front()) : step->finding;
  search.steps.push_back(*step);
  return step;
}

}  // namespace

Status run_bisection(Bisection& search, const CompareCommits& compare) {
  const size_t last = search.commits.size() - 1;
  search.not_slower = 0;
  search.slower = last;
  STAB_TRY(const auto ends, ask(search, compare, last, 0, std::nullopt));
  if (!ends) return {};
  if (ends->finding == CommitFinding::kNotBuilt) return bad_input("the commits at the ends can't be compared: " + ends->why);
  search.subject = ends->subject;
  search.margin = ends->margin;
  if (ends->finding == CommitFinding::kNotSlower) search.end = BisectEnd::kNone;
  if (ends->finding != CommitFinding::kSlower) return {};
  search.end = BisectEnd::kRange;
  const auto margin = margin_of_search(*ends);
  CommitSearch between(last);
  while (const auto position = between.next()) {
    STAB_TRY(const auto step, ask(search, compare, *position, 0, margin));
    if (!step) return {};
    between.take(*position, step->taken);
    search.not_slower = between.not_slower();
    search.slower = between.slower();
  }
  if (search.slower != search.not_slower + 1) return {};
  STAB_TRY(const auto step, ask(search, compare, search.slower, search.not_slower, margin));
  if (step && step->finding == CommitFinding::kSlower) search.end = BisectEnd::kCommit;
  return {};
}

}  // namespace stab::commands
