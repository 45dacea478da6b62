// HeldMachine: the machine as one experiment holds it, from its CPUs to its knobs. Everything is given back with the object.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "counters/events.h"
#include "counters/counting_session.h"
#include "stabd/engine/experiment/enclosure.h"
#include "stabd/engine/experiment/live_experiment.h"
#include "stabd/engine/separation/knobs_at_broker.h"
#include "stabd/engine/separation/places.h"
#include "stabd/engine/build/temporary_places.h"
#include "stabd/engine/machine/ledger.h"
#include "stabd/engine/separation/submitter.h"
#include "stabd/engine/separation/worker.h"
#include "stabd/engine/trial/trial_run.h"

namespace stab::engine {

class HeldMachine {
 public:
  // CPUs for the plan, a tree for its processes, a worker for its files. Nothing of the machine is changed yet.
  // pre: the gate is held; `experiment` outlives this.
  static Result<std::unique_ptr<HeldMachine>> take(LiveExperiment& experiment);
  ~HeldMachine();

  // Of enclosure 0, which there always is.
  const Laboratory& lab() const { return first_.lab; }
  Worker& worker() const { return *worker_; }
  ScratchDirectory& scratch() { return *first_.scratch; }
  // From here on so many trials may run at once, each in an enclosure of its own. pre: tune() was called
  Status enclose(size_t trials);
  const Laboratory& lab(size_t enclosure) const { return of(enclosure).lab; }
  // A trial is about to be made ready there: what earlier ones have left in its directories below /tmp is gone.
  Result<std::string> fresh_directory(size_t enclosure);
  // After a trial that failed. False: whatever cleans /tmp took a directory of it, so the failure says nothing about the program.
  // One that ran may have removed parts itself.
  bool directories_are_there(size_t enclosure, bool has_run) const;
  const std::optional<host::Submitter>& submitter() const { return submitter_; }
  const std::string& boot_id() const { return boot_id_; }

  // Turns the plan's knobs until this object goes, and looks at the machine as trials will find it.
  Status tune();
  // What tune() has seen, as the environment of the trials from now on. Not for a replay, which says nothing of the machine that
  // its experiment ran on.
  Status record_facts() const;
  const std::map<std::string, std::string>& facts() const { return facts_; }  // since tune()
  // False: it needs what is for other processors alone, or its own limits are more than the lab's, or can't be set; the
  // experiment is rejected then.
  Result<bool> check_plan();
  // kUnavailable: what the plan requires, and this machine does not give. `passes`: the events of every pass over the counters.
  using Passes = std::vector<std::vector<counters::EventSpec>>;
  Status check_requirements(const Passes& passes) const;
  // False: stopped, or a gate stayed closed until its deadline. Meanwhile the observer may serve others, and ask us to stop.
  Result<bool> wait_for_gates() const;
  Status say_what_befell_the_worker() const;

 private:
  explicit HeldMachine(LiveExperiment& experiment) : experiment_(&experiment) {}

  const Enclosure& of(size_t enclosure) const { return enclosure == 0 ? first_ : *others_[enclosure - 1]; }
  Enclosure& of(size_t enclosure) { return enclosure == 0 ? first_ : *others_[enclosure - 1]; }
  Result<TreeAtBroker> make_tree(const Enclosure& enclosure, bool isolated) const;
  TrialLimits limits_in(const TreeAtBroker& tree) const;
  Status hold_trials_in_cpuset();
  bool stay_until(std::chrono::nanoseconds next_look) const;  // false: stopped
  Status say_limits(std::map<std::string, std::string>& facts) const;
  Status say_tmp(std::map<std::string, std::string>& facts) const;
  Status say_ipc(std::map<std::string, std::string>& facts) const;
  Status make_directories(Enclosure& enclosure);
  Status start_worker();
  Status empty_at_last(const std::string& path);
  std::string why_ipc_is_shared() const;                                           // empty: a trial has its own
  std::string why_tmp_is_shared() const;                                           // the same
  std::string why_not_given(const std::string& need, const Passes& passes) const;  // empty: this machine gives it

  LiveExperiment* experiment_;
  UniqueFd claim_;  // of the trials' CPU, against other laboratories
  std::string boot_id_;
  std::optional<host::Submitter> submitter_;
  std::unique_ptr<counters::PerfCalls> perf_;  // the broker's
  std::unique_ptr<KnobsAtBroker> knobs_;       // outlives the tree, whose group may be in one that it made
  std::unique_ptr<TreeAtBroker> first_tree_;   // before the one on an isolated CPU
  bool is_isolated_ = false;                   // trees lie in the group of the isolated CPU
  Enclosure first_;
  std::vector<std::unique_ptr<Enclosure>> others_;
  std::unique_ptr<Worker> worker_;  // does the file work
  bool ends_ = false;                      // it is being destroyed
  std::unique_ptr<Worker> last_worker_;    // that no stop stops, for what is left then
  Status empties_at_last_;                 // why it does so no more
  std::map<std::string, std::string> refused_knobs_;  // name -> why it is not as the plan wants
  std::map<std::string, std::string> facts_;          // of the machine, since tune()
  std::string why_shared_ipc_;                        // nobody is asked for a private one; empty: the broker is
  std::string why_shared_tmp_;                        // the same of /tmp and /var/tmp
};

}  // namespace stab::engine
