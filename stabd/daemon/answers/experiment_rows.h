// An experiment as `status` and `watch` tell of it (docs/reference/protocol.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine/results/slot_status.h"
#include "store/store.h"

namespace stab::daemon {

struct ToldExperiment {
  store::ExperimentSummary row;
  store::Progress progress;
  bool running = false;
  int64_t machine_ns = 0;
  std::optional<int64_t> left_ns, ends_in_ns;
  std::string waits_for;  // of one that is not over and does not run: what keeps the daemon from running anything
  std::string machines;   // of one that runs on machines: JSON, an array with an object for each slot
};

ToldExperiment told(store::ExperimentSummary row, store::Progress progress, bool running, int64_t machine_ns);
// What keeps the daemon from running anything, in the row of one that waits for its turn.
void put_wait(const std::string& waits_for, ToldExperiment& experiment);
// Of an experiment on machines: its slots. Its blocks come in parallel, so the time that is left is that of its machines.
// signs: when each slot was last heard, by the controller itself
Status put_machines(store::Store& store, engine::DealtBlocks& dealt, const std::map<int, int64_t>& signs, int64_t now_ns,
                    ToldExperiment& experiment);
// Adds when each of them that waits or runs will be over, were there nobody else's between.
void put_ends(std::vector<ToldExperiment>& all);

// A JSON object, its members in alphabetical order. Written by hand: a user may have thousands, and asks many times a second.
std::string text_of(const ToldExperiment& experiment);

}  // namespace stab::daemon
