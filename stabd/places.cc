// /tmp for what a trial writes: it is local, it exists everywhere, and its name has one length whoever runs.
#include "stabd/places.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace stab::engine {
namespace {

namespace fs = std::filesystem;

Error file_error(const std::string& what, const std::error_code& error) { return system_error(what, error.value()); }

// What engines that were killed have left; only our own user's, since anybody can make a name in /tmp.
void remove_leftovers() {
  std::error_code error;
  for (fs::directory_iterator at("/tmp", error), end; !error && at != end; at.increment(error)) {
    int pid = 0;
    struct stat info;
    if (std::sscanf(at->path().filename().c_str(), "stab-%7d-", &pid) != 1 || pid <= 0) continue;
    if (::lstat(at->path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) continue;
    if (::kill(pid, 0) != 0 && errno == ESRCH) (void)remove_tree(at->path().string());
  }
}

}  // namespace

Result<std::string> default_database() {
  if (const char* state = ::getenv("XDG_STATE_HOME"); state != nullptr && state[0] == '/')
    return std::string(state) + "/stab/stab.db";
  const char* home = ::getenv("HOME");
  if (home == nullptr || home[0] != '/') {
    const passwd* user = ::getpwuid(::getuid());
    home = user != nullptr ? user->pw_dir : nullptr;
  }
  if (home == nullptr || home[0] != '/')
    return Error{ErrorCode::kNotFound, "no home directory to keep results in; name a file with --db", {}};
  return std::string(home) + "/.local/state/stab/stab.db";
}

std::string files_beside(const std::string& database) { return database + ".files"; }

Status make_directories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return file_error("create directory '" + path + "'", error);
  return {};
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return file_error("remove '" + path + "'", error);
  return {};
}

Result<ScratchDirectory> ScratchDirectory::create() {
  remove_leftovers();
  // The pid says whether its engine lives; seven digits hold any, so that the length stays.
  char path[64];
  std::snprintf(path, sizeof path, "/tmp/stab-%07d-XXXXXX", ::getpid());
  if (::mkdtemp(path) == nullptr) return system_error("create a directory below /tmp", errno);
  if (::chmod(path, 0711) != 0) return system_error("chmod '" + std::string(path) + "'", errno);
  return ScratchDirectory(path);
}

ScratchDirectory::~ScratchDirectory() {
  if (!root_.empty()) (void)remove_tree(root_);
}

// A program that writes nothing leaves nothing to be made anew. Times may be as coarse as a tick of the kernel, so the
// directory is looked into as well.
bool ScratchDirectory::is_untouched(const std::string& path, unsigned uid, unsigned gid) const {
  struct stat info;
  if (!made_ || ::lstat(path.c_str(), &info) != 0) return false;
  const Made now{uid, gid, info.st_mode, info.st_ino, info.st_ctim.tv_sec * 1'000'000'000LL + info.st_ctim.tv_nsec};
  std::error_code error;
  return now == *made_ && fs::is_empty(path, error) && !error;
}

Result<std::string> ScratchDirectory::fresh(unsigned uid, unsigned gid) {
  const std::string path = root_ + "/trial";
  if (is_untouched(path, uid, gid)) return path;
  made_.reset();
  STAB_CHECK_OK(remove_tree(path));
  if (::mkdir(path.c_str(), 0700) != 0) return system_error("create '" + path + "'", errno);
  if (uid != unsigned(-1) && ::chown(path.c_str(), uid, gid) != 0) return system_error("chown '" + path + "'", errno);
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return system_error("stat '" + path + "'", errno);
  made_ = Made{uid, gid, info.st_mode, info.st_ino, info.st_ctim.tv_sec * 1'000'000'000LL + info.st_ctim.tv_nsec};
  return path;
}

}  // namespace stab::engine
