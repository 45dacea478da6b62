// Reads of constants: what the instructions of a function find in memory at a distance from themselves.
#pragma once

#include <stdint.h>

#include "runtime/arch/x86_64/instruction.h"

namespace stab::arch::x86_64 {

// Calls `each(address, bytes)` for each, in the order of the code, up to the first instruction that isn't known. `address`: where
// the function lies.
template <typename Each>
void for_each_constant_read(const uint8_t* code, uint64_t bytes, uint64_t address, Each each) {
  Instruction one;
  for (uint64_t at = 0; at < bytes && decode({code + at, bytes - at}, one); at += one.length) {
    const unsigned read = one.rip_relative ? operand_bytes(one) : 0;
    if (read == 0) continue;
    int32_t distance;
    __builtin_memcpy(&distance, code + at + one.displacement_at, sizeof distance);
    each(address + at + one.length + static_cast<uint64_t>(int64_t{distance}), read);
  }
}

}  // namespace stab::arch::x86_64
