// Everything malloc and free do beyond the fast path: deciding whether this process uses our heap at all,
// giving a thread its heap, large and over-aligned requests, moving, and telling a bad address from a good one.
#include "runtime/heap/allocate.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "runtime/heap/fault.h"
#include "runtime/heap/large_objects.h"
#include "runtime/libc_names.h"

namespace stab::heap {
namespace {

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

[[gnu::noinline]] void* allocate_rarely(size_t bytes, Heap* heap, int size_class, const Behind& next) {
  void* got = heap != &no_heap ? heap->allocate_slow(size_class) : nullptr;
  return got != nullptr ? got : allocate_slow(bytes, next);
}

// Apart from allocate_slot, which then needs no registers saved.
[[gnu::noinline]] void* allocate_again(size_t bytes, Heap* heap, int size_class, const Behind& next) {
  void* got = nullptr;
  return __builtin_expect(heap->allocate_again(size_class, got), 1) ? got : allocate_rarely(bytes, heap, size_class, next);
}

// A live slot that `address` may name: its start, or the place inside that an aligned allocation gave out.
// pre: `run` is the run of `address`.
Spot expect_slot(const char* call, const Run& run, void* address) {
  Spot spot;
  if (!locate(run, address, spot)) fault(call, address, "lies in no block");
  if (spot.slot >= heap::size_class(run.size_class).slots) fault(call, address, "lies in no block");
  if (spot.inside == 0) return spot;
  const uint64_t* interior = run.interior;
  if (interior == nullptr || (__atomic_load_n(&interior[spot.group_index], __ATOMIC_RELAXED) & spot.bit()) == 0)
    fault(call, address, "is inside a block, not its start");
  return spot;
}

[[noreturn]] void fault_foreign(const char* call, void* address) {
  fault(call, address,
        large_objects.contains(address) ? "is inside a large block, not its start"
                                        : "was not allocated here, or is a large block that was freed already");
}

// Every slot of the class is aligned so: runs, phases and gaps are multiples of a line.
bool naturally_aligned(int size_class, size_t alignment) {
  return alignment <= kLine && heap::size_class(size_class).stride % alignment == 0;
}

// Remembers that a slot was given out by an address inside it. False: no memory.
bool note_interior(void* address) {
  Run* run = shared.space.find(address);
  Spot spot;
  if (!locate(*run, address, spot) || spot.inside == 0) return true;
  if (run->interior == nullptr)
    run->interior = static_cast<uint64_t*>(shared.bookkeeping.allocate(run->group_count * sizeof(uint64_t)));
  if (run->interior == nullptr) return false;
  __atomic_fetch_or(&run->interior[spot.group_index], spot.bit(), __ATOMIC_RELAXED);
  return true;
}

}  // namespace

void* allocate_slot(size_t bytes, Heap* heap, int size_class, const Behind& next) {
  if (!heap->shuffles()) return allocate_again(bytes, heap, size_class, next);
  void* got = nullptr;
  return __builtin_expect(heap->allocate_shuffled(size_class, got), 1) ? got : allocate_rarely(bytes, heap, size_class, next);
}

void* allocate_slow(size_t bytes, const Behind& next) {
  if (decide() == State::kLibc) return next.malloc(bytes);
  if (bytes <= kMaxSmall) {
    void* got = allocate_in_thread(class_of(bytes));
    return got != nullptr ? got : no_memory();
  }
  bool zeroed = false;
  void* got = large_objects.allocate(bytes, kAlignment, zeroed);
  return got != nullptr ? got : no_memory();
}

void free_slot(void* address, Heap* heap, const Run* run, Group* group, uint32_t slot) {
  if (__builtin_expect(heap->free_shuffled(run->owner, group, slot), 1)) return;
  if (heap != &no_heap && heap->free_later(*run, group, slot, address)) return;
  free_slow(address);
}

void free_slow(void* address, const Behind& next) {
  if (address == nullptr) return;
  if (decide() == State::kLibc) return next.free(address);
  Run* run = shared.space.find(address);
  if (run == nullptr || run->group_count == 0) {
    if (run != nullptr || !large_objects.free(address)) fault_foreign("free", address);
    return;
  }
  const Spot spot = expect_slot("free", *run, address);
  if (spot.inside != 0) __atomic_fetch_and(&run->interior[spot.group_index], ~spot.bit(), __ATOMIC_RELAXED);
  const bool was_live = my_heap != &no_heap ? my_heap->free_slow(spot) : Heap::free_remote(spot);
  if (!was_live) fault("free", address, "was freed already");
}

void* allocate_zeroed(size_t count, size_t bytes) {
  if (decide() == State::kLibc) return behind.calloc(count, bytes);
  size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) return no_memory();
  if (total <= kMaxSmall) {
    void* got = allocate(total);
    return got == nullptr ? nullptr : memset(got, 0, total);
  }
  bool zeroed = false;
  void* got = large_objects.allocate(total, kAlignment, zeroed);
  if (got == nullptr) return no_memory();
  return zeroed ? got : memset(got, 0, total);
}

void* reallocate(void* old, size_t bytes) {
  if (decide() == State::kLibc) return behind.realloc(old, bytes);
  if (old == nullptr) return allocate(bytes);
  if (bytes == 0) {
    release(old);
    return nullptr;
  }
  size_t usable = 0;
  const Run* run = shared.space.find(old);
  if (run != nullptr && run->group_count != 0) {
    const Spot spot = expect_slot("realloc", *run, old);
    if (!my_heap->is_live(spot)) fault("realloc", old, "was freed already");
    usable = run->stride - spot.inside;
    // Stays unless it grows out of its slot or would leave more than half of it unused.
    if (bytes <= usable && bytes >= usable / 2) return old;
  } else {
    usable = large_objects.usable(old);
    if (usable == 0) fault_foreign("realloc", old);
    if (bytes > kMaxSmall) {
      void* moved = large_objects.resize(old, bytes);
      return moved != nullptr ? moved : no_memory();
    }
  }
  void* fresh = allocate(bytes);
  if (fresh == nullptr) return bytes <= usable ? old : nullptr;
  memcpy(fresh, old, bytes < usable ? bytes : usable);
  release(old);
  return fresh;
}

// Up to a line the slots of most classes are aligned by themselves. Above that a larger slot is taken and an
// address inside it given out: over-aligned objects lie among the others of their class, as cheaply as they.
void* allocate_aligned(size_t alignment, size_t bytes, const Behind& next) {
  if (decide() == State::kLibc) return next.memalign(alignment, bytes);
  if (alignment <= kAlignment) return allocate(bytes);
  if (bytes <= kMaxSmall && alignment <= kMaxSmall) {
    for (int fits = class_of(bytes); fits < kClasses && alignment <= kLine; ++fits)
      if (naturally_aligned(fits, alignment)) return allocate(heap::size_class(fits).stride);
    // At least one byte, or the address could be the next slot's.
    const size_t roomy = (bytes > 0 ? bytes : 1) + alignment - kAlignment;
    if (roomy <= kMaxSmall) {
      char* slot = static_cast<char*>(allocate(roomy));
      if (slot == nullptr) return nullptr;
      const uintptr_t start = reinterpret_cast<uintptr_t>(slot);
      char* aligned = slot + (((start + alignment - 1) & ~(alignment - 1)) - start);
      if (note_interior(aligned)) return aligned;
      release(slot);
      return no_memory();
    }
  }
  bool zeroed = false;
  void* got = large_objects.allocate(bytes > 0 ? bytes : 1, alignment, zeroed);
  return got != nullptr ? got : no_memory();
}

void* allocate_rounded(size_t alignment, size_t bytes) {
  if (alignment > SIZE_MAX / 2 + 1) {
    errno = EINVAL;
    return nullptr;
  }
  size_t power = 1;
  while (power < alignment) power *= 2;
  return allocate_aligned(power, bytes);
}

// "2.36". What is no such number is newer than all that are known.
bool libc_refuses_odd_alignments() {
  const char* at = libc::version();
  if (at[0] != '2' || at[1] != '.') return true;
  int minor = 0;
  for (at += 2; *at >= '0' && *at <= '9'; ++at) minor = minor * 10 + (*at - '0');
  return minor >= 38;
}

size_t usable_size(void* address) {
  if (address == nullptr) return 0;
  if (decide() == State::kLibc) return libc_usable_size(address);
  const Run* run = shared.space.find(address);
  if (run != nullptr && run->group_count != 0)
    return run->stride - expect_slot("malloc_usable_size", *run, address).inside;
  const size_t usable = large_objects.usable(address);
  if (usable == 0) fault_foreign("malloc_usable_size", address);
  return usable;
}

}  // namespace stab::heap
