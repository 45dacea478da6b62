// Retention: what is deleted when the disk of the laboratory must not grow for ever.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/config.h"
#include "store/store.h"

namespace stab::engine {

// Something below <database>.files that can be made again, or is an archived binary.
struct StoredThing {
  std::string path;         // of the directory or file
  std::optional<uint32_t> uid;  // whose quota it counts for; nobody's: an archived binary
  uint64_t bytes = 0;       // as the file system counts
  int64_t used_at_ns = 0;   // realtime, of its last use; 0: never finished
  bool needed = false;      // by an experiment that isn't over
};

// Which of them go, in this order: those too old, then the oldest ones of users above their quota, then the
// oldest ones of all until the whole fits. Never one that is needed. Pure.
std::vector<StoredThing> what_goes(std::vector<StoredThing> things, const Config& config, int64_t now_ns);

// What the store says, once experiments that are over for long enough are deleted.
struct KeptExperiments {
  std::vector<std::string> said;  // one line for each that was deleted
  // Names of build directories and hashes of binaries: of all experiments, and of those that aren't over.
  std::set<std::string> directories_needed, binaries, binaries_needed;
};
// pre: the store is ours to use
Result<KeptExperiments> retain_experiments(const Config& config, store::Store& store, int64_t now_ns);

struct RetentionResult {
  std::vector<std::string> said;                 // one line for each thing that was deleted
  std::map<uint32_t, uint64_t> bytes_by_user;    // of what is left
};

// Removes builds and binaries. pre: nothing is built
Result<RetentionResult> retain_files(const Config& config, const KeptExperiments& kept, const std::string& database,
                                     int64_t now_ns);

}  // namespace stab::engine
