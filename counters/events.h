// Events: names of counters -> what perf_event_open takes, through libpfm4 and a table of software events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::counters {

// Which parts of the machine's work count. Deliberate, recorded with each event: the hypervisor and guests
// never count (a trial runs no guests; a hypervisor's work is not the program's); the kernel's part counts
// unless the plan says otherwise, because page faults and system calls are part of a layout's cost.
struct Scope {
  bool kernel = true;
  bool hypervisor = false;
  bool guest = false;
};

// One event, resolved. Not available: `reason` says why, the rest is meaningless, and readings are NULL.
struct EventSpec {
  std::string name;      // as asked for
  std::string resolved;  // libpfm's fully qualified name, or the kernel's
  bool available = true;
  std::string reason;    // why not and what to do, empty where available
  bool hardware = false; // shares the PMU's few registers
  std::string unit = "count";  // or "ns"
  uint32_t type = 0;     // perf_event_attr
  uint64_t config = 0, config1 = 0, config2 = 0;
  Scope scope;
};

// Names are perf's ("cycles", "page-faults", "task-clock"), libpfm's ("skl::INST_RETIRED:ANY") or raw "rNNNN".
// An unknown name is kBadInput; a known one that this machine or scope can't count is a spec that is not
// available. Whether the kernel lets us open it shows only in Session::open.
Result<std::vector<EventSpec>> resolve(const std::vector<std::string>& names, const Scope& scope = {});

// For listing, completion and "did you mean": the software and generic hardware events.
std::vector<std::string_view> known_events();

}  // namespace stab::counters
