// Connection: files of a spool over a pair of descriptors, for workers that share no directory with their controller. Each file
// is a line "NAME BYTES SHA256" and its bytes; there are no answers. What arrives is put into the other end's own spool.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stabd/engine/machines/spool.h"

namespace stab::engine {

// May be called from several threads; each file goes whole.
class FileSender {
 public:
  explicit FileSender(int fd) : fd_(fd) {}
  Status send(const std::string& name, const std::string& path);
  Status send_bytes(const std::string& name, std::string_view bytes);

 private:
  int fd_;
  std::mutex writing_;
};

// What a controller sends: the largest binary that is archived, or a bundle of a million trials.
inline constexpr uint64_t kMostFileBytes = uint64_t{1} << 30;
// What a worker sends, which runs strangers' programs on another machine: one block of its slot.
inline constexpr uint64_t kMostPartBytes = uint64_t{64} << 20;

// Gives `put` what comes, whole, until the other end closes. kCorrupt: what comes is no such file, or one that says it has more
// than `most_bytes`; nothing after it can be believed. What `put` can't take ends it, too. Takes memory for what has come, not
// for what was announced.
using PutFile = std::function<Status(const std::string& name, const std::string& content)>;
Status receive_files(int fd, uint64_t most_bytes, const PutFile& put);

// What `takes` wants goes into `spool`; the rest is dropped.
PutFile into(Spool& spool, std::function<bool(const std::string& name)> takes);

}  // namespace stab::engine
