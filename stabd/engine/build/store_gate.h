// Gate: the lock of the store's one connection. Whoever waits longest is next, so that an engine that opens it for a moment
// between two slices of work lets all in who wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace stab::engine {

class Gate {
 public:
  void lock() {
    std::unique_lock<std::mutex> held(mutex_);
    const uint64_t ticket = last_++;
    changed_.wait(held, [&] { return serving_ == ticket; });
  }
  void unlock() {
    const std::lock_guard<std::mutex> held(mutex_);
    ++serving_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t last_ = 0, serving_ = 0;  // serving_ <= last_; equal: nobody has it
};

}  // namespace stab::engine
