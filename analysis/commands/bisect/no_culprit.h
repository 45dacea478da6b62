// How likely it is that no commit between two ends made a program slower by the margin, where the ends alone were compared and
// not shown to be apart.
#pragma once

#include <cstddef>

#include "analysis/commands/bisect/commit_search.h"

namespace stab::commands {

// Before the comparison: that no commit of the range did anything has 1/4, that one did 1/2, that several did 1/4. One that did
// something made it slower by the margin or more in three of four cases; else it changed the cost by any other amount. Nobody
// knows which sizes slowdowns have. So, as for a lower bound, a slowdown has the size that the comparison makes likeliest, of
// those that reach the margin (Berger and Sellke 1987, "Testing a point null hypothesis: the irreconcilability of P values and
// evidence"). A model that spreads it over all sizes says too much: the few sizes that the comparison leaves possible have next
// to no weight there (Lindley's paradox). What one of several commits has made slower another one may have taken back, so several
// count as if one of them had made it slower by the margin.
//
// ends: of the bad commit against the good one, on a scale on which costs add up. margin: on it, above 0. commits: of the range
// with the bad one, at least 1; a single one leaves no case of several.
// How often this held: tests/bench/bisect_table.cc.
double probability_of_no_culprit(const CostEstimate& ends, double margin, size_t commits);

}  // namespace stab::commands
