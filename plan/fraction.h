// Fractional factorials: 2^(k-p) designs of the two-level factors (Box, Hunter & Hunter, "Statistics for
// Experimenters", 2nd ed., chapter 6). A word is a bit mask over those factors; a run's sign for a word is the
// product of its factors' signs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace stab::plan {

struct FractionDesign {
  std::vector<int> factors;             // indices of the two-level factors, bit i of a word is factors[i]
  std::vector<uint32_t> defining;       // the whole defining group without I: 2^p - 1 words, shortest first
  std::vector<uint32_t> generators;     // p of them, independent
  std::vector<int> signs;               // of each generator's word in the runs that are kept: +1 or -1
  int resolution = 0;                   // length of the shortest defining word

  // Of a word of the defining group: +1 or -1 in all runs that are kept. 0: no word of the group.
  int sign(uint32_t word) const;
  // True where the run with these level bits (bit i: second level of factors[i]) belongs to the fraction.
  bool keeps(uint32_t level_bits) const;
  // Effects (words) of order 1 to 3 that share a coset of the defining group with an effect of order 1 or 2,
  // lowest order first; only sets of two or more.
  std::vector<std::vector<uint32_t>> aliases() const;
};

// Reads or chooses generators. "heap = code:stack" takes the fraction where heap's second level goes with an
// even number of first levels among code and stack, "heap = -code:stack" the other one. Without generators: the
// words of highest resolution, ties to the first found.
Result<FractionDesign> make_fraction(const Plan& plan);

}  // namespace stab::plan
