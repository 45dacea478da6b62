// Group: up to 64 slots of one class, at most a page, and which of them are free. One cache line, away from
// the slots themselves.
#pragma once

#include <stdint.h>

#include <atomic>

#include "runtime/heap/run_space.h"
#include "runtime/heap/size_classes.h"

namespace stab::heap {

// Bits set in a word. Inline, because without popcnt in the instruction set compilers call a table look-up.
inline uint32_t count_bits(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<uint32_t>((word * 0x0101010101010101u) >> 56);
}

// A word that one thread writes and others look at: relaxed atomics, which compile to plain moves.
template <typename Number>
class WatchedWord {
 public:
  constexpr explicit WatchedWord(Number value) : value_(value) {}
  operator Number() const { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  WatchedWord(const WatchedWord&) = delete;
  void operator=(const WatchedWord& other) { *this = static_cast<Number>(other); }
  void operator=(Number value) { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
  void operator|=(Number bits) { *this = *this | bits; }
  void operator&=(Number bits) { *this = *this & bits; }
  void operator^=(Number bits) { *this = *this ^ bits; }

 private:
  Number value_;
};
using Word = WatchedWord<uint64_t>;

// Group::place, besides an index into the owner's list of parked groups.
inline constexpr uint32_t kUnlisted = 0xffffffff;  // fresh, or too few slots are free
inline constexpr uint32_t kCurrent = 0xfffffffe;   // the owner allocates from it
inline constexpr uint32_t kTaken = 0xfffffffd;     // unlisted, and another thread gives its pages back
inline constexpr uint32_t kPurged = 0xfffffffc;    // unlisted, and its pages were given back; until the owner takes it in

// A slot is in one of: free, freed, in the program's hands. remote is a subset of the last. held is a subset of
// freed (so that free() needs to look at one word less): what came back since `free` was filled is freed & ~held.
// Bits at and above the class's slots are always held, so that no address can name them.
// In a heap that shuffles, held is what the program doesn't have; free and freed are then subsets of it.
//   fresh:    freed == ~0, held == ~0
//   parked:   free == 0, freed has enough slots and the bits above them, place is its index; so a parked group
//             whose last slot came back has freed == ~0
//   not current: free == 0
// malloc reads free only, free() writes freed only: an allocation needn't wait for what the free before it
// computes (a pair takes a third of the time), and slots of a page are reused in ascending order.
// Only the owner writes, except for remote and next, which belong to whoever sets the first bit of remote.
struct alignas(64) Group {
  Word free;            // slots to hand out
  Word freed;           // came back since `free` was filled
  Word held;            // slots not to hand out now: cut off by a random start; see above for a shuffling heap
  std::atomic<uint64_t> remote;  // freed by other threads, not yet collected
  char* base;           // slot 0
  Group* next;          // in the owner's stack of groups with remote frees
  uint64_t quiet_up_to; // free() has nothing to settle while `freed` is no larger number: see stand()
  WatchedWord<uint32_t> place;
  uint16_t stride;
  uint8_t size_class;
  uint8_t unused_bits;  // 64 - slots

  uint64_t full() const { return ~uint64_t{0} >> unused_bits; }
  uint32_t slots() const { return 64u - unused_bits; }
  // Sets place, which other threads may look at (purge_returned.cc). What may change by a slot that comes back: an
  // unlisted group by any (it is parked), a parked one by the last (it gets fresh), the current one by none. One
  // comparison tells free(): where all slots of a small current group are back again and again, a second one was
  // mispredicted each time.
  void stand(uint32_t at) {
    place = at;
    quiet_up_to = at == kUnlisted ? 0 : at == kCurrent ? ~uint64_t{0} : ~uint64_t{1};
  }
  // Slots that are not in the program's hands, as far as a thread that doesn't own the group can tell.
  uint64_t unavailable() const {
    return free | freed | held | remote.load(std::memory_order_relaxed);
  }
  char* slot(int index) const { return base + static_cast<uint32_t>(index) * stride; }
};
static_assert(sizeof(Group) == 64);
inline constexpr uintptr_t kShuffles = 1;

// Where an address lies.
struct Spot {
  Group* group;
  uintptr_t owner;  // the run's
  uint32_t group_index;
  uint32_t slot;   // may be the gap behind the last one: then it is held
  uint32_t inside; // bytes from the slot's start
  uint64_t bit() const { return uint64_t{1} << slot; }
};

// The group of an address, and the address's distance from its slot 0. False: no slot of the run can be there.
inline bool locate_group(const Run& run, const void* address, Spot& spot, uint32_t& distance) {
  const uint32_t at = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address) % kRunBytes) - run.phase;
  spot.group_index = divide(at, run.per_pitch);  // an address in front of the phase wraps to a huge index
  if (__builtin_expect(spot.group_index >= run.group_count, 0)) return false;
  distance = at - spot.group_index * run.pitch;
  spot.group = &run.groups[spot.group_index];
  spot.owner = run.owner;
  return true;
}

// False: no slot of the run can be there.
inline bool locate(const Run& run, const void* address, Spot& spot) {
  uint32_t distance = 0;
  if (!locate_group(run, address, spot, distance)) return false;
  spot.slot = divide(distance, run.per_stride);
  spot.inside = distance - spot.slot * run.stride;
  return true;
}

// The same for addresses where a slot starts, false for all others. Saves a multiplication: the low half of the
// product that divides is the remainder's, and below per_stride only if there is none.
inline bool locate_start(const Run& run, const void* address, Spot& spot) {
  uint32_t distance = 0;
  if (__builtin_expect(!locate_group(run, address, spot, distance), 0)) return false;
  const uint64_t product = uint64_t{distance} * run.per_stride;
  spot.slot = static_cast<uint32_t>(product >> 32);
  spot.inside = 0;
  return __builtin_expect(static_cast<uint32_t>(product) < run.per_stride, 1);
}

}  // namespace stab::heap
