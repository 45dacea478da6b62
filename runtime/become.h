// Becoming somebody else for good: what the launcher does before it execs a measured program, and the helper before it
// hears one. Raw system calls alone, since the launcher has no libc.
#pragma once

#include <linux/capability.h>
#include <sys/types.h>

#include "runtime/sys.h"

namespace stab::sys {

enum class BecomeStep { kDone, kGroups, kUser, kProof };

struct Became {
  BecomeStep failed_at = BecomeStep::kDone;
  int error_number = 0;  // 0 where no system call failed: the proof did not hold
};

inline bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (call(SYS_capget, word(&header), word(data)) < 0) return true;
  return (data[0].permitted | data[0].effective | data[0].inheritable | data[1].permitted | data[1].effective |
          data[1].inheritable) != 0;
}

// Real, effective and saved ids are these, and no others.
inline bool is_wholly(uid_t uid, gid_t gid) {
  uid_t uids[3];
  gid_t gids[3];
  if (call(SYS_getresuid, word(&uids[0]), word(&uids[1]), word(&uids[2])) != 0) return false;
  if (call(SYS_getresgid, word(&gids[0]), word(&gids[1]), word(&gids[2])) != 0) return false;
  for (int i = 0; i < 3; ++i)
    if (uids[i] != uid || gids[i] != gid) return false;
  return true;
}

// Becomes the user and proves that there is no way back: the ids are the user's, no capability is left in any set, and
// asking for root again is refused. Where `uid` is 0 there is nothing to be proven but the ids.
inline Became become(uid_t uid, gid_t gid, const gid_t* groups, size_t count) {
  const long u = uid, g = gid;
  const auto failed = [](BecomeStep step, long result) { return Became{step, static_cast<int>(-result)}; };
  if (const long done = call(SYS_setgroups, static_cast<long>(count), word(groups)); done < 0)
    return failed(BecomeStep::kGroups, done);
  if (const long done = call(SYS_setresgid, g, g, g); done < 0) return failed(BecomeStep::kGroups, done);
  if (const long done = call(SYS_setresuid, u, u, u); done < 0) return failed(BecomeStep::kUser, done);
  if (!is_wholly(uid, gid)) return {BecomeStep::kProof, 0};
  if (uid == 0) return {};
  if (has_capabilities()) return {BecomeStep::kProof, 0};
  // As setresuid, setuid and seteuid would ask.
  if (call(SYS_setresuid, 0, 0, 0) == 0 || call(SYS_setuid, 0) == 0 || call(SYS_setresuid, -1, 0, -1) == 0)
    return {BecomeStep::kProof, 0};
  return {};
}

}  // namespace stab::sys
