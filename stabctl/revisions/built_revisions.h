// --build: two revisions that one command builds and another one runs, without a plan.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stabctl/revisions/revisions.h"
#include "stabctl/sides/ad_hoc_plan.h"

namespace stab::ctl {

// Fills in what `plan` builds and runs: both revisions by `build`, then `run`, whose words that are files of the repository are
// inputs of each trial. pre: run is not empty
void build_revisions(const Revisions& revisions, const std::string& build, const std::vector<std::string>& run, AdHocPlan& plan);

}  // namespace stab::ctl
