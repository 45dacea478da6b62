// Where a thread is at a random moment of its first period.
//
// The sampling event gives a thread its first sample after a whole period. A thread that ends before has none, and of one that
// ends in its second period half is missing; and as such threads do the same, all of them are sampled in the same place. So each
// thread has an event of its own, once, after a part of a period that is drawn. That moment stands for the first period. The last
// sample at a period's end is where the rest of the thread begins, and stands for it (take_rest).
//
// The event is held by a mapping of its page and not by a descriptor: the program may close or take any number at any time.
#pragma once

#include <stdint.h>

#include "runtime/causal/regions.h"

namespace stab::causal {

// What a sample found.
struct Sampled {
  Place place;
  bool by_caller = false;
  bool is_there = false;
};

// Of a thread.
struct EarlySample {
  void* page = nullptr;   // of its event, nullptr: none any more
  uint64_t begun_ns = 0;  // the thread's CPU time as the event began
  uint64_t after_ns = 0;  // which was drawn
  Sampled found;
};

inline constexpr uint64_t kEarlySignal = 0x5354'4142'4541'524c;  // its sig_data

// Of the calling thread, which begins. False: it has none.
bool begin_early_sample(uint64_t period_ns);
// Its trap has come: whether it came when it should have. What fell into the kernel comes later.
bool is_early_sample_due();
void end_early_sample();

// Ends those of all threads, and none begins any more.
void stop_early_samples();
// In a forked child, which has none of its parent's mappings.
void forget_early_samples();

}  // namespace stab::causal
