// ExperimentRun: one experiment on its way from submitted to done.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/experiment/experiment_builds.h"
#include "stabd/engine/experiment/held_machine.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/experiment/output_inquiry.h"
#include "stabd/engine/experiment/trial_runner.h"

namespace stab::engine {

class ExperimentRun {
 public:
  // Reads the stored plan and sets the laboratory up; nothing runs yet.
  static Result<std::unique_ptr<ExperimentRun>> prepare(Engine& engine, store::Id experiment, Observer& observer,
                                                        StopSignal& stop);
  // Phases: expand, build, preflight, trials. Each leaves the store so that the next engine can go on there. kDone, kGaps: no
  // trial is left, and the experiment is still running: the engine finishes it.
  Result<RunEnd> to_end();
  // The first two phases. No end: both are done, and the third follows.
  Result<std::optional<RunEnd>> to_builds();
  // One trial again, with its binary, seed and settings; stored as a replay beside the schedule.
  Result<store::Outcome> replay(store::Id original);
  // Its program under a tool, on this terminal; nothing is stored. The exit status.
  Result<int> replay_under(store::Id original, const std::vector<std::string>& tool);

 private:
  ExperimentRun(std::unique_ptr<LiveExperiment> experiment, std::unique_ptr<HeldMachine> machine,
                std::unique_ptr<TrialRunner> runner);

  Result<bool> find_named_files();  // false: some are not there
  Result<bool> expand_if_new();     // and what an extension has added; false: the plan names what is not there
  Status match_layouts();  // match_builds.h
  Result<bool> is_replayed_where_it_ran();  // false: it is not, and was rejected
  Result<RunEnd> was_cut_off(const Error& error) const;

  // Each uses those before it.
  std::unique_ptr<LiveExperiment> experiment_;
  std::unique_ptr<HeldMachine> machine_;
  std::unique_ptr<TrialRunner> runner_;
  ExperimentBuilds builds_;
  OutputInquiry inquiry_;
};

}  // namespace stab::engine
