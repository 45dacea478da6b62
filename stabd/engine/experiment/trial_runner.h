// TrialRunner: runs the claimed trials of one experiment, one at a time or those of a sliced block at once, each in its own fresh
// directory. It stores nothing.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stabd/engine/build/builds.h"
#include "stabd/engine/build/command.h"
#include "stabd/engine/experiment/causal_profile.h"
#include "stabd/engine/experiment/held_machine.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/machine/side_thread.h"
#include "stabd/engine/trial/trial_run.h"
#include "stabd/engine/trial/trial_setup.h"

namespace stab::engine {

class TrialRunner {
 public:
  // Both outlive it.
  TrialRunner(LiveExperiment& experiment, HeldMachine& machine) : experiment_(&experiment), machine_(&machine) {}

  // Programs, counters and padding of all cells.
  Status set_up(const BuildPlace& place, const std::vector<BuiltBinary>& binaries);
  const HeldMachine::Passes& passes() const { return setup_->passes(); }
  // Outputs of trials recorded before this run: later ones are held against them.
  Status remember_outputs();

  // As TrialSetup has it.
  void count_entries(int subject, int build, std::vector<std::string> functions) {
    setup_->count_entries(subject, build, std::move(functions));
  }

  void match(int program, TableOfProgram table) { setup_->match(program, std::move(table)); }

  store::Claim claim();  // of a trial that begins now
  // One claimed trial, made ready unless it is, run and checked. An Error: the laboratory is broken.
  Result<store::Outcome> run(const store::TrialRow& trial);
  // The same of all trials of a sliced block, at once: all have passed, or none. pre: slice_with() was called, or it is one
  Result<std::vector<store::Outcome>> run(const std::vector<store::TrialRow>& trials);
  // How long the time slices of trials that run at once are.
  void slice_with(std::chrono::nanoseconds slice) { slice_ = slice; }

  // kRepeated and kNeutral: for OutputInquiry, with its seed, and with code, stack and heap off. kPilot: for CausalProfile.
  enum class Beside { kNo, kRepeated, kNeutral, kPilot };
  // What becomes of it is nobody's result. Nothing: it could not be run, or we were stopped.
  Result<std::optional<store::Outcome>> run_beside(const store::TrialRow& trial, Beside beside);

  // A trial's program under a tool, on this terminal (by_hand.h), in a fresh directory like any trial's. Its exit status.
  Result<int> run_by_hand(const store::TrialRow& trial, const std::vector<std::string>& tool);

  // Whose scripts the trials of a causal plan get. Outlives this.
  void follow(CausalProfile& profile) { profile_ = &profile; }
  // A trial that is only sampled: what was found of it, and the path of what ran.
  Result<store::Outcome> run_pilot(const store::TrialRow& trial, CausalRecord& record, std::string& executable);

  // From here on a trial may be made ready while the one before it is stored.
  void work_ahead();
  void begin_ahead(const std::vector<store::TrialRow>& trials);  // nothing happens where that takes long
  void wait_for_ahead();                           // opens the gate

 private:
  // Why a trial is not run; no words: it is ready.
  struct WhyNot {
    std::string words;
    bool lost = false;  // for nothing that it has done
  };
  static WhyNot why_not(const Error& error);
  Result<std::vector<store::Outcome>> run_prepared(const std::vector<store::TrialRow>& trials);
  // Of trials of which this one could not be made ready.
  std::vector<store::Outcome> not_run(const std::vector<store::TrialRow>& trials, size_t unready, const WhyNot& why_not) const;
  Status hold_against_rules(store::Outcome& outcome);
  Status say_that_it_is_idle(const plan::ExclusionRule& rule);
  // Up to the point where it waits for go, as the next one of ready_, in the enclosure of that number.
  Result<WhyNot> make_ready(const store::TrialRow& trial, Beside beside, bool in_company = false);
  // Alone, in place of whatever was ready.
  Result<WhyNot> make_ready_with_open_gate(const store::TrialRow& trial, Beside beside);
  bool are_ready(const std::vector<store::TrialRow>& trials) const;
  // Nothing of its subject is run or copied before a trial.
  bool is_quick_to_make_ready(const store::TrialRow& trial) const;
  // The trial's empty directory with its inputs, after the plan's prepare.
  Result<WhyNot> prepare_directory(const store::TrialRow& trial, size_t enclosure);
  Result<CommandOutput> command(const host::LaunchRequest& request, size_t enclosure);  // pre: the gate is open
  Status clean_up(const store::TrialRow& trial, size_t enclosure = 0);
  Status warm_up(const store::TrialRow& trial);
  // Opens the gate while they run.
  Result<std::vector<store::Outcome>> run_all_ready();  // pre: ready_ isn't empty; then it is
  Result<store::Outcome> run_ready();                   // the same of one

  LiveExperiment* experiment_;
  HeldMachine* machine_;
  CausalProfile* profile_ = nullptr;         // of a causal plan
  std::shared_ptr<CausalRecord> pilot_;      // of the pilot trial that runs
  std::unique_ptr<TrialSetup> setup_;
  std::map<int, std::string> first_stdout_;  // by subject
  std::map<int, bool> warm_;                 // subjects whose warm-up has run
  bool has_run_ = false;                     // the program of the trial that run() is about
  std::set<std::string> idle_rules_;         // exclusion rules that were said to find nothing to judge
  std::chrono::nanoseconds claimed_{0};      // CLOCK_MONOTONIC_RAW of the claim that was made last
  std::unique_ptr<SideThread> ahead_;        // while trials run: makes the next one ready
  std::chrono::nanoseconds slice_{0};
  std::vector<std::string> directories_;  // of the trials, by enclosure, once one was made ready there
  // What runs next, between make_ready() and its run, by enclosure.
  std::vector<std::pair<store::Id, ReadyTrial>> ready_;
};

}  // namespace stab::engine
