// Retention: what is deleted when the disk of the laboratory must not grow for ever.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/config.h"
#include "store/store.h"

namespace stab::engine {

// Something below <database>.files that can be made again, or is an archived binary.
struct StoredThing {
  std::string path;         // of the directory or file
  uint32_t uid = 0;         // whose quota it counts for
  uint64_t bytes = 0;       // as the file system counts
  int64_t used_at_ns = 0;   // realtime, of its last use; 0: never finished
  bool needed = false;      // by an experiment that isn't over
};

// Which of them go, in this order: those too old, then the oldest ones of users above their quota, then the
// oldest ones of all until the whole fits. Never one that is needed. Pure.
std::vector<StoredThing> what_goes(std::vector<StoredThing> things, const Config& config, int64_t now_ns);

struct RetentionResult {
  std::vector<std::string> said;                 // one line for each thing that was deleted
  std::map<uint32_t, uint64_t> bytes_by_user;    // of what is left
};

// Deletes experiments that are over for longer than the configuration keeps them, then builds and binaries.
// pre: no trial runs; the store is ours to use
Result<RetentionResult> apply_retention(const Config& config, store::Store& store, const std::string& database,
                                        int64_t now_ns);

}  // namespace stab::engine
