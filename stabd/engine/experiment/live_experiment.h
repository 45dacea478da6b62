// LiveExperiment: the experiment that an engine works on. Its plan and its row, and the one way by which a run writes to its
// life and to its log, and tells whoever watches.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/experiment/engine.h"
#include "store/experiment_machine.h"

namespace stab::engine {

class LiveExperiment {
 public:
  // What the store has of it. kCorrupt: its plan no longer parses, or makes other subjects, cells or builds than are stored.
  static Result<std::unique_ptr<LiveExperiment>> load(Engine& engine, store::Id id, Observer& observer, StopSignal& stop);

  Engine& engine() const { return *engine_; }
  const Engine::Options& options() const { return engine_->options(); }
  store::Store& store() const { return engine_->store(); }
  Gate& gate() const { return engine_->gate(); }
  Observer& observer() const { return *observer_; }
  StopSignal& stop() const { return *stop_; }

  store::Id id() const { return row_.id; }
  const store::ExperimentRow& row() const { return row_; }
  const ExpandedPlan& expanded() const { return expanded_; }
  const plan::Plan& plan() const { return expanded_.plan; }
  // Of a plan whose epochs follow from the preflight: stored, and what its trials get from now on.
  Status take_epoch(std::chrono::nanoseconds epoch);
  const plan::Cell& cell_of(const store::TrialRow& trial) const;
  std::string name_of(const store::TrialRow& trial) const;  // "lua nbody, opt=-O2"

  int64_t now_ns() const { return options().clock->realtime().count(); }
  // By the table of store/experiment_machine.h.
  Status advance(store::ExperimentEvent event, const std::string& why = "");
  Status resume();
  // Says why it can't go on, to who watches and in its log, and ends or pauses it.
  Status reject(const std::string& why, store::ExperimentEvent event = store::ExperimentEvent::kFail);
  void note(const std::string& text) const { observer_->note(text); }
  Status log(const char* kind, const std::string& text) const;
  Status note_and_log(const char* kind, const std::string& text) const;
  // What a trial came to; `done` and `planned`: places of the schedule.
  void tell(const store::TrialRow& trial, const store::Outcome& outcome, int64_t done, int64_t planned) const;

 private:
  LiveExperiment(Engine& engine, Observer& observer, StopSignal& stop, store::ExperimentRow row, ExpandedPlan expanded)
      : engine_(&engine), observer_(&observer), stop_(&stop), row_(std::move(row)), expanded_(std::move(expanded)) {}

  Engine* engine_;
  Observer* observer_;
  StopSignal* stop_;
  store::ExperimentRow row_;
  ExpandedPlan expanded_;  // stays where it is: TrialSetup points into it
};

}  // namespace stab::engine
