// The order matters: files are given away while we still can, groups go before the user, the user last. After that
// nothing of what clients send is read by a process that could do harm with root's rights; what needs them is asked of the
// broker, which was started before.
#include "stabd/daemon/settings/separate.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/trusted_folder.h"
#include "base/unique_fd.h"

namespace stab::daemon {
namespace {

namespace fs = std::filesystem;

bool may_be_given(const struct stat& info, const ServiceUser& user) { return info.st_uid == 0 || info.st_uid == user.uid; }

Error cant_give(const std::string& path, const ServiceUser& user) {
  return system_error("give '" + path + "' to user '" + user.name + "'", errno);
}

// A file by its name in an open folder. Absent is fine. Nobody can put a link there, or another file between the look and the
// gift.
Status give_file(int folder, const std::string& name, const std::string& path, const ServiceUser& user) {
  const UniqueFd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file && errno == ENOENT) return {};
  if (!file) return cant_give(path, user);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return system_error("look at '" + path + "'", errno);
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1 || !may_be_given(info, user))
    return denied("'" + path + "' is not a file of root's or of user '" + user.name + "' alone; move it away");
  if (::fchown(file.get(), user.uid, user.gid) != 0) return cant_give(path, user);
  return {};
}

// What lies in an open folder, by name.
Result<std::vector<std::string>> names_in(int folder, const std::string& path) {
  UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* directory = again ? ::fdopendir(again.get()) : nullptr;
  if (directory == nullptr) return system_error("list '" + path + "'", errno);
  (void)again.release();  // the stream's now
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(directory);
  return names;
}

// One that is neither the user's nor begins like what is; empty: there is none.
std::string foreign_one(const std::vector<std::string>& found, const std::vector<std::string>& own) {
  for (const std::string& name : found)
    if (std::none_of(own.begin(), own.end(), [&](const std::string& begin) { return name.starts_with(begin); })) return name;
  return {};
}

// The user has to make files there. `names`: how its own begin. On the way there root follows nobody's link but its own.
Result<UniqueFd> give_directory(const std::string& path, const std::vector<std::string>& names, const ServiceUser& user) {
  STAB_TRY(UniqueFd folder, open_trusted_folder(path, user.uid));
  struct stat info;
  if (::fstat(folder.get(), &info) != 0) return system_error("look at '" + path + "'", errno);
  if (info.st_uid == user.uid) return folder;
  const std::string cure = "; name a directory of its own, made with 'install -d -o " + user.name + " DIRECTORY'";
  if (!may_be_given(info, user)) return denied("'" + path + "' belongs to another user than root and '" + user.name + "'" + cure);
  STAB_TRY(const std::vector<std::string> found, names_in(folder.get(), path));
  if (const std::string other = foreign_one(found, names); !other.empty())
    return denied("'" + path + "' can't become user '" + user.name + "''s: '" + other + "' is there too" + cure);
  if (::fchown(folder.get(), user.uid, static_cast<gid_t>(-1)) != 0) return cant_give(path, user);
  return folder;
}

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return true;
  return (data[0].permitted | data[0].effective | data[0].inheritable | data[1].permitted | data[1].effective |
          data[1].inheritable) != 0;
}

bool is_for_good(const ServiceUser& user) {
  uid_t uids[3];
  gid_t gids[3];
  if (::getresuid(&uids[0], &uids[1], &uids[2]) != 0 || ::getresgid(&gids[0], &gids[1], &gids[2]) != 0) return false;
  for (int i = 0; i < 3; ++i)
    if (uids[i] != user.uid || gids[i] != user.gid) return false;
  return !has_capabilities() && ::setresuid(0, 0, 0) != 0 && ::setuid(0) != 0 && ::seteuid(0) != 0;
}

}  // namespace

Result<ServiceUser> service_user(const std::string& name, const std::string& socket_group) {
  const passwd* found = ::getpwnam(name.c_str());
  if (found == nullptr)
    return Error{ErrorCode::kNotFound,
                 "there is no user '" + name + "' for the daemon to run as; make one with 'useradd --system --user-group " +
                     name + "', or name another with --user; '--user root' lets what reads clients' bytes keep root's rights",
                 {}};
  if (found->pw_uid == 0) return bad_input("the daemon's user '" + name + "' is root: name one without rights");
  ServiceUser user{name, found->pw_uid, found->pw_gid, {}};
  int count = 64;
  user.groups.resize(static_cast<size_t>(count));
  // Where there are more, count says how many.
  while (::getgrouplist(name.c_str(), user.gid, user.groups.data(), &count) < 0) user.groups.resize(static_cast<size_t>(count));
  user.groups.resize(static_cast<size_t>(count));
  const group* of_socket = socket_group.empty() ? nullptr : ::getgrnam(socket_group.c_str());
  if (of_socket != nullptr) user.groups.push_back(of_socket->gr_gid);
  return user;
}

namespace {

// A folder beside the database, by its name in one that is open: itself and the files in it; other users' directories in it stay
// theirs. Open, or nothing where there is none.
Result<UniqueFd> give_beside(int above, const std::string& name, const std::string& path, const ServiceUser& user) {
  UniqueFd folder(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && errno == ENOENT) return folder;
  if (!folder && (errno == ELOOP || errno == ENOTDIR)) return denied("'" + path + "' is no directory; move it away");
  if (!folder) return cant_give(path, user);
  struct stat info;
  if (::fstat(folder.get(), &info) != 0 || !may_be_given(info, user))
    return denied("'" + path + "' belongs to another user than root and '" + user.name + "'; move it away");
  if (info.st_uid == user.uid) return folder;
  STAB_TRY(const std::vector<std::string> found, names_in(folder.get(), path));
  for (const std::string& one : found) {
    if (::fstatat(folder.get(), one.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    STAB_CHECK_OK(give_file(folder.get(), one, path + "/" + one, user));
  }
  return folder;
}

// Last, when all that is in it was given: whoever was cut off begins again.
Status give_itself(int folder, const std::string& path, const ServiceUser& user) {
  if (::fchown(folder, user.uid, user.gid) != 0) return cant_give(path, user);
  return {};
}

}  // namespace

Status hand_over(const std::string& database, const std::string& socket, const ServiceUser& user) {
  const std::string base = fs::path(database).filename().string(), files = database + ".files";
  const std::string of_socket = fs::path(socket).filename().string();
  STAB_TRY(const UniqueFd folder, give_directory(fs::path(database).parent_path().string(), {base, of_socket}, user));
  STAB_TRY(const UniqueFd sockets, give_directory(fs::path(socket).parent_path().string(), {base, of_socket}, user));
  STAB_TRY(const UniqueFd beside, give_beside(folder.get(), base + ".files", files, user));
  if (beside) {
    for (const char* name : {"builds", "archive"}) {
      const std::string path = files + "/" + name;
      STAB_TRY(const UniqueFd one, give_beside(beside.get(), name, path, user));
      if (one) STAB_CHECK_OK(give_itself(one.get(), path, user));
    }
    STAB_CHECK_OK(give_itself(beside.get(), files, user));
  }
  for (const char* end : {"", "-wal", "-shm", "-journal"})
    STAB_CHECK_OK(give_file(folder.get(), base + end, database + end, user));
  return {};
}

Status become(const ServiceUser& user) {
  // Best effort: ends are stamped later without it, and the experiment's log says so.
  const rlimit lowest{1, 1};
  (void)::setrlimit(RLIMIT_RTPRIO, &lowest);
  if (::setgroups(user.groups.size(), user.groups.data()) != 0 || ::setresgid(user.gid, user.gid, user.gid) != 0 ||
      ::setresuid(user.uid, user.uid, user.uid) != 0)
    return system_error("become user '" + user.name + "'", errno);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("set no_new_privs", errno);
  if (!is_for_good(user)) return denied("user '" + user.name + "' has a way back to root's rights");
  return {};
}

}  // namespace stab::daemon
