// Best effort: without the right to real-time priority, or on a machine with one CPU, ends are stamped later, and the
// experiment's log says so.
#include "stabd/engine/machine/pinned_thread.h"

namespace stab::engine {

PinnedThread::PinnedThread(int cpu) {
  const sched_param lowest{1};
  in_front_ = ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0;
  if (cpu < 0 || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  pinned_ = ::sched_setaffinity(0, sizeof set, &set) == 0;
}

PinnedThread::~PinnedThread() {
  if (pinned_) ::sched_setaffinity(0, sizeof before_, &before_);
  const sched_param none{0};
  if (in_front_) ::sched_setscheduler(0, SCHED_OTHER, &none);
}

}  // namespace stab::engine
