// A program may leave a tree that is deeper than any path is long and than there are descriptors, and directories that
// nobody may enter, its owner included. So nothing here recurses: a directory that is not empty has its files removed and
// its directories moved up to the top, which then are emptied in their turn. Two directories are open at a time.
#include "stabd/worker/empty_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "base/unique_fd.h"

namespace stab::worker {
namespace {

// Names that are kept at a time.
constexpr size_t kNames = 4096;

// Through the directory itself, not its name, under which there might be a link by now.
bool make_mine(int parent, const char* name) {
  const UniqueFd fd(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return fd && ::chmod(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), 0700) == 0;
}

UniqueFd open_directory(int parent, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(parent, name, kFlags));
  if (!fd && errno == EACCES && make_mine(parent, name)) fd.reset(::openat(parent, name, kFlags));
  if (fd && ::faccessat(fd.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) ::fchmod(fd.get(), 0700);
  return fd;
}

Result<std::vector<std::string>> some_names(int directory) {
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  if (!open) return system_error("read a directory", errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    names.push_back(name);
    if (names.size() == kNames) break;
  }
  return names;
}

enum class Removed { kYes, kNotEmpty, kNo };

Removed remove_entry(int directory, const char* name) {
  if (::unlinkat(directory, name, 0) == 0 || errno == ENOENT) return Removed::kYes;
  const int why = errno;
  if (::unlinkat(directory, name, AT_REMOVEDIR) == 0) return Removed::kYes;
  if (errno == ENOTEMPTY || errno == EEXIST) return Removed::kNotEmpty;
  if (errno == ENOTDIR) errno = why;
  return Removed::kNo;
}

class Emptying {
 public:
  using Time = std::chrono::steady_clock::time_point;
  Emptying(int top, const std::string& path, Time until) : top_(top), path_(path), until_(until) {}

  Status run() {
    for (;;) {
      STAB_TRY(const std::vector<std::string> names, some_names(top_));
      if (names.empty()) return {};
      for (const std::string& name : names) {
        STAB_CHECK_OK(in_time());
        const Removed removed = remove_entry(top_, name.c_str());
        if (removed == Removed::kNo) return system_error("remove '" + path_ + "/" + name + "'", errno);
        if (removed == Removed::kNotEmpty) STAB_CHECK_OK(flatten(name));
      }
    }
  }

 private:
  Status in_time() const {
    if (std::chrono::steady_clock::now() < until_) return {};
    return Error{ErrorCode::kSystem,
                 "'" + path_ + "' holds too much to be removed in time, or is filled while it is emptied: stop what writes " +
                     "there, and remove the rest by hand",
                 {}};
  }

  // Afterwards `name` is gone, and what was two levels below the top is one.
  Status flatten(const std::string& name) {
    const UniqueFd inner = open_directory(top_, name.c_str());
    if (!inner) return system_error("open directory '" + path_ + "/" + name + "'", errno);
    for (;;) {
      STAB_TRY(const std::vector<std::string> names, some_names(inner.get()));
      if (names.empty()) break;
      for (const std::string& below : names) {
        STAB_CHECK_OK(in_time());
        const Removed removed = remove_entry(inner.get(), below.c_str());
        if (removed == Removed::kNo) return system_error("remove '" + path_ + "/" + name + "/" + below + "'", errno);
        if (removed == Removed::kNotEmpty) STAB_CHECK_OK(lift(inner.get(), below));
      }
    }
    if (remove_entry(top_, name.c_str()) == Removed::kNo) return system_error("remove '" + path_ + "/" + name + "'", errno);
    return {};
  }

  Status lift(int from, const std::string& name) {
    for (int tries = 0; tries < 1000; ++tries) {
      const std::string free = ".stab-" + std::to_string(next_++);
      if (::renameat(from, name.c_str(), top_, free.c_str()) == 0) return {};
      if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) continue;  // the tree has one of that name
      // To move a directory writes to it, too, since its ".." becomes another one.
      if (errno == EACCES && make_mine(from, name.c_str()) && ::renameat(from, name.c_str(), top_, free.c_str()) == 0) return {};
      break;
    }
    return system_error("move '" + name + "' up to '" + path_ + "'", errno);
  }

  int top_;
  const std::string& path_;
  const Time until_;
  uint64_t next_ = 0;
};

}  // namespace

Status empty_directory(const std::string& path, std::chrono::steady_clock::time_point until) {
  const UniqueFd top = open_directory(AT_FDCWD, path.c_str());
  if (!top) return system_error("open directory '" + path + "'", errno);
  return Emptying(top.get(), path, until).run();
}

Status remove_tree(const std::string& path, std::chrono::steady_clock::time_point until) {
  if (remove_entry(AT_FDCWD, path.c_str()) == Removed::kYes) return {};
  if (errno == ENOENT) return {};
  STAB_CHECK_OK(empty_directory(path, until));
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return system_error("remove '" + path + "'", errno);
  return {};
}

}  // namespace stab::worker
