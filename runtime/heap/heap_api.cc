// See heap_api.h.
#include "runtime/heap/heap_api.h"

#include <errno.h>
#include <stdint.h>

#include "runtime/heap/allocate.h"
#include "runtime/heap/libc_heap.h"

namespace {
bool is_power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }
}  // namespace

#define EXPORTED
#define NAME(function) stab_heap_##function
#include "runtime/heap/c_functions.inc"

// Calls under these names are meant for us; a sanitizer's library brings a malloc, too.
bool stab::heap::library_has_malloc() { return false; }
bool stab::heap::program_has_malloc() { return false; }
bool stab::heap::libraries_find_ours() { return true; }

bool stab::heap::is_passed_over() { return false; }
