// Linux keeps a user for file access beside the others (setfsuid), and keeps it per thread; libc's setgroups()
// would change all threads, so the system calls are made directly. Leaving user 0 there takes the capabilities
// that override file permissions away until the way back.
#include "stabd/acting_as.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace stab::engine {
namespace {

bool set_groups(const std::vector<gid_t>& groups) { return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0; }

}  // namespace

ActingAs::ActingAs(const std::optional<Submitter>& submitter) {
  if (!submitter) return;
  const int count = ::getgroups(0, nullptr);
  groups_before_.resize(static_cast<size_t>(count > 0 ? count : 0));
  if (count > 0 && ::getgroups(count, groups_before_.data()) != count) std::abort();
  active_ = true;
  if (!set_groups(submitter->groups)) std::abort();
  group_before_ = static_cast<gid_t>(::setfsgid(submitter->gid));
  ::setfsuid(submitter->uid);
  // setfsuid reports nothing but the user before.
  if (static_cast<uid_t>(::setfsuid(submitter->uid)) != submitter->uid) std::abort();
}

ActingAs::~ActingAs() {
  if (!active_) return;
  ::setfsuid(0);
  if (::setfsuid(0) != 0) std::abort();
  ::setfsgid(group_before_);
  if (!set_groups(groups_before_)) std::abort();
}

std::optional<Submitter> submitter_of(uid_t uid, gid_t gid) {
  if (::geteuid() != 0 || uid == 0) return {};
  Submitter submitter{uid, gid, {}};
  const passwd* user = ::getpwuid(uid);
  if (user == nullptr) return submitter;
  int count = 64;
  submitter.groups.resize(static_cast<size_t>(count));
  // Where there are more, count says how many.
  while (::getgrouplist(user->pw_name, gid, submitter.groups.data(), &count) < 0) submitter.groups.resize(static_cast<size_t>(count));
  submitter.groups.resize(static_cast<size_t>(count));
  return submitter;
}

bool may_access(const std::string& path, int mode) { return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0; }

}  // namespace stab::engine
