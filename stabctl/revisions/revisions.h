// Two revisions of the repository that the user stands in.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::ctl {

struct Revisions {
  std::string root;                            // of the working tree
  std::string base, head;                      // commits
  std::string base_name = {}, head_name = {};  // as the user called them; empty: the user named another one
};
// A range as git writes it: BASE..HEAD, or BASE...HEAD, which is `forked`: from where HEAD left BASE.
struct RevisionRange {
  std::string base, head;
  bool forked = false;
};
// kBadInput: it has not two ends.
Result<RevisionRange> range_of(const std::string& text);

// BASE..HEAD, or BASE...HEAD for where HEAD left BASE. Commits of one history, and a working tree without changes.
Result<Revisions> revisions_of(const std::string& range);
// Two that are named one by one; `forked`: the base is the commit where `head` left `base`. The working tree may have changes.
Result<Revisions> revisions_of(const std::string& base, const std::string& head, bool forked);
// Changes of tracked files that are in no commit, as `git status --porcelain` prints them; empty: there are none.
Result<std::string> uncommitted_changes(const std::string& root);

// A note on stderr where there are some: what is built are commits.
void note_uncommitted_changes(const std::string& root);

// Of a commit, as much as people read.
inline constexpr size_t kShownCommit = 12;
// "main (1f0e5d9a7c3b)"; the commit alone where it was called by its own digits, or by none.
std::string shown_revision(const std::string& name, const std::string& commit);

}  // namespace stab::ctl
