#include "stabd/daemon/events/event_history.h"

#include <charconv>

namespace stab::daemon {

const NumberedEvent& EventHistory::add(EngineEvent event, std::chrono::steady_clock::time_point now) {
  bytes_ += event.json.size();
  events_.push_back({newest_ + 1, now, std::move(event)});
  ++newest_;
  while (events_.size() > 1 && (events_.size() > kMostEvents || bytes_ > kMostBytes)) {
    bytes_ -= events_.front().event.json.size();
    events_.pop_front();
  }
  return events_.back();
}

bool EventHistory::remembers_since(uint64_t number) const {
  return number <= newest_ && (events_.empty() || number + 1 >= events_.front().number);
}

std::optional<uint64_t> EventHistory::number_of(std::string_view name) const {
  uint64_t number = 0;
  if (!name.starts_with(start_ + "-")) return {};
  name.remove_prefix(start_.size() + 1);
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  return read.ec == std::errc() && read.ptr == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

}  // namespace stab::daemon
