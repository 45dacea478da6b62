// ExperimentRun: one experiment on its way from submitted to done.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stabd/builds.h"
#include "stabd/command.h"
#include "stabd/engine.h"
#include "stabd/expand.h"
#include "stabd/host/isolation.h"
#include "stabd/host/ledger.h"
#include "stabd/host/topology.h"
#include "stabd/host/tuning.h"
#include "stabd/places.h"
#include "stabd/process_tree.h"
#include "stabd/side_thread.h"
#include "stabd/trial_run.h"
#include "stabd/trial_setup.h"

namespace stab::engine {

class ExperimentRun {
 public:
  // Reads the stored plan and sets the laboratory up; nothing runs yet.
  static Result<ExperimentRun> prepare(Engine& engine, store::Id experiment, Observer& observer, StopSignal& stop);
  // Phases: expand, build, preflight, trials. Each leaves the store so that the next engine can go on there.
  Result<RunEnd> to_end();
  // One trial again, with its binary, seed and settings; stored as a replay beside the schedule.
  Result<store::Outcome> replay(store::Id original);

 private:
  ExperimentRun(Engine& engine, Observer& observer, StopSignal& stop)
      : engine_(&engine), store_(&engine.store()), observer_(&observer), stop_(&stop) {}

  Status expand_if_new();
  Result<bool> make_builds();     // false: one failed or gives another binary than before, or we were stopped
  bool is_as_measured(const store::BuildRow& row, const plan::Build& build) const;
  void archive(const store::BuildRow& row);
  Status find_recorded_binaries(int wanted);  // for a replay of a trial of build `wanted`
  Status set_up();                // programs, counters and padding of all cells
  Status tune();                  // turns the plan's knobs until this object goes
  Status enter(const Isolation& isolation);  // trials run in the cpuset that tune() has made
  Status check_requirements();
  Result<bool> wait_for_gates();  // false: stopped, or a gate stayed closed until its deadline
  Status repeat_failed_preflight();
  std::string without_first_response(const store::Outcome& outcome) const;
  Result<bool> run_preflight();   // false: it failed, or we were stopped
  Result<bool> run_trials();      // false: stopped

  Status count_places();
  Result<std::optional<store::TrialRow>> claim_next();  // none: all done, or stopped
  // Obeys the plan's stopping rule if this trial is the first behind one of its points; true: some trials are
  // not needed any more.
  Result<bool> decide_before(const store::TrialRow& next);
  Result<std::optional<store::TrialRow>> store_and_claim(const store::TrialRow& trial, const store::Outcome& outcome);

  // One claimed trial, prepared unless ready_ is it, run and checked; not yet stored.
  Result<store::Outcome> run_one(const store::TrialRow& trial);
  Status say_that_it_is_idle(const plan::ExclusionRule& rule);
  // Up to the point where it waits for go. Why not, empty: ready_ is it.
  Result<std::string> make_ready(const store::TrialRow& trial);
  // Nothing of its subject is run or copied before a trial.
  bool is_quick_to_make_ready(const store::TrialRow& trial) const;
  // The trial's empty directory with its inputs, after the plan's prepare. Why not, empty: it is ready.
  Result<std::string> prepare_directory(const store::TrialRow& trial);
  Status clean_up(const store::TrialRow& trial);
  Status warm_up(const store::TrialRow& trial);
  Status remember_outputs();      // of trials recorded before this run
  Status reject(const std::string& why, store::ExperimentState state = store::ExperimentState::kFailed);
  void tell(const store::TrialRow& trial, const store::Outcome& outcome);
  store::Claim claim() const;
  int64_t now_ns() const { return engine_->options().clock->realtime().count(); }
  Status log(const char* kind, const std::string& text);

  // These two open the engine's gate while they run.
  Result<CommandOutput> command(const LaunchRequest& request);
  Result<store::Outcome> run_ready();  // pre: ready_ is set; then it isn't

  Engine* engine_;
  store::Store* store_;
  Observer* observer_;
  StopSignal* stop_;
  store::ExperimentRow row_;
  std::unique_ptr<ExpandedPlan> expanded_;  // TrialSetup points into it
  BuildPlace place_;
  std::vector<BuiltBinary> binaries_;
  std::unique_ptr<Tuning> tuning_;     // outlives the tree, whose group may be in one that it made
  std::unique_ptr<ProcessTree> tree_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<ScratchDirectory> scratch_;
  std::unique_ptr<TrialSetup> setup_;
  std::map<std::string, std::string> refused_knobs_;  // name -> why it is not as the plan wants
  Laboratory lab_;
  std::string boot_id_;
  std::map<int, std::string> first_stdout_;  // by subject
  std::map<int, bool> warm_;                 // subjects whose warm-up has run
  std::set<std::string> idle_rules_;         // exclusion rules that were said to find nothing to judge
  std::unique_ptr<SideThread> beside_;       // while trials run: makes the next one ready
  int64_t done_ = 0, planned_ = 0;
  // The next trial, between make_ready() and its run. After the laboratory, which it uses.
  std::optional<std::pair<store::Id, ReadyTrial>> ready_;
};

}  // namespace stab::engine
