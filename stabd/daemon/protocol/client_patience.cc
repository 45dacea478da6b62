#include "stabd/daemon/protocol/client_patience.h"

namespace stab::daemon {
namespace {

// A client says what it wants, and all of it, within this time; stabctl does at once.
constexpr std::chrono::seconds kFirstRequest{10};
constexpr std::chrono::seconds kWholeLine{30};
// A browser keeps connections that it may use again, and opens some that it may never use.
constexpr std::chrono::seconds kIdle{60};
// Until the last bytes of a connection that is to end are taken.
constexpr std::chrono::seconds kLastBytes{10};
// Between two signs of life on a stream of events: proxies close what is silent for a minute.
constexpr std::chrono::seconds kHeartbeat{25};

}  // namespace

Due due_of_lines(const ClientState& client, bool is_in_line, ClientState::Time now) {
  if (!client.asked && now - client.connected > kFirstRequest) return Due::kEndOfSilent;
  return is_in_line && now - client.line_began > kWholeLine ? Due::kEndOfEndless : Due::kNothing;
}

Due due_of_http(const ClientState& client, bool follows, bool is_in_message, ClientState::Time now) {
  const auto quiet = now - client.quiet_since;
  if (client.ending) return quiet > kLastBytes ? Due::kEnd : Due::kNothing;
  if (follows) return quiet >= kHeartbeat ? Due::kSignOfLife : Due::kNothing;
  if (client.under_way) return Due::kNothing;
  if (is_in_message)
    return now - client.line_began > (client.asked ? kWholeLine : kFirstRequest) ? Due::kEndOfEndless : Due::kNothing;
  return quiet > (client.asked ? kIdle : kFirstRequest) ? Due::kEnd : Due::kNothing;
}

}  // namespace stab::daemon
