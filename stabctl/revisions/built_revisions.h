// --build: revisions that one command builds and another one runs, without a plan.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stabctl/revisions/revisions.h"
#include "stabctl/sides/ad_hoc_plan.h"

namespace stab::ctl {

// Fills in what `plan` builds and runs: the base and each head by `build`, then `run`, whose words that are files of the
// repository are inputs of each trial. kBadInput where a plan can't hold a word of them. pre: there is a change, all have one
// base, and run is not empty
Status build_revisions(const std::vector<Revisions>& changes, const std::string& build, const std::vector<std::string>& run,
                       AdHocPlan& plan);

}  // namespace stab::ctl
