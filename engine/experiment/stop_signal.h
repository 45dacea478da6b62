// StopSignal: how a user, a signal handler or another thread asks a running experiment to end.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>

#include "base/unique_fd.h"

namespace stab::engine {

class StopSignal {
 public:
  StopSignal() : now_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  // Both may be called from a signal handler.
  void after_this_trial() { asked_.store(true, std::memory_order_relaxed); }
  // Kills what runs; its trial is lost and will be replaced.
  void now() {
    after_this_trial();
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(now_fd_.get(), &one, sizeof one);
  }

  bool asked() const { return asked_.load(std::memory_order_relaxed); }
  int now_fd() const { return now_fd_.get(); }  // readable once now() was called

 private:
  std::atomic<bool> asked_{false};
  UniqueFd now_fd_;
};

}  // namespace stab::engine
