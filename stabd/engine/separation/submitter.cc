// Names and groups are the system's to know: /etc/passwd, or a directory service.
#include "stabd/engine/separation/submitter.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace stab::engine {
namespace {

// Into memory of our own: what getpwuid() answers is one place that all threads share. Empty: no such user.
std::string name_of(uid_t uid) {
  std::string room(1024, '\0');
  passwd user{};
  passwd* found = nullptr;
  int failed = 0;
  while ((failed = ::getpwuid_r(uid, &user, room.data(), room.size(), &found)) == ERANGE && room.size() < 1 << 20)
    room.resize(room.size() * 2);
  return failed == 0 && found != nullptr ? std::string(found->pw_name) : std::string();
}

}  // namespace

std::optional<host::Submitter> submitter_of(uid_t uid, gid_t gid) {
  if (::geteuid() != 0 || uid == 0) return {};
  host::Submitter submitter{uid, gid, {}};
  const std::string name = name_of(uid);
  if (name.empty()) return submitter;
  int count = 64;
  submitter.groups.resize(static_cast<size_t>(count));
  // Where there are more, count says how many.
  while (::getgrouplist(name.c_str(), gid, submitter.groups.data(), &count) < 0)
    submitter.groups.resize(static_cast<size_t>(count));
  submitter.groups.resize(static_cast<size_t>(count));
  return submitter;
}

}  // namespace stab::engine
