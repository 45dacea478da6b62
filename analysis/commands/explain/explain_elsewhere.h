// What an explanation knows beside its blocks: the time in shared libraries, and what the two files' own bytes say.
#pragma once

#include <string>

#include "analysis/commands/explain/explain.h"

namespace stab::commands {

// How much of the time is in shared libraries, and which of their functions. Empty: too little to matter, or unknown.
std::string libraries_text(const Explanation& all, int width);

// In which functions instructions differ, and which data. Empty: nobody looked.
std::string bodies_text(const Explanation& all, int width);

}  // namespace stab::commands
