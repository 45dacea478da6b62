// Folders that a worker has in a directory which others use, too, such as /tmp, and that it holds
// (stabd/engine/separation/leftovers.h): the next worker sees what one that was killed has left behind.
#pragma once

#include <string>

#include "stabd/engine/separation/leftovers.h"

namespace stab::engine {

inline constexpr char kWorkFolders[] = "stab-work-";    // of a share: its store and its binaries
inline constexpr char kShareFolders[] = "stab-share-";  // of a worker whose files come over its connection: its own spool

// Removes those of both kinds in `below` that belong to this user and that nobody holds. In words what was not done within the
// limits; empty: nothing.
std::string remove_abandoned_scratch(const std::string& below, const LeftoverLimits& limits = {});

}  // namespace stab::engine
