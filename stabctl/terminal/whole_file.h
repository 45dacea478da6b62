// Files that others read while we write.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::ctl {

// A regular file whole or not at all: written beside the one at the end of `path`'s links and renamed, so that whoever opens it
// meets the old one or the new one, and links stay. What is no regular file stays what it is and is written to: a FIFO, a device;
// a descriptor of our own (/dev/stdout, /proc/self/fd/N) goes on where it is, behind what was printed.
Status write_whole(const std::string& text, const std::string& path);

// Whether it could be written now, so that nobody works for minutes on what has no place. Nothing is changed.
Status check_writable(const std::string& path);

}  // namespace stab::ctl
