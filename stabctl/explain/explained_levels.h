// Two levels of a treatment of a recorded experiment, as the two sides of `stabctl explain`.
#pragma once

#include "base/result.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/explain/explained_sides.h"

namespace stab::ctl {

// Of the words EXPERIMENT FACTOR A B. kBadInput: they name no two builds of an experiment of the user's, with what to do.
Result<ExplainedSides> sides_of_levels(const Arguments& arguments);

}  // namespace stab::ctl
