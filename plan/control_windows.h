// The list of windows of control trials: null and baseline windows alone, for a causal plan whose own trials leave the null
// control open. Frozen, as the list of plan/causal.h is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/causal.h"

namespace stab::plan {

// The list begins at this place, behind whatever the other one reaches. A block has two null windows at the largest speedup,
// each of a candidate that is drawn, and two baselines, in random order.
inline constexpr uint64_t kFirstControlWindow = uint64_t{1} << 31;
inline constexpr size_t kControlBlock = 4;

// From place `first` on; none where there is no candidate. pre: first >= kFirstControlWindow
std::vector<CausalArm> control_arms_from(const Causal& causal, uint64_t seed, std::string_view stream, uint64_t first,
                                         size_t count, const CausalRegions& regions);

}  // namespace stab::plan
