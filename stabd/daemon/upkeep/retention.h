// Retention: what is deleted when the disk of the laboratory must not grow for ever.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stabd/daemon/settings/config.h"
#include "store/store.h"

namespace stab::daemon {

class UserWorkers;

// Something below <database>.files that can be made again, or is an archived binary.
struct StoredThing {
  std::string path;         // of the directory or file
  std::set<uint32_t> uids;  // whose quota it counts for, whole for each: of an archived binary, all who measured it
  uint64_t bytes = 0;       // as the file system counts
  int64_t used_at_ns = 0;   // realtime, of its last use; 0: never finished
  bool needed = false;      // by an experiment that isn't over
  std::optional<std::pair<uid_t, gid_t>> owner = {};  // of a build's directory; absent: it is ours, an archived binary
};

// Which of them go, in this order: those too old, then the oldest ones of users above their quota, then the
// oldest ones of all until the whole fits. Never one that is needed. Pure.
std::vector<StoredThing> what_goes(std::vector<StoredThing> things, const Config& config, int64_t now_ns);

// What the store says, once experiments that are over for long enough are deleted.
struct KeptExperiments {
  std::vector<std::string> said;  // one line for each that was deleted, or is to be
  // Names of build directories and hashes of binaries: of experiments that aren't over.
  std::set<std::string> directories_needed, binaries_needed;
  std::map<std::string, std::set<uint32_t>> binaries, directories;  // of all, and who submitted them
};
// An experiment is deleted where two looks that lie a day apart, or as far as the age if that is less, find it old enough.
// pre: the store is ours to use
Result<KeptExperiments> retain_experiments(const Config& config, store::Store& store, int64_t now_ns);

struct RetentionResult {
  std::vector<std::string> said;                 // one line for each thing that was deleted
  std::vector<std::string> wrong;                // and for each that can't be measured or removed
  std::map<uint32_t, uint64_t> bytes_by_user;    // of what is left
};

// Files of one build that are counted, links and directories with them. A source has a million at most.
inline constexpr uint64_t kMostBuildFiles = 10'000'000;

// Removes builds and binaries, as far as `workers` get until the daemon is to stop. pre: nothing is built
// `counted`: what builds took when they were measured last, by path, which holds for those that can't be measured now.
RetentionResult retain_files(const Config& config, const KeptExperiments& kept, const std::string& database, int64_t now_ns,
                             UserWorkers& workers, std::map<std::string, uint64_t>& counted);

}  // namespace stab::daemon
