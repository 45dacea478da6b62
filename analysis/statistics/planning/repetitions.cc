#include "analysis/statistics/planning/repetitions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::statistics {
namespace {

constexpr uint64_t kMostOutermost = 1'000'000;
// Within one repetition of the level above; more teach nothing that a thousand don't.
constexpr uint64_t kMostWithin = 1000;

double variance_of(std::span<const Level> levels, std::span<const uint64_t> counts) {
  double variance = 0, product = 1;
  for (size_t i = 0; i < levels.size(); ++i) {
    product *= static_cast<double>(counts[i]);
    variance += levels[i].variance / product;
  }
  return variance;
}

// The fewest outermost repetitions that are precise enough with these counts within. Absent where none are.
std::optional<uint64_t> fewest_outermost(std::span<const Level> levels, std::vector<uint64_t>& counts,
                                         const RepetitionsAsked& asked) {
  const auto enough = [&](uint64_t outermost) {
    counts[0] = outermost;
    return half_width_of(levels, counts, asked.alpha, asked.sides) <= asked.half_width;
  };
  uint64_t low = asked.least, high = asked.least;
  if (enough(low)) return low;
  while (!enough(high)) {
    if (high >= kMostOutermost) return {};
    low = high;
    high = std::min(2 * high, kMostOutermost);
  }
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

struct Candidate {
  std::vector<uint64_t> counts;
  double cost = std::numeric_limits<double>::infinity();
};

void try_counts(std::span<const Level> levels, std::vector<uint64_t> counts, const RepetitionsAsked& asked, Candidate& best) {
  for (size_t i = 1; i < counts.size(); ++i) counts[i] = std::clamp<uint64_t>(counts[i], 1, kMostWithin);
  const auto outermost = fewest_outermost(levels, counts, asked);
  if (!outermost) return;
  counts[0] = *outermost;
  const double cost = cost_of(levels, counts);
  if (cost < best.cost * (1 - 1e-12)) best = {std::move(counts), cost};
}

// All whole numbers within that could be cheaper than the best that is known: with the fewest outermost repetitions they cost
// less. False where there are more than `budget`.
bool try_all(std::span<const Level> levels, std::vector<uint64_t>& counts, size_t level, const RepetitionsAsked& asked,
             Candidate& best, size_t& budget) {
  if (level == levels.size()) {
    if (budget-- == 0) return false;
    try_counts(levels, counts, asked, best);
    return true;
  }
  for (counts[level] = 1; counts[level] <= kMostWithin; ++counts[level]) {
    for (size_t i = level + 1; i < counts.size(); ++i) counts[i] = 1;
    counts[0] = asked.least;
    if (cost_of(levels, counts) >= best.cost) break;
    const uint64_t here = counts[level];
    if (!try_all(levels, counts, level + 1, asked, best, budget)) return false;
    counts[level] = here;
  }
  return true;
}

}  // namespace

double half_width_of(std::span<const Level> levels, std::span<const uint64_t> counts, double alpha, uint32_t sides) {
  const double df = static_cast<double>(sides) * static_cast<double>(counts[0] - 1);
  return t_quantile_upper(alpha / 2, df) * std::sqrt(static_cast<double>(sides) * variance_of(levels, counts));
}

double cost_of(std::span<const Level> levels, std::span<const uint64_t> counts) {
  double cost = 0;
  for (size_t i = levels.size(); i-- > 0;) cost = static_cast<double>(counts[i]) * (levels[i].cost + cost);
  return cost;
}

Result<Repetitions> plan_repetitions(std::span<const Level> levels, const RepetitionsAsked& asked) {
  double total = 0;
  for (const Level& level : levels) {
    if (!(level.variance >= 0) || !std::isfinite(level.variance)) return bad_input("a level's variance must be >= 0");
    if (!(level.cost > 0) || !std::isfinite(level.cost)) return bad_input("a repetition costs more than 0 at each level");
    total += level.variance;
  }
  if (!(total > 0)) return bad_input("no level has any variance: one value says all");
  Repetitions out;
  std::vector<uint64_t> start(levels.size(), 1);
  for (size_t i = 1; i < levels.size(); ++i) {
    // Kalibera & Jones (2013), section 6.2; there levels are counted from the innermost.
    const double r = levels[i - 1].variance > 0
                         ? std::sqrt(levels[i - 1].cost / levels[i].cost * levels[i].variance / levels[i - 1].variance)
                         : std::numeric_limits<double>::infinity();
    out.unrounded.push_back(r);
    start[i] = static_cast<uint64_t>(std::clamp(std::round(r), 1.0, static_cast<double>(kMostWithin)));
  }
  Candidate best;
  try_counts(levels, start, asked, best);
  try_counts(levels, std::vector<uint64_t>(levels.size(), 1), asked, best);
  // One level at a time and any two together, in steps that become small: cost is flat around its least.
  bool better = std::isfinite(best.cost);
  while (better) {
    const double before = best.cost;
    const std::vector<uint64_t> around = best.counts;
    const auto moved = [](uint64_t count, int step) -> uint64_t {
      switch (step) {
        case 1:
          return count + 1;
        case 2:
          return count > 1 ? count - 1 : 1;
        case 3:
          return count + std::max<uint64_t>(2, count / 8);
        case 4:
          return count - std::min(count - 1, std::max<uint64_t>(2, count / 8));
        case 5:
          return 2 * count;
        case 6:
          return std::max<uint64_t>(1, count / 2);
        default:
          return count;
      }
    };
    for (size_t i = 1; i < levels.size(); ++i)
      for (size_t j = i; j < levels.size(); ++j)
        for (int a = 1; a <= 6; ++a)
          for (int b = 0; b <= (i == j ? 0 : 6); ++b) {
            std::vector<uint64_t> counts = around;
            counts[i] = moved(counts[i], a);
            if (i != j) counts[j] = moved(counts[j], b);
            try_counts(levels, std::move(counts), asked, best);
          }
    better = best.cost < before;
  }
  // A second or less; beyond it what steps have found stands, which is within a percent.
  size_t budget = 10'000;
  std::vector<uint64_t> counts(levels.size(), 1);
  if (std::isfinite(best.cost)) try_all(levels, counts, 1, asked, best, budget);
  if (!std::isfinite(best.cost))
    return bad_input("no 1,000,000 repetitions of the outermost level are that precise; ask for a wider interval");
  out.counts = best.counts;
  out.half_width = half_width_of(levels, best.counts, asked.alpha, asked.sides);
  out.cost = best.cost * static_cast<double>(asked.sides);
  return out;
}

}  // namespace stab::statistics
