// Between two trials, an engine stores what became of the one and starts the launcher of the other. posix_spawn blocks
// its caller for 0.13 ms, and so does the disk, so one is done here: on the trial's CPU, which has nothing to do at
// that time. During a trial this thread sleeps.
#include "stabd/engine/machine/side_thread.h"

#include <utility>

#include "stabd/engine/machine/pinned_thread.h"

namespace stab::engine {

SideThread::SideThread(int cpu) : thread_([this, cpu] { loop(cpu); }) {}

SideThread::~SideThread() {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    quit_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void SideThread::begin(std::function<void()> work) {
  const std::lock_guard<std::mutex> held(mutex_);
  work_ = std::move(work);
  changed_.notify_all();
}

void SideThread::wait() {
  std::unique_lock<std::mutex> held(mutex_);
  changed_.wait(held, [this] { return !work_; });
}

void SideThread::loop(int cpu) {
  const PinnedThread pinned(cpu);
  std::unique_lock<std::mutex> held(mutex_);
  for (;;) {
    changed_.wait(held, [this] { return work_ || quit_; });
    if (!work_) return;
    held.unlock();
    work_();
    held.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace stab::engine
