// What a comparison's difference is a difference of: of two programs, of two binaries as they were linked, or of no two things.
#pragma once

#include <string>

#include "stabctl/sides/ad_hoc_plan.h"

namespace stab::ctl {

// A sentence for the answer. `unmatched`: why layouts were not the same on all sides; empty: they were. `has_libraries`: shared
// libraries moved, too.
std::string about_sides(const AdHocPlan& plan, const std::string& unmatched, bool has_libraries);

}  // namespace stab::ctl
