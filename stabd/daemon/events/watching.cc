#include "stabd/daemon/events/watching.h"

#include "stabd/daemon/protocol/protocol.h"
#include "stabd/daemon/web/http.h"

namespace stab::daemon {

bool Watching::sees(const EngineEvent& event) const {
  if (watches && *watches == event.experiment) return true;
  return follows && (follows->all || follows->uid == event.uid);
}

namespace {

// An event's object with one member more, `ago_ms`.
std::string with_age(const std::string& json, std::chrono::steady_clock::duration age) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(age).count();
  return "{\"ago_ms\":" + std::to_string(ms) + (json == "{}" ? "" : ",") + json.substr(1);
}

}  // namespace

std::optional<std::string> Watching::missed(const EventHistory& history, uint64_t seen,
                                            std::chrono::steady_clock::time_point now) const {
  bool is_all = history.remembers_since(seen);
  std::string text;
  if (is_all)
    history.look_since(seen, [&](const NumberedEvent& one) {
      is_all = is_all && text.size() <= kMostUnreadBytes;
      if (!is_all || !sees(one.event)) return;
      text += is_browser ? sse_bytes("stab", history.name(one.number), with_age(one.event.json, now - one.at))
                         : event_text(history, false, one);
    });
  if (is_all) return text;
  return is_browser ? std::optional(sse_bytes("anew", history.name(history.newest()), "{}")) : std::nullopt;
}

std::string event_text(const EventHistory& history, bool for_browser, const NumberedEvent& one) {
  return for_browser ? sse_bytes("stab", history.name(one.number), one.event.json) : event_line(one.event.json);
}

}  // namespace stab::daemon
