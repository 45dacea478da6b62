// Connection: files of a spool over a pair of descriptors, for workers that share no directory with their controller. Each file
// is a line "NAME BYTES SHA256" and its bytes; there are no answers. What arrives is put into the other end's own spool.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "base/result.h"
#include "engine/machines/spool.h"

namespace stab::engine {

// May be called from several threads; each file goes whole.
class FileSender {
 public:
  explicit FileSender(int fd) : fd_(fd) {}
  Status send(const std::string& name, const std::string& path);

 private:
  int fd_;
  std::mutex writing_;
};

// Puts into `spool` what comes, until the other end closes; files that `takes` refuses are read and dropped. kCorrupt: what
// comes is no such file; nothing after it can be believed.
Status receive_files(int fd, Spool& spool, const std::function<bool(const std::string& name)>& takes);

}  // namespace stab::engine
