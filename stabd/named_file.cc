// open() of a FIFO waits until somebody writes to it, which would stop the engine and with it every experiment: so it
// is opened without waiting, looked at, and refused unless it is what can be read to its end.
#include "stabd/named_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace stab::engine {
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
  if (!S_ISREG(info.st_mode) && !(devices && S_ISCHR(info.st_mode)))
    return bad_input("'" + path + "' is " + word_of(info.st_mode) + cure);
  // Whoever gets the descriptor reads it as any other.
  if (::fcntl(fd.get(), F_SETFL, 0) != 0) return system_error("open '" + path + "'", errno);
  return fd;
}

}  // namespace

Result<UniqueFd> open_regular_file(const std::string& path) {
  return open_as_one_of(path, false, ", not a regular file");
}

Result<UniqueFd> open_input(const std::string& path) {
  return open_as_one_of(path, true, "; stdin is a regular file or a character device, let 'prepare' make one");
}

}  // namespace stab::engine
