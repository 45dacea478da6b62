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
#include "engine/experiment/builds.h"
#include "engine/trial/command.h"
#include "engine/experiment/engine.h"
#include "engine/experiment/expand.h"
#include "host/isolation.h"
#include "engine/machine/ledger.h"
#include "engine/machine/topology.h"
#include "host/turned_knobs.h"
#include "engine/experiment/places.h"
#include "host/process_tree.h"
#include "engine/machine/side_thread.h"
#include "engine/trial/trial_run.h"
#include "engine/trial/trial_setup.h"
#include "engine/separation/worker.h"

namespace stab::engine {

class ExperimentRun {
 public:
  // Reads the stored plan and sets the laboratory up; nothing runs yet.
  static Result<ExperimentRun> prepare(Engine& engine, store::Id experiment, Observer& observer, StopSignal& stop);
  // Phases: expand, build, preflight, trials. Each leaves the store so that the next engine can go on there.
  Result<RunEnd> to_end();
  // Its first two; none: they are done.
  Result<std::optional<RunEnd>> to_builds();
  // One trial again, with its binary, seed and settings; stored as a replay beside the schedule.
  Result<store::Outcome> replay(store::Id original);

 private:
  ExperimentRun(Engine& engine, Observer& observer, StopSignal& stop)
      : engine_(&engine), store_(&engine.store()), observer_(&observer), stop_(&stop) {}

  Result<bool> find_named_files();  // false: some are not there
  Result<bool> expand_if_new();     // and what an extension has added; false: the plan names what is not there
  Result<bool> make_builds();     // false: one failed or gives another binary than before, or we were stopped
  Result<bool> take_archived_binaries();  // false: one is missing
  Result<bool> is_as_measured(const store::BuildRow& row, const plan::Build& build) const;
  Status keep_in_archive(const store::BuildRow& row);
  Status find_recorded_binaries(int wanted);  // for a replay of a trial of build `wanted`
  Result<RunEnd> was_cut_off(const Error& error) const;
  Status set_up();                // programs, counters and padding of all cells
  Status tune();                  // turns the plan's knobs until this object goes
  Status enter(const Isolation& isolation);  // trials run in the cpuset that tune() has made
  Status hold_trials_in(Result<ProcessTree> tree);
  Status check_requirements();
  Result<bool> check_limits();    // false: the plan's own are more than the lab's, or can't be set
  Status say_limits(std::map<std::string, std::string>& facts);
  std::string why_ipc_is_shared() const;  // empty: a trial has its own
  Status say_ipc(std::map<std::string, std::string>& facts);
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
  Result<store::Outcome> run_prepared(const store::TrialRow& trial);
  Status say_what_befell_the_worker();
  Status say_that_it_is_idle(const plan::ExclusionRule& rule);
  // Why a trial is not run; no words: it is ready.
  struct WhyNot {
    std::string words;
    bool lost = false;  // for nothing that it has done
  };
  static WhyNot why_not(const Error& error);
  // kRepeated and kNeutral: for explain_output(), with its seed, and with code, stack and heap off.
  enum class Beside { kNo, kRepeated, kNeutral };
  // Up to the point where it waits for go, as ready_.
  Result<WhyNot> make_ready(const store::TrialRow& trial, Beside beside = Beside::kNo);
  Result<WhyNot> make_ready_with_open_gate(const store::TrialRow& trial, Beside beside = Beside::kNo);
  // Nothing of its subject is run or copied before a trial.
  bool is_quick_to_make_ready(const store::TrialRow& trial) const;
  // The trial's empty directory with its inputs, after the plan's prepare.
  Result<WhyNot> prepare_directory(const store::TrialRow& trial);
  Status clean_up(const store::TrialRow& trial);
  Status warm_up(const store::TrialRow& trial);
  // Of a trial with another output than expected: says in its failure whether the layout is why.
  Status explain_output(const store::TrialRow& trial, store::Outcome& outcome);
  Result<std::optional<store::Outcome>> run_beside(const store::TrialRow& trial, Beside beside);
  Status remember_outputs();      // of trials recorded before this run
  Status reject(const std::string& why, store::ExperimentEvent event = store::ExperimentEvent::kFail);
  Status advance(store::ExperimentEvent event, const std::string& why = "");
  void tell(const store::TrialRow& trial, const store::Outcome& outcome);
  store::Claim claim();  // of a trial that begins now
  int64_t now_ns() const { return engine_->options().clock->realtime().count(); }
  Status log(const char* kind, const std::string& text);

  // pre: the gate is open
  Result<CommandOutput> command(const LaunchRequest& request);
  // Opens the engine's gate while it runs.
  Result<store::Outcome> run_ready();  // pre: ready_ is set; then it isn't

  Engine* engine_;
  store::Store* store_;
  Observer* observer_;
  StopSignal* stop_;
  store::ExperimentRow row_;
  std::unique_ptr<ExpandedPlan> expanded_;  // TrialSetup points into it
  BuildPlace place_;
  std::vector<BuiltBinary> binaries_;
  std::unique_ptr<counters::PerfCalls> perf_;  // the broker's; none without one
  std::unique_ptr<TurnedKnobs> knobs_;  // outlives the tree, whose group may be in one that it made
  std::unique_ptr<ProcessTree> first_tree_;  // before the one on an isolated CPU; the worker knows it
  std::unique_ptr<ProcessTree> tree_;
  std::unique_ptr<Worker> worker_;     // does the file work; the tree knows it
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<ScratchDirectory> scratch_;
  std::unique_ptr<TrialSetup> setup_;
  std::map<std::string, std::string> refused_knobs_;  // name -> why it is not as the plan wants
  std::string why_shared_ipc_;  // nobody is asked for a private one; empty: the broker is
  Laboratory lab_;
  std::string boot_id_;
  uint64_t archived_bytes_ = 0;              // by this run
  std::map<int, std::string> first_stdout_;  // by subject
  std::map<int, bool> warm_;                 // subjects whose warm-up has run
  std::set<std::pair<int, int>> explained_;  // subjects and cells that explain_output() has looked at
  std::set<std::string> idle_rules_;         // exclusion rules that were said to find nothing to judge
  std::unique_ptr<SideThread> beside_;       // while trials run: makes the next one ready
  int64_t done_ = 0, planned_ = 0;
  std::chrono::nanoseconds claimed_{0};      // CLOCK_MONOTONIC_RAW of the claim that was made last
  // The next trial, between make_ready() and its run. After the laboratory, which it uses.
  std::optional<std::pair<store::Id, ReadyTrial>> ready_;
};

}  // namespace stab::engine
