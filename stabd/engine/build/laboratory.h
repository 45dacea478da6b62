// Laboratory: what surrounds a trial, and whatever is run around trials.
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "counters/counting_session.h"
#include "stabd/engine/machine/ledger.h"
#include "stabd/engine/machine/topology.h"
#include "stabd/engine/machine/trial_limits.h"
#include "stabd/engine/separation/worker.h"
#include "stabd/engine/separation/tree_at_broker.h"
#include "stabd/host/roots.h"

namespace stab::engine {

// What surrounds a trial. One trial at a time; those of a sliced block have one each.
struct Laboratory {
  host::Roots roots;
  host::Placement placement;
  bool with_helper = false;  // there is a layout factor, region_time or progress
  const Clock* clock = nullptr;
  TreeAtBroker* tree = nullptr;
  Ledger* ledger = nullptr;
  int cancel_fd = -1;          // readable: stop now
  Worker* worker = nullptr;    // opens inputs and reads outputs; null: only for trials without
  TrialLimits limits{};
  std::chrono::milliseconds helper_patience{10'000};  // for its dose report, after the program's end
  counters::PerfCalls* perf = &counters::system_perf();
};

}  // namespace stab::engine
