// Costs are points of a grid. The weight of each, at each commit, comes from those before it and from those behind it.
#include "analysis/commands/bisect/commit_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stab::commands {
namespace {

constexpr size_t kSteps = 20;         // of the grid, from the good commit's cost to the bad one's
constexpr size_t kGood = 2 * kSteps;  // the good commit's cost
constexpr size_t kCosts = kGood + 3 * kSteps + 1;
constexpr size_t kChanges = 2 * kCosts - 1, kSame = kCosts - 1;  // of it, and none
constexpr size_t kAnyStep = kCosts;

double sum_of(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

void divide(std::vector<double>& weights, double by) {
  for (double& weight : weights) weight /= by;
}

double together(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

CommitSearch::CommitSearch(size_t count, CostEstimate ends, double least)
    : count_(count),
      spacing_(ends.change / kSteps),
      least_(static_cast<size_t>(std::lround(std::clamp(least / spacing_, 1.0, double{kSteps})))) {
  take(count, ends);
}

void CommitSearch::take(size_t position, CostEstimate estimate) {
  weigh(estimate, kGood, seen_.try_emplace(position, kCosts, 1.0).first->second);
}

void CommitSearch::take_step(size_t position, CostEstimate estimate) {
  weigh(estimate, kSame, steps_.try_emplace(position, kChanges, 1.0).first->second);
}

void CommitSearch::leave_out(size_t position) {
  left_out_.insert(position);
}

// Densities are times the grid's width. What is known better than the grid has points counts as known as well as that, and what
// lies outside of the grid as its end.
void CommitSearch::weigh(const CostEstimate& estimate, size_t zero, Weights& weights) const {
  const double error = std::max(estimate.error / spacing_, 0.5);
  const double last = static_cast<double>(weights.size() - 1);
  const double seen = std::clamp(estimate.change / spacing_ + static_cast<double>(zero), 0.0, last);
  for (size_t at = 0; at < weights.size(); ++at) {
    const double away = (seen - static_cast<double>(at)) / error;
    weights[at] *= (1 - kSaysNothing) * kCosts * std::exp(-away * away / 2) / (error * std::sqrt(2 * M_PI)) + kSaysNothing;
  }
}

// The probability that no commit of it has set the cost anew.
double CommitSearch::same_across(const Gap& gap) const {
  return std::pow(1 - 1.0 / static_cast<double>(count_), static_cast<double>(gap.to - gap.from));
}

CommitSearch::Weights CommitSearch::across(const Weights& before, const Gap& gap, size_t most) const {
  const double same = same_across(gap), to_each = (1 - same) / kCosts;
  Weights out(kCosts);
  if (gap.steps == nullptr) {
    // What leads to a cost: all costs above it, and those below it from which a step is small enough.
    Weights below(kCosts + 1, 0);
    std::partial_sum(before.begin(), before.end(), below.begin() + 1);
    for (size_t to = 0; to < kCosts; ++to)
      out[to] = same * before[to] + to_each * (below[kCosts] - below[to >= most ? to - most + 1 : 0]);
  } else {
    for (size_t to = 0; to < kCosts; ++to) {
      out[to] = same * before[to] * (*gap.steps)[kSame];
      for (size_t from = to >= most ? to - most + 1 : 0; from < kCosts; ++from)
        out[to] += to_each * before[from] * (*gap.steps)[kSame + to - from];
    }
  }
  for (size_t at = 0; at < kCosts; ++at) out[at] *= (*gap.seen)[at];
  return out;
}

CommitSearch::Weights CommitSearch::back_across(const Weights& after, const Gap& gap) const {
  const double same = same_across(gap), to_each = (1 - same) / kCosts;
  Weights here(kCosts), out(kCosts);
  for (size_t at = 0; at < kCosts; ++at) here[at] = after[at] * (*gap.seen)[at];
  if (gap.steps == nullptr) {
    const double all = sum_of(here);
    for (size_t from = 0; from < kCosts; ++from) out[from] = same * here[from] + to_each * all;
    return out;
  }
  for (size_t from = 0; from < kCosts; ++from) {
    out[from] = same * here[from] * (*gap.steps)[kSame];
    for (size_t to = 0; to < kCosts; ++to) out[from] += to_each * here[to] * (*gap.steps)[kSame + to - from];
  }
  return out;
}

CommitSearch::Sums CommitSearch::sums() const {
  Sums out;
  size_t from = 0;
  for (const auto& [to, seen] : seen_) {
    const auto steps = steps_.find(to);
    out.gaps.push_back({from, to, &seen, steps == steps_.end() ? nullptr : &steps->second});
    from = to;
  }
  const size_t gaps = out.gaps.size();
  out.before.assign(gaps + 1, Weights(kCosts, 0.0));
  out.before[0][kGood] = 1;
  out.after.assign(gaps + 1, Weights(kCosts, 1.0));
  for (size_t i = 0; i < gaps; ++i) {
    out.before[i + 1] = across(out.before[i], out.gaps[i], kAnyStep);
    divide(out.before[i + 1], sum_of(out.before[i + 1]));
  }
  for (size_t i = gaps; i > 0; --i) {
    out.after[i - 1] = back_across(out.after[i], out.gaps[i - 1]);
    divide(out.after[i - 1], sum_of(out.after[i - 1]));
  }
  return out;
}

double CommitSearch::probability_of(const Sums& sums, size_t first, size_t last) const {
  Weights any = sums.before[first], none = any;
  for (size_t i = first; i <= last; ++i) {
    any = across(any, sums.gaps[i], kAnyStep);
    none = across(none, sums.gaps[i], least_);
    const double all = sum_of(any);
    divide(any, all);
    divide(none, all);
  }
  return 1 - together(none, sums.after[last + 1]) / together(any, sums.after[last + 1]);
}

std::optional<size_t> CommitSearch::middle_of(const Gap& gap) const {
  const size_t middle = gap.from + (gap.to - gap.from) / 2;
  // The nearest one to the middle that is not left out, the earlier of two.
  for (size_t away = 0; away < gap.to - gap.from; ++away) {
    if (middle >= gap.from + 1 + away && !left_out_.contains(middle - away)) return middle - away;
    if (middle + away < gap.to && middle + away > gap.from && !left_out_.contains(middle + away)) return middle + away;
  }
  return std::nullopt;
}

std::optional<CommitSearch::Next> CommitSearch::next() const {
  const Sums all = sums();
  const Gap& gap = all.gaps[likeliest(all)];
  if (gap.to == gap.from + 1) return Next{gap.to, true};
  const std::optional<size_t> middle = middle_of(gap);
  return middle ? std::optional(Next{*middle, false}) : std::nullopt;
}

size_t CommitSearch::likeliest(const Sums& sums) const {
  size_t found = 0;
  double most = -1;
  for (size_t i = 0; i < sums.gaps.size(); ++i)
    if (const double own = probability_of(sums, i, i); own > most) {
      found = i;
      most = own;
    }
  return found;
}

CommitSearch::Range CommitSearch::range(double probability) const {
  const Sums all = sums();
  size_t first = likeliest(all), last = first;
  const size_t end = all.gaps.size() - 1;
  for (;;) {
    const double held = probability_of(all, first, last);
    if (held >= probability || (first == 0 && last == end)) return {all.gaps[first].from, all.gaps[last].to, held};
    const double on_the_left = first > 0 ? probability_of(all, first - 1, first - 1) : -1;
    const double on_the_right = last < end ? probability_of(all, last + 1, last + 1) : -1;
    if (on_the_left > on_the_right)
      --first;
    else
      ++last;
  }
}

double CommitSearch::probability_between(size_t not_slower, size_t slower) const {
  const Sums all = sums();
  size_t first = 0, last = 0;
  for (size_t i = 0; i < all.gaps.size(); ++i) {
    if (all.gaps[i].from == not_slower) first = i;
    if (all.gaps[i].to == slower) last = i;
  }
  return probability_of(all, first, last);
}

size_t questions_of(size_t count) {
  size_t questions = 0;
  for (size_t reach = 1; reach < count; reach *= 2) ++questions;
  return questions;
}

}  // namespace stab::commands
