// Thread offsets: the fields of a function's instructions that hold a variable's distance from the thread pointer (fs). Which
// distance that is, all files of a program decide together: each that has a thread-local variable moves those of the others.
#pragma once

#include <stdint.h>

#include "runtime/arch/x86_64/instruction.h"

namespace stab::arch::x86_64 {

// Whether its memory operand is relative to the thread pointer. `code`: its bytes
inline bool is_thread_relative(const uint8_t* code, const Instruction& one) {
  if (!one.has_modrm || one.names_registers()) return false;
  for (unsigned i = 0; i < one.length; ++i) {
    switch (code[i]) {
      case 0x64: return true;
      case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3: break;
      default: return false;
    }
  }
  return false;
}

// What registers hold, in the order of the code: what was last moved there.
struct ThreadRegisters {
  static constexpr uint64_t kNone = UINT64_MAX;
  uint64_t moved[16];        // where the negative immediate is; kNone: there is another value
  bool is_pointer[16] = {};  // the thread pointer

  ThreadRegisters() { forget(); }
  void forget() {
    for (unsigned i = 0; i < 16; ++i) set(i, kNone);
  }
  void set(unsigned reg, uint64_t at) { moved[reg] = at, is_pointer[reg] = false; }
  // What was moved to the one, if the other is the thread pointer.
  uint64_t distance_in(unsigned one, unsigned other) const {
    return is_pointer[one] ? moved[other] : is_pointer[other] ? moved[one] : kNone;
  }
};

// Calls `each(at)` with the place in the function of each such field, of four bytes. Variables lie below the thread pointer, so
// what isn't negative is none: the stack protector's value is at 0x28, the pointer itself at 0.
template <typename Each>
void for_each_thread_offset(const uint8_t* code, uint64_t bytes, Each each) {
  ThreadRegisters registers;
  Instruction one;
  for (uint64_t at = 0; at < bytes && decode({code + at, bytes - at}, one); at += one.length) {
    const unsigned reg = one.reg(), rm = one.rm();
    const unsigned index = ((one.sib >> 3) & 7u) | (one.rex & 2u) << 2;
    const bool is_distance = one.displacement_bytes == 4 && !one.rip_relative && (code[at + one.displacement_at + 3] & 0x80) != 0;
    const bool is_negative = one.immediate_bytes == 4 && (code[at + one.immediate_at + 3] & 0x80) != 0;
    const bool is_relative = is_thread_relative(code + at, one);
    uint64_t moved = ThreadRegisters::kNone;
    if (is_relative && one.has_base_register) moved = registers.moved[one.base_register()];
    else if (one.has_base_register && one.has_index()) moved = registers.distance_in(one.base_register(), index);
    else if (one.names_registers() && (one.plain(0x01) || one.plain(0x03))) moved = registers.distance_in(reg, rm);  // add
    if (moved != ThreadRegisters::kNone) each(moved);
    if (is_distance && (is_relative || (one.has_base_register && registers.is_pointer[one.base_register()])))
      each(at + one.displacement_at);
    if (one.plain(0xc7) && one.is_wide && one.names_registers())
      registers.set(rm, is_negative ? at + one.immediate_at : ThreadRegisters::kNone);
    if (one.is_call() || one.is_indirect_call()) registers.forget();
    if (one.plain(0x01) && one.names_registers()) registers.set(rm, ThreadRegisters::kNone);
    if (one.plain(0x89) && one.names_registers()) registers.set(rm, ThreadRegisters::kNone);  // mov
    if (one.plain(0x03) || one.plain(0x8b) || one.is_lea()) registers.set(reg, ThreadRegisters::kNone);
    // mov %fs:0, %reg
    if (is_relative && one.plain(0x8b) && one.is_wide && one.displacement_bytes == 4 && !one.has_base_register)
      registers.is_pointer[reg] = true;
  }
}

}  // namespace stab::arch::x86_64
