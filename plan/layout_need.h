// What of a plan needs more than its programs and a clock: the helper beside a trial, or anything that szc and the layout
// runtime do.
#pragma once

#include <string>

#include "plan/plan.h"

namespace stab::plan {

// "factor 'code'"; empty: its trials have no helper. The helper randomizes, and it reports: the region's time and visits of
// progress points are in the dose.
std::string what_needs_helper(const Plan& plan);

// The same of all that is for x86-64 alone so far, builds by szc and causal profiles included (base/architecture.h).
std::string what_needs_layouts(const Plan& plan);

// Why this build of Stab runs no trial of the plan; empty: it does.
std::string why_not_on_this_processor(const Plan& plan);

}  // namespace stab::plan
