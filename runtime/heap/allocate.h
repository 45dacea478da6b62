// The way of an allocation: what malloc, free and operator new compile to. Everything that is not a handful
// of instructions is behind a call (allocate.cc).
#pragma once

#include <stddef.h>

#include "runtime/heap/libc_heap.h"
#include "runtime/heap/threads.h"

namespace stab::heap {

// Null with errno ENOMEM when there is no memory; undecided state and large requests end up here too. `next` is what a call is
// handed on to where ours don't serve: operators new and delete name another than the functions of C.
void* allocate_slow(size_t bytes, const Behind& next = behind);
// The same where a shuffling heap may have a slot at hand. pre: bytes <= kMaxSmall
void* allocate_slot(size_t bytes, Heap* heap, int size_class, const Behind& next);
// pre: address is none that free_fast took.
void free_slow(void* address, const Behind& next = behind);
// The same for the start of a slot of a run of the first region: a shuffling heap may take it back, or it is another
// thread's.
void free_slot(void* address, Heap* heap, const Run* run, Group* group, uint32_t slot);

[[gnu::always_inline]] inline void* allocate(size_t bytes, const Behind& next = behind) {
  if (__builtin_expect(bytes <= small_limit, 1)) {
    Heap* heap = my_heap;
    const int size_class = class_of(bytes);
    void* got;
    if (__builtin_expect(heap->allocate_fast(size_class, got), 1)) return got;
    return allocate_slot(bytes, heap, size_class, next);
  }
  if (__builtin_expect(state.load(std::memory_order_relaxed) == State::kLibc, 1)) return next.malloc(bytes);
  return allocate_slow(bytes, next);
}

[[gnu::always_inline]] inline void release(void* address, const Behind& next = behind) {
  Run* run;
  if (__builtin_expect(shared.space.find_fast(address, run), 1)) {
    Spot spot;
    if (__builtin_expect(!locate_start(*run, address, spot), 0)) return free_slow(address);
    Heap* heap = my_heap;
    if (__builtin_expect(heap->free_fast(spot), 1)) return;
    return free_slot(address, heap, run, spot.group, spot.slot);
  }
  if (__builtin_expect(state.load(std::memory_order_relaxed) == State::kLibc, 1)) return next.free(address);
  free_slow(address, next);
}

// As the functions of those names, without their checks of the arguments that C demands:
void* allocate_zeroed(size_t count, size_t bytes);           // overflow: null, ENOMEM
void* reallocate(void* old, size_t bytes);                   // old may be null; 0 bytes: frees, null
void* allocate_aligned(size_t alignment, size_t bytes, const Behind& next = behind);  // pre: alignment is a power of two
void* allocate_rounded(size_t alignment, size_t bytes);      // one that is none counts as the next one, as in glibc
size_t usable_size(void* address);                           // 0 for null

// Whether the process's libc has an aligned_alloc that demands a power of two.
bool libc_refuses_odd_alignments();

}  // namespace stab::heap
