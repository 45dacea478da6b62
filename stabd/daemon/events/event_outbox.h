// EventOutbox: what has happened, from the threads that run experiments to the daemon's loop, which tells those who watch.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "store/store.h"

namespace stab::daemon {

// What happened, for those who watch.
struct EngineEvent {
  store::Id experiment = 0;
  std::string json;   // the params of an event notification
  bool ends = false;  // the experiment is over, or was stopped
  int64_t uid = 0;    // whose it is
};

// From any thread.
class EventOutbox {
 public:
  // `wake` is called whenever take() has something; it must only signal.
  explicit EventOutbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Where too many wait already, one that ends nothing is dropped.
  void put(EngineEvent event);
  std::vector<EngineEvent> take();

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<EngineEvent> waiting_;
};

}  // namespace stab::daemon
