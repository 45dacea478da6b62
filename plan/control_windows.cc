// Streams are named as in causal.cc: "control STREAM", b is the block b of the list, counted from its first place.
#include "plan/control_windows.h"

#include <cmath>
#include <string>

#include "base/rng.h"

namespace stab::plan {

std::vector<CausalArm> control_arms_from(const Causal& causal, uint64_t seed, std::string_view stream, uint64_t first,
                                         size_t count, const CausalRegions& regions) {
  std::vector<CausalArm> arms;
  if (regions.candidates == 0 || causal.speedups.empty()) return arms;
  const std::string of_controls = "control " + std::string(stream);
  const auto largest = static_cast<uint32_t>(std::lround(causal.speedups.back() * 1000));
  const uint64_t at = first - kFirstControlWindow;
  size_t skipped = at % kControlBlock;
  for (uint64_t number = at / kControlBlock; arms.size() < count; ++number) {
    Rng rng = Rng::stream(seed, of_controls, number);
    std::vector<CausalArm> block(kControlBlock);
    for (size_t i = 0; i < kControlBlock / 2; ++i)
      block[i] = {CausalArmKind::kNull, static_cast<uint32_t>(rng.below(regions.candidates)) + 1, largest};
    rng.shuffle(block);
    for (size_t i = skipped; i < block.size() && arms.size() < count; ++i) arms.push_back(block[i]);
    skipped = 0;
  }
  return arms;
}

}  // namespace stab::plan
