// Peer: who is asking, as the kernel says.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <vector>

#include "base/unique_fd.h"

namespace stab::daemon {

// The loop's connection to a client, which other threads may want to show to the broker. The descriptor is the loop's; copies
// are made as long as it is open, so that a client that leaves is not taken for the next one.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}
  // A descriptor that the caller owns; none once the connection is closed.
  UniqueFd copy() const {
    const std::lock_guard<std::mutex> held(mutex_);
    return UniqueFd(fd_ < 0 ? -1 : ::fcntl(fd_, F_DUPFD_CLOEXEC, 0));
  }
  // To be called before the descriptor is closed.
  void close() {
    const std::lock_guard<std::mutex> held(mutex_);
    fd_ = -1;
  }

 private:
  mutable std::mutex mutex_;
  int fd_;
};

struct Peer {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary ones, when it connected
  std::shared_ptr<Connection> connection{};  // that it asks over
};

}  // namespace stab::daemon
