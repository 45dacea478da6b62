// The search itself: whether there is anything to find, then between which commits, then whether it is that one. What one commit
// leaves unexplained is searched in the same way, before and behind it.
#include <algorithm>
#include <cmath>

#include "analysis/commands/bisect/bisect.h"
#include "analysis/commands/bisect/bisect_rest.h"
#include "analysis/commands/bisect/comparison_looks.h"
#include "analysis/commands/bisect/no_culprit.h"
#include "analysis/statistics/distributions/distributions.h"

namespace stab::commands {
namespace {

// So many steps in one range are a development, whose commits are no culprits.
constexpr size_t kMostCulprits = 8;
// Questions whether to name a commit, between two ends and in all. The last one is asked at alpha / 2048.
constexpr size_t kMostNamingsOfPart = 3, kMostNamings = 12;
// That a range holds a commit that made it slower.
constexpr double kProbability = 0.95;

// Comparisons between two ends that measure something: twice what a search without errors takes, and some, as each error costs
// a few.
size_t most_comparisons(size_t commits) { return 2 * questions_of(commits) + 6; }

constexpr double kLargestMargin = 1;  // of a plan

// By how much a commit may be slower than the good one and still count as not slower: half of what is looked for, and never more
// than it is at least. Below half of the gate's margin it is of no interest, and a plan's margin is 100 % at most.
std::optional<double> margin_of_search(const BisectStep& ends) {
  if (!ends.is_share) return std::nullopt;
  return std::min({ends.cost / 2, std::max(ends.cost_low, ends.margin / 2), kLargestMargin});
}

// By how much the commit that the search has arrived at may be slower than the one before it. With several steps it need not make
// half of the whole: it is of interest where it costs as much as the gate's margin.
std::optional<double> margin_of_naming(const BisectStep& ends, const std::optional<double>& margin_of_search) {
  if (!margin_of_search) return std::nullopt;
  return std::min(*margin_of_search, ends.margin);
}

// Nothing: it has no number that says something of the commit.
std::optional<CostEstimate> estimate_of(const BisectStep& step) {
  if (step.finding == CommitFinding::kNotBuilt || !step.why.empty() || !std::isfinite(step.cost_low + step.cost_high)) return {};
  const StepCost cost = cost_of(step);
  const double normal = statistics::normal_quantile(1 - step.alpha / 2);
  if (step.standard_error <= 0 || step.blocks < 2) return CostEstimate{cost.estimate, (cost.high - cost.low) / 2 / normal};
  // The interval allows for looks, and the likelihood of what was seen knows none. Few blocks don't know their spread well.
  const double t = statistics::t_quantile(1 - step.alpha / 2, static_cast<double>(step.blocks - 1));
  return CostEstimate{cost.estimate, (step.standard_error * t + step.copies_half_width) / normal};
}

// A step, against the standard error of a comparison on the way once all its blocks are there.
constexpr double kErrorsOfStep = 4;
// Of it, over all looks. Where a commit costs nothing or a step, which are four standard errors apart, stopping at a look is then
// wrong in about two of a hundred, as is what all blocks say (the likelihoods of both: Wald 1945).
constexpr double kAlphaOnTheWay = 0.0125;
// That a slowdown by the margin between the ends is called none.
constexpr double kAlphaOfEnds = 0.05;

// What a comparison on the way tells from nothing: all that is searched, or half of it where that is no less than the gate's
// margin, as there may be two steps. On the scale of StepCost.
double step_on_the_way(const BisectStep& ends) {
  const double whole = cost_of(ends).estimate;
  return ends.is_share ? std::min(whole, std::max(std::log1p(ends.margin), whole / 2)) : whole;
}

// Blocks of each comparison on the way; 0: the spread of the ends' blocks is not known.
uint32_t blocks_on_the_way(const BisectStep& ends) {
  constexpr double kFewest = 10;
  if (ends.standard_error <= 0 || ends.blocks < 2) return 0;
  const double spread = ends.standard_error * std::sqrt(static_cast<double>(ends.blocks));
  // Of few different numbers the boundaries of looks are computed once.
  const double quarter = std::ceil(std::pow(kErrorsOfStep * spread / step_on_the_way(ends), 2) / 4);
  return static_cast<uint32_t>(std::clamp<double>(4 * quarter, kFewest, kMostBlocksOfComparison));
}

// "Not slower" by a step, as far as a plan's margin goes: either answer is as far away from the middle.
std::optional<double> margin_on_the_way(const BisectStep& ends, const std::optional<double>& margin_of_search, uint32_t blocks) {
  if (!margin_of_search || blocks == 0) return margin_of_search;
  return std::min(kLargestMargin, std::max(*margin_of_search, std::expm1(step_on_the_way(ends))));
}

// What a step costs at least to be looked for.
double least_of(const BisectStep& ends) {
  const double whole = cost_of(ends).estimate;
  return ends.is_share ? std::min(whole / 2, std::log1p(ends.margin)) / 2 : whole / 4;
}

// That no commit between these ends made it slower by the margin. Nothing: it has no numbers.
std::optional<double> probability_of_nothing(const BisectStep& ends, size_t commits) {
  const auto estimate = estimate_of(ends);
  if (!estimate || !ends.is_share || ends.margin <= 0) return {};
  return probability_of_no_culprit(*estimate, std::log1p(ends.margin), commits);
}

// A search that is under way.
class Searching {
 public:
  Searching(Bisection& search, const CompareCommits& compare) : search_(search), compare_(compare) {}

  // Between the part's good and bad commit. False: it was stopped, and the part has what was found until then.
  Result<bool> run(BisectPart& part);
  bool may_name_more() const { return namings_ < kMostNamings; }

 private:
  // Of the next question whether to name a commit.
  double naming_alpha() const { return std::ldexp(search_.alpha, -static_cast<int>(namings_)); }
  // Nothing: it was stopped.
  Result<std::optional<BisectStep>> ask(BisectQuestion question, const BisectPart& part);
  // False: it was stopped.
  Result<bool> search_between(BisectPart& part, const BisectStep& ends);
  void settle(const BisectPart& part);

  Bisection& search_;
  const CompareCommits& compare_;
  size_t number_ = 0;   // of the part
  size_t namings_ = 0;  // questions whether to name a commit
};

Result<std::optional<BisectStep>> Searching::ask(BisectQuestion question, const BisectPart& part) {
  question.faster = part.faster;
  question.left = part.slower - part.not_slower;
  STAB_TRY(auto step, compare_(question));
  if (!step) return step;
  step->position = question.position;
  step->against = question.against;
  step->faster = question.faster;
  step->alpha = question.alpha;
  step->may_name = question.may_name;
  step->part = number_;
  step->taken = step->finding;
  search_.steps.push_back(*step);
  return step;
}

Result<bool> Searching::run(BisectPart& part) {
  part.not_slower = part.good;
  part.slower = part.bad;
  part.alpha = naming_alpha();
  STAB_TRY(const auto ends, ask({part.bad, part.good, std::nullopt, kAlphaOfEnds}, part));
  if (!ends) return false;
  if (number_ == 0) {
    if (ends->finding == CommitFinding::kNotBuilt) return bad_input("the commits at the ends can't be compared: " + ends->why);
    search_.subject = ends->subject;
    search_.margin = ends->margin;
  }
  bool whole = true;
  if (ends->finding == CommitFinding::kNotSlower) part.end = BisectEnd::kNone;
  if (ends->finding != CommitFinding::kSlower) part.probability = probability_of_nothing(*ends, part.bad - part.good);
  if (ends->finding == CommitFinding::kSlower) {
    part.end = BisectEnd::kRange;
    STAB_TRY(whole, search_between(part, *ends));
    settle(part);
  }
  if (whole) ++number_;
  return whole;
}

Result<bool> Searching::search_between(BisectPart& part, const BisectStep& ends) {
  const size_t commits = part.bad - part.good;
  const auto of_ends = estimate_of(ends);
  if (!of_ends) return true;
  const auto margin = margin_of_search(ends);
  const uint32_t blocks = blocks_on_the_way(ends);
  const auto way = margin_on_the_way(ends, margin, blocks);
  const double way_alpha = blocks > 0 ? kAlphaOnTheWay : kAlphaOfEnds;
  CommitSearch between(commits, *of_ends, least_of(ends));
  part.probability = between.range(kProbability).probability;
  const size_t most_namings = std::min(namings_ + kMostNamingsOfPart, kMostNamings);
  for (size_t measured = 0; measured < most_comparisons(commits);) {
    const auto next = between.next();
    if (!next || (next->is_last && namings_ == most_namings)) break;
    const size_t position = part.good + next->position;
    if (!next->is_last) {
      const BisectQuestion question{
          .position = position, .against = part.good, .margin = way, .alpha = way_alpha, .blocks = blocks};
      STAB_TRY(const auto step, ask(question, part));
      if (!step) return false;
      const auto estimate = estimate_of(*step);
      if (!estimate) {
        between.leave_out(next->position);
        continue;
      }
      between.take(next->position, *estimate);
    } else {
      part.alpha = naming_alpha();
      STAB_TRY(const auto step, ask({position, position - 1, margin_of_naming(ends, margin), part.alpha, true}, part));
      if (!step) return false;
      ++namings_;
      const auto estimate = estimate_of(*step);
      if (estimate) between.take_step(next->position, *estimate);
      if (step->finding == CommitFinding::kSlower || !estimate) {
        part.not_slower = position - 1;
        part.slower = position;
        part.probability = between.probability_between(next->position - 1, next->position);
        if (step->finding == CommitFinding::kSlower) part.end = BisectEnd::kCommit;
        return true;
      }
    }
    ++measured;
    const CommitSearch::Range range = between.range(kProbability);
    part.not_slower = part.good + range.not_slower;
    part.slower = part.good + range.slower;
    part.probability = range.probability;
  }
  return true;
}

// What the search has taken the commits for that it compared with the good one.
void Searching::settle(const BisectPart& part) {
  for (BisectStep& step : search_.steps) {
    if (step.part != number_ || step.may_name || step.position == part.bad) continue;
    if (step.finding == CommitFinding::kNotBuilt) continue;
    step.taken = step.position <= part.not_slower ? CommitFinding::kNotSlower
                 : step.position >= part.slower   ? CommitFinding::kSlower
                                                  : CommitFinding::kUnsure;
  }
}

// Commits of which none is named yet, and what was looked for there without finding one.
struct Unsearched {
  size_t good = 0, bad = 0;
  bool slower_tried = false, faster_tried = false;
};

void add_sides(const BisectPart& found, std::vector<Unsearched>& out) {
  if (found.not_slower > found.good) out.push_back({found.good, found.not_slower});
  if (found.bad > found.slower) out.push_back({found.slower, found.bad});
}

// By how much a commit was slower than the good one, as far as the search knows.
double known_cost(const Bisection& search, size_t position) {
  double cost = 0;
  for (const BisectStep& step : search.steps)
    if (step.part == 0 && step.position == position && step.against == 0 && step.finding != CommitFinding::kNotBuilt)
      cost = step.faster ? -step.cost : step.cost;
  return cost;
}

// Where the rest is likeliest, by what the first search has seen on its way; end: everything was tried.
std::vector<Unsearched>::iterator likeliest(const Bisection& search, std::vector<Unsearched>& all, bool faster) {
  auto best = all.end();
  double most = 0;
  for (auto one = all.begin(); one != all.end(); ++one) {
    if (faster ? one->faster_tried : one->slower_tried) continue;
    const double cost = (known_cost(search, one->bad) - known_cost(search, one->good)) * (faster ? -1 : 1);
    if (best != all.end() && cost <= most) continue;
    best = one;
    most = cost;
  }
  return best;
}

// Whether what is left is worth the comparisons: half of the gate's margin, below which nothing is looked for, or, where costs
// are no shares, shown. Likely is enough: where there is nothing, one comparison of the ends says so, and names nobody.
bool is_of_interest(const BisectRest& rest, double margin) {
  return rest.is_share ? std::fabs(rest.estimate) > std::log1p(margin / 2) : rest.is_shown();
}

Status go_on(Bisection& search, Searching& searching, const BisectPart& first) {
  std::vector<Unsearched> unsearched;
  add_sides(first, unsearched);
  for (size_t culprits = 1; culprits < kMostCulprits && searching.may_name_more();) {
    const auto rest = rest_of(search);
    if (!rest || !is_of_interest(*rest, search.margin)) break;
    const auto where = likeliest(search, unsearched, rest->is_faster());
    if (where == unsearched.end()) break;
    BisectPart part;
    part.good = where->good;
    part.bad = where->bad;
    part.faster = rest->is_faster();
    const Result<bool> whole = searching.run(part);
    if (!whole) return whole.error();
    search.further.push_back(part);
    if (!*whole) break;
    (part.faster ? where->faster_tried : where->slower_tried) = true;
    if (part.end != BisectEnd::kCommit) continue;
    ++culprits;
    unsearched.erase(where);
    add_sides(part, unsearched);
  }
  return {};
}

}  // namespace

Status run_bisection(Bisection& search, const CompareCommits& compare) {
  BisectPart first;
  first.bad = search.commits.size() - 1;
  first.faster = search.faster;
  Searching searching(search, compare);
  const Result<bool> whole = searching.run(first);
  if (!whole) return whole.error();
  search.end = first.end;
  search.not_slower = first.not_slower;
  search.slower = first.slower;
  search.probability = first.probability;
  return *whole && first.end == BisectEnd::kCommit ? go_on(search, searching, first) : Status();
}

}  // namespace stab::commands
