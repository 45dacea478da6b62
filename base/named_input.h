// What the user names to be read: a file, a pipe with a name, or "-" for standard input.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab {

// Refuses folders and sockets, and a pipe that nobody opens for writing within five seconds: opening one waits for ever.
Result<UniqueFd> open_named_input(const std::string& path);

// The beginning of it, `most` bytes and one at the most: whoever gets that one knows that there is more.
Result<std::string> read_named_input(const std::string& path, size_t most);

}  // namespace stab
