// A search for a commit as a page: one file without a script, light or dark as the reader's system is.
#pragma once

#include <string>

#include "analysis/commands/bisect/bisect.h"

namespace stab::page {

std::string render_bisection(const commands::Bisection& search);

}  // namespace stab::page
