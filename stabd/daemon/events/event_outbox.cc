#include "stabd/daemon/events/event_outbox.h"

#include <utility>

namespace stab::daemon {
namespace {

// Watchers that don't read must not make the daemon grow; newer news replace nothing, they are just dropped.
constexpr size_t kMostWaiting = 4096;

}  // namespace

void EventOutbox::put(EngineEvent event) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (waiting_.size() >= kMostWaiting && !event.ends) return;
    waiting_.push_back(std::move(event));
  }
  wake_();
}

std::vector<EngineEvent> EventOutbox::take() {
  const std::lock_guard<std::mutex> held(mutex_);
  return std::exchange(waiting_, {});
}

}  // namespace stab::daemon
