// Counters that a broker opens for its engine.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "counters/perf_calls.h"
#include "stabd/broker/wire/broker_wire.h"

namespace stab::broker {

// Counts of what a processor or the kernel does for a process: hardware, cache, raw and software events, and those of
// the processor's own units below <sys>/bus/event_source. No tracepoints, probes or breakpoints, nothing that samples.
bool may_be_counted(const Counter& counter, const std::string& sys);

// Opens all of them on `pid`, disabled until its exec. One that may not be counted is refused with EACCES.
std::vector<counters::OpenedEvent> open_counters(const OpenCounters& request, pid_t pid, const std::string& sys,
                                                 counters::PerfCalls& perf);

}  // namespace stab::broker
