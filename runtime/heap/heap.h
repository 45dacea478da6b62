// Heap: one thread's small objects. malloc and free of a thread's own objects touch nothing that another
// thread writes, except for a look at the epoch.
//
// A class has one current group; malloc takes its lowest free slot. When none is left, refill() goes on with
// what came back to the group meanwhile, or chooses the next: a parked group (partly free) at random, best of
// two, else a random fresh group of a run, else a new run. Frees by other threads set bits in Group::remote,
// several at a time (outbox.h); the first one puts the group on its owner's stack, which the owner empties when it
// refills.
//
// Layouts change with time: when the epoch has advanced, or (without a helper to advance it) after
// kMallocsPerTurn allocations of a class, the current group is parked and another place is drawn. The epoch
// is looked at by each malloc, one load and one comparison of a line that nobody writes meanwhile; a count in
// the fast path cost more (a store), and is not needed: refills count.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "runtime/control.h"
#include "runtime/heap/bit_count.h"
#include "runtime/heap/bookkeeping.h"
#include "runtime/heap/heap_draws.h"
#include "runtime/heap/group.h"
#include "runtime/heap/outbox.h"
#include "runtime/heap/run_space.h"
#include "runtime/heap/shuffle.h"
#include "runtime/heap/size_classes.h"

namespace stab::heap {

// What all heaps share.
struct Shared {
  Bookkeeping bookkeeping;
  RunSpace space;
};
// Hidden, as every variable that a fast path reads: one instruction less for each.
extern __attribute__((visibility("hidden"))) Shared shared;

// Allocations of a class until it moves on where no epoch does that, rounded up to a refill. Small enough that
// a loop that allocates and frees one object sees hundreds of places in a second; large enough that the new
// group's cache misses, about 100 ns, vanish.
inline constexpr uint32_t kMallocsPerTurn = 16384;

// Places a class spreads over when epochs move it: it takes further runs until it has this many groups.
// Bounds the memory that epochs touch to half a MiB a class of up to 128 bytes, to 1 MiB for most above.
inline constexpr uint32_t kSpreadGroups = 128;
// The same for turns, which are far more frequent: only classes of a few groups a run take a second one.
inline constexpr uint32_t kTurnGroups = 16;
// When moving, the run is one of the first so many that have fresh groups: as far as it is cheap to walk.
inline constexpr uint32_t kRunsToSkip = 8;

// A class that has so many runs gets the pages of the next ones with the run: a page fault each costs several
// times as much, and what such a class leaves unused of its last run is a sixteenth of its memory on average.
inline constexpr uint32_t kRunsUntilPopulated = 8;

extern __attribute__((visibility("hidden"))) Group no_group;  // never has a free slot: what a lane without a group points to

// A parked group is drawn from the latest ones: whoever looks at groups parked long ago waits for memory, twice
// as long for an allocation in a large heap whose objects die at random.
inline constexpr uint32_t kParkedWindow = 16;

// Groups of one class.
struct ClassLists {
  Group* current = nullptr;
  uint32_t turn_left = kMallocsPerTurn;
  uint64_t given = 0;  // slots put into the current group's `free` so far, those left in it included
  Group** parked = nullptr;  // partly free groups, none current
  uint32_t parked_count = 0;
  uint32_t parked_room = 0;
  uint32_t fresh_count = 0;  // fresh groups in the runs below
  uint32_t run_count = 0;    // all runs of the class
  Run* runs_with_fresh = nullptr;
};

// Takes in what other threads freed in heaps that have no thread now, and gives pages back that they freed in those of
// threads that do nothing: in a few heaps in turn, or in all of them (threads.cc). True if pages went.
bool look_after_heaps(bool all);
// So many heaps without a thread for each run: there are as many as threads have lived at the same time.
inline constexpr int kIdleHeapsToCollect = 16;

class Heap {
 public:
  // A heap without memory: every request goes to the slow path. What a thread starts with.
  constexpr Heap() {
    for (Group*& lane : lanes_) lane = &no_group;
  }
  // `random`: off for `base`.
  Heap(uint64_t seed, uint64_t index, uint64_t process, bool random, bool shuffles);

  // The fast path. False: call allocate_slow.
  bool allocate_fast(int size_class, void*& got) {
    Group* group = lanes_[size_class];
    const uint64_t free = group->free;
    if (__builtin_expect(free == 0 || epoch_ != now(), 0)) return false;
    group->free = free & (free - 1);
    got = group->slot(__builtin_ctzll(free));
    return true;
  }
  // The commonest reason for that: the current group's slots are used up, and enough have come back.
  // False, too: call allocate_slow. Into its one caller, or a mixed pair takes 1 % longer.
  [[gnu::always_inline]] bool allocate_again(int size_class, void*& got) {
    ClassLists& lists = lists_[size_class];
    Group* group = lanes_[size_class];
    const uint64_t back = group->freed ^ group->held;
    const uint32_t count = count_bits(back);
    if (__builtin_expect(count < heap::size_class(size_class).enough || group->free != 0 || lists.turn_left == 0, 0))
      return false;
    if (__builtin_expect((group->held & group->full()) != 0 || epoch_ != now(), 0)) return false;
    group->freed = group->held;
    lists.given += count;
    lists.turn_left -= count < lists.turn_left ? count : lists.turn_left;
    group->free = back & (back - 1);
    got = group->slot(__builtin_ctzll(back));
    return true;
  }
  // Null: the system refuses memory. pre: not the heap a thread starts with.
  void* allocate_slow(int size_class);

  // True: done. pre: located.
  bool free_fast(const Spot& spot) {
    Group* group = spot.group;
    if (__builtin_expect(spot.owner != reinterpret_cast<uintptr_t>(this), 0)) return false;
    const uint64_t bit = spot.bit();
    const uint64_t freed = group->freed;
    const uint64_t not_live = group->free | freed | group->remote.load(std::memory_order_relaxed);
    if (__builtin_expect((not_live & bit) != 0, 0)) return false;
    const uint64_t now_freed = freed | bit;
    group->freed = now_freed;
    if (__builtin_expect(now_freed > group->quiet_up_to, 0)) settle(group);
    return true;
  }
  // The fast paths of a heap that shuffles. False: allocate_slow has something to do first; not this heap's, or
  // not live.
  bool allocate_shuffled(int size_class, void*& got) {
    return __builtin_expect(epoch_ == now(), 1) && arrays_.allocate(draws_, size_class, got);
  }
  bool free_shuffled(uintptr_t owner, Group* group, uint32_t slot) {
    if (__builtin_expect(owner != (reinterpret_cast<uintptr_t>(this) | kShuffles), 0)) return false;
    const uint64_t not_live = group->held | group->remote.load(std::memory_order_relaxed);
    if (__builtin_expect((not_live >> slot & 1) != 0, 0)) return false;
    arrays_.free(*this, draws_, group, slot);
    return true;
  }

  // Slots of other heaps, by their starts: the outbox takes them. False: free_slow.
  // pre: not the heap a thread starts with.
  bool free_later(const Run& run, Group* group, uint32_t slot, void* start) {
    return run.owner != tag() && outbox_.put(run, group, slot, start);
  }
  // Any live slot, whoever owns it. False: it is free already.
  bool free_slow(const Spot& spot);
  // The same for a thread without a heap.
  static bool free_remote(const Spot& spot);
  // Tells the owner of a group about slots that were freed elsewhere. Those somebody has told it about before.
  static uint64_t return_slots(uintptr_t owner, Group* group, uint64_t slots);
  // Whether the program has the slot, as far as this thread can tell.
  bool is_live(const Spot& spot) const {
    return (spot.group->unavailable() & spot.bit()) == 0 && !outbox_.holds(spot.group, spot.bit());
  }
  // Tells all owners now.
  void send() { outbox_.send(); }

  // Takes in what other threads freed. True if there was anything.
  bool collect();
  // By any thread, one at a time: gives pages of it back when the owner hasn't called collect() for a while, or at once.
  // True if there were any.
  bool purge_returned(bool at_once);
  // Parks all current groups and empties shuffle arrays: at thread exit and for malloc_trim.
  void retire();
  // Adds what this heap served since the last time to control().heap. Called on slow paths, so that a process
  // that is killed has reported most of it.
  void report();
  // Before a process allocates from a heap of another. A forked child leaves what has not been reported yet to its parent,
  // and goes on with other draws.
  void take_over(uint64_t process);
  bool serves(uint64_t process) const { return process_ == process; }

  bool shuffles() const { return shuffles_; }
  // So far. From another thread: off by less than a group.
  uint64_t allocations(int size_class) const {
    if (shuffles_) return arrays_.allocations(size_class);
    const ClassLists& lists = lists_[size_class];
    const Group* group = lists.current;
    return lists.given - (group == nullptr ? 0 : static_cast<uint64_t>(bit_count(group->free)));
  }

  // Checks every list and group of this heap; for tests.
  bool consistent() const;

  Heap* next = nullptr;  // registry of all heaps, and of those without a thread
  Heap* next_idle = nullptr;

 private:
  friend class ShuffleArrays;

  void push_returned(Group* first, Group* last);

  static uint64_t now() { return __atomic_load_n(&control().epoch, __ATOMIC_RELAXED); }
  uintptr_t tag() const { return reinterpret_cast<uintptr_t>(this) | (shuffles_ ? kShuffles : 0); }

  // A slot of the class out of its current group, refilled as needed; null: no memory.
  Group* take(int size_class, int& slot) {
    Group* group = lists_[size_class].current;
    if (__builtin_expect(group == nullptr || group->free == 0, 0)) group = refill(size_class);
    if (__builtin_expect(group == nullptr, 0)) return nullptr;
    slot = __builtin_ctzll(group->free);
    group->free &= group->free - 1;
    return group;
  }
  void release_slot(Group* group, uint64_t bit) {
    group->freed |= bit;
    if (__builtin_expect(group->freed > group->quiet_up_to, 0)) settle(group);
  }

  // Gives the current group's `free` slots again, or makes another one current; null: no memory.
  Group* refill(int size_class);
  bool harvest(int size_class, Group* group);
  void give(ClassLists& lists, Group* group, uint64_t slots);
  Group* choose(int size_class, bool moving);
  Group* take_parked(ClassLists& lists, bool best_of_two);
  Group* take_fresh(ClassLists& lists, bool anywhere);
  void activate(int size_class, Group* group, bool cut);
  void settled(int size_class) { moving_ &= ~(uint64_t{1} << size_class); }
  // The reverse of activate: the class has no current group afterwards.
  void leave(int size_class);
  void begin_epoch();
  // Everything so far.
  struct Served {
    uint64_t mallocs = 0;
    uint64_t bytes = 0;
  };
  Served served() const;

  // Lists a group that is not current according to its free slots.
  void settle(Group* group);
  void park(Group* group);
  void unpark(Group* group);
  void make_fresh(Group* group);

  bool add_run(int size_class, Choice choice);
  void drop_run(Run* run);
  void link(ClassLists& lists, Run* run);
  void unlink(ClassLists& lists, Run* run);

  Group* lanes_[kClasses] = {};  // the current group, or no_group: while there is none, and always if it shuffles
  uint64_t epoch_ = 0;
  bool random_ = false;
  bool shuffles_ = false;
  uint64_t process_ = 0;  // which one's thread had it last
  uint64_t reported_mallocs_ = 0;
  uint64_t reported_bytes_ = 0;
  uint64_t reported_turns_ = 0;
  Word turns_{0};
  Word collected_{0};  // times that there was anything
  uint64_t collected_seen_ = 0;  // by purge_returned
  uint32_t visits_ = 0;
  uint32_t visits_needed_ = 0;
  uint64_t moving_ = 0;  // classes whose next group must be at a new place
  Draws draws_;
  ClassLists lists_[kClasses] = {};
  ShuffleArrays arrays_;
  Outbox outbox_;
  // Other threads write to it; this thread's mallocs need the rest.
  alignas(kLine) std::atomic<Group*> remote_{nullptr};
};
static_assert(kClasses <= 64);

}  // namespace stab::heap
