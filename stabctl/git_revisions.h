// The revisions of a repository that somebody names: two commits, and where its working tree begins.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::ctl {

struct Revisions {
  std::string root;        // of the working tree
  std::string base, head;  // commits
};

// Of the repository that one stands in.
Result<std::string> root_of_repository();
// `forked`: the base is the commit where `head` left `base`. kBadInput: one of them names no commit, or they have no history in
// common.
Result<Revisions> revisions_of(const std::string& base, const std::string& head, bool forked);
// BASE..HEAD or BASE...HEAD.
Result<Revisions> revisions_of(const std::string& range);
// Changes of tracked files that are in no commit, as `git status --porcelain` prints them; empty: there are none.
Result<std::string> uncommitted_changes(const std::string& root);

// Of a commit, as much as people read.
inline constexpr size_t kShownCommit = 12;

}  // namespace stab::ctl
