// Under which heading --help lists a command.
#pragma once

#include <string>
#include <string_view>

namespace stab::ctl {

// Of the first word of a command, such as "plan" of "plan check". "": it is internal, works, and isn't listed. Each command has
// one: without is an error of the program.
std::string_view section_of(std::string_view word);

}  // namespace stab::ctl
