// Random values of the distributions that simulations of errors need.
#pragma once

#include "base/rng.h"

namespace stab::statistics {

// Standard normal, by Marsaglia & Bray's polar method (SIAM Review 6(3), 1964); of each pair one is used.
double normal_value(Rng& rng);
// Of chi-squared, by Marsaglia & Tsang, "A simple method for generating gamma variables" (ACM TOMS 26(3), 2000). pre: df > 0
double chi_squared_value(Rng& rng, double df);

}  // namespace stab::statistics
