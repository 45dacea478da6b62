// Turns: whose turn it is at the lab's machine. Of whatever waits the highest priority is next; of equal ones that of the user
// who has had the machine least (a share is halved every day), and of theirs the lowest number. What runs has the machine for a
// turn before another user of its priority has, and for as long as one experiment of its user may. One that can't use it, as a
// gate of its plan is closed, stands back for a minute: others of its priority come before it.
//
// The queue is the store itself, so a daemon that was killed goes on where it was, without a state of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>

#include "stabd/engine/experiment/engine.h"

namespace stab::daemon {

// Whether an experiment has something to run.
bool waits(store::ExperimentState state);

// pre of what asks the store: the gate is held. The engine's thread only, but for had_its_time().
class Turns {
 public:
  explicit Turns(engine::Engine& engine) : engine_(&engine) {}

  // How long an experiment of that user may have the machine; 0: no limit. Before the rest.
  void limit_time(std::function<std::chrono::nanoseconds(uid_t)> limit) { time_limit_ = std::move(limit); }
  bool had_its_time(store::Id experiment, int64_t uid) const;
  // What is left of it, 0 or less if it has had it; nothing where there is no limit.
  std::optional<std::chrono::nanoseconds> time_left(store::Id experiment, int64_t uid) const;

  // Of those that wait, without those that are to stop, the one whose turn it is.
  using LeavesOut = std::function<bool(store::Id)>;
  Result<std::optional<store::ExperimentSummary>> first(const LeavesOut& leaves_out) const;

  // A gate of its plan is closed.
  void stand_back(store::Id experiment);
  bool stands_back(store::Id experiment) const;

  // A turn begins now.
  void begin();
  // Whether it has lasted long enough for another user to have one; if so, the next one begins.
  bool is_over();

 private:
  engine::Engine* engine_;
  std::function<std::chrono::nanoseconds(uid_t)> time_limit_;
  std::chrono::nanoseconds began_{0};
  std::map<store::Id, std::chrono::nanoseconds> back_until_;
};

}  // namespace stab::daemon
