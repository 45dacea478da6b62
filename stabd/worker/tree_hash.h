// One hash of a source tree.
#pragma once

#include <string>

#include "base/result.h"
#include "stabd/worker/copy.h"

namespace stab::worker {

// Of all names, modes and contents below `root`. Links count by where they point to, not by what is there.
Result<std::string> hash_of_tree(const std::string& root, Budget& budget);

}  // namespace stab::worker
