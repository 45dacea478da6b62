// CausalProfile: what a causal experiment's trials are told. It finds the lines to speed up by pilot trials, which sample and do
// nothing else, and gives each trial its script: the code of those lines in the binary that it runs, and its part of the list of
// windows (plan/causal.h).
//
// Lines are stored before the first trial, so an experiment that goes on has the same ones. Where their code lies is looked up
// again for each binary.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/causal.h"
#include "stabd/engine/experiment/control_trials.h"
#include "stabd/engine/experiment/held_machine.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/results/candidates.h"
#include "stabd/engine/trial/area_file.h"

namespace stab::engine {

class TrialRunner;

// What the plan's lines turned out to be, and what was sampled of it; reports repeat it.
inline constexpr char kCausalPilot[] = "causal-pilot";

class CausalProfile {
 public:
  // pre: the plan is a causal one; both outlive this
  CausalProfile(LiveExperiment& experiment, const HeldMachine& machine) : experiment_(&experiment), machine_(&machine) {}

  // Runs the pilot trials of each subject that has no regions yet, and stores what they find. False: the experiment was rejected,
  // or we were stopped. Opens the gate.
  Result<bool> find_regions(TrialRunner& runner);

  // For a replay: the lines that the experiment has found, and the windows of this trial of it. Refused where it has none.
  Status repeat(store::Id original);
  // True: there are trials to be run that the plan has not, so that the null control is known. pre: the gate is held
  Result<bool> add_controls();

  // Of a main trial its windows, of a replay those of its original; of others none. pre: the gate is open
  Result<CausalScript> script_of(const store::TrialRow& trial, const std::string& executable);
  // Where a trial's list of windows begins. pre: the gate is held
  Status look_up_position(const store::TrialRow& trial);

 private:
  // Load is a factor: windows of one kind, and no lines.
  bool is_load() const { return plan().candidates == 0; }
  const plan::Causal& plan() const { return *experiment_->plan().causal; }
  struct Code {
    std::vector<ScriptModule> modules;
    std::vector<causal::Range> ranges;
    uint64_t flags = 0;
  };
  struct Seen {  // of a subject's pilot trials
    PilotSamples samples;
    std::vector<CausalRecord::Point> points;
    std::vector<std::string> degradations;
    uint64_t shortest_ns = 0;
    std::vector<std::string> executables;
  };

  Result<std::string> pilot(TrialRunner& runner, int subject, Seen& seen);  // why not; empty: done
  Result<std::string> choose(int subject, const Seen& seen, std::vector<store::RegionRow>& regions);
  Result<int64_t> next_of_plan(store::Store& store, const store::TrialRow& trial) const;
  std::string why_no_windows(const Seen& seen) const;
  Result<lines::Answer> ask(const lines::Request& request) const;
  lines::Request question() const;
  void script_of_load(const store::TrialRow& trial, CausalScript& script) const;
  // The scope of a binary, and the code of a subject's regions in it.
  Result<Code> code_of(int subject, const std::string& executable);
  Status load();  // what is stored

  LiveExperiment* experiment_;
  const HeldMachine* machine_;
  std::map<int, std::vector<store::RegionRow>> regions_;  // by subject
  std::map<int, std::vector<std::string>> libraries_;     // paths of modules besides executables, by subject
  std::map<std::pair<int, std::string>, Code> code_;      // by subject and executable
  std::map<int, bool> begins_arrive_;                     // under a load, by subject
  std::map<store::Id, int64_t> positions_;                // of the trial that is next
  int64_t repeated_ = 0;                                  // place of the first window of the trial that is replayed
  std::optional<ControlTrials> controls_;                 // nothing: not decided yet
};

}  // namespace stab::engine
