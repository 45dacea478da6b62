// In a static executable: the driver links with --wrap=_Unwind_Find_FDE.
#include "runtime/code/frame_tables.h"
#include "runtime/code/linked_unwinders.h"
#include "runtime/code/unwind.h"

using stab::code::EhBases;

stab::helper::Unwinder stab::code::find_unwinder() { return linked_unwinder(); }

extern "C" {

// A C program may have none, and only lld takes one from libgcc_eh.a for a weak reference.
const void* __real__Unwind_Find_FDE(void* pc, EhBases* bases) __attribute__((weak));

const void* __wrap__Unwind_Find_FDE(void* pc, EhBases* bases) {
  const bool real = __real__Unwind_Find_FDE != nullptr;
  return stab::code::find_moved_fde(real ? __real__Unwind_Find_FDE : stab::code::find_own_fde, pc, bases);
}

}  // extern "C"
