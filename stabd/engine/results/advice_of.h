// From a layout map to the layout file that builds of its program obey.
#pragma once

#include <string>
#include <vector>

#include "analysis/layout_report/layout_advice.h"
#include "base/result.h"
#include "plan/advice/layout_file.h"
#include "stabd/engine/results/map_of.h"
#include "store/store.h"

namespace stab::engine {

struct EmittedLayout {
  advice::LayoutFile file;
  std::vector<std::string> left_out;  // confirmed places that no build can have, and why
};

// Of the map of `workload`; empty: of the one map whose places were confirmed. kBadInput where there is none, or several builds
// of one workload were mapped, and says what to do.
Result<EmittedLayout> emit_layout(store::Store& store, const MappedExperiment& mapped, const std::string& workload,
                                  layout_report::Wanted wanted);

}  // namespace stab::engine
