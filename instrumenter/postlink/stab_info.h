// What a binary carries, in words: szc --stab-info.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::postlink {

Result<std::string> describe(const std::string& path);

}  // namespace stab::postlink
