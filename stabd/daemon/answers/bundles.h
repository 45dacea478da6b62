// Bundles: files with one experiment each, made for clients that may not read the daemon's database, and handed out
// in pieces. Made between trials; each is one user's, and goes once it was read to its end. Whoever begins to read gets the
// experiment as it is now: what an earlier reader has left is made again.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "stabd/daemon/runs/engine_thread.h"

namespace stab::daemon {

// What one answer carries: with Base64 far below what a client may have unread.
inline constexpr size_t kBundlePieceBytes = 384 << 10;

struct BundlePiece {
  std::string bytes;
  int64_t size = 0;  // of the whole
  int64_t copy = 0;  // that they are bytes of: each bundle that is made has another number
  bool end = false;  // these are its last bytes
};

class Bundles {
 public:
  // What an earlier daemon has left is removed. pre: `clock` outlives this and the engine's thread
  Bundles(const std::string& database, const Clock& clock);
  ~Bundles();

  // kBusy while it is being made, or the same user reads it elsewhere: ask again. Offset 0 of one that was not asked for, or
  // whose copy is stale, begins that.
  // `experiment`: as it is now. `copy`: of which earlier pieces were, so that pieces of two copies never mix; 0: of any.
  Result<BundlePiece> piece(EngineThread& thread, const store::ExperimentSummary& experiment, uid_t uid, int64_t offset,
                            int64_t copy = 0);

 private:
  struct Made {
    int64_t copy = 0;
    std::mutex mutex;  // of what follows
    bool over = false;
    Status status;
    // Since it is over: when it was made, what the experiment was then, and when somebody has read the last piece.
    std::chrono::nanoseconds at{0};
    store::ExperimentState state = store::ExperimentState::kSubmitted;
    int64_t finished_at_ns = 0;
    std::optional<std::chrono::nanoseconds> read_at;
  };
  bool is_being_read(Made& made) const;
  bool is_stale(Made& made, const store::ExperimentSummary& now) const;
  Status make(EngineThread& thread, store::Id experiment, uid_t uid, const std::string& path);
  Status forget_those_of(uid_t uid);
  std::string directory_;
  const Clock* clock_;
  std::mutex mutex_;  // of what follows
  int64_t copies_ = 0;
  std::map<std::string, std::shared_ptr<Made>> made_;  // by path; the work has its own hold
};

}  // namespace stab::daemon
