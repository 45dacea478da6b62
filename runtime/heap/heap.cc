// The slow paths of one thread's heap: which group comes next, and what becomes of groups and runs whose slots
// come back. heap.h has the fast paths and the overview, group.h the invariant of a group.
//
// A run lives as long as one of its groups is not fresh; then it goes back to RunSpace, so that its pages can
// serve another class or the system, and the class's next run is drawn from the whole pool again.
#include "runtime/heap/heap.h"

#include <string.h>

#include "runtime/heap/bit_count.h"
#include "runtime/heap/large_objects.h"
#include "runtime/heap/os_memory.h"
#include "runtime/round_up.h"

namespace stab::heap {

constinit Shared shared;
constinit Group no_group{
    Word(0), Word(~uint64_t{0}), Word(~uint64_t{0}), {0}, nullptr, nullptr, 0, WatchedWord<uint32_t>(kUnlisted), 0, 0, 0};

namespace {

uint64_t all_groups(uint32_t count) { return count == kMaxGroups ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

}  // namespace

Heap::Heap(uint64_t seed, uint64_t index, uint64_t process, bool random, bool shuffles) : Heap() {
  epoch_ = now();
  process_ = process;
  random_ = random;
  shuffles_ = shuffles;
  draws_ = Draws(seed, index);
}

inline void Heap::give(ClassLists& lists, Group* group, uint64_t slots) {
  group->free = slots;
  const uint32_t count = count_bits(slots);
  lists.given += count;
  lists.turn_left -= count < lists.turn_left ? count : lists.turn_left;
}

void* Heap::allocate_slow(int size_class) {
  if (__builtin_expect(epoch_ != now(), 0)) begin_epoch();
  if (shuffles_) {
    void* got = nullptr;
    return arrays_.prepare(*this, size_class) && arrays_.allocate(draws_, size_class, got) ? got : nullptr;
  }
  int slot = 0;
  Group* group = take(size_class, slot);
  return group == nullptr ? nullptr : group->slot(slot);
}

void Heap::begin_epoch() {
  epoch_ = now();
  outbox_.send();
  if (!random_) return;
  HeapDose& dose = control().heap;
  if (raise(dose.newest_epoch, epoch_)) add(dose.layouts);  // other threads' heaps see the same epoch
  for (int size_class = 0; size_class < kClasses; ++size_class) {
    if (shuffles_) arrays_.empty(*this, size_class);
    leave(size_class);
  }
  moving_ = ~uint64_t{0};
}

Group* Heap::refill(int size_class) {
  Group* group = lists_[size_class].current;
  if (group != nullptr && harvest(size_class, group)) return group;
  leave(size_class);
  if (remote_.load(std::memory_order_relaxed) != nullptr) collect();
  const bool moving = (moving_ >> size_class & 1) != 0;
  if (!shuffles_) settled(size_class);  // an array wants several groups; fill() says when it has them
  return choose(size_class, moving);
}

// pre: group is current and its `free` is used up. False: it is time for another one.
bool Heap::harvest(int size_class, Group* group) {
  ClassLists& lists = lists_[size_class];
  // The part in front of its random start. A shuffling heap cuts none.
  const uint64_t cut_off = shuffles_ ? 0 : group->held & group->full();
  if (cut_off != 0) {
    group->held &= ~cut_off;
    group->freed &= ~cut_off;
    give(lists, group, cut_off);
    return true;
  }
  // Epochs are the better clock where there are any. A shuffle array moves on its own.
  if (lists.turn_left == 0) {
    lists.turn_left = kMallocsPerTurn;
    outbox_.send();
    if (random_ && !shuffles_ && epoch_ == 0) {
      moving_ |= uint64_t{1} << size_class;
      turns_ = turns_ + 1;
      return false;
    }
  }
  const uint64_t back = shuffles_ ? uint64_t{group->freed} : group->freed ^ group->held;
  if (count_bits(back) < heap::size_class(size_class).enough) return false;
  group->freed ^= back;
  give(lists, group, back);
  return true;
}

Group* Heap::choose(int size_class, bool moving) {
  ClassLists& lists = lists_[size_class];
  const bool spreading =
      moving && lists.fresh_count + lists.parked_count < (epoch_ != 0 ? kSpreadGroups : kTurnGroups);
  if ((lists.fresh_count == 0 && lists.parked_count == 0) || spreading) {
    const Choice anew = epoch_ != 0 ? Choice::kAnywhere : Choice::kTurn;
    const Choice choice = !random_ ? Choice::kLowest : moving ? anew : Choice::kReuse;
    if (!add_run(size_class, choice) && lists.fresh_count + lists.parked_count == 0) return nullptr;
  }
  // Filling up parked groups keeps memory dense. When moving, all places count alike, new ones first while the
  // class still spreads.
  bool fresh = lists.parked_count == 0;
  if (moving && lists.fresh_count > 0 && !fresh)
    fresh = spreading || draws_.below(kSpreadGroups) * (lists.fresh_count + lists.parked_count) <
                             uint64_t{lists.fresh_count} * kSpreadGroups;
  Group* group = fresh ? take_fresh(lists, moving && !spreading) : take_parked(lists, !moving);
  activate(size_class, group, random_ && !shuffles_ && (fresh || moving));
  return group;
}

Group* Heap::take_parked(ClassLists& lists, bool best_of_two) {
  const uint32_t last = lists.parked_count - 1;
  Group* group = lists.parked[last];
  if (random_ && last > 0) {
    // Among the latest, whose records are still in the cache; when moving among all (of up to 2^16).
    const uint32_t window = best_of_two ? kParkedWindow : 0xffff;
    const uint32_t among = lists.parked_count < window ? lists.parked_count : window;
    group = lists.parked[last - draws_.below(among)];
    Group* other = best_of_two ? lists.parked[last - draws_.below(among)] : group;
    if (count_bits(other->freed) > count_bits(group->freed)) group = other;
  }
  unpark(group);
  return group;
}

Group* Heap::take_fresh(ClassLists& lists, bool anywhere) {
  Run* run = lists.runs_with_fresh;
  if (anywhere)
    for (uint32_t skip = draws_.below(kRunsToSkip); skip > 0 && run->next != nullptr; --skip) run = run->next;
  const int index = random_ ? draw_bit(draws_, run->fresh) : __builtin_ctzll(run->fresh);
  run->fresh &= ~(uint64_t{1} << index);
  --lists.fresh_count;
  if (run->fresh == 0) unlink(lists, run);
  Group* group = &run->groups[index];
  group->held = shuffles_ ? ~uint64_t{0} : ~group->full();
  return group;
}

// pre: group->free == 0.
void Heap::activate(int size_class, Group* group, bool cut) {
  uint64_t slots = group->freed & group->full();
  group->stand(kCurrent);
  if (cut) {
    const uint64_t front = slots & ((uint64_t{1} << draws_.below(group->slots())) - 1);
    if (front != slots) {
      slots &= ~front;
      group->held |= front;
    }
  }
  group->freed = shuffles_ ? 0 : uint64_t{group->held};
  give(lists_[size_class], group, slots);
  lists_[size_class].current = group;
  if (!shuffles_) lanes_[size_class] = group;
}

void Heap::leave(int size_class) {
  ClassLists& lists = lists_[size_class];
  Group* group = lists.current;
  if (group == nullptr) return;
  lists.current = nullptr;
  lanes_[size_class] = &no_group;
  lists.given -= count_bits(group->free);
  group->freed |= group->free;
  group->free = 0;
  if (!shuffles_) group->held = ~group->full();
  group->stand(kUnlisted);
  if ((group->freed & group->full()) != 0) settle(group);
}

void Heap::settle(Group* group) {
  if (group->place == kCurrent) return;
  const uint64_t freed = group->freed & group->full();
  if (freed == group->full()) {
    if (group->place != kUnlisted) unpark(group);
    return make_fresh(group);
  }
  if (group->place == kUnlisted && count_bits(freed) >= heap::size_class(group->size_class).enough) park(group);
}

void Heap::park(Group* group) {
  ClassLists& lists = lists_[group->size_class];
  if (lists.parked_count == lists.parked_room) {
    const uint32_t room = lists.parked_room == 0 ? 16 : lists.parked_room * 2;
    void* made = shared.bookkeeping.allocate(room * sizeof(Group*));
    // Without memory for the list the group waits, unlisted, until its last slot comes back.
    if (made == nullptr) return;
    if (lists.parked != nullptr) {
      memcpy(made, lists.parked, lists.parked_count * sizeof(Group*));
      shared.bookkeeping.free(lists.parked, lists.parked_room * sizeof(Group*));
    }
    lists.parked = static_cast<Group**>(made);
    lists.parked_room = room;
  }
  group->stand(lists.parked_count);
  group->freed |= ~group->full();
  lists.parked[lists.parked_count++] = group;
}

void Heap::unpark(Group* group) {
  ClassLists& lists = lists_[group->size_class];
  Group* last = lists.parked[--lists.parked_count];
  lists.parked[group->place] = last;
  last->place = group->place;
  group->stand(kUnlisted);
}

void Heap::make_fresh(Group* group) {
  ClassLists& lists = lists_[group->size_class];
  Run* run = shared.space.find(group->base);
  group->freed = ~uint64_t{0};
  group->held = ~uint64_t{0};
  if (run->fresh == 0) link(lists, run);
  run->fresh |= uint64_t{1} << (group - run->groups);
  ++lists.fresh_count;
  if (run->fresh == all_groups(run->group_count)) drop_run(run);
}

bool Heap::add_run(int size_class, Choice choice) {
  outbox_.send();
  look_after_heaps(false);
  report();
  const SizeClass& shape = heap::size_class(size_class);
  Group* groups = static_cast<Group*>(shared.bookkeeping.allocate(shape.groups * sizeof(Group)));
  if (groups == nullptr) return false;
  RunSpace::Acquired acquired = shared.space.acquire(choice, draws_);
  // Memory that ended threads or large objects keep may be just what is missing.
  if (acquired.run == nullptr) {
    look_after_heaps(true);
    large_objects.trim();
    acquired = shared.space.acquire(choice, draws_);
  }
  const auto [run, start, clean] = acquired;
  if (run == nullptr) {
    shared.bookkeeping.free(groups, shape.groups * sizeof(Group));
    return false;
  }
  run->owner = tag();
  run->phase = static_cast<uint16_t>(random_ ? draws_.below(shape.phase_lines + 1) * kLine : 0);
  run->pitch = static_cast<uint16_t>(shape.pitch);
  run->per_pitch = shape.per_pitch;
  run->per_stride = shape.per_stride;
  run->stride = static_cast<uint16_t>(shape.stride);
  run->size_class = static_cast<uint8_t>(size_class);
  run->fresh = all_groups(shape.groups);
  for (uint32_t i = 0; i < shape.groups; ++i) {
    groups[i].freed = ~uint64_t{0};
    groups[i].held = ~uint64_t{0};
    groups[i].base = start + run->phase + i * shape.pitch;
    groups[i].stride = static_cast<uint16_t>(shape.stride);
    groups[i].size_class = static_cast<uint8_t>(size_class);
    groups[i].unused_bits = static_cast<uint8_t>(64 - shape.slots);
    groups[i].stand(kUnlisted);
  }
  run->groups = groups;
  run->group_count = static_cast<uint8_t>(shape.groups);
  // A run for a new epoch or turn may see few objects.
  const bool filling = choice == Choice::kLowest || choice == Choice::kReuse;
  if (clean && filling && lists_[size_class].run_count >= kRunsUntilPopulated)
    os_populate(start + run->phase / kPage * kPage,
                round_up(run->phase % kPage + shape.groups * shape.pitch, kPage));
  ++lists_[size_class].run_count;
  lists_[size_class].fresh_count += shape.groups;
  link(lists_[size_class], run);
  return true;
}

// pre: every group is fresh.
void Heap::drop_run(Run* run) {
  ClassLists& lists = lists_[run->size_class];
  unlink(lists, run);
  lists.fresh_count -= run->group_count;
  --lists.run_count;
  Group* groups = run->groups;
  const size_t count = run->group_count;
  if (run->interior != nullptr) shared.bookkeeping.free(run->interior, count * sizeof(uint64_t));
  run->group_count = 0;
  shared.space.release(run);
  shared.bookkeeping.free(groups, count * sizeof(Group));
}

void Heap::link(ClassLists& lists, Run* run) {
  run->previous = nullptr;
  run->next = lists.runs_with_fresh;
  if (run->next != nullptr) run->next->previous = run;
  lists.runs_with_fresh = run;
}

void Heap::unlink(ClassLists& lists, Run* run) {
  if (run->next != nullptr) run->next->previous = run->previous;
  if (run->previous != nullptr) run->previous->next = run->next;
  if (lists.runs_with_fresh == run) lists.runs_with_fresh = run->next;
}

bool Heap::free_slow(const Spot& spot) {
  Group* group = spot.group;
  if (spot.owner != tag()) return !outbox_.holds(spot.group, spot.bit()) && free_remote(spot);
  const uint64_t not_live = group->free | group->freed | group->held | group->remote.load(std::memory_order_relaxed);
  if ((not_live & spot.bit()) != 0) return false;
  if (shuffles_) {
    arrays_.free(*this, draws_, group, spot.slot);
  } else {
    release_slot(group, spot.bit());
  }
  return true;
}

// The first bit puts the group on its owner's stack. The owner takes bits out only after taking the group off
// the stack, so a group is on it at most once, and a run that still has such bits is never dropped.
bool Heap::free_remote(const Spot& spot) {
  if ((spot.group->unavailable() & spot.bit()) != 0) return false;
  return return_slots(spot.owner, spot.group, spot.bit()) == 0;
}

uint64_t Heap::return_slots(uintptr_t owner, Group* group, uint64_t slots) {
  const uint64_t before = group->remote.fetch_or(slots, std::memory_order_acq_rel);
  if (before != 0) return before & slots;
  reinterpret_cast<Heap*>(owner & ~kShuffles)->push_returned(group, group);
  return 0;
}

// Puts a chain of groups on the stack.
void Heap::push_returned(Group* first, Group* last) {
  Group* top = remote_.load(std::memory_order_relaxed);
  do {
    last->next = top;
  } while (!remote_.compare_exchange_weak(top, first, std::memory_order_release, std::memory_order_relaxed));
}

bool Heap::collect() {
  if (remote_.load(std::memory_order_relaxed) == nullptr) return false;  // no write to a line that others write to
  Group* group = remote_.exchange(nullptr, std::memory_order_acquire);
  const bool any = group != nullptr;
  while (group != nullptr) {
    Group* after = group->next;
    const uint64_t back = group->remote.exchange(0, std::memory_order_acq_rel);
    if (shuffles_) group->held |= back;
    group->freed |= back;
    if (group->place == kPurged) group->place = kUnlisted;
    settle(group);
    group = after;
  }
  if (any) collected_ = collected_ + 1;
  return any;
}

void Heap::retire() {
  for (int size_class = 0; size_class < kClasses; ++size_class) {
    if (shuffles_) arrays_.empty(*this, size_class);
    leave(size_class);
  }
  outbox_.send();
  collect();
  report();
}

Heap::Served Heap::served() const {
  Served all;
  for (int size_class = 0; size_class < kClasses; ++size_class) {
    const uint64_t count = allocations(size_class);
    all.mallocs += count;
    all.bytes += count * heap::size_class(size_class).stride;
  }
  return all;
}

// The exit of the process reports for other threads' heaps, too: each difference is added by one of them.
void Heap::report() {
  const auto [mallocs, bytes] = served();
  const uint64_t mallocs_before = __atomic_exchange_n(&reported_mallocs_, mallocs, __ATOMIC_RELAXED);
  const uint64_t bytes_before = __atomic_exchange_n(&reported_bytes_, bytes, __ATOMIC_RELAXED);
  add(control().heap.mallocs, mallocs - mallocs_before);
  add(control().heap.bytes, bytes - bytes_before);
  const uint64_t turns = turns_;
  add(control().heap.turns, turns - __atomic_exchange_n(&reported_turns_, turns, __ATOMIC_RELAXED));
}

void Heap::take_over(uint64_t process) {
  if (process_ == process) return;
  process_ = process;
  draws_.branch(process);
  const auto [mallocs, bytes] = served();
  reported_mallocs_ = mallocs;
  reported_bytes_ = bytes;
  reported_turns_ = turns_;
}

bool Heap::consistent() const {
  for (int size_class = 0; size_class < kClasses; ++size_class) {
    const ClassLists& lists = lists_[size_class];
    for (uint32_t i = 0; i < lists.parked_count; ++i) {
      const Group* group = lists.parked[i];
      if (group->place != i || group->quiet_up_to != ~uint64_t{1} || group->size_class != size_class) return false;
      if (shared.space.find(group->base)->owner != tag()) return false;
      const uint64_t freed = group->freed & group->full();
      if (group->free != 0 || freed == 0 || freed == group->full() || (group->freed | group->full()) != ~uint64_t{0})
        return false;
      if (shuffles_ ? (freed & ~group->held) != 0 : group->held != ~group->full()) return false;
    }
    uint32_t fresh = 0;
    for (const Run* run = lists.runs_with_fresh; run != nullptr; run = run->next) {
      const uint32_t count = static_cast<uint32_t>(bit_count(run->fresh));
      if (count == 0 || count >= run->group_count || run->owner != tag()) return false;
      if (run->size_class != size_class || (run->next != nullptr && run->next->previous != run)) return false;
      fresh += count;
    }
    if (fresh != lists.fresh_count) return false;
    const Group* current = lists.current;
    if (lanes_[size_class] != (shuffles_ || current == nullptr ? &no_group : current)) return false;
    if (current == nullptr) continue;
    if (current->place != kCurrent || current->quiet_up_to != ~uint64_t{0}) return false;
    if ((current->free & current->freed) != 0) return false;
    if (shuffles_ && ((current->free | current->freed) & ~current->held) != 0) return false;
    if (!shuffles_ && ((current->held & ~current->freed) | (current->held & current->free)) != 0) return false;
  }
  return true;
}

}  // namespace stab::heap
