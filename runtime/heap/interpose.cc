// malloc and friends, in place of libc's. Weak: a program that brings its own malloc keeps it, and the dose
// report says that ours was never called. Static executables get theirs from interpose_static.cc.
#include <errno.h>
#include <stdint.h>

#include "runtime/heap/allocate.h"
#include "runtime/heap/libc_heap.h"

namespace {
bool is_power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }
}  // namespace

#define EXPORTED [[gnu::weak, gnu::visibility("default")]]
#define NAME(function) function
#include "runtime/heap/c_functions.inc"
