#include "base/trusted_folder.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <string_view>

#include "base/absolute_path.h"

namespace stab {
namespace {

// As many as Linux follows.
constexpr int kMostLinks = 40;

bool is_private_group(gid_t group) {
  const passwd* user = ::getpwuid(::geteuid());
  if (user == nullptr || user->pw_gid != group) return false;
  const std::string name = user->pw_name;
  const ::group* found = ::getgrgid(group);
  if (found == nullptr || name != found->gr_name) return false;
  for (char** member = found->gr_mem; *member != nullptr; ++member)
    if (name != *member) return false;
  return true;
}

// Whose rights the bits of the group are the sum of, then.
bool has_access_list(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

class Walk {
 public:
  Walk(const std::string& path, std::optional<uid_t> too) : path_(path), too_(too) { put_in_front(path); }

  Result<UniqueFd> to_end() {
    STAB_CHECK_OK(begin());
    while (!names_.empty()) {
      const std::string name = names_.front();
      names_.pop_front();
      STAB_CHECK_OK(step(name));
    }
    UniqueFd folder(::openat(at_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return system_error("open '" + path_ + "'", errno);
    return folder;
  }

 private:
  void put_in_front(std::string_view path) {
    auto at = names_.begin();
    while (!path.empty()) {
      const size_t end = std::min(path.find('/'), path.size());
      if (end > 0 && path.substr(0, end) != ".") at = std::next(names_.insert(at, std::string(path.substr(0, end))));
      path.remove_prefix(std::min(end + 1, path.size()));
    }
  }

  Status begin() {
    at_.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat info {};
    if (!at_ || ::fstat(at_.get(), &info) != 0) return system_error("open '/'", errno);
    root_ = info.st_uid;
    here_ = "/";
    return look(info);
  }

  bool is_believed(uid_t owner) const { return owner == 0 || owner == ::geteuid() || owner == root_; }

  Status step(const std::string& name) {
    const std::string where = here_ == "/" ? "/" + name : here_ + "/" + name;
    struct stat info {};
    if (::fstatat(at_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return system_error("open '" + where + "'", errno);
    if (S_ISLNK(info.st_mode)) return follow(name, where, info);
    UniqueFd next(::openat(at_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next || ::fstat(next.get(), &info) != 0) return system_error("open '" + where + "'", errno);
    at_ = std::move(next);
    here_ = where;
    return look(info);
  }

  Status follow(const std::string& name, const std::string& where, const struct stat& info) {
    if (!is_believed(info.st_uid))
      return denied("'" + where + "', on the way to '" + path_ + "', is a link of user " + std::to_string(info.st_uid) +
                    "'s, who could have it lead elsewhere; name the folder that it leads to");
    if (++links_ > kMostLinks) return system_error("open '" + where + "'", ELOOP);
    char target[PATH_MAX];
    const ssize_t size = ::readlinkat(at_.get(), name.c_str(), target, sizeof target);
    if (size < 0) return system_error("read the link '" + where + "'", errno);
    const std::string_view text(target, static_cast<size_t>(size));
    put_in_front(text);
    return text.starts_with('/') ? begin() : Status();
  }

  // pre: `info` is that of at_
  Status look(const struct stat& info) const {
    const std::string what = here_ == path_ ? "'" + path_ + "'" : "'" + here_ + "', on the way to '" + path_ + "',";
    if (!is_believed(info.st_uid) && info.st_uid != too_)
      return denied(what + " belongs to user " + std::to_string(info.st_uid) +
                    ", who could put something else in its place; name a folder of yours below folders of yours or root's");
    if ((info.st_mode & S_ISVTX) != 0) return {};
    const bool by_group = (info.st_mode & S_IWGRP) != 0 && (has_access_list(at_.get()) || !is_private_group(info.st_gid));
    if (!by_group && (info.st_mode & S_IWOTH) == 0) return {};
    return denied("others can write into " + what + " and could put something else in its place; use chmod go-w '" + here_ +
                  "', or name another folder");
  }

  std::string path_;
  std::optional<uid_t> too_;
  std::deque<std::string> names_;  // still to go
  UniqueFd at_;
  std::string here_;  // what at_ is
  uid_t root_ = 0;    // who owns "/"
  int links_ = 0;
};

}  // namespace

Result<UniqueFd> open_trusted_folder(const std::string& path, std::optional<uid_t> too) {
  STAB_TRY(const std::string whole, absolute_path(path));
  return Walk(whole, too).to_end();
}

Status check_trusted_folder(const std::string& path) {
  STAB_TRY(const UniqueFd folder, open_trusted_folder(path));
  return {};
}

}  // namespace stab
