#include "base/path_lock.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace stab {

bool lock_path(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return false;
  struct stat held, there;
  if (::fstat(fd, &held) != 0) return false;
  if (::lstat(path.c_str(), &there) == 0 && there.st_dev == held.st_dev && there.st_ino == held.st_ino) return true;
  ::flock(fd, LOCK_UN);
  errno = ENOENT;
  return false;
}

}  // namespace stab
