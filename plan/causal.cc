// Streams are named by what they are for, as in schedule.cc: a block's order depends on no other block.
//
//   order of a block       stream(STREAM, b)
//   which lines are null, and which others are drawn: the same stream, before the order
#include "plan/causal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace stab::plan {
namespace {

uint32_t permille(double share) { return static_cast<uint32_t>(std::lround(share * 1000)); }

// How many arms of each kind a block has.
struct Counts {
  size_t speedups = 0, nulls = 0, slowdowns = 0, others = 0, baselines = 0;
  size_t all() const { return speedups + nulls + slowdowns + others + baselines; }
};

Counts counts_of(const Causal& causal, const CausalRegions& regions) {
  constexpr size_t kCandidatesPerNull = 4;
  Counts counts;
  if (regions.candidates == 0) return counts;
  counts.speedups = regions.candidates * causal.speedups.size();
  counts.nulls = (regions.candidates + kCandidatesPerNull - 1) / kCandidatesPerNull;
  counts.slowdowns = causal.slowdown ? regions.candidates : 0;
  const uint64_t seen = std::accumulate(regions.others.begin(), regions.others.end(), uint64_t{0});
  // Of all windows that speed a line up.
  if (seen > 0 && causal.explore > 0)
    counts.others = static_cast<size_t>(
        std::ceil(static_cast<double>(counts.speedups) * causal.explore / (1 - causal.explore) - 1e-9));
  // One window in three.
  counts.baselines = (counts.all() + 1) / 2;
  return counts;
}

}  // namespace

size_t arms_in_block(const Causal& causal, const CausalRegions& regions) { return counts_of(causal, regions).all(); }

std::vector<CausalArm> arms_of_block(const Causal& causal, uint64_t seed, std::string_view stream, uint32_t block,
                                     const CausalRegions& regions) {
  const Counts counts = counts_of(causal, regions);
  std::vector<CausalArm> arms;
  if (counts.all() == 0) return arms;
  Rng rng = Rng::stream(seed, stream, block);
  const uint32_t largest = permille(causal.speedups.back());
  for (uint32_t region = 1; region <= regions.candidates; ++region) {
    for (const double speedup : causal.speedups) arms.push_back({CausalArmKind::kSpeedup, region, permille(speedup)});
    if (causal.slowdown) arms.push_back({CausalArmKind::kSlowdown, region, largest});
  }
  std::vector<uint32_t> lines(regions.candidates);
  std::iota(lines.begin(), lines.end(), 1u);
  rng.shuffle(lines);
  for (size_t i = 0; i < counts.nulls; ++i) arms.push_back({CausalArmKind::kNull, lines[i % lines.size()], largest});
  const uint64_t seen = std::accumulate(regions.others.begin(), regions.others.end(), uint64_t{0});
  for (size_t i = 0; i < counts.others; ++i) {
    uint64_t left = rng.below(seen);
    uint32_t other = 0;
    while (left >= regions.others[other]) left -= regions.others[other++];
    const double speedup = causal.speedups[rng.below(causal.speedups.size())];
    arms.push_back({CausalArmKind::kSpeedup, regions.candidates + 1 + other, permille(speedup)});
  }
  arms.insert(arms.end(), counts.baselines, CausalArm{});
  rng.shuffle(arms);
  return arms;
}

std::vector<CausalArm> arms_from(const Causal& causal, uint64_t seed, std::string_view stream, uint64_t first, size_t count,
                                 const CausalRegions& regions) {
  std::vector<CausalArm> arms;
  const size_t size = arms_in_block(causal, regions);
  if (size == 0) return arms;
  size_t skipped = static_cast<size_t>(first % size);
  for (uint64_t block = first / size; arms.size() < count; ++block) {
    const std::vector<CausalArm> all = arms_of_block(causal, seed, stream, static_cast<uint32_t>(block), regions);
    for (size_t i = skipped; i < all.size() && arms.size() < count; ++i) arms.push_back(all[i]);
    skipped = 0;
  }
  return arms;
}

std::chrono::nanoseconds drawn_period(const Causal& causal, uint64_t trial_seed) {
  const double share = 0.9 + 0.2 * Rng::stream(trial_seed, "causal period", 0).uniform();
  return std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(causal.sampling.count()) * share));
}

}  // namespace stab::plan
