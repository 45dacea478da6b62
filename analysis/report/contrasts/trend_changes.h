// Where a trend changed for good: E-divisive on the levels of a line in the order in which they came.
//
// The values of a trend share errors: those of a chain add up along it, so that they wander by themselves, and permutations,
// which take each order for as likely as each other one, find changes that nobody made. So p is asked of series that the trend
// would have shown had no level changed anything: the errors of each experiment, as it has found them, go the same way through
// the network as its differences did. What lies between sessions goes with them, its sd drawn anew for each series from what
// the nights leave possible.
//
// There is nothing to choose after the data are seen: segments have two levels at least, the level is the newest plan's alpha,
// shared by all lines (Bonferroni), or the first line's alone where there are too many of them to ask each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/contrasts/trend.h"
#include "analysis/report/contrasts/trend_sessions.h"
#include "analysis/statistics/models/arm_network.h"

namespace stab::report {

// A line and what it was fitted from. arms: of its points
struct FittedLine {
  TrendLine* line = nullptr;
  const statistics::ArmNetwork* network = nullptr;
  std::vector<size_t> arms;
  LineSessions sessions;
};

// Puts `changes` into the lines. anchor: its arm
void find_changes(std::vector<FittedLine> lines, size_t anchor, double alpha, Scale scale);

}  // namespace stab::report
