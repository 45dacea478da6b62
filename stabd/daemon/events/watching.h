// Watching: which events a client is told of, and what one has missed that begins to watch or comes back.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "stabd/daemon/events/event_history.h"
#include "store/store.h"

namespace stab::daemon {

// Whose events a peer follows.
struct Following {
  int64_t uid = 0;
  bool all = false;  // everybody's
};

// A client with so much unread output is taken for one that does not read.
inline constexpr size_t kMostUnreadBytes = 1u << 20;

struct Watching {
  bool is_browser = false;
  std::optional<store::Id> watches;  // one experiment
  std::optional<Following> follows;  // all that it may see
  uint64_t told = 0;  // of a browser that follows: the last event that it has, or that is not for it

  bool sees(const EngineEvent& event) const;
  // Whether it is a browser that has not been told of something yet.
  bool is_behind(const EventHistory& history) const { return is_browser && follows && told != history.newest(); }
  // What it has not seen, in its form. A browser that comes back says what it has seen last, and gets each event since once. One
  // that was away for longer than we remember is told so, and looks at everything anew. Nothing: it would miss some, or more
  // than a client is sent before it has read, and can't be told so.
  // Each of a browser's says how long ago it was: whoever was away can't know, and its clock need not be ours.
  std::optional<std::string> missed(const EventHistory& history, uint64_t seen,
                                    std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) const;
};

// As it is sent.
std::string event_text(const EventHistory& history, bool for_browser, const NumberedEvent& one);

}  // namespace stab::daemon
