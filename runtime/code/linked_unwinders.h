// Unwinders that are linked into the executable, or that it is linked with: names that these alone have.
#pragma once

#include <stdint.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/handshake_messages.h"

extern "C" {
void __unw_add_dynamic_fde(uintptr_t) __attribute__((weak));  // LLVM's libunwind
int STAB_LIBUNWIND_STEP(void*) __attribute__((weak));         // the other libunwind
}

namespace stab::code {

// Neither asks anybody: they look code up in the files that are loaded.
inline helper::Unwinder linked_unwinder() {
  if (__unw_add_dynamic_fde != nullptr) return helper::Unwinder::kLlvm;
  return STAB_LIBUNWIND_STEP != nullptr ? helper::Unwinder::kOther : helper::Unwinder::kFollows;
}

}  // namespace stab::code
