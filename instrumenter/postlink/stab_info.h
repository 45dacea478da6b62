// What a binary carries, in words: szc --stab-info.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stab::postlink {

// `runtime_names`: the runtime's functions, ascending; those of them that post-link had no need to know, such as malloc, are told
// as the runtime's.
Result<std::string> describe(const std::string& path, const std::vector<std::string>& runtime_names = {});

}  // namespace stab::postlink
