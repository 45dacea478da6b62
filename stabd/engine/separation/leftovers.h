// Leftovers: directories that engines and workers have below /tmp, where others have some, too, and what killed ones leave there.
//
// Whoever makes one holds it by a lock until it is removed, and whoever removes a dead one's holds it meanwhile: so one that is
// about to be used is never emptied, whatever PID namespace its engine is in. A maker that has lost the race between making and
// locking makes another (base/path_lock.h).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::engine {

// A directory's lock, for as long as the descriptor is open. None, and errno says why: another has it, or it is no directory of
// this user's at that path any more.
UniqueFd hold_scratch(const std::string& path);

// Makes a directory of this user alone, and holds it. Six X at the end of `path` are drawn anew, others must not be there.
Result<UniqueFd> make_scratch(std::string& path);

// Removes what is in a directory, with no more rights than whoever may have filled it.
using Empty = std::function<Status(const std::string& path)>;

// Removes a directory that somebody else may have filled: first what is in it, by `empty`, then by us what that one may not
// remove. A file or a link is only removed, and absent is fine. What takes too long stays, with an Error.
Status remove_filled(const std::string& path, const Empty& empty);

// What is asked about leftovers when an experiment begins: a killed engine leaves three, and a user can make each as large as
// there is room for, or stop who empties it. The rest is for the next experiment.
struct LeftoverLimits {
  int most = 32;                           // directories
  std::chrono::milliseconds time{60'000};  // after which no other one is begun
};

// Removes those directories in `below` that `hold_left` holds: they are nobody's any more. In words what was not done within
// the limits, of whose directories; empty: nothing.
using HoldLeft = std::function<UniqueFd(const std::string& path)>;
std::string remove_held(const std::vector<std::string>& below, const char* whose, const HoldLeft& hold_left, const Empty& remove,
                        const LeftoverLimits& limits);

// What engines of our user that were killed have left in `below`, of trials of `uid`, with whose rights `empty` acts: what is
// another user's stays for that one's experiments.
std::string remove_leftovers(const std::vector<std::string>& below, unsigned uid, const Empty& empty,
                             const LeftoverLimits& limits = {});

}  // namespace stab::engine
