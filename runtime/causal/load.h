// Amplified load: how a program goes under more arrivals than whoever drives it can make.
//
// Tasks come in at their own pace. At load m everything but their coming is made m times slower: a thread that has spent so much
// CPU time spends (m - 1) times as much again in a pause, and a wait for the world is slept on by as much. Waits for the
// program's own threads grow by themselves, since those are slower. One m-th of the time that passes is virtual time, in
// which the program is as fast as ever and m times as many tasks arrive, at the same distances from each other:
//
//   virtual time = wall time / m
//
// A wait that ended with a task's arrival is the one kind that is left alone (ArrivalSites): its end is the arrival.
//
// What is paid, is paid before a visit of a progress point, before waking somebody, before waiting and at each sample, so that
// what others see of the thread comes when it would have come.
//
// This half is pure; load.cc is the one inside a program.
#pragma once

#include "runtime/causal/causal_abi.h"

namespace stab::causal {

inline constexpr uint32_t kLoadOne = 1000;  // Script::load_permille of load 1

// Visits are watched at load 1, too, where nobody pays: all cells of a plan are alike but for what is paid.
inline bool is_loaded(const Script& script) { return script.load_permille != 0; }

// What has to be added to `own_ns` of CPU time, or of a wait for the world. pre: permille >= kLoadOne
inline uint64_t extra_ns(uint64_t own_ns, uint32_t permille) {
  const uint64_t more = permille - kLoadOne;
  return own_ns / kLoadOne * more + own_ns % kLoadOne * more / kLoadOne;
}

// What of so much wall time is no virtual time.
inline uint64_t not_virtual_ns(uint64_t wall_ns, uint32_t permille) {
  if (permille <= kLoadOne) return 0;
  const uint64_t whole = wall_ns / permille * kLoadOne + wall_ns % permille * kLoadOne / permille;
  return wall_ns - whole;
}

// The places in a thread where it waits for tasks, by the return addresses of its waits: each wait for the world that was the
// last before an arrival. A server waits in one place for requests and in another for its disk.
class ArrivalSites {
 public:
  void waited_at(uint64_t site) { last_ = site; }
  void arrived() {
    if (last_ == 0 || is_one(last_)) return;
    sites_[next_++ % kMost] = last_;
  }
  bool is_one(uint64_t site) const {
    for (const uint64_t known : sites_)
      if (site != 0 && known == site) return true;
    return false;
  }

 private:
  static constexpr uint32_t kMost = 4;
  uint64_t sites_[kMost];
  uint64_t last_;
  uint32_t next_;
};

// load.cc
void watch_load();          // in a program that attached, before main, where the script has a load
void begin_load_thread();   // the calling thread has just begun
void pay_load();            // for the CPU time since it paid last
// After a wait that the world ended; waited_ns is 0 where the thread kept its CPU, site is 0 where no task can come by it.
void stretch_wait(uint64_t waited_ns, uint64_t site, bool timed_out);

}  // namespace stab::causal
