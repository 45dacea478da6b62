// Starter: a launcher that stays, and makes one process for each order.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::host {

// What one launcher is born with. -1 for helper and report: closed.
struct LauncherDescriptors {
  int in = -1, out = -1, err = -1;
  int config = -1, go = -1, status = -1;
  int helper = -1, report = -1;
  int ipc = -1, mounts = -1;  // both or none
};

// Killed by the destructor; what it has started goes on.
class Starter {
 public:
  // Starts it on `cpu`, where it waits for orders.
  static Result<Starter> start(const std::string& launcher, int cpu);
  Starter(Starter&& other) noexcept;
  Starter& operator=(Starter&&) = delete;
  ~Starter();

  // The process says who it is on `status`, as any launcher does. It is our child, and nobody has waited for it.
  // kUnavailable: this starter is dead.
  Status order(const LauncherDescriptors& descriptors);
  pid_t pid() const { return pid_; }
  int cpu() const { return cpu_; }

 private:
  Starter() = default;
  pid_t pid_ = -1;
  int cpu_ = -1;
  UniqueFd pidfd_, orders_;
};

}  // namespace stab::host
