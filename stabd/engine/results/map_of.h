// The layout map of an experiment: its screen, and, where fresh trials have measured the candidates again, what they say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/layout_map.h"
#include "base/result.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/results/load_placements.h"

namespace stab::engine {

struct MappedExperiment {
  // What a map is of: indices into the expanded plan.
  struct Build {
    int subject = 0, build = 0;
    std::string text_hash;
  };
  store::Id screened = 0;
  std::optional<store::Id> confirmed;   // the experiment that measured again; absent: none did
  std::vector<analysis::LayoutMap> maps;  // one for each build in each workload
  std::vector<Build> builds;              // of each map
  std::vector<RefusedMap> refused;        // workloads that have none
};

// The map of an experiment. The experiment that confirms it gives the same map.
Result<MappedExperiment> map_of(store::Store& store, store::Id experiment, const LayoutTool& tool, const Archive& archive);

std::string text_of(const MappedExperiment& mapped, int width);
std::string json_of(const MappedExperiment& mapped);                // docs/layout.md has the format
std::vector<std::string> json_of_each(const MappedExperiment& mapped);

// The newest experiment that confirms this one; absent: none does.
Result<std::optional<store::Id>> confirmation_of(store::Store& store, store::Id screened);

// Submits the experiment that measures the candidates of a map again, unless there is one. Absent: the plan asks for no map or no
// confirmation, or nothing is to be confirmed. `cancel_fd`: readable: give up. pre: the experiment is over; the gate is held
Result<std::optional<store::Id>> confirm_map(Engine& engine, store::Id screened, Observer& observer, int cancel_fd);

}  // namespace stab::engine
