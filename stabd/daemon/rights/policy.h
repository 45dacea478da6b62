// Policy: who may submit, turn knobs that others feel, and act on others' experiments.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "stabd/daemon/settings/config.h"
#include "stabd/daemon/settings/peer.h"

namespace stab::daemon {

// Root, and the user the daemon runs as. Neither has a quota.
bool is_privileged(uid_t uid, uid_t owner);
bool is_privileged(const Peer& peer, uid_t owner);
// May see and change others' experiments.
bool is_operator(const Config& config, const Peer& peer, uid_t owner);

// kDenied says why, and what to do.
Status may_submit(const Config& config, const Peer& peer, uid_t owner, bool serves_others);
// Of a daemon that serves nobody but its owner, as it runs plans as itself.
Status may_change(const Peer& peer, uid_t owner, bool serves_others);
Status may_turn_knobs(const Config& config, const Peer& peer, uid_t owner, const plan::Plan& plan);

// Those of a plan that change the machine for everybody on it, not for its trials alone.
std::vector<std::string> shared_knobs(const plan::Plan& plan);

}  // namespace stab::daemon
