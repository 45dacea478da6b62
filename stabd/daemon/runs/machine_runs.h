// MachineRuns: experiments on machines, a thread each. They don't have the lab's own machine, so they run beside whatever has.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "stabd/engine/machines/run_machines.h"

namespace stab::daemon {

// Controllers in one daemon at a time: each has a thread, a connection and a process of the broker's sixty-four.
inline constexpr size_t kMostMachineRuns = 8;

class MachineRuns {
 public:
  // What was asked of a run. A pause gives way to a cancel; what was asked first holds otherwise.
  enum class Wished { kNothing, kCancel, kPause, kQuit };
  // All are called on the run's thread, without our lock and without the gate.
  struct Listener {
    std::function<void(store::Id experiment, int64_t uid, bool is_phase, const std::string& text)> said;
    std::function<bool(store::Id experiment, int64_t uid)> may_go_on;  // false: its user's time is over
    // Of a part of so many bytes: why it is not taken in; empty: it is.
    std::function<std::string(int64_t uid, int64_t bytes)> why_no_room;
    std::function<void(store::Id experiment, int64_t uid, const Result<engine::RunEnd>& end, Wished wished)> ended;
    std::function<void()> gone;  // after that: it counts no longer
  };
  MachineRuns(engine::Engine& engine, Listener listener);
  ~MachineRuns();

  // pre: the gate is held, no trial runs, it is built and has no run. kBusy: there are as many as there may be.
  Status begin(store::Id experiment, int64_t uid);
  bool has(store::Id experiment) const;
  bool is_full() const;
  // False: it has no run, or one that has come to its end already; whoever wishes it stores it then.
  bool cancel(store::Id experiment) { return wish(experiment, Wished::kCancel); }
  bool pause(store::Id experiment) { return wish(experiment, Wished::kPause); }
  // pre: nobody begins one any more. All end at once; jobs of a scheduler go on, and the next daemon knows them. Idempotent.
  void quit();
  // By slot, when something was last heard of it.
  std::map<int, int64_t> signs_of_life(store::Id experiment) const;

 private:
  struct Run;
  bool wish(store::Id experiment, Wished wished);
  void serve(Run& run);
  engine::Engine* engine_;
  Listener listener_;
  mutable std::mutex mutex_;  // of all below
  bool quits_ = false;
  std::map<store::Id, std::unique_ptr<Run>> runs_;
};

}  // namespace stab::daemon
