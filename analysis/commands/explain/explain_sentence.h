// The answer of an explanation in one sentence.
#pragma once

#include <string>

#include "analysis/commands/explain/explain.h"

namespace stab::commands {

// "'wide'", or "'wide' and 'narrow'": the functions whose place makes half of the place's difference or more; empty: they are not
// known, or they are more. pre: there is an answer
std::string functions_of_place(const Explanation& explanation);

// "new was on a CPU for 27 % of its time and waited for the rest, which CPU time does not see"
std::string waits_text(const Explanation& all);

}  // namespace stab::commands
