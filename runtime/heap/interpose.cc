// malloc and friends, in place of libc's. Strong definitions: a static link needs them to win over libc.a's
// malloc.o, and a program that brings its own malloc should learn of it from the linker.
#include <errno.h>
#include <stdint.h>

#include "runtime/heap/allocate.h"
#include "runtime/heap/libc_heap.h"

namespace {
bool is_power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }
}  // namespace

#define EXPORTED [[gnu::visibility("default")]]
#define NAME(function) function
#include "runtime/heap/c_functions.inc"
