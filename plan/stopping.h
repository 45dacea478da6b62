// Stopping: after how many replicates the engine may look, and how many it runs in all. What is found at a look,
// and the level that a look may spend, is the analysis' part.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace stab::plan {

// Replicates after which verdicts are allowed, ascending; the last is the end at the latest. One entry for
// fixed plans. For precision the first entry ends the first stage; the end is total_replicates()'s. For a confidence
// sequence any number would do: `first`, the end, and between them those that the engine looks at.
std::vector<int> verdict_points(const Plan& plan);

// Whether the engine decides after so many replicates: at each verdict point but the last, which is the end.
bool is_decided_after(const Plan& plan, int replicates);

// Replicates of a precision plan in all, given the relative half width of the widest confidence interval after the
// first stage: Stein's two-stage rule, N = max(first, ceil(first * (achieved / wanted)^2)), at most max. The second
// stage's size depends on the first one's spread only, never on a difference seen, so looking costs no false alarms
// (Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance", Ann. Math.
// Statist. 16(3), 1945; the interval in the end keeps the t quantile of the first stage).
// pre: the rule is precision; half_width_at_first is finite and >= 0
int total_replicates(const Stopping& stopping, double half_width_at_first);

}  // namespace stab::plan
