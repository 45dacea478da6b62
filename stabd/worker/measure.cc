// Links are counted, not followed: a tree may hold any. Depth costs neither descriptors nor stack nor longer paths, so
// that nobody hides bytes below a path that is too long for the kernel; what else could hide them makes the answer say
// that it isn't whole.
#include "stabd/worker/measure.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "base/unique_fd.h"

namespace stab::worker {
namespace {

constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// A directory on the way down, and what is left to look into.
struct Level {
  dev_t device;
  ino_t inode;
  std::vector<std::string> directories;
};

class Measuring {
 public:
  explicit Measuring(uint64_t max_files) : max_files_(max_files) {}

  // pre: `at` is the directory that `info` is of.
  Measure::Answer run(UniqueFd at, struct stat info) {
    count(info);
    std::vector<Level> levels;
    levels.push_back(look_into(at.get(), info));
    while (!levels.empty() && !is_full()) {
      Level& level = levels.back();
      if (level.directories.empty()) {
        levels.pop_back();
        if (levels.empty()) break;
        at.reset(::openat(at.get(), "..", kFlags));
        // Who moves directories about meanwhile is counted as far as this went.
        if (!is_at(at, levels.back(), info)) {
          seen_.whole = false;
          break;
        }
        continue;
      }
      const std::string name = std::move(level.directories.back());
      level.directories.pop_back();
      UniqueFd inner(::openat(at.get(), name.c_str(), kFlags));
      // One that is gone takes nothing.
      if (!inner && errno == ENOENT) continue;
      if (!inner || ::fstat(inner.get(), &info) != 0) {
        seen_.whole = false;
        continue;
      }
      if (info.st_dev != level.device) continue;
      at = std::move(inner);
      levels.push_back(look_into(at.get(), info));
    }
    return seen_;
  }

 private:
  static bool is_at(const UniqueFd& at, const Level& level, struct stat& info) {
    return at && ::fstat(at.get(), &info) == 0 && info.st_dev == level.device && info.st_ino == level.inode;
  }

  void count(const struct stat& info) {
    seen_.bytes += static_cast<uint64_t>(info.st_blocks) * 512;
    ++seen_.files;
  }

  bool is_full() {
    if (seen_.files > max_files_) seen_.whole = false;
    return seen_.files > max_files_;
  }

  // Adds what is in a directory, and remembers its directories.
  Level look_into(int directory, const struct stat& own) {
    Level level{own.st_dev, own.st_ino, {}};
    const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> open(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
    if (!open) seen_.whole = false;
    struct stat info;
    while (const dirent* entry = open && !is_full() ? ::readdir(open.get()) : nullptr) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT) seen_.whole = false;
        continue;
      }
      // What is mounted there is on another disk.
      if (info.st_dev != own.st_dev) continue;
      count(info);
      if (S_ISDIR(info.st_mode)) level.directories.push_back(name);
    }
    return level;
  }

  uint64_t max_files_;
  Measure::Answer seen_;
};

}  // namespace

Result<Measure::Answer> measure(const std::string& path, uint64_t max_files) {
  UniqueFd at(::open(path.c_str(), kFlags));
  struct stat info;
  if (!at || ::fstat(at.get(), &info) != 0) return system_error("open directory '" + path + "'", errno);
  return Measuring(max_files).run(std::move(at), info);
}

}  // namespace stab::worker
