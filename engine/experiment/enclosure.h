// Enclosure: what one trial has to itself while it runs. A sliced block runs in several at once.
#pragma once

#include <memory>
#include <optional>

#include "engine/experiment/places.h"
#include "engine/experiment/temporary_places.h"
#include "engine/machine/ledger.h"
#include "engine/trial/trial_run.h"
#include "host/process_tree.h"

namespace stab::engine {

// Not moved once `lab` is set, which points into it.
struct Enclosure {
  std::optional<ScratchDirectory> scratch;    // its directory
  std::optional<TemporaryPlaces> temporary;   // its /tmp and /var/tmp; none: it has the machine's
  std::unique_ptr<ProcessTree> tree;
  std::unique_ptr<Ledger> ledger;
  Laboratory lab;
};

}  // namespace stab::engine
