// The search halves what lies between a position that is not slower and one that is; a position without an answer is left out.
#include "analysis/commands/commit_search.h"

#include <algorithm>

namespace stab::commands {

CommitSearch::CommitSearch(size_t count) : slower_(count) {}

std::optional<size_t> CommitSearch::next() const {
  const size_t middle = not_slower_ + (slower_ - not_slower_) / 2;
  // The nearest one to the middle that is not skipped, the earlier of two.
  for (size_t away = 0; away < slower_ - not_slower_; ++away) {
    if (middle >= not_slower_ + 1 + away && !skipped_.contains(middle - away)) return middle - away;
    if (middle + away < slower_ && middle + away > not_slower_ && !skipped_.contains(middle + away)) return middle + away;
  }
  return std::nullopt;
}

void CommitSearch::take(size_t position, CommitFinding finding) {
  if (position <= not_slower_ || position >= slower_) return;
  switch (finding) {
    case CommitFinding::kNotSlower: not_slower_ = position; break;
    case CommitFinding::kSlower: slower_ = position; break;
    case CommitFinding::kUnsure:
    case CommitFinding::kNotBuilt: skipped_.insert(position); break;
  }
}

size_t CommitSearch::skipped() const {
  return static_cast<size_t>(std::count_if(skipped_.begin(), skipped_.end(), [this](size_t position) {
    return position > not_slower_ && position < slower_;
  }));
}

size_t questions_of(size_t count) {
  size_t questions = 0;
  for (size_t reach = 1; reach < count; reach *= 2) ++questions;
  return questions;
}

}  // namespace stab::commands
