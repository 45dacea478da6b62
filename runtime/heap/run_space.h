// RunSpace: the address space of small objects, and the way from an address to its run.
//
// Space is reserved in few large regions (one, unless the system refuses) and used in pools of 64 runs. A new
// run is drawn from the free ones of the first pool that has any: bits 16 to 21 of its address are random,
// yet neighbours stay within 4 MiB. Regions start at multiples of a pool, so nothing of a choice depends on
// where the kernel put them: the same seed gives the same low 22 bits with and without ASLR.
//
// Runs that come back stay dirty (their pages are still there) up to a limit and are preferred to clean ones. Above it they are
// drawn as if they were clean, but keep their pages up to a second limit: epochs use and leave runs all over a pool, and would
// fault the same pages in again and again. Above that one their pages go back to the system.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/heap/bookkeeping.h"
#include "runtime/heap/heap_draws.h"
#include "runtime/heap/size_classes.h"

namespace stab::heap {

struct Group;

// One line for each run, at a fixed place for a given address.
//   group_count == 0: not in use, everything else is meaningless.
// What free() in another thread reads (the first half and interior) is constant while a slot is in use.
struct alignas(64) Run {
  Group* groups;        // [group_count]
  uintptr_t owner;      // the Heap; its lowest bit is set if it shuffles, so that a fast path is not taken
  uint32_t per_pitch;
  uint32_t per_stride;
  uint16_t phase;       // bytes in front of group 0
  uint16_t pitch;
  uint16_t stride;
  uint8_t size_class;
  uint8_t group_count;
  uint64_t fresh;       // groups without any slot in use
  Run* previous;        // owner's list of runs with fresh groups
  Run* next;
  uint64_t* interior;   // [group_count], null until needed: slots handed out with an address inside the slot
};
static_assert(sizeof(Run) == 64);

inline constexpr int kRunsPerPool = 64;
inline constexpr size_t kPoolBytes = size_t{kRunBytes} * kRunsPerPool;

// How the next run is chosen.
enum class Choice : uint8_t {
  kLowest,  // `base`: the first free one
  kReuse,   // at random among the dirty ones, else among the clean ones of a pool
  kTurn,    // the same once the allowance of dirty ones is used up, before that as kAnywhere: turns are frequent, and
            // with ever new runs page faults and purges were 2 % of a loop of small pairs
  kAnywhere // at random among all free ones of a pool: for a new epoch, which wants a new place
};

class RunSpace {
 public:
  // The first region, as large as the system grants, down to one pool. False: no memory at all.
  bool open();

  // The run of an address, or null. Not necessarily in use.
  Run* find(const void* address) const {
    Run* run = nullptr;
    return __builtin_expect(find_fast(address, run), 1) ? run : find_elsewhere(address);
  }
  // The same for addresses in the first region alone, what a fast path asks; or false.
  bool find_fast(const void* address, Run*& run) const {
    const size_t at = static_cast<size_t>(static_cast<const char*>(address) - first_.base);
    if (__builtin_expect(at >= __atomic_load_n(&first_.usable, __ATOMIC_RELAXED), 0)) return false;
    run = &first_.runs[at / kRunBytes];
    return true;
  }

  // A run's memory and its zeroed record; null when the system refuses.
  struct Acquired {
    Run* run = nullptr;
    char* start = nullptr;  // its first byte
    bool clean = false;     // its pages may not be there
  };
  Acquired acquire(Choice choice, Draws& draws);
  // pre: group_count is 0 again.
  void release(Run* run);
  // Gives every free run's pages back to the system. True if there were any.
  bool trim();
  // Gives the address space of regions without a run in use back, for other uses, and what the first one has not opened.
  // True if there was any.
  bool give_back();

  Lock& lock() { return lock_; }

 private:
  struct Pool {
    uint64_t free;   // runs nobody uses
    uint64_t dirty;  // of those, with pages and preferred; subset of free
    uint64_t kept;   // of the others, with pages; subset of free, none of dirty
  };
  // A region that was given back has 0 bytes; its place is taken by the next that is added. Its version is odd from
  // then on until it is filled again: who looks without the lock looks again if the version has changed.
  // Pools below `opened` are readable and writable, or their first runs are, and so are their runs' records.
  //   usable == opened * kPoolBytes <= bytes
  struct Region {
    char* base = nullptr;
    size_t usable = 0;  // grows under the lock; whoever holds an address in it has seen it grow
    Run* runs = nullptr;
    size_t bytes = 0;
    Pool* pools = nullptr;
    uint32_t version = 0;
    uint32_t opened = 0;
    uint32_t first_with_free = 0;  // no pool below has a free run
    uint32_t pool_count() const { return static_cast<uint32_t>(bytes / kPoolBytes); }
  };
  static constexpr uint32_t kMaxRegions = 256;
  static constexpr size_t kFirstRegionBytes = size_t{64} << 30;  // more than programs use: one comparison in free
  static constexpr uint64_t kDirtyAllowance = 16;  // runs, 1 MiB: less would fault pages in again and again
  // Of those that keep their pages without being preferred: a pool, as that is what the places of an epoch are drawn from, and
  // half of what is in use, since runs of all pools come back; in all at most 16 MiB.
  static constexpr uint64_t kKeptAllowance = kRunsPerPool, kMostKept = 256;

  Region* add_region(size_t bytes);
  bool open_pool(Region& region);
  void unmap(Region& region);
  void heed_limit();
  bool cut_first();
  Region* region_with_free();
  // Takes runs out of a set of each pool, highest addresses first and neighbours together, until `count`, which is that of all
  // pools, is at most `most`. `act` gets the pool, the first byte of the runs, and their bits.
  template <class Act>
  void lower(uint64_t Pool::*set, uint64_t& count, uint64_t most, const Act& act);
  void demote(uint64_t most_dirty);
  void purge(uint64_t most_kept);
  uint64_t most_kept() const;
  Run* find_elsewhere(const void* address) const;
  Region* region_to_fill();

  Region first_;
  Lock lock_;
  uint32_t region_count_ = 0;
  size_t next_region_bytes_ = 0;  // what is asked for first
  uint64_t used_runs_ = 0;
  uint64_t dirty_runs_ = 0;
  uint64_t kept_runs_ = 0;
  Region more_[kMaxRegions];
};

}  // namespace stab::heap
