#include "base/read_at.h"

#include <unistd.h>

namespace stab {

bool read_at(int fd, void* out, size_t bytes, uint64_t offset) {
  return ::pread(fd, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

}  // namespace stab
