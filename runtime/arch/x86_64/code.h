// The bytes of an image that are not the program's own, and how its fields are corrected. Addresses are taken modulo 2^32:
// images lie within the 2 GiB around everything the program links to, which is what a jump reaches.
//
// A function's copy:
//   prefix + 0   jmp   canonical entry       where a retired copy sends its callers
//   prefix + 5   movb  $1, executed(%rip)
//   prefix + 12  jmp   entry
//   prefix + 14  cmpb  $0, executed(%rip)    where the canonical entry jumps to
//   prefix + 21  je    prefix + 5
//                or, where entries are counted, incq counter(%rip) and jmp prefix + 5
//   entry        (a 2 or 3 byte nop)         where calls inside the image go; 2-aligned
//                or lock incq counter(%rip)  8 bytes, where the layout script counts the function; then a nop if need be
//   body                                     the function's bytes, corrected; aligned mod 16 as the original
// The test of `executed` costs a load and a branch that is not taken; an unconditional store would make threads
// that enter by function pointers fight for its cache line. Flags are dead at a function's entry.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stab::arch::x86_64 {

inline constexpr uint32_t kPrefixBytes = 23;
inline constexpr uint32_t kPrefixArrival = 14;  // where the canonical entry's jump lands
inline constexpr uint32_t kCountBytes = 8;      // lock incq rel32(%rip)

// Jumps. A near one, jmp rel32, reaches all that images are near to; a short one, jmp rel8, 127 bytes from its end.
inline constexpr uint32_t kNearJumpBytes = 5, kNearJumpField = 1, kShortJumpBytes = 2;
inline constexpr uint8_t kNearJump = 0xe9, kShortJump = 0xeb;

inline void put32(uint8_t* at, uint32_t value) {
  __builtin_memcpy(at, &value, 4);
}
inline uint32_t get32(const uint8_t* at) {
  uint32_t value;
  __builtin_memcpy(&value, at, 4);
  return value;
}

inline bool is_near_jump(const uint8_t* at) {
  return at[0] == kNearJump;
}
inline bool is_short_jump(const uint8_t* at) {
  return at[0] == kShortJump;
}

// Whether what ends in front of `at` can be a call. pre: seven bytes lie there.
inline bool is_behind_call(const uint8_t* at) {
  // ff /2: by a register, or by memory with an index, a displacement or both.
  const auto is_indirect = [at](int bytes) { return at[-bytes] == 0xff && (at[1 - bytes] >> 3 & 7) == 2; };
  return at[-5] == 0xe8 || is_indirect(2) || is_indirect(3) || is_indirect(4) || is_indirect(6) || is_indirect(7);
}

// At `address`, to `target`.
inline void put_near_jump(uint8_t* at, uint32_t address, uint32_t target) {
  at[0] = kNearJump;
  put32(at + 1, target - (address + kNearJumpBytes));
}
// To what begins so many bytes behind its own first one.
inline void put_short_jump(uint8_t* at, uint32_t distance) {
  at[0] = kShortJump;
  at[1] = static_cast<uint8_t>(distance - kShortJumpBytes);
}

// Of a near jump at `address`: where it leads, in all 64 bits.
inline uint64_t near_jump_target(const uint8_t* at, uint64_t address) {
  int32_t distance = 0;
  __builtin_memcpy(&distance, at + 1, sizeof distance);
  return address + kNearJumpBytes + static_cast<uint64_t>(int64_t{distance});
}

// A canonical entry takes a near jump by one store of an aligned word.
inline bool takes_entry_jump(uint64_t address, uint32_t bytes) {
  return bytes >= kNearJumpBytes && (address & 7) <= 3;
}

// A field of a body: four bytes, relative to what follows the instruction or an address.
inline void shift_field(uint8_t* at, uint32_t by) {
  put32(at, get32(at) + by);
}
// Where a call, jump or jcc leads whose field is there: these end with it.
inline uint32_t call_target(uint32_t field_address, uint32_t field) {
  return field_address + 4 + field;
}

// Bytes between entry and body: the entry is even for the 2-byte store that retires it, and no instruction may start inside
// those two bytes. `needs_front`: the body's first instruction is one byte long.
inline uint32_t front_bytes(uint32_t body, bool needs_front) {
  if (body % 2 != 0) return 3;
  return needs_front ? 2 : 0;
}
// The same where the entry counts.
inline uint32_t counted_front_bytes(uint32_t body) {
  return kCountBytes + body % 2;
}

inline void put_front(uint8_t* at, uint32_t bytes) {
  static constexpr uint8_t kNop2[] = {0x66, 0x90};
  static constexpr uint8_t kNop3[] = {0x0f, 0x1f, 0x00};
  if (bytes == 2) __builtin_memcpy(at, kNop2, 2);
  if (bytes == 3) __builtin_memcpy(at, kNop3, 3);
}

// At `address` of the program, adding one to a cell.
inline void put_count(uint8_t* at, uint64_t address, uint64_t cell, uint32_t bytes) {
  static constexpr uint8_t kLockIncq[] = {0xf0, 0x48, 0xff, 0x05};
  __builtin_memcpy(at, kLockIncq, sizeof kLockIncq);
  put32(at + sizeof kLockIncq, static_cast<uint32_t>(cell) - static_cast<uint32_t>(address + kCountBytes));
  if (bytes > kCountBytes) at[kCountBytes] = 0x90;
}

// `counter`: what counts those that come from the canonical entry; 0: nothing.
inline void put_prefix(uint8_t* at, uint32_t address, uint32_t canonical, uint32_t executed, uint32_t counter) {
  at[0] = kNearJump;
  put32(at + 1, canonical - (address + 5));
  at[5] = 0xc6;  // movb $1, rel32(%rip)
  at[6] = 0x05;
  put32(at + 7, executed - (address + 12));
  at[11] = 1;
  at[12] = kShortJump;
  at[13] = kPrefixBytes - 14;
  if (counter != 0) {
    at[14] = 0x48;  // incq rel32(%rip)
    at[15] = 0xff;
    at[16] = 0x05;
    put32(at + 17, counter - (address + 21));
    at[21] = kShortJump;
    at[22] = static_cast<uint8_t>(5 - 23);
    return;
  }
  at[14] = 0x80;  // cmpb $0, rel32(%rip)
  at[15] = 0x3d;
  put32(at + 16, executed - (address + 21));
  at[20] = 0;
  at[21] = 0x74;  // je rel8
  at[22] = static_cast<uint8_t>(5 - 23);
}

// A place that a led loop arrives at (runtime/code/long_loops.h): sets `executed` and jumps to `target`.
inline constexpr uint32_t kLandingCodeBytes = 12;
inline void put_landing(uint8_t* at, uint32_t address, uint32_t executed, uint32_t target) {
  at[0] = 0xc6;  // movb $1, rel32(%rip)
  at[1] = 0x05;
  put32(at + 2, executed - (address + 7));
  at[6] = 1;
  put_near_jump(at + 7, address + 7, target);
}

// Retires an entry: it leads to the prefix in front of it, by one aligned store.
inline void retire_entry(uint8_t* entry) {
  constexpr uint16_t kJumpToPrefix = kShortJump | ((256 - kPrefixBytes - 2) << 8);
  __atomic_store_n(reinterpret_cast<uint16_t*>(entry), kJumpToPrefix, __ATOMIC_RELEASE);
}
inline constexpr uint32_t kRetiredEntryBytes = kShortJumpBytes;

}  // namespace stab::arch::x86_64
