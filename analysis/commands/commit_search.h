// A binary search for the commit that made a program slower, in answers that are noisy.
//
// Positions are those of a line of commits: 0 is the good commit, 1 to n are those that follow it, n is the bad one. Each
// question compares one position with the good commit. Whatever the commits between do, between a position that is not slower and
// a later one that is slower lies a commit that made it slower, so the search needs no single step and no order among the
// commits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

namespace stab::commands {

enum class CommitFinding : uint8_t {
  kNotSlower,  // shown not to be slower than the good commit by the margin
  kSlower,     // shown to be slower than it
  kUnsure,     // the trials were not enough
  kNotBuilt,   // the commit can't be judged, as it does not build or its program fails
};

class CommitSearch {
 public:
  // `count`: commits behind the good one, at least 1. That the last one is slower is known.
  explicit CommitSearch(size_t count);

  // The position to ask about; none: the search is over.
  std::optional<size_t> next() const;
  // `position` is what next() said. What is unsure or not built is left out, and a neighbour is asked about instead.
  void take(size_t position, CommitFinding finding);

  // The culprit lies behind not_slower() and at slower() or before: one commit where slower() == not_slower() + 1.
  size_t not_slower() const { return not_slower_; }
  size_t slower() const { return slower_; }
  // Positions without an answer that lie between the two.
  size_t skipped() const;

 private:
  size_t not_slower_ = 0, slower_;
  std::set<size_t> skipped_;
};

// ceil(log2(count)): the questions of a search without gaps.
size_t questions_of(size_t count);

}  // namespace stab::commands
