// PerfCalls: the seam to the kernel's counters, for sessions, for brokers, and for tests that fake a kernel.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/unique_fd.h"
#include "counters/events.h"

struct perf_event_attr;

namespace stab::counters {

// One event to be opened.
struct PerfEvent {
  EventSpec spec;
  bool grouped = false;  // counts in the same moments as the first grouped one that could be opened
};

// What became of it.
struct OpenedEvent {
  UniqueFd fd;           // none: `refused` is the error's number
  int refused = 0;
};

// The seam to the kernel. Each call returns as the system call does, with errno.
class PerfCalls {
 public:
  virtual ~PerfCalls() = default;
  virtual int open(perf_event_attr* attr, pid_t pid, int cpu, int group_fd, unsigned long flags) = 0;
  // All of a trial's, by open(), disabled until the process's exec. One that the kernel won't let join the group is
  // opened alone. A broker takes them in one request.
  virtual std::vector<OpenedEvent> open_all(pid_t pid, int cpu, const std::vector<PerfEvent>& events);
  virtual ssize_t read(int fd, void* buffer, size_t bytes) = 0;
  virtual int enable(int fd) = 0;
  virtual int paranoid_level() = 0;  // of kernel.perf_event_paranoid; -2 where it can't be read
};
PerfCalls& system_perf();

}  // namespace stab::counters
