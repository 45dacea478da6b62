#include "runtime/helper/thread.h"

#include <stddef.h>

#include "runtime/arch/arch.h"

namespace stab::helper {

bool start_thread(void (*body)()) {
  alignas(16) static char stack[16 * 1024];
  return arch::clone_onto(kThreadFlags, stack + sizeof stack, body) > 0;
}

}  // namespace stab::helper
