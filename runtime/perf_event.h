// Events of perf as the runtime opens them: perf_event_open(2).
#pragma once

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/sys.h"

namespace stab::sys {

// An event of this kind, with everything else 0; a hypervisor's time never counts.
inline perf_event_attr event_attributes(uint32_t type, uint64_t config) {
  perf_event_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.exclude_hv = 1;
  return attributes;
}

// Of a thread (0: this one), or of all of a process's where the attributes say so, on one CPU or wherever it runs (-1). The
// descriptor, closed on exec, or -errno.
inline int open_event(const perf_event_attr& attributes, int thread, int cpu) {
  return static_cast<int>(call(SYS_perf_event_open, word(&attributes), thread, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace stab::sys
