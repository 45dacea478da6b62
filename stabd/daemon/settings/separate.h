// Separate: how a daemon that was started as root goes on as a user of its own, for good.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace stab::daemon {

// Whom a daemon that is started as root goes on as where nothing else is said. "root" stays root.
inline constexpr char kServiceUser[] = "stab";

struct ServiceUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // its own, and the socket's, so that it may give the socket to it
};

// kNotFound says how to make one. kBadInput for root. `socket_group` empty: none.
Result<ServiceUser> service_user(const std::string& name, const std::string& socket_group);

// Gives the user what it needs to go on with: the database with what SQLite keeps beside it, and the directories of
// database and socket. Only what belongs to root or that user already; a directory only where there is nothing in it but
// that. kDenied says what else is there, and what to do.
Status hand_over(const std::string& database, const std::string& socket, const ServiceUser& user);

// Becomes the user and proves that there is no way back. What such a process may do without being asked for is little:
// real-time priority for the thread that waits for trials, where root had it.
Status become(const ServiceUser& user);

}  // namespace stab::daemon
