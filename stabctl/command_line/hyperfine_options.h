// Options of hyperfine that people type from habit, and what compare and time have instead.
#pragma once

#include <string>
#include <string_view>

namespace stab::ctl {

// "--at-most 1min is the time ..."; empty: hyperfine has no such option, or we have it under its name.
std::string instead_of_hyperfine(std::string_view option);

}  // namespace stab::ctl
