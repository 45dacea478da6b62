#include "runtime/arch/x86_64/stack_switch.h"

#include "runtime/arch/x86_64/instruction.h"

namespace stab::arch::x86_64 {
namespace {

constexpr unsigned kStackRegister = 4, kFrameRegister = 5;
constexpr unsigned kMemory = 16;                                // no register
constexpr unsigned kRestored = 1u << 3 | 1u << kFrameRegister;  // rbx and rbp
constexpr int kLongestSwitch = 64;                              // instructions; one that keeps all vector registers has 50

// By rsp or rbp, as compilers spill what they need again.
bool is_by_frame(const Instruction& i) {
  return (i.modrm & 7u) == kStackRegister || ((i.modrm & 7u) == kFrameRegister && i.modrm >> 6 != 0);
}

// REX.X without an index, which nobody writes: bytes in the middle of something else.
bool has_idle_bit(const Instruction& i) { return (i.rex & 2u) != 0 && !i.has_sib(); }

// How a wide mov or xchg touches the stack pointer. from, to: the register on the other side, kMemory where there is none.
struct Touch {
  bool keeps = false, loads = false;
  unsigned from = kMemory, to = kMemory;
};

Touch touch_of(const Instruction& i) {
  Touch touch;
  if (!i.has_modrm || !i.has_rex_w() || has_idle_bit(i)) return touch;
  const bool stores = i.plain(0x89), reads = i.plain(0x8b), swaps = i.plain(0x87);
  if (!stores && !reads && !swaps) return touch;
  if (!i.names_registers()) {
    if (i.reg() != kStackRegister || is_by_frame(i)) return touch;
    touch.keeps = stores || swaps;
    touch.loads = reads || swaps;
    return touch;
  }
  const unsigned written = reads ? i.reg() : i.rm(), read = reads ? i.rm() : i.reg();
  if (written == read) return touch;
  if (read == kStackRegister || (swaps && written == kStackRegister))
    touch.keeps = true, touch.to = read == kStackRegister ? written : read;
  if (written == kStackRegister || (swaps && read == kStackRegister))
    touch.loads = true, touch.from = written == kStackRegister ? read : written;
  return touch;
}

// What switches are made of: they move registers, constants and what controls arithmetic, and count.
bool may_be_in_switch(const Instruction& i) {
  if (i.is_vector || i.map > 1) return false;
  const uint8_t o = i.opcode;
  if (i.map == 1) return o == 0x10 || o == 0x11 || o == 0x1e || o == 0x1f || o == 0x28 || o == 0x29 || o == 0xae;
  if (o == 0x89 || o == 0x8b || o == 0x87 || o == 0x8d || o == 0x83) return i.has_rex_w();
  return (o >= 0x50 && o < 0x60) || (o >= 0xb8 && o < 0xc0) || o == 0x31 || o == 0x33 || o == 0x90 || o == 0xd9 || o == 0xdb;
}

// Which of the registers that a call leaves as they are is written, a bit each.
unsigned restored_by(const Instruction& i) {
  if (i.map == 0 && i.opcode >= 0x58 && i.opcode < 0x60) return 1u << ((i.opcode & 7u) | (i.rex & 1u) << 3);
  return i.plain(0x8b) && !i.names_registers() ? 1u << i.reg() : 0;
}

bool begins_switch(std::span<const uint8_t> code) {
  Instruction instruction;
  unsigned kept = kMemory, restored = 0;
  bool loads = false;
  for (int n = 0; n < kLongestSwitch; ++n, code = code.subspan(instruction.length)) {
    if (!decode(code, instruction)) return false;
    restored |= restored_by(instruction);
    const Touch touch = touch_of(instruction);
    if (n == 0 && !touch.keeps) return false;
    if (n == 0) kept = touch.to;
    // From the register that it was kept in a function goes back on its own stack.
    if (touch.loads && (n == 0 || touch.from == kMemory || touch.from != kept)) loads = true;
    if (instruction.is_return() || instruction.is_indirect_jump()) return loads && (restored & kRestored) == kRestored;
    if (!may_be_in_switch(instruction)) return false;
  }
  return false;
}

// Bytes beside each other. A library has tens of megabytes of code, and the helper makes no layout while it looks through them.
using Lanes = uint8_t __attribute__((vector_size(16)));

Lanes lanes_at(const uint8_t* bytes) {
  Lanes lanes;
  __builtin_memcpy(&lanes, bytes, sizeof lanes);
  return lanes;
}

// A bit for each of the 16 places, of 18 bytes, where an instruction of three bytes may keep the stack pointer or load it.
uint32_t possible_starts(const uint8_t* bytes) {
  const Lanes prefix = lanes_at(bytes), opcode = lanes_at(bytes + 1), modrm = lanes_at(bytes + 2);
  const auto is_register = (modrm & 0x38u) == kStackRegister << 3, is_other = (modrm & 0xc7u) == (0xc0u | kStackRegister);
  const auto stores = (opcode == 0x89) & is_register, reads = (opcode == 0x8b) & is_other;
  const auto swaps = (opcode == 0x87) & (is_register | is_other);
  const auto starts = ((prefix & 0xf8u) == 0x48) & (stores | reads | swaps);
  return static_cast<uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<__attribute__((vector_size(16))) char>(starts)));
}

}  // namespace

bool holds_stack_switch(std::span<const uint8_t> bytes) {
  constexpr size_t kPlaces = sizeof(Lanes), kRead = kPlaces + 2;
  for (size_t at = 0; at < bytes.size(); at += kPlaces) {
    uint8_t end[kRead] = {};  // behind what there is: no instruction
    const std::span<const uint8_t> left = bytes.subspan(at);
    if (left.size() < kRead)
      for (size_t i = 0; i < left.size(); ++i) end[i] = left[i];
    for (uint32_t starts = possible_starts(left.size() < kRead ? end : left.data()); starts != 0; starts &= starts - 1)
      if (begins_switch(left.subspan(static_cast<size_t>(__builtin_ctz(starts))))) return true;
  }
  return false;
}

}  // namespace stab::arch::x86_64
