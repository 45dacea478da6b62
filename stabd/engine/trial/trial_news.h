// News of trials, as whoever watches an experiment is told them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/design.h"
#include "stabd/engine/separation/helper_report.h"
#include "store/records.h"
#include "store/trial_machine.h"

namespace stab::engine {

struct TrialNews {
  store::TrialKind kind = store::TrialKind::kMain;
  store::TrialState state = store::TrialState::kRecorded;
  std::string subject, cell;
  std::optional<int64_t> wall_ns;  // in a sliced experiment its CPU time; absent for control blocks there
  // That it ran in. Absent: another pass over the counters is the replicate whose time counts.
  std::optional<plan::TrialLayout> layout;
  std::string failure;
  int64_t done = 0;     // places of the schedule that will not run any more
  int64_t planned = 0;  // places of the schedule
};

// What a trial that runs has done so far.
struct ProgressNews {
  std::string subject;
  std::vector<PointVisits> points;
};

}  // namespace stab::engine
