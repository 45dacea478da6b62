// How long a connection is waited for: who has connected and says nothing, or not all of it, is in nobody's way for long.
#pragma once

#include <chrono>

namespace stab::daemon {

// What a connection is doing, as far as it matters for how long.
struct ClientState {
  using Time = std::chrono::steady_clock::time_point;
  Time connected, line_began, quiet_since;
  bool under_way = false;  // a request of it is being answered
  bool asked = false;      // it has sent a whole request
  bool ending = false;     // its last bytes are on their way
};

enum class Due { kNothing, kSignOfLife, kEnd, kEndOfSilent, kEndOfEndless };

// Of one that speaks lines. `is_in_line`: some of a line has come, not its end, and more is read.
Due due_of_lines(const ClientState& client, bool is_in_line, ClientState::Time now);
// Of a browser's. `follows`: it is sent events; `is_in_message`: some of a request has come.
Due due_of_http(const ClientState& client, bool follows, bool is_in_message, ClientState::Time now);

}  // namespace stab::daemon
