// Slots: which share of an experiment's blocks each slot runs. Pure, and decided before anything runs: which machine measures
// a block must not depend on how fast machines are.
#pragma once

#include <cstdint>
#include <vector>

namespace stab::engine {

// By block, its slot. Each round of as many blocks as there are slots gives one to each, in an order drawn from the plan's
// seed; so slots get equally many (one more at most), and more blocks leave the others where they are. Frozen: what a stored
// experiment ran is described by its plan only as long as this gives the same. pre: slots > 0
std::vector<int> deal_blocks(uint64_t seed, int slots, int blocks);

}  // namespace stab::engine
