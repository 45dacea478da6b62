// What epochs are measured by: the CPU time of the program, or the time of day.
//
// An epoch of so much CPU time is the same part of the program's work however long it waits, whoever else uses its CPU, and
// whichever of two builds it is: so the launched ones are measured by it. All threads count, and so do forked children that go
// on in the program's images. A person who starts a program by hand has asked for a time that a watch shows.
#pragma once

#include <stdint.h>

#include "runtime/helper/family.h"

namespace stab::helper {

class ProgramClock {
 public:
  // From now on by CPU time. False, and by the time of day: the kernel doesn't tell it, or the program's number is another here.
  bool count_cpu(const Family& family);
  bool counts_cpu() const { return counts_cpu_; }

  // Never descends. pre of counting CPU: `kin` are Control::kin.
  uint64_t now_ns(const int32_t (&kin)[kMaxKin]);

  // When to look at the clock again, on the monotonic clock: the earliest that it may have come to `due_ns`, and a share of
  // `period_ns` later at the latest. pre: now_ns() was called since the last wait
  uint64_t look_at_ns(uint64_t due_ns, uint64_t period_ns);

 private:
  struct Member {
    int32_t pid = 0;
    uint64_t cpu_ns = 0;  // by the last look
  };
  void add(Member& member, int32_t pid);

  bool counts_cpu_ = false;
  Member program_;
  Member kin_[kMaxKin];
  uint64_t cpu_ns_ = 0;     // of all, those that have ended included
  uint64_t looked_ns_ = 0;  // monotonic
  uint64_t rate_ = 1;       // CPUs that were busy with it between the last two looks, rounded up; 0: none
  uint64_t idle_looks_ = 0; // in a row, without any CPU time between them
};

}  // namespace stab::helper
