// SlowComputation: while it lives, a terminal's standard error says after some seconds that something is computed, and for how
// long. Nothing elsewhere, and nothing is left of it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace stab::ctl {

class SlowComputation {
 public:
  // `hint`: what makes it faster; may be empty.
  explicit SlowComputation(std::string hint);
  ~SlowComputation();
  SlowComputation(const SlowComputation&) = delete;
  SlowComputation& operator=(const SlowComputation&) = delete;

 private:
  void tell();
  std::string hint_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace stab::ctl
