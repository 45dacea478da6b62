// Session: the counters of one trial. Opened on a process that has not run its exec yet, disabled; the kernel
// starts them at exec and adds up all its threads and children.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "counters/events.h"
#include "counters/perf_calls.h"

namespace stab::counters {

// What one event counted. value is NULL exactly where reason is not empty.
struct Reading {
  std::string name;
  std::optional<double> value;  // raw * enabled / running
  uint64_t raw = 0;
  uint64_t enabled_ns = 0;
  uint64_t running_ns = 0;
  std::string reason;
};

enum class Grouping {
  kAlone,     // each event is scheduled by itself: more of them than registers are time-shared
  kTogether,  // hardware events count in exactly the same moments, so that ratios of them mean something
};

class Session {
 public:
  // `cpu` -1: wherever it runs. Never fails as a whole for an event that can't be had: that one's readings
  // carry the reason. kTogether is for counters.sharing = "passes", whose groups fit the PMU: a group that doesn't
  // would never count at all, so an event that the kernel won't let join the group is opened alone. Values are read
  // one by one also then (inherit with PERF_FORMAT_GROUP is refused by kernels before 4.13).
  static Session open(pid_t pid, const std::vector<EventSpec>& specs, int cpu = -1,
                      PerfCalls& perf = system_perf(), Grouping grouping = Grouping::kAlone);

  // After the process and its children are gone. running = 0 is NULL ("never scheduled"), never 0.
  std::vector<Reading> read() const;
  // Starts counters by hand, for a process that will not exec (tests).
  Status enable();
  size_t open_count() const;

 private:
  struct Counter {
    EventSpec spec;
    UniqueFd fd;
    std::string reason;
  };
  PerfCalls* perf_ = nullptr;
  std::vector<Counter> counters_;
};

// Why a counter can't be had here, and the cure; empty: it can. Only opening it tells.
std::string why_unavailable(const EventSpec& spec, PerfCalls& perf = system_perf());

// Why perf_event_open said no to this event, and the cure. `paranoid` is the current level.
std::string refusal(const EventSpec& spec, int errno_value, int paranoid);

}  // namespace stab::counters
