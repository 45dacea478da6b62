// Rng: xoshiro256**, seeded through splitmix64 (Blackman & Vigna, "Scrambled linear pseudorandom number
// generators", ACM TOMS 47(4), 2021). The streams are part of our formats: a schedule or a bootstrap made
// from a seed must be the same on every machine and in every later version, so nothing here may change.
#pragma once

#include <cstdint>
#include <iterator>
#include <ranges>
#include <string_view>
#include <utility>

namespace stab {

// One step of splitmix64; also a good 64-bit finalizer for deriving seeds.
uint64_t splitmix64(uint64_t& state);

class Rng {
 public:
  explicit Rng(uint64_t seed);

  // An independent stream for a named purpose: Rng::stream(seed, "schedule", program_index).
  static Rng stream(uint64_t seed, std::string_view purpose, uint64_t index = 0);

  uint64_t next();
  // Uniform on [0, bound) without modulo bias (Lemire 2019). pre: bound > 0
  uint64_t below(uint64_t bound);
  // Uniform on [0, 1), 53 bits.
  double uniform();

  // Fisher-Yates.
  template <std::ranges::random_access_range Range>
  void shuffle(Range&& items) {
    for (size_t i = std::size(items); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_[4];
};

}  // namespace stab
