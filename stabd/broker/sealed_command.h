// The command of a launch, as the engine hands it over: memory that nobody can change any more, with strings that the launcher
// reads.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace stab::broker {

// Path, the program's path, what that must be, directory, then `words` arguments and variables. kDenied: it is not in sealed
// memory. kCorrupt: it is something else than so many strings. kBadInput: it is too large.
Result<std::string> read_sealed_command(int fd, size_t words);

}  // namespace stab::broker
