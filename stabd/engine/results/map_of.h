// The layout map of an experiment: its screen, and, where fresh trials have measured the candidates again, what they say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/layout_report/layout_map.h"
#include "base/result.h"
#include "plan/layout_confirmation.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/load_placements.h"
#include "store/store.h"

namespace stab::engine {

struct MappedExperiment {
  // What a map is of: indices into the expanded plan.
  struct Build {
    int subject = 0, build = 0;
    std::string text_hash;
  };
  store::Id screened = 0;
  std::optional<store::Id> confirmed;   // the experiment that measured again; absent: none did
  std::vector<layout_report::LayoutMap> maps;  // one for each build in each workload
  std::vector<Build> builds;              // of each map
  std::vector<RefusedMap> refused;        // workloads that have none
};

// The map of an experiment. The experiment that confirms it gives the same map.
Result<MappedExperiment> map_of(store::Store& store, store::Id experiment, const LayoutTool& tool, const Archive& archive);

std::string text_of(const MappedExperiment& mapped, int width);
std::string json_of(const MappedExperiment& mapped);                // docs/explanation/layout-maps.md has the format
std::vector<std::string> json_of_each(const MappedExperiment& mapped);

// The newest experiment that confirms this one; absent: none does.
Result<std::optional<store::Id>> confirmation_of(store::Store& store, store::Id screened);

// What screen and confirmation are told by.
layout_report::MapSettings settings_of(const plan::Plan& plan);
plan::ScreenKey key_of(const store::ExperimentRow& row);
// The number that a build of the screen has in its confirmation, whose cells are fewer. Where a command names the level of code
// it is none of them: then the hash of its code tells.
int number_in(const ExpandedPlan& confirmation, const ExpandedPlan& screen, int build);

}  // namespace stab::engine
