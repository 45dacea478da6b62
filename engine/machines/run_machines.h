// An experiment with [machines], from plan to its last block: built here, run elsewhere.
#pragma once

#include "base/result.h"
#include "engine/experiment/engine.h"

namespace stab::engine {

// As Engine::run, for plans with [machines]. kRejected also where no machine is left: the experiment is paused, and its failure
// says why.
Result<RunEnd> run_on_machines(Engine& engine, store::Id experiment, Observer& observer, StopSignal& stop);

// Lines for people: each slot with its machine, epoch, state and blocks. Empty: the experiment has no slots.
Result<std::vector<std::string>> slots_text(store::Store& store, store::Id experiment);

}  // namespace stab::engine
