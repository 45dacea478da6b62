// operator new(nothrow) must return null when a new-handler throws ([new.delete.single]), so this file alone of the
// runtime is compiled with exceptions. What catching needs of the C++ library is referenced weakly: present where
// somebody can throw, absent in C programs, which have no new-handler and never get here.
#include "runtime/heap/cxx_nothrow.h"

__asm__(".weak __gxx_personality_v0");
__asm__(".weak __cxa_begin_catch");
__asm__(".weak __cxa_end_catch");
__asm__(".weak _Unwind_Resume");

namespace stab::heap {

void* null_if_thrown(void* (*allocate)(size_t, size_t), size_t bytes, size_t alignment) {
  try {
    return allocate(bytes, alignment);
  } catch (...) {
    return nullptr;
  }
}

}  // namespace stab::heap
