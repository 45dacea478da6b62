// Draws: the random numbers of one thread's heap.
//
// One multiplication a draw (wyrand's step: Weyl sequence, folded 128-bit product). What each malloc draws where a
// heap shuffles comes from the top bits of a linear congruential generator (Knuth's MMIX), in half the
// instructions. Streams depend only on the seed and on the order in which
// heaps are made: the same seed and calls give the same addresses.
#pragma once

#include <stdint.h>

#include "runtime/heap/bit_count.h"

namespace stab::heap {

// Finalizer of splitmix64: derives independent streams from a seed and an index.
inline uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

__extension__ using Wide = unsigned __int128;

class Draws {
 public:
  constexpr Draws() = default;
  explicit Draws(uint64_t seed, uint64_t stream = 0)
      : state_(mix(seed ^ mix(stream + 0x9e3779b97f4a7c15u))), quick_(mix(state_)) {}

  uint64_t word() {
    state_ += 0xa0761d6478bd642fu;
    const Wide product = Wide{state_} * (state_ ^ 0xe7037ed1a0b428dbu);
    return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
  }

  // Uniform on [0, bound). pre: 0 < bound <= 2^16, so that the bias stays below 2^-16.
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(((word() >> 32) * bound) >> 32);
  }

  // Uniform on [0, 256).
  uint32_t byte() {
    quick_ = quick_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(quick_ >> 56);
  }

  // Another stream, for a forked child.
  void branch(uint64_t which) {
    state_ = mix(state_ ^ mix(which + 1));
    quick_ = mix(state_);
  }

 private:
  uint64_t state_ = 0;
  uint64_t quick_ = 0;
};

// A set bit of mask, each with the same probability. pre: mask != 0
inline int draw_bit(Draws& draws, uint64_t mask) {
  for (uint32_t skip = draws.below(static_cast<uint32_t>(bit_count(mask))); skip > 0; --skip)
    mask &= mask - 1;
  return __builtin_ctzll(mask);
}

}  // namespace stab::heap
