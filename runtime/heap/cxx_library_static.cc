#include "runtime/heap/cxx_library.h"

namespace stab::heap {

void* find_cxx_function(const char*, const void*) { return nullptr; }

}  // namespace stab::heap
