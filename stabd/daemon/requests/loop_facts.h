// LoopFacts: how the daemon itself fares, for `stabctl status --daemon` (docs/reference/protocol.md): what its loop's callbacks
// took, and from when a line waited for its answer until that was sent, by lane.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "stabd/daemon/requests/latency.h"
#include "stabd/daemon/requests/request_queue.h"
#include "stabd/daemon/settings/config.h"

namespace stab::daemon {

// Written by the loop, read by any thread.
struct LoopFacts {
  Latency latency;
  std::array<TimeHistogram, kLanes> answers;

  std::string json(size_t waiting_requests, DuringTrials during_trials) const;
};

}  // namespace stab::daemon
