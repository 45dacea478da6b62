// An element is 8 bytes, a group's address and a slot's number in its low 6 bits, because a slot's state lives
// in its group and both directions need it. In a heap that shuffles a slot is `held` unless the program has it:
// so a second free of a slot in the array is seen, with one change of state a call.
// Slots of other threads' heaps don't enter the array; they go home (outbox.h).
#include "runtime/heap/shuffle.h"

#include <string.h>

#include "runtime/heap/heap.h"

namespace stab::heap {
bool ShuffleArrays::prepare(Heap& heap, int size_class) {
  Lane& lane = lanes_[size_class];
  if (lane.depth() == kUnfilled && !fill(heap, size_class, lane)) return false;
  return lane.depth() > 0 || top_up(heap, size_class, lane);
}

void ShuffleArrays::free_without_room(Heap& heap, Draws& draws, Group* group, uint32_t slot) {
  Lane& lane = lanes_[group->size_class];
  if (lane.depth() == kUnfilled) return heap.release_slot(group, uint64_t{1} << slot);
  spill(heap, lane, kStack / 2);
  swap_in(draws, lane, group, slot);
}

// Costs a bit for each element; the slots themselves are not touched.
bool ShuffleArrays::fill(Heap& heap, int size_class, Lane& lane) {
  const uint32_t count = elements_of(size_class);
  if (lane.elements == nullptr) {
    void* made = shared.bookkeeping.allocate((kStack + count) * sizeof(Element));
    if (made == nullptr) return false;
    lane.elements = static_cast<Element*>(made);
    lane.last = static_cast<uint8_t>(count - 1);
  }
  Element* array = lane.elements + kStack;
  lane.set_depth(0);
  for (uint32_t i = 0; i < count; ++i) {
    if (lane.depth() == 0 && !top_up(heap, size_class, lane)) {
      lane.set_depth(kUnfilled);
      for (uint32_t back = 0; back < i; ++back) heap.release_slot(group_of(array[back]), bit_of(array[back]));
      return false;
    }
    --lane.state;
    array[i] = lane.elements[lane.depth()];
  }
  heap.settled(size_class);
  return true;
}

// pre: the stack is empty. False: no memory for even one slot.
bool ShuffleArrays::top_up(Heap& heap, int size_class, Lane& lane) {
  while (lane.depth() < kBatch) {
    int slot = 0;
    Group* group = heap.take(size_class, slot);
    if (group == nullptr) break;
    lane.elements[lane.depth()] = reinterpret_cast<uint64_t>(group) | static_cast<uint64_t>(slot);
    ++lane.state;
  }
  return lane.depth() > 0;
}

// The oldest go: they have been out of use longest.
void ShuffleArrays::spill(Heap& heap, Lane& lane, uint32_t count) {
  Element* stack = lane.elements;
  for (uint32_t i = 0; i < count; ++i) heap.release_slot(group_of(stack[i]), bit_of(stack[i]));
  lane.state -= count;
  memmove(stack, stack + count, lane.depth() * sizeof(Element));
}

void ShuffleArrays::empty(Heap& heap, int size_class) {
  Lane& lane = lanes_[size_class];
  if (lane.depth() == kUnfilled) return;
  spill(heap, lane, lane.depth());
  lane.set_depth(kUnfilled);
  const Element* array = lane.elements + kStack;
  for (uint32_t i = 0; i <= lane.last; ++i) heap.release_slot(group_of(array[i]), bit_of(array[i]));
}

}  // namespace stab::heap
