// Bundles: files with one experiment each, made for clients that may not read the daemon's database, and handed out
// in pieces. Made between trials; each is one user's, and goes once it was read to its end.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "stabd/engine_thread.h"

namespace stab::engine {

// What one answer carries: with Base64 far below what a client may have unread.
inline constexpr size_t kBundlePieceBytes = 384 << 10;

struct BundlePiece {
  std::string bytes;
  int64_t size = 0;  // of the whole
  bool end = false;  // these are its last bytes
};

class Bundles {
 public:
  // What an earlier daemon has left is removed.
  explicit Bundles(const std::string& database);
  ~Bundles();

  // kBusy while it is being made: ask again. Offset 0 of one that was not asked for begins that.
  Result<BundlePiece> piece(EngineThread& thread, store::Id experiment, uid_t uid, int64_t offset);

 private:
  struct Made {
    std::mutex mutex;
    bool over = false;
    Status status;
  };
  Status forget_those_of(uid_t uid);
  std::string directory_;
  std::mutex mutex_;  // of what follows
  std::map<std::string, std::shared_ptr<Made>> made_;  // by path; the work has its own hold
};

}  // namespace stab::engine
