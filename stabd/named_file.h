// Files that somebody else has named, in a plan or by making them, opened so that nobody can make the engine wait.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::engine {

// For reading. kBadInput where it is no regular file; what is read afterwards never waits for a writer.
Result<UniqueFd> open_regular_file(const std::string& path);
// The same for a program's standard input, which may also be a character device: /dev/null, /dev/zero.
Result<UniqueFd> open_input(const std::string& path);

}  // namespace stab::engine
