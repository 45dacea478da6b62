// Copies of files and trees that a user has named, within a limit.
#pragma once

#include <string>

#include "base/result.h"
#include "stabd/worker/worker_wire.h"

namespace stab::worker {

// What a copy may still take. Counted as files say they are long: a hole is copied as a hole, and counts whole.
class Budget {
 public:
  // `what`: "the inputs of a trial", for the words when it is used up.
  Budget(Tally most, std::string what) : most_(most), what_(std::move(what)) {}
  Status take_file(const std::string& path);  // or directory, or link
  Status take_bytes(const std::string& path, uint64_t bytes);
  const Tally& taken() const { return taken_; }

 private:
  Tally most_, taken_;
  std::string what_;
};

enum class Links { kKept, kFollowed };

// A file or directory to a path where there is none yet, or a file of that name, or a directory to be filled up.
Status copy(const std::string& from, const std::string& to, Links links, Budget& budget);

// The first `bytes` of a regular file; holes stay holes. kCorrupt where there are fewer.
Status copy_bytes(int from, int to, uint64_t bytes);

// "4 GiB", "1000 bytes".
std::string size_words(uint64_t bytes);

}  // namespace stab::worker
