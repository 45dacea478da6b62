// open() of a FIFO waits until somebody writes to it, which would stop whoever asked for the file: so it is opened without
// waiting, looked at, and refused unless it is what can be read to its end.
#include "stabd/worker/named_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <fstream>
#include <string_view>

namespace stab::worker {
namespace {

const char* word_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// "mnt_id:\t31" of /proc/self/fdinfo; a mount's number among those that we see. Empty: not known.
std::string mount_of(int fd) {
  std::ifstream lines("/proc/self/fdinfo/" + std::to_string(fd));
  for (std::string word; lines >> word;)
    if (word == "mnt_id:" && lines >> word) return word;
  return {};
}

// `way`: to the file that is called `path`.
Result<UniqueFd> open_as_one_of(const std::string& way, const std::string& path, bool devices, const char* cure) {
  // A terminal must not become ours.
  UniqueFd fd(::open(way.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
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
  return open_as_one_of(path, path, false, ", not a regular file");
}

// Why a file of this mount is not handed to a program; empty: it may be. The list of mounts tells, since a question to the file
// system itself might never be answered.
//
// "31 26 8:1 / /mnt rw shared:1 - fuse.sshfs host:/ rw,user_id=1000,group_id=1000"
std::string why_not_passed_on(int fd) {
  const std::string mount = mount_of(fd);
  std::ifstream lines("/proc/self/mountinfo");
  for (std::string line; std::getline(lines, line);) {
    if (mount.empty() || line.compare(0, mount.size() + 1, mount + " ") != 0) continue;
    const size_t type = line.find(" - ");
    if (type == std::string::npos || line.compare(type + 3, 4, "fuse") != 0) return {};
    constexpr std::string_view kUser = "user_id=";
    const size_t user = line.find(kUser, type);
    const size_t at = user + kUser.size();
    const std::string number = user == std::string::npos ? "?" : line.substr(at, line.find(',', at) - at);
    if (number == "0") return {};
    return "it is on a file system that a process of user " + number + " serves (FUSE), which can block any program that closes "
                                                                       "it";
  }
  return "it is on a file system that is not mounted here, but for another process";
}

Result<UniqueFd> open_input(const std::string& path) {
  // Without opening it: to close one that was opened is a question to whoever serves it.
  const UniqueFd seen(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!seen) return system_error("open '" + path + "'", errno);
  if (const std::string why = why_not_passed_on(seen.get()); !why.empty())
    return bad_input("'" + path + "' is no stdin: " + why + "; name it in 'inputs', which copies it");
  // The file that was looked at is opened, even if the path leads to another one by now.
  return open_as_one_of("/proc/self/fd/" + std::to_string(seen.get()), path, true,
                        "; stdin is a regular file, /dev/null, zero, full, random or urandom; let 'prepare' make one");
}

}  // namespace stab::worker
