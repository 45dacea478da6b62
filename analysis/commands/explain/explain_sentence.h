// The answer of an explanation in one sentence.
#pragma once

#include <string>

#include "analysis/commands/explain/explain.h"

namespace stab::commands {

// "new was on a CPU for 27 % of its time and waited for the rest, which CPU time does not see"
std::string waits_text(const Explanation& all);

}  // namespace stab::commands
