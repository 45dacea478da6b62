// Mixed models: a response with fixed effects and any number of random intercepts, crossed or nested, by REML; fixed effects with
// degrees of freedom that allow for variances which are estimates.
//
//   y = X beta + sum of Z_i b_i + e,   b_i ~ N(0, s_i I),   e ~ N(0, s_e I)
//
// The variances maximize the restricted likelihood (Patterson & Thompson 1971), by Fisher scoring with steps that are halved
// until it rises; one that would fall below 0 is 0, and the fit is called singular. Satterthwaite's
// degrees of freedom then take it as known to be 0, as lmerTest's do; Kenward and Roger's don't. A coefficient's error:
//
//   Satterthwaite     (X'V^-1 X)^-1, and 2 v^2 / (g'A g) degrees of freedom from the observed information (Giesbrecht & Burns
//                     1985; Kuznetsova, Brockhoff & Christensen 2017)
//   Kenward-Roger     the same with a correction of the error's own bias in small samples, and the expected information
//                     (Kenward & Roger 1997, equations 2 to 5; for one coefficient their F is a t with 2 / A2 degrees of freedom)
//
// All is done with matrices of the size of the random levels (Woodbury), never of the rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

// One random intercept: which of its levels each row has.
// invariant: codes[row] < levels
struct RandomTerm {
  std::string name;
  std::vector<uint32_t> codes;
  uint32_t levels = 0;
};

enum class DegreesOfFreedom { kSatterthwaite, kKenwardRoger };

struct FixedEffect {
  std::string name;
  double estimate = 0, standard_error = 0, df = 0, t = 0, p_value = 1;
};

struct MixedFit {
  std::vector<FixedEffect> fixed;         // one for each column, in order
  std::vector<std::string> random_names;  // the residual last
  std::vector<double> variances;
  std::vector<uint32_t> levels;  // of each random term; for the residual the number of rows
  double criterion = 0;          // -2 log of the restricted likelihood, as lme4 gives it
  bool singular = false;         // a variance is 0
};

// columns: of X, the intercept among them; names of the same length. Refuses columns that depend on each other, random terms of
// one level, of as many as there are rows, or with the same levels as another; and fits that don't converge.
Result<MixedFit> fit_mixed(const std::vector<std::vector<double>>& columns, const std::vector<std::string>& names,
                           const std::vector<RandomTerm>& random, std::span<const double> values, DegreesOfFreedom method);

}  // namespace stab::statistics
