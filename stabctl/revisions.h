// Two revisions of the repository that the user stands in.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::ctl {

struct Revisions {
  std::string root;        // of the working tree
  std::string base, head;  // commits
};
// BASE..HEAD, or BASE...HEAD for where HEAD left BASE. Commits of one history, and a working tree without changes.
Result<Revisions> revisions_of(const std::string& range);

}  // namespace stab::ctl
