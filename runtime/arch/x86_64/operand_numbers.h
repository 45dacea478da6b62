// Numbers in the operands of instructions that may be addresses, where the linker knows at which address the program lies.
#pragma once

#include <stdint.h>

#include "runtime/arch/x86_64/instruction.h"

namespace stab::arch::x86_64 {

// Calls `each(at)` with the place in the function of each immediate and displacement of four bytes that is no distance from the
// instruction.
template <typename Each>
void for_each_number(const uint8_t* code, uint64_t bytes, Each each) {
  Instruction one;
  for (uint64_t at = 0; at < bytes && decode({code + at, bytes - at}, one); at += one.length) {
    if (one.displacement_bytes == 4 && !one.rip_relative) each(at + one.displacement_at);
    if (one.immediate_bytes == 4 && !one.is_branch) each(at + one.immediate_at);
  }
}

}  // namespace stab::arch::x86_64
