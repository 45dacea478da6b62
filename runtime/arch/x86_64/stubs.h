// Stubs by which linkers let a program call functions of libraries.
#pragma once

#include <stdint.h>
#include <string.h>

namespace stab::arch::x86_64 {

// The word that the stub reads its target from: `jmp *slot(%rip)`, which may stand behind an endbr64 and a prefix. 0: it is no
// stub. `at`: its bytes, of which so many may be read; `address`: where they lie.
inline uint64_t slot_of_stub(const uint8_t* at, uint64_t bytes, uint64_t address) {
  constexpr uint8_t kJump[] = {0xff, 0x25};
  constexpr uint64_t kJumpBytes = 6, kMostInFront = 5;
  for (uint64_t ahead = 0; ahead <= kMostInFront && ahead + kJumpBytes <= bytes; ++ahead) {
    if (memcmp(at + ahead, kJump, sizeof kJump) != 0) continue;
    int32_t distance;
    memcpy(&distance, at + ahead + sizeof kJump, sizeof distance);
    return address + ahead + kJumpBytes + static_cast<uint64_t>(int64_t{distance});
  }
  return 0;
}

}  // namespace stab::arch::x86_64
