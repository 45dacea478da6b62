// Whom a plan runs as.
#pragma once

#include <optional>

#include "stabd/host/launch.h"

namespace stab::engine {

// The user that a plan of this submitter runs as, with all its groups. Nothing where the engine already is that
// user, or can't become another. From any thread.
std::optional<host::Submitter> submitter_of(uid_t uid, gid_t gid);

}  // namespace stab::engine
