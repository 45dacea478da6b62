// open() of a FIFO waits until somebody writes to it, which would stop whoever asked for the file: so it is opened without
// waiting, looked at, and refused unless it is what can be read to its end.
#include "worker/named_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>

namespace stab::worker {
namespace {

const char* word_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Result<UniqueFd> open_as_one_of(const std::string& path, bool devices, const char* cure) {
  // A terminal must not become ours.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0) return system_error("open '" + path + "'", errno);
  if (!S_ISREG(info.st_mode) && !(devices && is_endless_device(info.st_mode, info.st_rdev)))
    return bad_input("'" + path + "' is " + word_of(info.st_mode) + cure);
  // Whoever gets the descriptor reads it as any other.
  if (::fcntl(fd.get(), F_SETFL, 0) != 0) return system_error("open '" + path + "'", errno);
  return fd;
}

}  // namespace

bool is_endless_device(mode_t mode, dev_t device) {
  // Numbers of the kernel's memory devices (admin-guide/devices.txt): null, zero, full, random, urandom. 11 is kmsg.
  constexpr unsigned kMemory = 1;
  const unsigned number = minor(device);
  return S_ISCHR(mode) && major(device) == kMemory && (number == 3 || number == 5 || (number >= 7 && number <= 9));
}

Result<UniqueFd> open_regular_file(const std::string& path) {
  return open_as_one_of(path, false, ", not a regular file");
}

Result<UniqueFd> open_input(const std::string& path) {
  return open_as_one_of(path, true,
                        "; stdin is a regular file, /dev/null, zero, full, random or urandom; let 'prepare' make one");
}

}  // namespace stab::worker
