// Quotas: what a user has, held against what the configuration lets that user have. Root and the daemon's own user have no quota.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "stabd/daemon/settings/config.h"
#include "stabd/daemon/settings/peer.h"
#include "stabd/daemon/upkeep/upkeep.h"
#include "store/store.h"

namespace stab::daemon {

// From any thread. A kDenied says which quota is used up, and what to do.
class Quotas {
 public:
  // Both outlive it; `owner` is the daemon's user.
  Quotas(const Config& config, const Upkeep& upkeep, uid_t owner) : config_(&config), upkeep_(&upkeep), owner_(owner) {}

  // Whether one more experiment is taken, of so many trials.
  Status check(store::Store& store, const Peer& peer, int64_t trials, size_t plan_bytes, int64_t priority) const;
  Status check_priority(const Peer& peer, int64_t priority) const;
  // Of experiments that aren't over: whether there may be one more.
  Status check_number(store::Store& store, const Peer& peer) const;
  // `trials` of one experiment, `more` of them new.
  Status check_trials(store::Store& store, const Peer& peer, int64_t trials, int64_t more) const;
  // What this user may have; nullptr: as much as there is.
  const Quota* of(uid_t user) const;

 private:
  const Config* config_;
  const Upkeep* upkeep_;
  uid_t owner_;
};

}  // namespace stab::daemon
