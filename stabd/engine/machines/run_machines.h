// An experiment with [machines], from plan to its last block: built here, run elsewhere.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/machines/controller.h"
#include "stabd/engine/machines/machine_engine.h"
#include "stabd/engine/machines/spool.h"

namespace stab::engine {

// Whether the plan of this experiment has [machines]. pre: the gate is held.
Result<bool> has_machines(store::Store& store, store::Id experiment);

// As Engine::run, for plans with [machines]. kRejected also where no machine is left: the experiment is paused, and its failure
// says why.
Result<RunEnd> run_on_machines(Engine& engine, store::Id experiment, Observer& observer, StopSignal& stop);

// How long a controller waits after a round in which nothing came and which took so much of its CPU: so long that it takes less
// than 1 % of one, however many slots there are.
std::chrono::milliseconds pause_after(std::chrono::nanoseconds took);

// One that is built: its spool is filled, and its controller may begin, on a thread of its own.
class MachineRun {
 public:
  // What a daemon wants of it. All are called, and looked at, on the thread of to_end().
  struct Watch {
    const std::atomic<bool>* leave = nullptr;  // true: end at once, and leave jobs to whoever goes on
    std::function<void(const std::map<int, int64_t>& signs)> signs;  // of life, by slot; after each round
    std::function<bool()> may_go_on;           // asked after each block; false: stop as if the user had asked
    std::function<std::string(int64_t bytes)> why_no_room;  // asked before each part; not empty: pause with that reason
  };
  // pre: the gate is held, and no trial runs: the bundle is written here.
  static Result<std::unique_ptr<MachineRun>> prepare(Engine& engine, store::Id experiment);

  // pre: the gate is not held; it is taken for each step on the store.
  // kStopped also where blocks were added meanwhile: the experiment runs on, and is to be built and prepared again.
  Result<RunEnd> to_end(Observer& observer, StopSignal& stop, const Watch& watch);
  // Nobody goes on with it: what only a daemon needed is removed.
  void clear();

 private:
  MachineRun(Engine& engine, store::ExperimentRow row, Spool spool)
      : engine_(&engine), row_(std::move(row)), spool_(std::move(spool)) {}
  Result<std::unique_ptr<MachineEngine>> own_engine(const std::string& identity);
  Status advance(store::ExperimentEvent event, const std::string& why) const;
  Result<int> decide(const plan::Plan& plan, int blocks, Observer& observer);
  Result<RunEnd> finish(Observer& observer, MachineEngine& engine);

  Engine* engine_;
  store::ExperimentRow row_;
  Spool spool_;
  plan::Machines machines_;
  std::string identity_;
  int64_t block_places_ = 0;
  std::map<int, int64_t> newest_;  // epochs, by slot
};

}  // namespace stab::engine
