// Which functions a static library defines.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stab::postlink {

// The names of all functions defined by the x86-64 ELF members of an archive (ar format), local ones included,
// ascending, each once.
Result<std::vector<std::string>> functions_of_archive(std::span<const uint8_t> bytes, const std::string& path);

}  // namespace stab::postlink
