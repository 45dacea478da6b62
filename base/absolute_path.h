// A path from the root, of one that begins in the working directory, which may have been removed while somebody stood in it.
#pragma once

#include <string>

#include "base/result.h"

namespace stab {

// Of "." it is the working directory itself. Links stay, and nothing has to be there.
Result<std::string> absolute_path(const std::string& path);

}  // namespace stab
