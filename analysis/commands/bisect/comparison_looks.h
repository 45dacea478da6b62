// After which blocks a comparison of a search for a commit may end.
#pragma once

#include <cstdint>
#include <vector>

namespace stab::commands {

// Of one comparison. By then a difference of a sixth of the blocks' spread is settled, and a smaller one seldom.
inline constexpr uint32_t kMostBlocksOfComparison = 1280;

// `blocks`: as the question has them (bisect.h); `gate`: the looks of the gate's file, ascending and not empty. alpha is spent
// over the looks by Pocock's function, as most comparisons end long before the last one. A comparison that decides goes on where
// a gate would be unsure: its looks are doubled up to kMostBlocksOfComparison. One on the way may end after a quarter and a half.
inline std::vector<uint32_t> looks_of_comparison(uint32_t blocks, const std::vector<uint32_t>& gate) {
  std::vector<uint32_t> out;
  if (blocks == 0) {
    out = gate;
    while (2 * out.back() <= kMostBlocksOfComparison) out.push_back(2 * out.back());
    return out;
  }
  for (const uint32_t part : {4u, 2u, 1u})
    if (const uint32_t at = blocks / part; part == 1 || at >= gate.front()) out.push_back(at);
  return out;
}

}  // namespace stab::commands
