// LauncherPipes: the two pipes over which a launcher is spoken to, by whoever has started it or had it started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::host {

// The moment of the exec, and what the launcher had used by then, which wait4 counts as the program's.
struct LaunchStamp {
  std::chrono::nanoseconds raw{0};  // CLOCK_MONOTONIC_RAW
  std::chrono::nanoseconds user{0}, system{0};
  int64_t minor_faults = 0, major_faults = 0;
  int64_t voluntary_switches = 0, involuntary_switches = 0;
};

struct LauncherPipes {
  UniqueFd go, status;

  // Who becomes the program: its first word.
  Result<pid_t> learn_pid() const;
  // Its "ready". An Error names the step that failed.
  Status wait_until_ready() const;
  // pre of both: ready. An Error says that it has ended, or why there was no exec.
  Status send_go() const;
  Result<LaunchStamp> wait_for_exec() const;
};

}  // namespace stab::host
