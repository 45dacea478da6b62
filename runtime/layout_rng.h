// The random numbers of layouts: xoshiro256** seeded through splitmix64 (Blackman & Vigna, ACM TOMS 47(4),
// 2021), as in base/rng.h, but without the standard library so that it links into measured programs.
#pragma once

#include <stdint.h>

namespace stab {

class LayoutRng {
 public:
  // An independent stream for each seed, purpose and index (an image's number, a thread's).
  LayoutRng(uint64_t seed, uint64_t purpose, uint64_t index) {
    uint64_t state = seed;
    state = mix(state) ^ purpose * 0xd6e8feb86659fd93u;
    state = mix(state) ^ index;
    for (uint64_t& word : state_) word = mix(state);
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform on [0, bound), off by less than bound / 2^32: layouts have far fewer choices than that.
  // pre: 0 < bound
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(((next() >> 32) * bound) >> 32); }

  // splitmix64: advances the state, and gives 64 bits of it.
  static uint64_t mix(uint64_t& state) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t state_[4];
};

// Purposes. Do not renumber: a stored seed reproduces its layouts.
inline constexpr uint64_t kRngCode = 1;
inline constexpr uint64_t kRngStack = 2;
inline constexpr uint64_t kRngHeap = 3;
inline constexpr uint64_t kRngLevels = 4;
inline constexpr uint64_t kRngLibrary = 5;  // its index: the library's name and the image's number
inline constexpr uint64_t kRngIdentity = 6; // its index: a function's identity and the image's number

}  // namespace stab
