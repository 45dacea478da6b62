// Start: how an engine gets its broker.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/broker/wire/client.h"

namespace stab::broker {

struct StartOptions {
  std::string program;         // path of stab-broker
  bool allow_root = false;     // programs may run as root: root's own experiments
  std::string state;           // --state: where it keeps what survives a restart; empty: its default
  std::vector<std::string> more;   // further words of its command line
  std::optional<uid_t> front_end;  // who will ask: its own programs are never started
};

// As a child of this process, with its user. It outlives every signal of our terminal, and ends when we do.
Result<std::unique_ptr<Client>> start(const StartOptions& options);

// The one that a service manager keeps at this socket.
Result<std::unique_ptr<Client>> connect(const std::string& path);

}  // namespace stab::broker
