#include "base/rng.h"

#include <bit>

namespace stab {

uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) word = splitmix64(seed);
}

Rng Rng::stream(uint64_t seed, std::string_view purpose, uint64_t index) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a of the purpose
  for (unsigned char byte : purpose) hash = (hash ^ byte) * 0x100000001b3u;
  uint64_t state = seed;
  uint64_t mixed = splitmix64(state) ^ hash;
  mixed = splitmix64(mixed) ^ index;
  return Rng(splitmix64(mixed));
}

uint64_t Rng::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Rng::below(uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide(next()) * bound;
  if (uint64_t(product) < bound) {
    const uint64_t threshold = -bound % bound;
    while (uint64_t(product) < threshold) product = Wide(next()) * bound;
  }
  return uint64_t(product >> 64);
}

double Rng::uniform() { return double(next() >> 11) * 0x1.0p-53; }

}  // namespace stab
