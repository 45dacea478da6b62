// A lock on a file or a directory, for as long as a descriptor of it is open: the kernel drops it however its holder ends, and it
// means the same in every PID namespace, where the number of a process does not.
#pragma once

#include <string>

namespace stab {

// Locks what `fd` was opened from. False, and errno says why: EWOULDBLOCK, another has it; ENOENT, it is not at `path` any more:
// whoever had it before has removed it. So one that makes a file and locks it knows that nobody took it in between, and one that
// removes what nobody holds removes nothing that was made a moment ago.
bool lock_path(int fd, const std::string& path);

}  // namespace stab
