// What libstabcausal finds in a program of szc's by name (runtime/causal/program_side.cc): whence moved code comes, and a new
// layout that nobody waits for. Both are called in a signal handler.
#include "runtime/api/ask_helper.h"
#include "runtime/code/moved_library.h"
#include "runtime/control.h"

extern "C" {

// The original of a pc in an image; any other as it is. The image stays while the caller is in it.
__attribute__((visibility("default"))) uint64_t stab_rt_original_pc(uint64_t pc) {
  return stab::code::executed_original_of(pc);
}

// Asks for the next layout and goes on. 0: nobody makes any.
__attribute__((visibility("default"))) int stab_rt_order_layout() {
  using namespace stab;
  if (control().nonce == 0 || !api::has_helper()) return 0;
  __atomic_add_fetch(&control().orders.layouts_wanted, 1, __ATOMIC_SEQ_CST);
  return api::send_orders() ? 1 : 0;
}

}  // extern "C"
