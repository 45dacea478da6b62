// ConnectionPlaces: how many connections each user has at one socket. Those that are turned away take no place, however many come
// at once.
#pragma once

#include <sys/types.h>

#include <map>

#include "stabd/daemon/settings/config.h"

namespace stab::daemon {

class ConnectionPlaces {
 public:
  // Why there is none for this user; nullptr: there is. Nobody but who can do something about it gets the last ones.
  const char* why_none(uid_t uid, bool is_privileged, const Connections& limits) const {
    if (taken_ >= limits.all) return "too many clients";
    if (!is_privileged && taken_ >= limits.all - Connections::kReserved) return "too many clients";
    const auto found = of_user_.find(uid);
    return found != of_user_.end() && found->second >= limits.of_user ? "too many clients of this user" : nullptr;
  }
  void take(uid_t uid) {
    ++of_user_[uid];
    ++taken_;
  }
  // pre: it was taken
  void give_back(uid_t uid) {
    --taken_;
    if (--of_user_[uid] == 0) of_user_.erase(uid);
  }

 private:
  std::map<uid_t, int> of_user_;
  int taken_ = 0;
};

}  // namespace stab::daemon
