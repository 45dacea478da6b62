// How many bits of a word are set. The compiler's own count is a call of libgcc's __popcountdi2 where it may not use an
// instruction that the oldest processors lack, and a program may be linked without libgcc.
#pragma once

#include <stdint.h>

namespace stab::heap {

// Counts of 2, then 4, then 8 bits side by side; the product's top byte is the sum of all bytes.
constexpr int bit_count(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>((word * 0x0101010101010101u) >> 56);
}

}  // namespace stab::heap
