// Group sequential boundaries: how large |z| must be at each declared look so that all looks together keep alpha.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

enum class Spending {
  kObrienFleming,        // Lan & DeMets (1983), each side a: 2 - 2 Phi(z_(a/2) / sqrt(t)): little early
  kPocock,               // Lan & DeMets (1983): alpha log(1 + (e - 1) t): about even
  kClassicObrienFleming, // O'Brien & Fleming (1979): z_k = c / sqrt(t_k)
  kClassicPocock,        // Pocock (1977): z_k = c
};

struct Look {
  double fraction = 0;        // of the information
  double z = 0;               // reject when |Z| >= z (or Z >= z, one-sided)
  double nominal_p = 0;       // the p-value that z stands for
  double spent = 0;           // alpha spent up to this look
};

// fractions: ascending, in (0, 1], the last one 1 for the classic ones. Two-sided unless `one_sided`.
Result<std::vector<Look>> alpha_spending(Spending spending, std::span<const double> fractions, double alpha,
                                         bool one_sided);

}  // namespace stab::statistics
