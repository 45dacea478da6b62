// Names of functions as people wrote them.
#pragma once

#include <string>

namespace stab::text {

// A C++ name as its source has it, "libwork.so!void inflate<7>(char*)", and so long that a line takes it. Others stay, and so
// does one that repeats itself: each repetition may hold others, so a name of 300 bytes may mean one of gigabytes.
std::string source_name(const std::string& name);

}  // namespace stab::text
