// Files that others read while we write.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::ctl {

// Whole or not at all: written beside `path` and renamed, so that whoever opens it meets the old one or the new one.
Status write_whole(const std::string& text, const std::string& path);

}  // namespace stab::ctl
