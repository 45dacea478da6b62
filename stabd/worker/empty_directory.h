// Removing what somebody else's programs have left, whatever they made of it.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace stab::worker {

// Nobody waits.
inline constexpr auto kWithoutEnd = std::chrono::steady_clock::time_point::max();

// Removes everything in a directory. Symbolic links are removed, not followed. Whoever may write into it can fill it as fast as
// it is emptied: at `until` it ends as it is, with an Error.
Status empty_directory(const std::string& path, std::chrono::steady_clock::time_point until = kWithoutEnd);

// The same with the directory itself, or a file. Absent is fine.
Status remove_tree(const std::string& path, std::chrono::steady_clock::time_point until = kWithoutEnd);

}  // namespace stab::worker
