#include "base/named_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/wording.h"

namespace stab {
namespace {

constexpr int kMostWaitMs = 5000;

// Of a pipe that was opened without waiting. One that nobody has opened for writing is at its end; tee(2) says so, and takes
// nothing out of it.
Status wait_for_writer(int fd, const std::string& path) {
  pollfd ready{fd, POLLIN, 0};
  const int found = ::poll(&ready, 1, kMostWaitMs);
  if (found < 0) return system_error("wait for " + in_quotes(path), errno);
  if (found > 0) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("wait for " + in_quotes(path), errno);
  const UniqueFd out(ends[0]), in(ends[1]);
  if (::tee(fd, in.get(), 1, SPLICE_F_NONBLOCK) == 0)
    return bad_input(in_quotes(path) + " is a pipe that nobody writes to");
  return {};
}

}  // namespace

Result<UniqueFd> open_named_input(const std::string& path) {
  if (path == "-") {
    UniqueFd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!input) return system_error("read standard input", errno);
    return input;
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return system_error("can't open " + in_quotes(path), errno);
  if (S_ISDIR(info.st_mode)) return bad_input(in_quotes(path) + " is a directory");
  if (S_ISSOCK(info.st_mode)) return bad_input(in_quotes(path) + " is a socket");
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return system_error("can't open " + in_quotes(path), errno);
  if (::fstat(file.get(), &info) != 0) return system_error("can't open " + in_quotes(path), errno);
  if (S_ISFIFO(info.st_mode)) STAB_CHECK_OK(wait_for_writer(file.get(), path));
  if (::fcntl(file.get(), F_SETFL, 0) != 0) return system_error("can't open " + in_quotes(path), errno);
  return file;
}

Result<std::string> read_named_input(const std::string& path, size_t most) {
  STAB_TRY(const UniqueFd file, open_named_input(path));
  constexpr size_t kChunk = 1 << 16;
  std::string text;
  while (text.size() <= most) {
    const size_t before = text.size();
    text.resize(before + std::min(kChunk, most + 1 - before));
    const ssize_t got = ::read(file.get(), text.data() + before, text.size() - before);
    if (got < 0) return system_error("read " + in_quotes(path), errno);
    text.resize(before + static_cast<size_t>(got));
    if (got == 0) break;
  }
  return text;
}

}  // namespace stab
