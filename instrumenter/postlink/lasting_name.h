// A function's name, so far as it lasts from build to build.
#pragma once

#include <string>
#include <string_view>

namespace stab::postlink {

// The name without what compilers and linkers add to tell namesakes apart: hashes of modules and numbers, which another build
// of the same source may not repeat ("f.llvm.1234" and "f.17" are f; "f.cold.1" and "f.part.0" are other functions than f).
std::string lasting_name(std::string_view name);

}  // namespace stab::postlink
