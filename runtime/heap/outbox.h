// Outbox: slots of other threads' heaps that this thread has freed and not yet told their owners.
//
// To tell an owner is to write to lines that it writes to as well: some 100 ns for each thread. So the slots of
// one group are collected, and go together: when another group needs the parcel, when this thread's heap takes a
// run or a turn, in a new epoch, and when the thread ends or trims. Until then they count as in use.
#pragma once

#include <stdint.h>

#include "runtime/heap/group.h"

namespace stab::heap {

class Outbox {
 public:
  // So at most 64 KiB a thread wait.
  static constexpr uint32_t kParcels = 8;
  static constexpr uint32_t kLargestStride = 1024;

  // False: not for the outbox, or not live; nothing has changed then.
  // pre: the slot starts at `start`; the run belongs to another heap.
  bool put(const Run& run, Group* group, uint32_t slot, void* start);
  bool holds(const Group* group, uint64_t bit) const {
    const Parcel& parcel = parcels_[index_of(group)];
    return parcel.group == group && (parcel.slots & bit) != 0;
  }
  void send() {
    if (__builtin_expect(!waiting_, 1)) return;
    for (Parcel& parcel : parcels_) send(parcel);
    waiting_ = false;
  }

 private:
  // group: null if there is nothing in it.
  struct Parcel {
    Group* group = nullptr;
    const Run* run = nullptr;
    char* base = nullptr;  // the group's slot 0
    uint64_t slots = 0;
  };
  static uint32_t index_of(const Group* group) { return reinterpret_cast<uintptr_t>(group) / sizeof(Group) % kParcels; }
  static void send(Parcel& parcel);

  Parcel parcels_[kParcels] = {};
  bool waiting_ = false;  // some parcel may hold slots
};

}  // namespace stab::heap
