// The experiment that measures the candidates of a layout map again.
#pragma once

#include <optional>

#include "base/result.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/experiment/engine.h"
#include "store/store.h"

namespace stab::engine {

// Submits the experiment that measures the candidates of a map again, unless there is one. Absent: the plan asks for no map or no
// confirmation, or nothing is to be confirmed. `cancel_fd`: readable: give up. kBadInput: nothing could be mapped, or two
// processes were ended while they tried. pre: no trial is left; the gate is held
Result<std::optional<store::Id>> confirm_map(Engine& engine, const store::ExperimentRow& row, const ExpandedPlan& expanded,
                                             Observer& observer, int cancel_fd);

}  // namespace stab::engine
