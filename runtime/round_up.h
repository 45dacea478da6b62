// The least multiple of a number that is not smaller.
#pragma once

#include <stdint.h>

namespace stab {

// pre: to > 0, and value + to - 1 can be held
[[gnu::always_inline]] inline constexpr uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace stab
