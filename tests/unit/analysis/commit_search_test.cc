// The search for a commit: whatever the commits do, it ends between one that is not slower and one that is.
#include "analysis/commands/commit_search.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace stab::analysis {
namespace {

// What each position is: 0 the good commit, the last one slower.
using Commits = std::vector<commands::CommitFinding>;

struct Ended {
  size_t not_slower, slower, questions, skipped;
};

Ended search(const Commits& commits) {
  commands::CommitSearch search(commits.size() - 1);
  size_t questions = 0;
  while (const auto position = search.next()) {
    EXPECT_GT(*position, search.not_slower());
    EXPECT_LT(*position, search.slower());
    search.take(*position, commits[*position]);
    if (++questions > commits.size()) {
      ADD_FAILURE() << "it asks more often than there are commits";
      break;
    }
  }
  return {search.not_slower(), search.slower(), questions, search.skipped()};
}

Commits one_step(size_t count, size_t culprit) {
  Commits commits(count + 1, commands::CommitFinding::kNotSlower);
  for (size_t at = culprit; at <= count; ++at) commits[at] = commands::CommitFinding::kSlower;
  return commits;
}

TEST(CommitSearch, FindsEachCulpritInTheLogarithmOfTheirNumber) {
  for (const size_t count : {1, 2, 3, 7, 8, 9, 64, 100})
    for (size_t culprit = 1; culprit <= count; ++culprit) {
      const Ended ended = search(one_step(count, culprit));
      EXPECT_EQ(ended.slower, culprit) << "of " << count;
      EXPECT_EQ(ended.not_slower, culprit - 1) << "of " << count;
      EXPECT_LE(ended.questions, commands::questions_of(count)) << "of " << count;
    }
}

TEST(CommitSearch, EndsAtAStepUpWhateverTheCommitsDo) {
  Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    const size_t count = 1 + rng.below(60);
    Commits commits = one_step(count, count);
    for (size_t at = 1; at < count; ++at)
      commits[at] = rng.below(2) == 0 ? commands::CommitFinding::kNotSlower : commands::CommitFinding::kSlower;
    const Ended ended = search(commits);
    EXPECT_EQ(ended.slower, ended.not_slower + 1);
    EXPECT_EQ(commits[ended.slower], commands::CommitFinding::kSlower);
    EXPECT_EQ(commits[ended.not_slower], commands::CommitFinding::kNotSlower);
  }
}

TEST(CommitSearch, WhatHasNoAnswerWidensTheEndAndNothingElse) {
  Rng rng(8);
  for (int round = 0; round < 2000; ++round) {
    const size_t count = 1 + rng.below(40), culprit = 1 + rng.below(count);
    Commits commits = one_step(count, culprit);
    for (size_t at = 1; at < count; ++at)
      if (rng.below(3) == 0)
        commits[at] = rng.below(2) == 0 ? commands::CommitFinding::kUnsure : commands::CommitFinding::kNotBuilt;
    const Ended ended = search(commits);
    EXPECT_LT(ended.not_slower, culprit);
    EXPECT_GE(ended.slower, culprit);
    for (size_t at = ended.not_slower + 1; at < ended.slower; ++at)
      EXPECT_TRUE(commits[at] == commands::CommitFinding::kUnsure || commits[at] == commands::CommitFinding::kNotBuilt) << at;
    EXPECT_EQ(ended.skipped, ended.slower - ended.not_slower - 1);
  }
}

TEST(CommitSearch, AnAnswerToNoQuestionChangesNothing) {
  commands::CommitSearch search(8);
  search.take(0, commands::CommitFinding::kSlower);
  search.take(8, commands::CommitFinding::kNotSlower);
  search.take(9, commands::CommitFinding::kSlower);
  EXPECT_EQ(search.not_slower(), 0u);
  EXPECT_EQ(search.slower(), 8u);
}

}  // namespace
}  // namespace stab::analysis
