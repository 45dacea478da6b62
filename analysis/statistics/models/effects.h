// Effects: which terms of a factorial model the cells of a design can tell apart, and under what other names each goes
// (its aliases). A full crossing tells all of them apart; a fraction, a nested factor or cells left out don't.
#pragma once

#include <string>
#include <vector>

#include "analysis/statistics/models/linear_model.h"
#include "base/result.h"

namespace stab::statistics {

// A term that the cells can tell from those before it.
struct EstimableTerm {
  TermMask term = 0;
  bool whole = true;  // all its degrees of freedom; false: some combinations of its levels are missing
  // Other terms of up to three factors that have the same columns, such as "stack:heap"; "-stack:heap" where their signs
  // are opposite. A two-level factor's sign is minus at its first level, as generators of a plan have it.
  std::vector<std::string> aliases;
  // Orthonormal over the cells: what the term adds to all that don't contain it (type II).
  std::vector<Column> directions;
};

struct Effects {
  std::vector<EstimableTerm> terms;  // in the order of crossed_terms
  // Terms of up to three factors of which nothing is left and that are no alias of one above.
  std::vector<std::string> left_out;
  bool crossing = false;             // all combinations are there: nothing is aliased or left out
};

// cells: one row for each cell, none twice. With `directions` false those are left empty.
Effects effects_of(const FactorCodes& cells, bool directions);

// One level of a factor against another, where no two cells differ in this factor alone: by least squares on the main
// effects of all factors, each cell's mean counting once.
// invariant: weights sum to 0, and to 0 with the indicator of any level of another factor
struct MainEffect {
  std::vector<double> weights;       // of the cells' means
  // What the difference stands for besides, were it there: "stack:heap" fully, "part of stack:heap" with another weight.
  std::vector<std::string> aliases;
};
// Refuses a level without a cell and factors that go together in all cells, with their names.
Result<MainEffect> main_effect(const FactorCodes& cells, size_t factor, uint32_t level, uint32_t baseline);

}  // namespace stab::statistics
