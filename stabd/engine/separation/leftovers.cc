#include "stabd/engine/separation/leftovers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "base/path_lock.h"
#include "stabd/engine/separation/places.h"
#include "stabd/host/process_stat.h"

namespace stab::engine {
namespace {

namespace fs = std::filesystem;

// Each try that fails is another engine that begins within the same microseconds.
constexpr int kMostTries = 100;

constexpr const char* kHeld[] = {"/trial", "/private"};

// Of an engine of our user that lives no more: anybody can make a name in /tmp. What it holds, if anything, is this user's.
UniqueFd hold_left(const std::string& path, unsigned uid) {
  int pid = 0;
  if (std::sscanf(fs::path(path).filename().c_str(), "stab-%7d-", &pid) != 1 || pid <= 0) return {};
  // What a living engine of this namespace could not remove stays its own. In a container each has the number that we have.
  if (pid != ::getpid() && host::is_alive(pid)) return {};
  UniqueFd held = hold_scratch(path);
  if (!held) return {};
  const bool all_his = std::all_of(std::begin(kHeld), std::end(kHeld), [&](const char* inside) {
    struct stat info;
    return ::lstat((path + inside).c_str(), &info) != 0 || info.st_uid == uid || info.st_uid == ::geteuid();
  });
  return all_his ? std::move(held) : UniqueFd();
}

Status remove_leftover(const std::string& path, const Empty& empty) {
  for (const char* held : kHeld) STAB_CHECK_OK(remove_filled(path + held, empty));
  return remove_tree(path);
}

}  // namespace

Status remove_filled(const std::string& path, const Empty& empty) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (S_ISDIR(info.st_mode)) {
    if (::rmdir(path.c_str()) == 0) return {};  // an empty one takes no worker, which may have been stopped
    const Status emptied = empty(path);
    // What could not be emptied in time would not be by us either.
    if (!emptied && emptied.error().code != ErrorCode::kDenied) return emptied;
  }
  return remove_tree(path);
}

UniqueFd hold_scratch(const std::string& path) {
  UniqueFd held(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info;
  if (held && (::fstat(held.get(), &info) != 0 || info.st_uid != ::geteuid())) {
    held.reset();
    errno = EPERM;
  }
  if (held && !lock_path(held.get(), path)) held.reset();
  return held;
}

Result<UniqueFd> make_scratch(std::string& path) {
  const std::string wanted = path;
  const bool drawn = wanted.ends_with("XXXXXX");
  for (int tries = 0;; ++tries) {
    path = wanted;
    const bool made = drawn ? ::mkdtemp(path.data()) != nullptr : ::mkdir(path.c_str(), 0700) == 0;
    if (!made) {
      Error error = system_error("create '" + path + "'", errno);
      error.message += "; trials run in folders of '" + fs::path(wanted).parent_path().string() + "', which must take them";
      return error;
    }
    UniqueFd held = hold_scratch(path);
    if (held) return held;
    const bool lost = errno == ENOENT || (errno == EWOULDBLOCK && drawn);
    if (!lost || tries == kMostTries) return system_error("hold '" + path + "'", errno);
  }
}

std::string remove_held(const std::vector<std::string>& below, const char* whose, const HoldLeft& hold_left, const Empty& remove,
                        const LeftoverLimits& limits) {
  const auto until = std::chrono::steady_clock::now() + limits.time;
  int removed = 0, left = 0;
  std::string one, why = "removing others took long enough";
  for (const std::string& directory : below) {
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
      const std::string path = at->path().string();
      const UniqueFd held = hold_left(path);
      if (!held) continue;
      // What can't be removed keeps nobody from what lies behind it.
      if (removed < limits.most && std::chrono::steady_clock::now() < until) {
        const Status gone = remove(path);
        if (gone) {
          ++removed;
          continue;
        }
        why = gone.error().message;
      }
      ++left;
      one = path;
    }
  }
  if (left == 0) return {};
  return std::to_string(left) + " directories of " + whose + " that were killed stay for the next experiment, '" + one +
         "' for one: " + why + "; root can remove them by hand";
}

std::string remove_leftovers(const std::vector<std::string>& below, unsigned uid, const Empty& empty,
                             const LeftoverLimits& limits) {
  return remove_held(
      below, "engines", [uid](const std::string& path) { return hold_left(path, uid); },
      [&](const std::string& path) { return remove_leftover(path, empty); }, limits);
}

}  // namespace stab::engine
