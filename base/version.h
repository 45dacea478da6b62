// The version of this program. It is written in one place, the project's line of CMakeLists.txt.
#pragma once

#include <string_view>

namespace stab {

// "1.2.3"
std::string_view version();

}  // namespace stab
