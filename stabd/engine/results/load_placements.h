// From the store to what a layout map is made of: the epochs of an experiment's trials, what was done in each, and where each
// function lay, which is computed again from binary and seed.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/layout_report/layout_map.h"
#include "base/result.h"
#include "plan/plan.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/results/layout_tool.h"
#include "stabd/engine/trial/epoch_series.h"
#include "store/store.h"

namespace stab::engine {

// One build of a program in one workload: what a map is of.
struct Placements {
  int subject = 0, build = 0;
  std::string text_hash;
  layout_report::PlacementData data;
};

// A workload that can't be mapped beside others that can.
struct RefusedMap {
  std::string workload, why;
};
// A function of a map: the library that it is of, empty for the program's own, and where it is linked in its file.
using FunctionKey = std::pair<std::string, uint64_t>;

// Why there is none; what is so of several builds is said once.
std::string reasons_of(const std::vector<RefusedMap>& refused);

struct LoadedPlacements {
  std::vector<Placements> of;  // at least one
  std::vector<RefusedMap> refused;
};

// One for each build in each workload whose recorded trials had layouts. `tool` is stab-layout. Functions are the program's and
// those of libraries that moved and whose files are still there. `functions`: those to look at; empty: the hot ones, or all that
// move, of those that plan.layout.only names. Of trials of one seed the
// first alone, as they have the same layouts.
// kBadInput where no trial has kept its epochs, or nothing counts the work of any, with the figures that showed it.
Result<LoadedPlacements> load_placements(store::Store& store, const store::ExperimentRow& row, const plan::Plan& plan,
                                         const std::vector<plan::Subject>& subjects, const std::set<FunctionKey>& functions,
                                         const LayoutTool& tool, const Archive& archive);

// Of the points of one trial, that by which CPU time varies least from epoch to epoch; empty: by none it is steady. The figures
// say why.
struct Steadiest {
  std::string point, figures;
};
Steadiest steadiest_point(const EpochSeries& series);

// How a layout script names a function of which `same` have its name: by link-time address where the name would be refused.
std::string name_in_script(const layout_report::PlacementData::Function& function, size_t same);
// The functions that move with the most samples, at most so many, as a layout script names them. `outcome`: the trial's.
Result<std::vector<std::string>> hot_functions(store::Store& store, const store::TrialRow& trial, const store::Outcome& outcome,
                                               const EpochSeries& series, size_t most, const LayoutTool& tool,
                                               const Archive& archive);

}  // namespace stab::engine
