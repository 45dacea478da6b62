// Planning: an experiment's schedule on its way into the store, slice by slice.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/experiment/stop_signal.h"

namespace stab::engine {

// Of the whole schedule as it was promised, made a part at a time: what stores and pages say of which trials there were.
uint64_t fingerprint_of(const ExpandedPlan& expanded);

// Stores what is promised of the schedule, preflight first, and not stored yet; between two slices others use the store. Goes
// on where an engine that died in it has stopped. Ends early when it is asked to stop. pre: the gate is held
Status plan_ahead(Engine& engine, store::Id experiment, const ExpandedPlan& expanded, const StopSignal& stop);

// Whether nothing is left to run: no trial waits, and all that is promised of the schedule is stored. An extension that was
// answered is not, where plan_ahead() ended early or has not been called since. pre: the gate is held
Result<bool> is_over(store::Store& store, store::Id experiment, const ExpandedPlan& expanded);

}  // namespace stab::engine
