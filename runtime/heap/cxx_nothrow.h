// Where an exception ends (cxx_nothrow.cc).
#pragma once

#include <stddef.h>

namespace stab::heap {

// What `allocate` returns, or null if it throws.
void* null_if_thrown(void* (*allocate)(size_t bytes, size_t alignment), size_t bytes, size_t alignment);

}  // namespace stab::heap
