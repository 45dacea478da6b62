// Folders that a worker has in a directory which others use, too, such as /tmp, and that it holds by a lock. The kernel drops the
// lock however a worker ends, so the next one sees what was left behind.
#pragma once

#include <string>

#include "engine/experiment/places.h"

namespace stab::engine {

inline constexpr char kWorkFolders[] = "stab-work-";    // of a share: its store and its binaries
inline constexpr char kShareFolders[] = "stab-share-";  // of a worker whose files come over its connection: its own spool

// Removes those of both kinds in `below` that belong to this user and that nobody holds.
void remove_abandoned_scratch(const std::string& below);

}  // namespace stab::engine
