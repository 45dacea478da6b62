// Share: what a worker does. It takes an epoch of a slot, says what machine it is, waits for the controller's word, and runs
// its blocks with the engine that runs every experiment, on a store of its own; each finished block becomes a part.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/machines/spool.h"

namespace stab::engine {

struct ShareSetting {
  Spool* spool = nullptr;
  int slot = 0;
  int64_t epoch = 0;
  std::string scratch;  // a local directory for its store and its binaries
  std::string machine;  // what to call this machine; empty: its name and machine-id
  const Clock* clock = nullptr;
  Observer* observer = nullptr;  // told as of any run
  StopSignal* stop = nullptr;
  // An engine on this database, with Options::share.
  std::function<Result<std::unique_ptr<Engine>>(const std::string& database)> open_engine;
};

// kDone and kGaps: all blocks are delivered. kStopped: it was stopped, or its epoch is over. kRejected: the controller refused
// the machine, or preflight failed here; the spool says why. kBusy where another worker has the epoch. What killed
// workers of this user left in `scratch` is removed.
Result<RunEnd> run_share(const ShareSetting& setting);

}  // namespace stab::engine
