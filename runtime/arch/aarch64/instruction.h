// The instructions of arm64 whose meaning depends on where they lie, and those that an image adds. Every instruction is one
// 32-bit little-endian word, so which of them is relative, and to what, is in the word alone; no disassembler is needed.
// Encodings: Arm Architecture Reference Manual for A-profile, C4.1 and C6.2.
#pragma once

#include <stdint.h>

namespace stab::arch::aarch64 {

inline constexpr uint32_t kInstructionBytes = 4;
inline constexpr uint64_t kPageOfAdrp = 4096;  // whatever pages the kernel has

inline uint32_t get_word(const uint8_t* at) {
  uint32_t word;
  __builtin_memcpy(&word, at, sizeof word);
  return word;
}
inline void put_word(uint8_t* at, uint32_t word) {
  __builtin_memcpy(at, &word, sizeof word);
}

// What is relative to the instruction's own address, by how far it reaches.
enum class Relative : uint8_t {
  kNone,
  kBranch,             // b, bl: 128 MiB
  kConditionalBranch,  // b.cond, bc.cond, cbz, cbnz: 1 MiB
  kTestBranch,         // tbz, tbnz: 32 KiB
  kAddress,            // adr: 1 MiB
  kPage,               // adrp: 4 GiB, the first byte of a page
  kLiteral,            // ldr, ldrsw, prfm of a literal: 1 MiB
  kUnknown,            // relative in a way that nothing here can change
};

inline Relative relative_of(uint32_t word) {
  if ((word & 0x7c000000) == 0x14000000) return Relative::kBranch;
  if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) return Relative::kConditionalBranch;
  if ((word & 0x7e000000) == 0x36000000) return Relative::kTestBranch;
  if ((word & 0x9f000000) == 0x10000000) return Relative::kAddress;
  if ((word & 0x9f000000) == 0x90000000) return Relative::kPage;
  if ((word & 0x3b000000) == 0x18000000) return Relative::kLiteral;
  // cb<cc> and cbb<cc>, cbh<cc> of FEAT_CMPBR; retaasppc, autiasppc and their kin of FEAT_PAuth_LR.
  if ((word & 0x7e000000) == 0x74000000 || (word & 0xff800000) == 0xf3800000 || (word & 0xffc0001f) == 0x5500001f)
    return Relative::kUnknown;
  return Relative::kNone;
}

inline bool is_conditional(Relative relative) {
  return relative == Relative::kConditionalBranch || relative == Relative::kTestBranch;
}

// br and its authenticated forms.
inline bool is_indirect_jump(uint32_t word) {
  return (word & 0xfefff000) == 0xd61f0000;
}

inline int64_t sign_extended(uint64_t value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

// pre: relative_of(word) is neither kNone nor kUnknown
inline uint64_t target_of(uint32_t word, uint64_t address) {
  const uint64_t split = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);  // immhi:immlo
  switch (relative_of(word)) {
    case Relative::kBranch:
      return address + static_cast<uint64_t>(sign_extended(word & 0x3ffffff, 26) * 4);
    case Relative::kTestBranch:
      return address + static_cast<uint64_t>(sign_extended(word >> 5 & 0x3fff, 14) * 4);
    case Relative::kAddress:
      return address + static_cast<uint64_t>(sign_extended(split, 21));
    case Relative::kPage:
      return (address & ~(kPageOfAdrp - 1)) + static_cast<uint64_t>(sign_extended(split, 21) * int64_t{kPageOfAdrp});
    default:
      return address + static_cast<uint64_t>(sign_extended(word >> 5 & 0x7ffff, 19) * 4);
  }
}

// The field that leads from `address` to `target`; for kPage to the target's page. False, and `word` is as before: out of reach.
inline bool lead_to(uint32_t& word, uint64_t address, uint64_t target) {
  const auto distance = static_cast<int64_t>(target - address);
  const auto fits = [](int64_t value, unsigned bits) { return sign_extended(static_cast<uint64_t>(value), bits) == value; };
  const auto split = [](uint32_t old, int64_t value) {
    const auto bits = static_cast<uint32_t>(value);
    return (old & ~0x60ffffe0u) | (bits & 3) << 29 | (bits >> 2 & 0x7ffff) << 5;
  };
  switch (relative_of(word)) {
    case Relative::kBranch:
      if (distance % 4 != 0 || !fits(distance / 4, 26)) return false;
      word = (word & ~0x3ffffffu) | (static_cast<uint32_t>(distance / 4) & 0x3ffffff);
      return true;
    case Relative::kTestBranch:
      if (distance % 4 != 0 || !fits(distance / 4, 14)) return false;
      word = (word & ~(0x3fffu << 5)) | (static_cast<uint32_t>(distance / 4) & 0x3fff) << 5;
      return true;
    case Relative::kConditionalBranch:
    case Relative::kLiteral:
      if (distance % 4 != 0 || !fits(distance / 4, 19)) return false;
      word = (word & ~(0x7ffffu << 5)) | (static_cast<uint32_t>(distance / 4) & 0x7ffff) << 5;
      return true;
    case Relative::kAddress:
      if (!fits(distance, 21)) return false;
      word = split(word, distance);
      return true;
    case Relative::kPage: {
      const auto pages =
          static_cast<int64_t>((target & ~(kPageOfAdrp - 1)) - (address & ~(kPageOfAdrp - 1))) / int64_t{kPageOfAdrp};
      if (!fits(pages, 21)) return false;
      word = split(word, pages);
      return true;
    }
    default:
      return false;
  }
}

// What an image adds. x16 and x17 are the linker's between a call and its function (AAPCS64, 6.1.1); x18 is never touched.
inline constexpr uint32_t kNop = 0xd503201f, kBtiC = 0xd503245f;
inline constexpr uint32_t kBranch = 0x14000000;       // b to itself
inline constexpr uint32_t kPageToX16 = 0x90000010;    // adrp x16, its own page
inline constexpr uint32_t kAddToX16 = 0x91000210;     // add x16, x16, #0
inline constexpr uint32_t kBranchToX16 = 0xd61f0200;  // br x16

// Where an indirect branch may arrive where pages are guarded: bti c, bti jc, and paciasp, pacibsp, which count as bti c.
inline bool is_landing_pad(uint32_t word) {
  return word == kBtiC || word == 0xd50324df || word == 0xd503233f || word == 0xd503237f;
}

// What execution does not go on behind, at the end of a function: b and bl (of what never returns), br, blr, ret, eret and their
// authenticated forms, brk, hlt, udf.
inline bool ends_flow(uint32_t word) {
  return (word & 0x7c000000) == 0x14000000 || (word & 0xfe000000) == 0xd6000000 || (word & 0xffe0001f) == 0xd4200000 ||
         (word & 0xffe0001f) == 0xd4400000 || (word & 0xffff0000) == 0;
}

// adrp, add and br by x16 to any address within 4 GiB. False: it is further away.
inline constexpr uint32_t kVeneerBytes = 3 * kInstructionBytes;
inline bool put_veneer(uint8_t* at, uint64_t address, uint64_t target) {
  uint32_t page = kPageToX16;
  if (!lead_to(page, address, target)) return false;
  const uint32_t add = kAddToX16 | static_cast<uint32_t>(target & (kPageOfAdrp - 1)) << 10;
  put_word(at, page);
  put_word(at + 4, add);
  put_word(at + 8, kBranchToX16);
  return true;
}

}  // namespace stab::arch::aarch64
