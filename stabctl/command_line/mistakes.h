// Mistakes: words on the command line that no row of the table knows, and what was probably meant.
#pragma once

#include <string>
#include <vector>

namespace stab::ctl {

// What is wrong with the command's words, an option's name or its place, with what was probably meant; empty: nothing. Whether
// operands are there and values are right is not asked.
std::string mistake_in(const std::vector<std::string>& words);

}  // namespace stab::ctl
