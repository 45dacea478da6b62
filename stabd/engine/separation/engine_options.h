// EngineOptions: what an engine is given when it opens: its database, its machine, and who has rights that it hasn't.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "stabd/engine/machine/trial_limits.h"
#include "stabd/host/installation.h"
#include "stabd/host/roots.h"

namespace stab::broker {
class Client;
}

namespace stab::engine {

struct EngineOptions {
  std::string database;
  host::Installation installation;
  host::Roots roots;
  const Clock* clock = nullptr;
  LabLimits limits;
  // A worker's share of an experiment that others have built: its binaries come out of the archive, by their hashes, and
  // nothing is built.
  bool share = false;
  std::shared_ptr<broker::Client> broker;  // who does what needs rights, and holds what runs; never null
};

}  // namespace stab::engine
