#include "base/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace stab {

void hold_standard_descriptors() {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    const int unwritable = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (unwritable < 0 || unwritable == fd) continue;
    ::dup3(unwritable, fd, O_CLOEXEC);  // standard input was closed, too, and open() gave its number
    ::close(unwritable);
  }
}

Status finish_standard_output() {
  const bool lost = std::ferror(stdout) != 0;
  int reason = std::fflush(stdout) == 0 ? 0 : errno;
  // stdio keeps no reason of what it lost before, and tries it no more. The output is broken anyway: one more byte asks why.
  if (lost && reason == 0) reason = ::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
  // Some file systems say so when a file is closed.
  if (std::fclose(stdout) != 0 && reason == 0 && errno != EBADF) reason = errno;
  if (reason == 0 || reason == EPIPE) return {};
  return system_error("can't write standard output", reason);
}

}  // namespace stab
