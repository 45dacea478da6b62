// EventHistory: the newest events of the daemon, for clients that begin to watch or come back, bounded in number and in bytes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "stabd/daemon/events/event_outbox.h"

namespace stab::daemon {

// Numbers are consecutive, from 1 on.
struct NumberedEvent {
  uint64_t number = 0;
  std::chrono::steady_clock::time_point at;
  EngineEvent event;
};

class EventHistory {
 public:
  // Events of trials have some 400 bytes; names and failures in them are a user's, and can be as long as a plan may be.
  static constexpr size_t kMostEvents = 8192;
  static constexpr size_t kMostBytes = size_t{8} << 20;

  // `start` tells this daemon's events from those of the one before it.
  explicit EventHistory(std::string start) : start_(std::move(start)) {}

  // Takes the next number; the oldest are forgotten. The newest is always there.
  const NumberedEvent& add(EngineEvent event, std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
  // Of the newest, from any thread. 0: there was none.
  const std::atomic<uint64_t>& newest() const { return newest_; }
  size_t size() const { return events_.size(); }
  // Whether all that came after that one are here.
  bool remembers_since(uint64_t number) const;
  // Those after that one.
  template <typename Look>
  void look_since(uint64_t number, const Look& look) const {
    for (const NumberedEvent& one : events_)
      if (one.number > number) look(one);
  }

  std::string name(uint64_t number) const { return start_ + "-" + std::to_string(number); }
  // The other way round; nothing where it is no name of this daemon's.
  std::optional<uint64_t> number_of(std::string_view name) const;

 private:
  const std::string start_;
  std::deque<NumberedEvent> events_;
  size_t bytes_ = 0;  // of their texts
  std::atomic<uint64_t> newest_{0};
};

}  // namespace stab::daemon
