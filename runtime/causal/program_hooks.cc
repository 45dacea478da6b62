// What libstabcausal finds in a program of szc's by name (runtime/causal/program_side.cc): whence moved code comes, and a new
// layout that nobody waits for. Both are called in a signal handler.
#include "runtime/api/ask_helper.h"
#include "runtime/code/image.h"
#include "runtime/control.h"

extern "C" {

// The original pc of one in an image; any other as it is. The image stays while the caller is in it.
__attribute__((visibility("default"))) uint64_t stab_rt_original_pc(uint64_t pc) {
  using namespace stab;
  const Control& block = control();
  const uint64_t into_ring = pc - block.ring_address;
  if (block.ring_address == 0 || into_ring >= block.ring_bytes) return pc;
  const uint64_t slot = block.ring_address + into_ring / block.slot_bytes * block.slot_bytes;
  code::ImageEntry entry;
  if (!code::find_executed(reinterpret_cast<const uint8_t*>(slot), static_cast<uint32_t>(pc - slot), entry)) return pc;
  const uint64_t body = slot + entry.body, start = block.text_address + entry.start;
  return pc < body ? start : start + (pc - body);
}

// Asks for the next layout and goes on. 0: nobody makes any.
__attribute__((visibility("default"))) int stab_rt_order_layout() {
  using namespace stab;
  if (control().nonce == 0 || !api::has_helper()) return 0;
  __atomic_add_fetch(&control().orders.layouts_wanted, 1, __ATOMIC_SEQ_CST);
  return api::send_orders() ? 1 : 0;
}

}  // extern "C"
