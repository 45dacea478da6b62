// Memory that other threads have freed in the heap of a thread that does nothing: a thread builds a table and waits,
// others take it apart. Only the owner can hand such slots out again or drop their runs, but their pages can go back
// to the system without it.
//
// A group is whole when others have freed all its slots. While it is in no list the owner reaches it in one way alone,
// from the stack of returned groups; so whoever has taken it off that stack has it for itself, and puts it back when its
// pages are gone. The owner finds zeroed pages behind it one day, which it takes for used ones.
#include "runtime/heap/heap.h"
#include "runtime/heap/os_memory.h"
#include "runtime/round_up.h"

namespace stab::heap {
namespace {

// Visits without a sign of the owner until the stack is looked through, and groups in it for each further one: they
// are cache misses, and visits come with runs, which cost about as much.
constexpr uint32_t kVisits = 8;
constexpr uint32_t kGroupsAVisit = 64;

// In this order: before the last slot came back the owner may have had the group in hand, and put it elsewhere since.
bool is_whole(const Group& group) {
  return group.remote.load(std::memory_order_acquire) == group.full() && group.place == kUnlisted;
}

bool is_taken(const Group& group) { return group.place == kTaken; }

// The pages that hold nothing but the neighbours from this group on that are taken. False: none, or this is not the first.
bool purge_from(const Group* first) {
  const Run* run = shared.space.find(first->base);
  const Group* const end = run->groups + run->group_count;
  if (first != run->groups && is_taken(first[-1])) return false;
  const Group* last = first;
  while (last + 1 != end && is_taken(last[1])) ++last;
  // In front of the first group of a run and behind the last one there is nothing.
  const uintptr_t run_start = reinterpret_cast<uintptr_t>(run->groups->base) - run->phase;
  const uintptr_t from = first == run->groups ? run_start : reinterpret_cast<uintptr_t>(first->base);
  const uintptr_t to = last + 1 == end ? run_start + kRunBytes : reinterpret_cast<uintptr_t>(last[1].base);
  const uintptr_t page = round_up(from, kPage);
  if (page + kPage > to) return false;
  os_purge(reinterpret_cast<char*>(page), (to - page) / kPage * kPage);
  return true;
}

}  // namespace

bool Heap::purge_returned(bool at_once) {
  if (remote_.load(std::memory_order_relaxed) == nullptr) return false;
  if (!at_once) {
    const uint64_t collected = collected_;
    visits_ = collected == collected_seen_ ? visits_ + 1 : 0;
    collected_seen_ = collected;
    if (visits_ < visits_needed_) return false;
    visits_ = 0;
  }
  Group* const top = remote_.exchange(nullptr, std::memory_order_acquire);
  if (top == nullptr) return false;
  Group* last = nullptr;
  uint32_t count = 0;
  for (Group* group = top; group != nullptr; group = group->next) {
    if (is_whole(*group)) group->place = kTaken;
    last = group;
    ++count;
  }
  bool any = false;
  for (Group* group = top; group != nullptr; group = group->next)
    if (is_taken(*group) && purge_from(group)) any = true;
  for (Group* group = top; group != nullptr; group = group->next)
    if (is_taken(*group)) group->place = kPurged;
  visits_needed_ = kVisits + count / kGroupsAVisit;
  push_returned(top, last);
  return any;
}

}  // namespace stab::heap
