// Where in a line of commits one of them made a program slower, in answers that are noisy.
//
// Positions are those of a line of commits: 0 is the good commit, 1 to n are those that follow it, n is the bad one. Costs are on
// a scale on which they add up, with the good commit at 0.
//
// The model: each commit leaves the cost as it was or, with probability 1 / n, sets it to a new one, anywhere between twice the
// distance of the ends below the good commit and three times above it (a change-point model: Barry and Hartigan 1993, "A Bayesian
// analysis for change point problems"; its sums by forward and backward recursion: Fearnhead 2006). A comparison is the cost and
// a normal error; one in a hundred says nothing. So the model knows several steps of either sign, and that an answer can be
// wrong. It steers the search, and says how likely a range holds a commit that made it slower. What names a commit is a
// comparison of its own (bisect.h), which needs no model. How likely it is that none did it, where the ends are not shown to be
// apart, is another question (no_culprit.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace stab::commands {

enum class CommitFinding : uint8_t {
  kNotSlower,  // shown not to be slower than the good commit by the margin
  kSlower,     // shown to be slower than it
  kUnsure,     // the trials were not enough
  kNotBuilt,   // the commit can't be judged, as it does not build or its program fails
};

// Share of comparisons that the models take for wrong in any way.
inline constexpr double kSaysNothing = 0.01;

// A difference of costs, with its standard error.
struct CostEstimate {
  double change = 0, error = 0;
};

class CommitSearch {
 public:
  // `count`: commits behind the good one, at least 1. `ends`: of the last one against the good one, above 0. `least`: what a step
  // costs at least to be looked for, above 0.
  CommitSearch(size_t count, CostEstimate ends, double least);

  // What to ask next: the commit at `position` against the good one, or, where `is_last`, against the one before it.
  struct Next {
    size_t position;
    bool is_last;
  };
  // None: all commits that are left in the likeliest place can't be judged.
  std::optional<Next> next() const;

  // Of the commit at `position` against the good one. It may come again, in trials of its own.
  void take(size_t position, CostEstimate estimate);
  // Of it against the one before it.
  void take_step(size_t position, CostEstimate estimate);
  // It can't be judged; a neighbour is asked about instead.
  void leave_out(size_t position);

  // A commit that made it slower lies behind `not_slower` and at `slower` or before.
  struct Range {
    size_t not_slower, slower;
    double probability;
  };
  // The range around the likeliest place, between commits that were measured, that holds such a commit with this probability at
  // least. Where there is none, all of them, with the probability of that.
  Range range(double probability) const;
  // That a commit behind `not_slower`, and at `slower` or before, made it slower. pre: both were measured, or are the ends
  double probability_between(size_t not_slower, size_t slower) const;

 private:
  using Weights = std::vector<double>;  // by cost, or by change of it
  // Between a position that was measured and the next one.
  struct Gap {
    size_t from, to;
    const Weights* seen;   // how likely each cost of `to` makes what has measured it
    const Weights* steps;  // how likely each change makes what has measured `to` against `from`; null: nothing has
  };
  // All gaps, and what the costs at the end of each weigh by what was measured up to it, and by what was measured behind it.
  struct Sums {
    std::vector<Gap> gaps;
    std::vector<Weights> before, after;  // [0]: of the good commit; [i + 1]: at the end of gaps[i]
  };

  // Takes one more comparison into the weights of the costs, of which that at `zero` is none.
  void weigh(const CostEstimate& estimate, size_t zero, Weights& weights) const;
  double same_across(const Gap& gap) const;
  // From the weights at the beginning of a gap to those at its end. `most`: of the grid's costs, which a step up stays below.
  Weights across(const Weights& before, const Gap& gap, size_t most) const;
  Weights back_across(const Weights& after, const Gap& gap) const;
  Sums sums() const;
  // That one of these gaps has a step up.
  double probability_of(const Sums& sums, size_t first, size_t last) const;
  size_t likeliest(const Sums& sums) const;
  std::optional<size_t> middle_of(const Gap& gap) const;

  size_t count_;
  double spacing_;                          // of the grid
  size_t least_;                            // of its costs
  std::map<size_t, Weights> seen_, steps_;  // by position
  std::set<size_t> left_out_;
};

// ceil(log2(count)): the questions of a search without errors and gaps.
size_t questions_of(size_t count);

}  // namespace stab::commands
