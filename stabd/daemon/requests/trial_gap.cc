#include "stabd/daemon/requests/trial_gap.h"

namespace stab::daemon {

void TrialGap::trials_begin() {
  const std::lock_guard<std::mutex> held(mutex_);
  trials_ = true;
}

void TrialGap::trials_end() {
  const std::lock_guard<std::mutex> held(mutex_);
  trials_ = false;
}

void TrialGap::between_trials(const std::function<void()>& wake) {
  std::unique_lock<std::mutex> held(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!waits_ || now - last_ < kEvery) return;
  open_ = true;
  held.unlock();
  wake();
  held.lock();
  changed_.wait_for(held, kLongest, [&] { return !waits_; });
  open_ = false;
  last_ = std::chrono::steady_clock::now();
}

bool TrialGap::closed() const {
  const std::lock_guard<std::mutex> held(mutex_);
  return trials_ && !open_;
}

void TrialGap::waits(bool something) {
  const std::lock_guard<std::mutex> held(mutex_);
  waits_ = something;
  if (!something) changed_.notify_all();
}

}  // namespace stab::daemon
