// The runs by which `stabctl explain` has looked for the functions whose place it is, as a layout file that keeps them where they
// are fast.
#pragma once

#include "base/result.h"
#include "stabd/engine/results/advice_of.h"
#include "stabd/engine/results/layout_tool.h"
#include "store/store.h"

namespace stab::engine {

// Whether its runs are such: one build, by a layout script that draws the places of two builds.
bool is_search_of_places(const store::ExperimentRow& row);

// The same answer again, from the runs that are kept. kBadInput where no function was found that a build can place; what is
// missing of those that were is in `left_out`. The file names its experiment only where its plan's build obeys files.
// pre: is_search_of_places()
Result<EmittedLayout> emit_searched_places(store::Store& store, const store::ExperimentRow& row, const Archive& archive,
                                           const LayoutTool& tool, layout_report::Wanted wanted);

}  // namespace stab::engine
