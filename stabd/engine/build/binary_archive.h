// Archive: measured binaries by what they contain, so that a trial can be repeated after its build is gone, its
// source has changed or its program was upgraded. <database>.files/archive/<sha256>, mode 0555, ours.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::engine {

class Archive {
 public:
  explicit Archive(std::string directory) : directory_(std::move(directory)) {}

  bool has(const std::string& sha256) const;
  // Stores what is in `room`, made by room_for() and filled by whoever may read the original. From here on nobody can write
  // to it. kCorrupt where the content is not `sha256`: it changed meanwhile. The answer: bytes that it takes on disk.
  Result<uint64_t> put(int room, const std::string& sha256) const;
  // Where it is; kNotFound if retention has removed it, kCorrupt if its content is no longer what its name says.
  Result<std::string> find(const std::string& sha256) const;

 private:
  std::string directory_;
};

// A binary is at most as long: what is measured is a program, and debug builds of large ones are of this size.
inline constexpr uint64_t kMostArchivedBytes = uint64_t{512} << 20;

// A file in memory of so many bytes, which others can fill and can't make longer. kBadInput above the limit.
Result<UniqueFd> room_for(uint64_t bytes);

// "<database>.files/archive"
std::string archive_beside(const std::string& database);

}  // namespace stab::engine
