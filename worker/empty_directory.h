// Removing what somebody else's programs have left, whatever they made of it.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::worker {

// Removes everything in a directory. Symbolic links are removed, not followed.
Status empty_directory(const std::string& path);

// The same with the directory itself, or a file. Absent is fine.
Status remove_tree(const std::string& path);

}  // namespace stab::worker
