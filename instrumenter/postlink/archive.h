// What a static library holds: its members, and which functions they define.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stab::postlink {

// The bytes of each member of an archive (ar format), inside `bytes`; the index is one, too. A thin archive, which only names
// its members, is none.
Result<std::vector<std::span<const uint8_t>>> members_of_archive(std::span<const uint8_t> bytes, const std::string& path);

// The names of all functions defined by the x86-64 ELF members of an archive, local ones included, ascending, each
// once.
Result<std::vector<std::string>> functions_of_archive(std::span<const uint8_t> bytes, const std::string& path);

}  // namespace stab::postlink
