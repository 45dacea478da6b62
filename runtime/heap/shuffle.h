// ShuffleArrays: the paper's randomizer (Curtsinger & Berger, ASPLOS 2013, section 3.2) on top of a Heap.
//
// For each class an array of slots that count as free to the program and as used to the heap below. malloc
// takes a slot from the heap, swaps it with a random element and returns that; free swaps likewise and gives
// the displaced slot back. Each step is one step of a Fisher-Yates shuffle.
//
// "The heap below" is a stack of up to kStack slots, last in first out like the free lists of the paper's base
// allocator, filled from and emptied into the groups in batches.
#pragma once

#include <stdint.h>

#include "runtime/heap/heap_draws.h"
#include "runtime/heap/group.h"
#include "runtime/heap/size_classes.h"

namespace stab::heap {

class Heap;

class ShuffleArrays {
 public:
  // The paper's N; smaller ones were not faster. Classes above 1 KiB have as many as span 256 KiB: what lies
  // further apart differs in no cache index bit (6 to 17), and 256 slots of 16 KiB would keep 4 MiB resident.
  static constexpr uint32_t kElements = 256;
  static constexpr uint32_t kSpanBytes = 256 * 1024;
  // A power of two: the low bits of one drawn byte are an index.
  static constexpr uint32_t elements_of(int size_class) {
    uint32_t elements = kElements;
    while (elements * kStrides[size_class] > kSpanBytes * 3 / 2) elements /= 2;
    return elements;
  }
  static constexpr uint32_t kStack = 64;
  static constexpr uint32_t kBatch = 16;

  // False: the stack is empty, see prepare().
  inline bool allocate(Draws& draws, int size_class, void*& got);
  // Makes the next allocation possible. False: no memory.
  bool prepare(Heap& heap, int size_class);
  // pre: the slot is live and its group belongs to heap.
  inline void free(Heap& heap, Draws& draws, Group* group, uint32_t slot);
  // Gives everything back to the heap.
  void empty(Heap& heap, int size_class);

  uint64_t allocations(int size_class) const { return lanes_[size_class].state / Lane::kOneAllocation; }

 private:
  // A group (multiple of 64) plus a slot.
  using Element = uint64_t;

  // elements: null, or [kStack] of the stack and the array, [last + 1], behind it.
  // depth: slots on the stack, 0 to kStack, or kUnfilled: neither array nor stack hold any. So each fast path
  // needs one comparison.
  // state: the depth in its low 16 bits, allocations so far above: one word to change in malloc and free.
  static constexpr uint32_t kUnfilled = kStack + 1;
  struct Lane {
    static constexpr uint64_t kOneAllocation = uint64_t{1} << 16;
    Element* elements = nullptr;
    uint64_t state = kUnfilled;
    uint8_t last = 0;  // elements_of() - 1
    uint32_t depth() const { return static_cast<uint16_t>(state); }
    void set_depth(uint32_t depth) { state = state / kOneAllocation * kOneAllocation + depth; }
  };

  static Group* group_of(Element element) { return reinterpret_cast<Group*>(element & ~Element{63}); }
  static int slot_of(Element element) { return static_cast<int>(element & 63); }
  static uint64_t bit_of(Element element) { return uint64_t{1} << (element & 63); }

  bool fill(Heap& heap, int size_class, Lane& lane);
  bool top_up(Heap& heap, int size_class, Lane& lane);
  void spill(Heap& heap, Lane& lane, uint32_t count);
  // The rest of free() where the stack is full, or the array isn't in use and the slot goes back to the heap.
  void free_without_room(Heap& heap, Draws& draws, Group* group, uint32_t slot);
  inline void swap_in(Draws& draws, Lane& lane, Group* group, uint32_t slot);

  Lane lanes_[kClasses] = {};
};

inline bool ShuffleArrays::allocate(Draws& draws, int size_class, void*& got) {
  Lane& lane = lanes_[size_class];
  const uint32_t left = lane.depth() - 1;
  if (__builtin_expect(left >= kStack, 0)) return false;
  lane.state += Lane::kOneAllocation - 1;
  Element& place = lane.elements[kStack + (draws.byte() & lane.last)];
  const Element given = place;
  place = lane.elements[left];
  Group* group = group_of(given);
  group->held &= ~bit_of(given);
  got = group->slot(slot_of(given));
  return true;
}

inline void ShuffleArrays::swap_in(Draws& draws, Lane& lane, Group* group, uint32_t slot) {
  Element& place = lane.elements[kStack + (draws.byte() & lane.last)];
  lane.elements[lane.depth()] = place;
  ++lane.state;
  place = reinterpret_cast<Element>(group) | slot;
}

inline void ShuffleArrays::free(Heap& heap, Draws& draws, Group* group, uint32_t slot) {
  Lane& lane = lanes_[group->size_class];
  group->held |= uint64_t{1} << slot;
  if (__builtin_expect(lane.depth() >= kStack, 0)) return free_without_room(heap, draws, group, slot);
  swap_in(draws, lane, group, slot);
}

}  // namespace stab::heap
