// A second free of a slot that waits here is seen at once in this thread; by its owner's thread it is seen when
// the parcel arrives, unless the owner has handed the slot out again by then. That is why few slots wait, and why each
// put() looks at the group, although that costs a read of the owner's line.
#include "runtime/heap/outbox.h"

#include "runtime/heap/fault.h"
#include "runtime/heap/heap.h"

namespace stab::heap {

bool Outbox::put(const Run& run, Group* group, uint32_t slot, void* start) {
  if (run.stride > kLargestStride || slot >= size_class(run.size_class).slots) return false;
  Parcel& parcel = parcels_[index_of(group)];
  const bool same = parcel.group == group;
  const uint64_t bit = uint64_t{1} << slot;
  if (((group->unavailable() | (same ? parcel.slots : 0)) & bit) != 0) return false;
  if (!same) {
    send(parcel);
    parcel = {group, &run, static_cast<char*>(start) - slot * run.stride, 0};
    waiting_ = true;
  }
  parcel.slots |= bit;
  return true;
}

void Outbox::send(Parcel& parcel) {
  Group* const group = parcel.group;
  if (group == nullptr) return;
  parcel.group = nullptr;
  const Run& run = *parcel.run;
  // Of a run with slots that wait here nothing is ever given back, unless somebody else freed them, too.
  uint64_t twice = parcel.slots;
  if (group >= run.groups && group < run.groups + run.group_count && group->base == parcel.base) {
    twice &= group->unavailable();
    if (__builtin_expect(twice == 0, 1)) twice = Heap::return_slots(run.owner, group, parcel.slots);
  }
  if (__builtin_expect(twice != 0, 0))
    fault("free", parcel.base + __builtin_ctzll(twice) * run.stride, "was freed already");
}

}  // namespace stab::heap
