// /tmp for what a trial writes: it is local, it exists everywhere, and its name has one length whoever runs.
#include "stabd/engine/separation/places.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "stabd/worker/empty_directory.h"

namespace stab::engine {
namespace {

namespace fs = std::filesystem;

// A legitimate build has some 100,000 files, which go in seconds.
constexpr std::chrono::minutes kRemoveLimit{2};

// Empty: there is none.
std::string home_directory() {
  const char* home = ::getenv("HOME");
  if (home == nullptr || home[0] != '/') {
    const passwd* user = ::getpwuid(::getuid());
    home = user != nullptr ? user->pw_dir : nullptr;
  }
  return home == nullptr || home[0] != '/' ? "" : home;
}

}  // namespace

Result<std::string> default_database() {
  if (const char* state = ::getenv("XDG_STATE_HOME"); state != nullptr && state[0] == '/')
    return std::string(state) + "/stab/stab.db";
  const std::string home = home_directory();
  if (home.empty())
    return Error{ErrorCode::kNotFound, "no home directory to keep results in; name a file with --db", {}};
  return home + "/.local/state/stab/stab.db";
}

Status check_home_above(const std::string& path, const std::string& kept, const std::string& cure) {
  const std::string home = home_directory();
  std::error_code error;
  if (home.empty() || !path.starts_with(home + "/") || fs::status(home, error).type() != fs::file_type::not_found) return {};
  return Error{ErrorCode::kNotFound,
               "the home directory '" + home + "' is not there, and " + kept + " kept in it; set HOME, or " + cure,
               {}};
}

std::string files_beside(const std::string& database) { return database + ".files"; }

Status close_files_beside(const std::string& database) {
  const std::string path = files_beside(database);
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && errno == ENOENT) return {};
  struct stat info {};
  if (!folder || ::fstat(folder.get(), &info) != 0 || (info.st_uid != ::geteuid() && info.st_uid != 0))
    return Error{ErrorCode::kDenied,
                 "programs are run from '" + path + "', which is no directory of user " + std::to_string(::geteuid()) +
                     "'s or root's; remove it, or name a database in a folder of yours",
                 {}};
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0 || ::fchmod(folder.get(), info.st_mode & 07755) == 0) return {};
  return system_error("chmod go-w '" + path + "'", errno);
}

Status make_directories(const std::string& path) {
  for (size_t at = 0; at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string one = path.substr(0, at);
    if (::mkdir(one.c_str(), 0755) == 0) continue;
    const int code = errno;  // of one that is there it may be another, such as of a file system that nobody writes to
    std::error_code error;
    if (!fs::is_directory(one, error)) return system_error("create directory '" + path + "'", code);
  }
  return {};
}

Status remove_tree(const std::string& path) {
  return worker::remove_tree(path, std::chrono::steady_clock::now() + kRemoveLimit);
}

Status chown_to(const std::string& path, unsigned uid, unsigned gid) {
  if (::chown(path.c_str(), uid, gid) != 0) return system_error("chown '" + path + "'", errno);
  return {};
}

Result<ScratchDirectory> ScratchDirectory::create(Empty empty, Give give) {
  // The pid says whether its engine lives; seven digits hold any, so that the length stays.
  char path[64];
  std::snprintf(path, sizeof path, "/tmp/stab-%07d-XXXXXX", ::getpid());
  std::string root = path;
  STAB_TRY(UniqueFd held, make_scratch(root));
  ScratchDirectory made(root, std::move(empty), std::move(give));
  STAB_CHECK_OK(made.open_root(std::move(held)));
  return made;
}

// pre: root_ is absent, and held_ nothing that is there.
Status ScratchDirectory::make_root() {
  struct stat info;
  // Anybody can make a name in /tmp.
  if (::lstat(root_.c_str(), &info) == 0)
    return Error{ErrorCode::kDenied, "'" + root_ + "' was removed and belongs to another user now; resume the experiment", {}};
  STAB_TRY(UniqueFd held, make_scratch(root_));
  return open_root(std::move(held));
}

// What is in it is for others by its name alone.
Status ScratchDirectory::open_root(UniqueFd held) {
  struct stat info;
  if (::fstat(held.get(), &info) != 0 || ::fchmod(held.get(), 0711) != 0) return system_error("chmod '" + root_ + "'", errno);
  held_ = std::move(held);
  inode_ = info.st_ino;
  return {};
}

bool ScratchDirectory::is_there() const {
  struct stat info;
  // A number may be used again, by a link of somebody else's as well.
  return ::lstat(root_.c_str(), &info) == 0 && info.st_ino == inode_ && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

bool ScratchDirectory::has_trial() const {
  struct stat info;
  return ::lstat((root_ + "/trial").c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// What takes too long is left to whoever starts next.
ScratchDirectory::~ScratchDirectory() {
  if (!root_.empty() && remove_filled(root_ + "/trial", empty_)) (void)remove_tree(root_);
}

// A program that writes nothing leaves nothing to be made anew. Times may be as coarse as a tick of the kernel, so the
// directory is looked into as well.
bool ScratchDirectory::is_untouched(const std::string& path, unsigned uid, unsigned gid) const {
  struct stat info;
  if (!made_ || ::lstat(path.c_str(), &info) != 0) return false;
  const Made now{uid, gid, info.st_mode, info.st_ino, nanoseconds_of(info.st_ctim).count()};
  std::error_code error;
  return now == *made_ && fs::is_empty(path, error) && !error;
}

Result<std::string> ScratchDirectory::fresh(unsigned uid, unsigned gid) {
  const std::string path = root_ + "/trial";
  if (!is_there()) STAB_CHECK_OK(make_root());
  if (is_untouched(path, uid, gid)) return path;
  made_.reset();
  STAB_CHECK_OK(remove_filled(path, empty_));
  if (::mkdir(path.c_str(), 0700) != 0) return system_error("create '" + path + "'", errno);
  if (uid != unsigned(-1)) STAB_CHECK_OK(give_(path, uid, gid));
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return system_error("stat '" + path + "'", errno);
  made_ = Made{uid, gid, info.st_mode, info.st_ino, nanoseconds_of(info.st_ctim).count()};
  return path;
}

}  // namespace stab::engine
