// Where to repeat: builds, links of a build, processes of a link, iterations of a process. What a repetition at one level teaches
// depends on how much of the variance lies there, and it costs what that level costs (Kalibera & Jones, "Rigorous benchmarking in
// reasonable time", ISMM 2013, section 6; Cochran, "Sampling techniques", 1977, section 10.6).
//
// With variances T_i^2 and r_i repetitions at level i within each repetition of the level above, the mean's variance is
//
//   T_n^2 / r_n + T_(n-1)^2 / (r_n r_(n-1)) + ... + T_1^2 / (r_n ... r_1)
//
// and it costs r_n (c_n + r_(n-1) (c_(n-1) + ...)), c_i what one repetition of level i costs beside what is repeated within it.
// At the least cost r_i = sqrt(c_(i+1) / c_i * T_i^2 / T_(i+1)^2) for all but the outermost level, whatever precision is asked
// for; the outermost one buys the precision. Those are no whole numbers, and few repetitions outermost leave few degrees of
// freedom: from that start whole numbers are searched, all that could be cheaper where those are 10,000 at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

struct Level {
  double variance = 0;  // that this level adds; >= 0
  double cost = 0;      // > 0
};

struct Repetitions {
  std::vector<double> unrounded;  // of all but the outermost level, by the formula; infinite where the level above adds nothing
  std::vector<uint64_t> counts;   // outermost first
  double half_width = 0;          // of the two-sided interval, with outermost repetitions - 1 degrees of freedom a side
  double cost = 0;                // of all sides
};

struct RepetitionsAsked {
  double half_width = 0;  // > 0
  double alpha = 0.05;
  uint32_t sides = 2;  // of a comparison, each measured so; 1: one mean
  uint64_t least = 3;  // repetitions of the outermost level; >= 2
};

// The interval's half width with these counts a side. pre: counts as long as levels, counts[0] >= 2
double half_width_of(std::span<const Level> levels, std::span<const uint64_t> counts, double alpha, uint32_t sides);
// What one side costs.
double cost_of(std::span<const Level> levels, std::span<const uint64_t> counts);

// levels: outermost first. Refuses variances that are all 0, and precision that no 10^6 outermost repetitions reach.
Result<Repetitions> plan_repetitions(std::span<const Level> levels, const RepetitionsAsked& asked);

}  // namespace stab::statistics
