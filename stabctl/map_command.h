// The layout maps of an experiment, for its page.
#pragma once

#include <string>
#include <vector>

#include "stabctl/arguments.h"
#include "store/store.h"

namespace stab::ctl {

// JSON of each; none where the plan asks for no map, or none can be made, which 'stabctl layout map' says.
std::vector<std::string> layout_maps_of(store::Store& store, const store::ExperimentRow& experiment, const Arguments& arguments);

}  // namespace stab::ctl
