// PrivateIpc: System V objects, POSIX message queues and a /dev/shm that a process tree has to itself.
#pragma once

#include <array>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/host/private_tmp.h"

namespace stab::host {

// An IPC namespace and a mount namespace whose /dev/shm is an empty file system of its own, as large as the machine's. They
// end with this object and the last process that has entered them.
class PrivateIpc {
 public:
  // kUnavailable, with the reason, where the kernel or our rights don't give them.
  // `tmp`: mounted in it as well.
  static Result<PrivateIpc> make(PrivateTmp* tmp = nullptr);

  // For setns(2).
  int ipc() const { return ipc_.get(); }
  int mounts() const { return mounts_.get(); }
  // Whether a process has left something there. Some 4 us: five descriptors are read, nothing is entered.
  bool is_used() const;

 private:
  PrivateIpc() = default;
  Status enter_new(PrivateTmp* tmp);
  UniqueFd ipc_, mounts_;
  UniqueFd shared_memory_, queues_;  // their directories
  std::array<UniqueFd, 3> tables_;   // shm, sem, msg
};

}  // namespace stab::host
