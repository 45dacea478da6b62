// malloc and friends in a static executable: the driver links with --wrap=malloc and so on, so that every
// reference to malloc, libc.a's own included, becomes one to __wrap_malloc, while libc's malloc stays reachable
// as __libc_malloc for `off`. Two strong definitions of malloc would not link, and a weak one would lose.
// A program's own malloc is reached the same way (libc_heap_static.cc). A program that wraps one of them itself keeps its
// own __wrap_x; what that gets from __real_x is not ours, so all calls are handed on.
#include <errno.h>
#include <stdint.h>

#include "runtime/heap/allocate.h"
#include "runtime/heap/libc_heap.h"

namespace {
bool is_power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }
}  // namespace

#define EXPORTED [[gnu::weak]]
#define NAME(function) __wrap_##function
#include "runtime/heap/c_functions.inc"

#define STAB_WRAPS(with) with(malloc) with(free) with(calloc) with(realloc) with(reallocarray) with(posix_memalign) \
  with(memalign) with(aligned_alloc) with(valloc) with(pvalloc) with(malloc_usable_size)

// Ours, by names that nobody replaces. Only their addresses are used.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-attributes"
#define STAB_OWN(name) \
  extern "C" [[gnu::alias("__wrap_" #name)]] decltype(__wrap_##name) stab_own_##name __attribute__((visibility("hidden")));
STAB_WRAPS(STAB_OWN)
#pragma GCC diagnostic pop

namespace stab::heap {

// Read at run time: which __wrap_malloc there is, the linker decides.
bool program_wraps_malloc() {
#define STAB_PAIR(name) {reinterpret_cast<void*>(__wrap_##name), reinterpret_cast<void*>(stab_own_##name)},
  void* const volatile pairs[][2] = {STAB_WRAPS(STAB_PAIR)};
  for (const auto& pair : pairs)
    if (pair[0] != pair[1]) return true;
  return false;
}

}  // namespace stab::heap
