// A part of a file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stab {

// Reads so many bytes from there (pread(2)). False: the file has fewer, or can't be read.
bool read_at(int fd, void* out, size_t bytes, uint64_t offset);

}  // namespace stab
