#include "stabd/told_events.h"

#include <charconv>
#include <utility>

#include "stabd/protocol.h"
#include "stabd/web/http.h"

namespace stab::engine {
namespace {

// What happens while somebody's watch is being answered, or while a browser changes its network.
constexpr size_t kEventsKept = 8192;

}  // namespace

const Happened& ToldEvents::add(EngineEvent event) {
  events_.push_back({++last_, std::move(event)});
  if (events_.size() > kEventsKept) events_.pop_front();
  return events_.back();
}

std::optional<uint64_t> ToldEvents::number_of(std::string_view name) const {
  uint64_t number = 0;
  if (!name.starts_with(start_ + "-")) return {};
  name.remove_prefix(start_.size() + 1);
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  return read.ec == std::errc() && read.ptr == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

std::string ToldEvents::for_line(const Happened& one) const { return event_line(one.event.json); }

std::string ToldEvents::for_browser(const Happened& one) const { return sse_bytes("stab", name(one.number), one.event.json); }

std::string ToldEvents::lines_since(uint64_t seen, const Wanted& wanted) const {
  std::string text;
  for (const Happened& one : events_)
    if (one.number > seen && wanted(one.event)) text += for_line(one);
  return text;
}

std::string ToldEvents::for_browser_since(std::optional<uint64_t> seen, const Wanted& wanted) const {
  const bool forgotten = seen && !events_.empty() && *seen + 1 < events_.front().number;
  if (!seen || *seen > last_ || forgotten) return sse_bytes("anew", name(last_), "{}");
  std::string text;
  for (const Happened& one : events_)
    if (one.number > *seen && wanted(one.event)) text += for_browser(one);
  return text;
}

}  // namespace stab::engine
