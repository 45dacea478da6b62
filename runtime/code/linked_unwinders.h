// Unwinders that are linked into the executable, or that it is linked with: names that these alone have.
#pragma once

#include <stdint.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/handshake_messages.h"

extern "C" {
void __unw_add_dynamic_fde(uintptr_t) __attribute__((weak));  // LLVM's libunwind
int STAB_LIBUNWIND_STEP(void*) __attribute__((weak));         // the other libunwind
int STAB_LIBUNWIND_BEGIN(void*, void*) __attribute__((weak));
}

namespace stab::code {

// Neither asks anybody: they look code up in the files that are loaded.
inline helper::Unwinder linked_unwinder() {
  if (__unw_add_dynamic_fde != nullptr) return helper::Unwinder::kLlvm;
  const bool is_other = STAB_LIBUNWIND_STEP != nullptr || STAB_LIBUNWIND_BEGIN != nullptr;
  return is_other ? helper::Unwinder::kOther : helper::Unwinder::kFollows;
}

}  // namespace stab::code
