// The ring of image slots, and who may still be in which of them. Pure: no clock, no system calls.
//
// A slot is free, newest, or retired. A retired one becomes free again when no thread can come back to it. The
// argument, on which all of reclaim rests: nobody enters a retired image except from code of that image. So a
// thread that was seen once, at any time after the image was retired, with neither its pc nor a return address
// in it, stays out of it for good; and so do the threads and processes that it makes afterwards. It is enough to
// see each thread once, at different times, and what has been seen stays true until the slot is used again.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/control.h"

namespace stab::code {

using SlotSet = uint64_t;  // bit i: slot i
static_assert(kMaxSlots <= 64);

// Invariant: free, retired and {newest} are disjoint and make up the slots below `made`.
class Ring {
 public:
  explicit Ring(uint32_t limit = 0) : limit_(limit < kMaxSlots ? limit : kMaxSlots) {}

  // A free slot, lowest first so that few pages stay warm; -1: none.
  int free_slot() const { return free_ == 0 ? -1 : __builtin_ctzll(free_); }
  bool may_grow() const { return made_ < limit_; }
  // Adds a free slot. pre: may_grow()
  int grow();
  // `slot`, which was free, holds the newest image now; the one before is retired.
  void publish(int slot);
  // The ones nobody can come back to become free. pre: slots is a subset of retired().
  void release(SlotSet slots);

  SlotSet retired() const { return retired_; }
  int newest() const { return newest_; }
  uint32_t made() const { return made_; }
  uint32_t limit() const { return limit_; }
  void set_limit(uint32_t limit) { limit_ = limit; }
  bool invariant() const;

 private:
  uint32_t limit_;
  uint32_t made_ = 0;
  int newest_ = -1;
  SlotSet free_ = 0;
  SlotSet retired_ = 0;
};

// What has been seen of the threads. A thread is in `out_of` those slots for good (until they are reused).
class ThreadLedger {
 public:
  static constexpr uint32_t kMaxThreads = 4096;

  struct Row {
    int32_t process;
    int32_t thread;
    uint32_t round;  // in which it was last listed
    SlotSet out_of;
    SlotSet seen_once;  // clean in one look that was not atomic; the second look makes it out_of
    uint32_t failures;  // looks that failed one after the other, for reasons that may pass
  };

  // pre: `rows` holds kMaxThreads rows; they need no initial value.
  void bind(Row* rows) { rows_ = rows; }

  // A round lists the threads that exist now. Threads that are not listed in it are dropped at its end.
  void begin_round() { ++round_; }
  // The thread's row, new with nothing known where it wasn't there; nullptr: too many threads.
  Row* list(int32_t process, int32_t thread);
  void end_round();

  // The thread was seen, at one moment after all of `retired` were retired, with references into `live`.
  static void saw(Row& row, SlotSet retired, SlotSet live) { row.out_of |= retired & ~live; }
  // The same, but the thread ran meanwhile: only what two looks agree on counts.
  static void saw_running(Row& row, SlotSet retired, SlotSet live);
  // Its number may be another thread's when the next round lists it: this row is dropped then.
  static void saw_gone(Row& row) {
    row.out_of = ~SlotSet{0};
    row.thread = 0;
  }
  // What was seen doesn't last: threads may come back to stacks that were not looked at. Each is to be seen again.
  void doubt();

  // Slots that every thread of this round is out of.
  SlotSet out_of_all() const;
  // A slot was reused: nothing is known of it any more.
  void forget(SlotSet slots);
  uint32_t size() const { return count_; }
  Row& row(uint32_t index) { return rows_[index]; }

 private:
  Row* rows_ = nullptr;
  uint32_t count_ = 0;
  uint32_t round_ = 0;
};

// Slots on their way to being used again in a program whose stacks may rest where no thread shows them. A slot is looked for in
// all of its memory then, while it runs on: a return address may be in a register at the very moment when its place is read. So
// a slot counts as left only after it was found nowhere several times in a row. One that is in use after it was not is kept for
// good: only a stack that rested brings it back.
class CleanRounds {
 public:
  static constexpr uint8_t kNeeded = 5;
  // So many slots that came back say that the program switches stacks all the time.
  static constexpr uint32_t kProof = 3;

  // A round has searched memory for `searched`, which no thread showed, and seen `in_use` in memory or with threads. Returns
  // those that may be used again.
  SlotSet count(SlotSet searched, SlotSet in_use);
  // Slots that are used again.
  void forget(SlotSet slots);
  SlotSet came_back() const { return came_back_; }
  bool proves_switches() const { return came_back_count_ >= kProof; }

 private:
  uint8_t clean_[kMaxSlots] = {};  // rounds in a row
  SlotSet came_back_ = 0;
  uint32_t came_back_count_ = 0;
};

}  // namespace stab::code
