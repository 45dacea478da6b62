// ExperimentBuilds: the binaries of one experiment's cells, each known by its hash. How one build is made is in builds.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine/build/builds.h"
#include "stabd/engine/experiment/held_machine.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/trial/trial_setup.h"

namespace stab::engine {

class ExperimentBuilds {
 public:
  ExperimentBuilds(LiveExperiment& experiment, const HeldMachine& machine);

  // Four ways to the binaries, by who runs. False: the experiment was rejected, or we were stopped.
  Result<bool> make();               // makes what is not there as it was measured
  Result<bool> take_archived();      // a worker's share: what was built elsewhere came along by its hash
  Result<bool> take_replayed();      // of a plan that replays a trial: what the trial's experiment measured, and nothing else
  Status find_recorded(int wanted);  // for a replay of a trial of build `wanted`: what was measured then

  const BuildPlace& place() const { return place_; }
  const std::vector<BuiltBinary>& binaries() const { return binaries_; }  // by build index

 private:
  Result<bool> is_as_measured(const store::BuildRow& row, const plan::Build& build) const;
  Result<bool> make_one(store::BuildRow& row, const std::string& ran);
  Result<bool> identify(store::BuildRow& row, const plan::Build& build, const std::string& ran);
  std::string links_that_are_one(const std::vector<store::BuildRow>& rows) const;
  const plan::Program& program_of(const plan::Build& build) const;
  Status keep_in_archive(const store::BuildRow& row);

  LiveExperiment* experiment_;
  const HeldMachine* machine_;
  BuildPlace place_;
  std::vector<BuiltBinary> binaries_;
  uint64_t archived_bytes_ = 0;  // by this run
};

}  // namespace stab::engine
