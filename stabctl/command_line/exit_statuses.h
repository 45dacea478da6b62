// The exit statuses that runs may end with, as a command line and a plan write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::ctl {

// Of "1" or "0,1", in this order; of an empty text 0. kBadInput: what is wrong with it, behind the option's name.
Result<std::vector<int>> exit_statuses(std::string_view text);

// "0,1", as --exit takes them.
std::string exit_words(const std::vector<int>& statuses);
// "1" or "[0, 1]", as a plan's `expect` does.
std::string exit_value(const std::vector<int>& statuses);

}  // namespace stab::ctl
