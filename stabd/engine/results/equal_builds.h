// Builds that the plan asks for in two ways and that came out as one file: what their levels differ in has reached no program, as
// where make found it up to date. Who reads "the same within 1 %" of them must know.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine/build/expand.h"
#include "store/store.h"

namespace stab::engine {

// "'bench opt=-O2' and 'bench opt=-O3'", each build with the first one that is the same file. Files that no build made, such as
// an interpreter that starts a script of it, don't show what was built, and are left out.
Result<std::vector<std::string>> equal_builds(store::Store& store, store::Id experiment, const ExpandedPlan& expanded);

}  // namespace stab::engine
