// The layout maps of a recorded experiment.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stabctl/command_line/arguments.h"
#include "stabd/engine/results/map_of.h"
#include "store/store.h"

namespace stab::ctl {

// An Error says why there is none.
Result<engine::MappedExperiment> mapped_by(store::Store& store, store::Id experiment, const Arguments& arguments);
// For its page: JSON of each; none where the plan asks for no map, or none can be made, which 'stabctl layout map' says.
std::vector<std::string> layout_maps_of(store::Store& store, const store::ExperimentRow& experiment, const Arguments& arguments);

}  // namespace stab::ctl
