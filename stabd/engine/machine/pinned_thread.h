// PinnedThread: where the engine's thread is while trials run.
#pragma once

#include <sched.h>

namespace stab::engine {

// Moves the calling thread to one CPU while it lives, and in front of everything else there: whoever stamps the
// end of a trial must not wait for a time slice. Its children are ordinary again (SCHED_RESET_ON_FORK).
class PinnedThread {
 public:
  explicit PinnedThread(int cpu);  // -1: stays where it is
  ~PinnedThread();
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  bool in_front() const { return in_front_; }

 private:
  cpu_set_t before_;
  bool pinned_ = false, in_front_ = false;
};

}  // namespace stab::engine
