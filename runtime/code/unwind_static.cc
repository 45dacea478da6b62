// In a static executable: the driver links with --wrap=_Unwind_Find_FDE.
#include "runtime/code/unwind.h"

using stab::code::EhBases;

bool stab::code::is_before_libgcc() { return true; }

extern "C" {

const void* __real__Unwind_Find_FDE(void* pc, EhBases* bases) __attribute__((weak));  // a C program may have none

const void* __wrap__Unwind_Find_FDE(void* pc, EhBases* bases) {
  if (__real__Unwind_Find_FDE == nullptr) return nullptr;
  return stab::code::find_moved_fde(__real__Unwind_Find_FDE, pc, bases);
}

}  // extern "C"
