// Users: as whom programs may be started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stab::broker {

struct Account {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

struct UserRules {
  uid_t own = 0;                   // the broker's
  bool allow_root = false;         // programs may run as root
  std::optional<uid_t> front_end;  // who asks, where that is another user: never started as. None: who has our rights
  std::string journal;             // where it is remembered who has submitted; empty: nowhere
};

// A broker that is root and is asked by another user starts programs as users whose own connection it has seen, in this life or
// an earlier one: an engine that was taken over can't act as anybody else. Any other broker starts programs as itself only.
//
// The journal has a head, "stab-vouched 1", and a line "UID GID ." for each user that came for the first time or with
// another group, on disk before anything is started for them. It belongs to the broker.
class Users {
 public:
  static Result<Users> open(UserRules rules);

  // The user at the other end of a client's connection, as the kernel says, who may be acted as from now on. kDenied
  // for anything but a socket that was accepted: the other end of one that we connected ourselves is whoever listens
  // there, who never asked for anything.
  Result<Account> vouch(int client);
  // Whom a program is started as, with all the groups that the system's user database gives them. Nothing: as the broker
  // itself. kDenied where that may not be.
  Result<std::optional<Account>> account(uint32_t uid);
  // Who asks.
  uid_t front_end() const { return rules_.front_end.value_or(rules_.own); }

 private:
  explicit Users(UserRules rules) : rules_(std::move(rules)) {}
  Status load();
  const Account& known(uid_t uid, gid_t gid);  // gid: of one without an account
  UserRules rules_;
  std::map<uid_t, gid_t> vouched_;
  struct Known {
    Account account;
    std::chrono::steady_clock::time_point until;
  };
  std::map<uid_t, Known> known_;  // looked up a moment ago; only of vouched_
};

}  // namespace stab::broker
