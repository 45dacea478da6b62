// ProcessStat: what /proc/PID/stat says of a process (proc_pid_stat(5)).
#pragma once

#include <sys/types.h>

#include <optional>

#include "stabd/host/roots.h"

namespace stab::host {

struct ProcessStat {
  char state = 0;  // R, S, D, T or t (stopped), Z (zombie), X ...
  pid_t parent = 0;
  int threads = 0;        // 0 where the kernel's line ends before
  long long start = -1;   // clock ticks after boot: tells a process from a later one with its pid; -1 likewise

  // By a signal or by a debugger.
  bool is_stopped() const { return state == 'T' || state == 't'; }
  // A first thread that has ended is a zombie as long as others of its process live.
  bool has_ended() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};

// Nothing where there is no such process, or its line can't be read.
std::optional<ProcessStat> read_process_stat(const Roots& roots, long long pid);

// Whether a process of our PID namespace lives. One that has ended is dead though nobody reaps it, as the first process of a
// container may not.
bool is_alive(pid_t pid);

}  // namespace stab::host
