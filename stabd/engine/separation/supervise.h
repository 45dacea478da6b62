// Waiting for a process and for everything that may end it first.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/trial_machine.h"

namespace stab::engine {

struct Watch {
  int pidfd = -1;
  std::chrono::nanoseconds timeout{0};  // 0: none
  int cancel_fd = -1;                   // readable: kCancel. -1: none
  std::vector<int> output_fds;          // files whose size is looked at now and then
  uint64_t output_limit_bytes = 0;      // of each; 0: none
  std::function<void()> now_and_then;   // called four times a second; is to take microseconds. Empty: nothing is
  std::chrono::nanoseconds began{0};    // CLOCK_MONOTONIC_RAW when the process did; from then on we can be late. 0: now
  pid_t pid = -1;                       // whose CPU time is looked at as often; -1: nobody's
  std::chrono::nanoseconds cpu_timeout{0};  // kDeadline once it has used more
};

struct Ending {
  store::TrialEvent event = store::TrialEvent::kExited;  // kExited, kDeadline, kOverflow or kCancel
  std::chrono::nanoseconds raw{0};         // CLOCK_MONOTONIC_RAW at the moment it was seen
  // The latest that the waiter came to one of its own timers; absent where none was due. So late may the end's
  // stamp be, too.
  std::optional<std::chrono::nanoseconds> latency;
  // For so long a timer of the waiter's was due when it saw this end, so that the end may be as old as that and a tick more.
  std::chrono::nanoseconds late{0};
};

// Whether an end that was seen so late says nothing of a trial that seemed to take so long.
bool is_too_late(std::chrono::nanoseconds late, std::chrono::nanoseconds wall);

// Blocks until the first of them. An exit that is there at the same time as another event wins.
Result<Ending> wait_for_ending(const Watch& watch, const Clock& clock);
// The same for processes that run together, until all have ended: `ended` is told of each with its index, at once. False from it:
// the others are not waited for. pre: one cancel_fd for all
Status wait_for_endings(std::span<const Watch> watches, const Clock& clock,
                        const std::function<bool(size_t, const Ending&)>& ended);

}  // namespace stab::engine
