// The search itself: whether there is anything to find, then between which commits, then whether it is that one. What one commit
// leaves unexplained is searched in the same way, before and behind it.
#include <algorithm>
#include <cmath>

#include "analysis/commands/bisect.h"
#include "analysis/commands/bisect_rest.h"

namespace stab::commands {
namespace {

// So many steps in one range are a development, whose commits are no culprits. The last one is asked at alpha / 128.
constexpr size_t kMostCulprits = 8;

// By how much a commit may be slower than the good one and still count as not slower: half of what is looked for, and never more
// than it is at least. Below half of the gate's margin it is of no interest, and a plan's margin is 100 % at most.
std::optional<double> margin_of_search(const BisectStep& ends) {
  constexpr double kLargest = 1;
  if (!ends.is_share) return std::nullopt;
  return std::min({ends.cost / 2, std::max(ends.cost_low, ends.margin / 2), kLargest});
}

// By how much the commit that the search has arrived at may be slower than the one before it. With several steps it need not make
// half of the whole: it is of interest where it costs as much as the gate's margin.
std::optional<double> margin_of_naming(const BisectStep& ends, const std::optional<double>& margin_of_search) {
  if (!margin_of_search) return std::nullopt;
  return std::min(*margin_of_search, ends.margin);
}

// An unsure answer counts as the side that its estimate is nearer to; half of what lies between the ends parts them.
CommitFinding taken(const BisectStep& step, const BisectStep& ends) {
  if (step.finding != CommitFinding::kUnsure || !step.why.empty()) return step.finding;
  return step.cost > ends.cost / 2 ? CommitFinding::kSlower : CommitFinding::kNotSlower;
}

// A search that is under way.
class Searching {
 public:
  Searching(Bisection& search, const CompareCommits& compare) : search_(search), compare_(compare) {}

  // Between the part's good and bad commit. False: it was stopped, and the part has what was found until then.
  Result<bool> run(BisectPart& part);

 private:
  // Nothing: it was stopped.
  Result<std::optional<BisectStep>> ask(BisectQuestion question, const BisectPart& part, const BisectStep* ends);

  Bisection& search_;
  const CompareCommits& compare_;
  size_t number_ = 0;  // of the part
};

Result<std::optional<BisectStep>> Searching::ask(BisectQuestion question, const BisectPart& part, const BisectStep* ends) {
  question.faster = part.faster;
  question.left = part.slower - part.not_slower;
  STAB_TRY(auto step, compare_(question));
  if (!step) return step;
  step->position = question.position;
  step->against = question.against;
  step->faster = question.faster;
  step->alpha = question.alpha;
  step->part = number_;
  step->taken = ends != nullptr && question.against == part.good ? taken(*step, *ends) : step->finding;
  search_.steps.push_back(*step);
  return step;
}

Result<bool> Searching::run(BisectPart& part) {
  part.not_slower = part.good;
  part.slower = part.bad;
  const double alpha = search_.alpha;
  STAB_TRY(const auto ends, ask({part.bad, part.good, std::nullopt, alpha}, part, nullptr));
  if (!ends) return false;
  if (number_ == 0) {
    if (ends->finding == CommitFinding::kNotBuilt) return bad_input("the commits at the ends can't be compared: " + ends->why);
    search_.subject = ends->subject;
    search_.margin = ends->margin;
  }
  if (ends->finding == CommitFinding::kNotSlower) part.end = BisectEnd::kNone;
  if (ends->finding == CommitFinding::kSlower) {
    part.end = BisectEnd::kRange;
    const auto margin = margin_of_search(*ends);
    CommitSearch between(part.bad - part.good);
    while (const auto position = between.next()) {
      STAB_TRY(const auto step, ask({part.good + *position, part.good, margin, alpha}, part, &*ends));
      if (!step) return false;
      between.take(*position, step->taken);
      part.not_slower = part.good + between.not_slower();
      part.slower = part.good + between.slower();
    }
    if (part.slower == part.not_slower + 1) {
      STAB_TRY(const auto step, ask({part.slower, part.not_slower, margin_of_naming(*ends, margin), part.alpha}, part, &*ends));
      if (!step) return false;
      if (step->finding == CommitFinding::kSlower) part.end = BisectEnd::kCommit;
    }
  }
  ++number_;
  return true;
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
  // Halved by each question whether to name a commit, whatever its answer.
  double alpha = first.alpha / 2;
  for (size_t culprits = 1; culprits < kMostCulprits;) {
    const auto rest = rest_of(search);
    if (!rest || !is_of_interest(*rest, search.margin)) break;
    const auto where = likeliest(search, unsearched, rest->is_faster());
    if (where == unsearched.end()) break;
    BisectPart part;
    part.good = where->good;
    part.bad = where->bad;
    part.faster = rest->is_faster();
    part.alpha = alpha;
    const Result<bool> whole = searching.run(part);
    if (!whole) return whole.error();
    search.further.push_back(part);
    if (!*whole) break;
    if (part.slower == part.not_slower + 1 && part.end != BisectEnd::kNone && part.end != BisectEnd::kCannotTell) alpha /= 2;
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
  first.alpha = search.alpha;
  Searching searching(search, compare);
  const Result<bool> whole = searching.run(first);
  if (!whole) return whole.error();
  search.end = first.end;
  search.not_slower = first.not_slower;
  search.slower = first.slower;
  return *whole && first.end == BisectEnd::kCommit ? go_on(search, searching, first) : Status();
}

}  // namespace stab::commands
