// Spawning a launcher: its descriptors at their numbers, its priority that of whoever starts it.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "stabd/host/starter.h"

namespace stab::host {

// Its process's number. The descriptors stay the caller's too.
Result<pid_t> spawn_launcher(const std::string& launcher, const LauncherDescriptors& descriptors);
// One that stays: `orders` is its end of the socket.
Result<pid_t> spawn_starter(const std::string& launcher, int orders);

}  // namespace stab::host
