// What code of szc's calls after it has changed its limit of address space (instrumenter/pass/told_calls.cc). What the heap has
// reserved beyond its part of the limit is in the way of the program's mappings and threads, and is given back. A signal handler
// that interrupted the heap leaves that to the first request that is refused.
#include "runtime/heap/heap.h"

extern "C" __attribute__((visibility("default"))) void stab_rt_limit_changed() {
  if (stab::heap::locks_held == 0) stab::heap::shared.space.give_back();
}
