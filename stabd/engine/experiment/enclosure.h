// Enclosure: what one trial has to itself while it runs. A sliced block runs in several at once.
#pragma once

#include <memory>
#include <optional>

#include "stabd/engine/build/temporary_places.h"
#include "stabd/engine/machine/ledger.h"
#include "stabd/engine/separation/places.h"
#include "stabd/engine/trial/trial_run.h"
#include "stabd/engine/separation/tree_at_broker.h"

namespace stab::engine {

// Not moved once `lab` is set, which points into it.
struct Enclosure {
  std::optional<ScratchDirectory> scratch;    // its directory
  std::optional<TemporaryPlaces> temporary;   // its /tmp and /var/tmp; none: it has the machine's
  std::unique_ptr<TreeAtBroker> tree;
  std::unique_ptr<Ledger> ledger;
  Laboratory lab;
};

}  // namespace stab::engine
