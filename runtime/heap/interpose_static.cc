// malloc and friends in a static executable: the driver links with --wrap=malloc and so on, so that every
// reference to malloc, libc.a's own included, becomes one to __wrap_malloc, while libc's malloc stays reachable
// as __libc_malloc for `off`. Two strong definitions of malloc would not link, and a weak one would lose.
// A program's own malloc is reached the same way (libc_heap_static.cc).
#include <errno.h>
#include <stdint.h>

#include "runtime/heap/allocate.h"
#include "runtime/heap/libc_heap.h"

namespace {
bool is_power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }
}  // namespace

#define EXPORTED
#define NAME(function) __wrap_##function
#include "runtime/heap/c_functions.inc"
