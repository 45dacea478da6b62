// Engine: runs experiments, one trial at a time. Both binaries use it: stabctl run embeds it, stabd has it on a
// thread of its own beside the loop that serves clients.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/design.h"
#include "plan/plan.h"
#include "stabd/engine/build/store_gate.h"
#include "stabd/host/roots.h"
#include "stabd/engine/experiment/stop_signal.h"
#include "stabd/engine/separation/engine_options.h"
#include "stabd/engine/trial/trial_news.h"
#include "store/store.h"

namespace stab::engine {

// A trial takes part in its cell at most this often before the cell is quarantined: a second failure under the
// same conditions is no accident, a third try is for a machine that was just rebooted.
inline constexpr int kMaxAttempts = 3;
// A lost trial says nothing of its cell, only that we were cut off; the bound is against a machine that dies
// each time it runs this trial.
inline constexpr int kMaxAttemptsWhenLost = 100;

// Told of everything worth showing; called between trials only, but for trial_progress().
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void phase(std::string_view text) = 0;  // "building lua opt=-O2"
  virtual void note(std::string_view text) = 0;   // something a user should know, one line
  virtual void trial_done(const TrialNews& news) = 0;
  // While a trial runs, with the engine's gate open, so without the store. It is to take microseconds.
  virtual void trial_progress(const ProgressNews& news) { (void)news; }
  // About once a second while one of the plan's gates keeps the next trial from beginning. No trial runs, and the engine's gate
  // is held; who opens it meanwhile holds it again in the end.
  virtual void at_closed_gate() {}
};

enum class RunEnd {
  kDone,      // every place of the schedule is recorded
  kGaps,      // over, but some cells were quarantined
  kStopped,   // asked to stop; resume goes on
  kRejected,  // a build or the preflight failed: nothing was measured; the experiment's failure says why
};

class Engine {
 public:
  using Options = EngineOptions;
  // Takes the database for itself, and settles what a dead engine left behind: its trials become lost and are
  // replaced. kBusy where another engine has it.
  static Result<std::unique_ptr<Engine>> open(const Options& options);

  const Options& options() const { return options_; }
  const store::Recovery& recovered() const { return recovered_; }
  // Whether nothing can run any more because the broker has ended.
  bool lost_broker() const;

  // The store is one connection. Whoever uses it holds the gate; run() holds it except while a trial or a
  // build runs, so that a submit from another thread waits for milliseconds at most.
  store::Store& store() { return store_; }
  Gate& gate() { return gate_; }

  // Stores a plan that parsed, which `uid` will run. Takes the gate; from any thread.
  // `promised_trials`: how many it will make, as plan::trials_of says; 0: to be found out.
  Result<store::Id> submit(const plan::Plan& plan, const std::string& plan_directory, uid_t uid, gid_t gid,
                           int priority = 0, int64_t promised_trials = 0);
  // Submits and other changes that users asked for so far: each is a row and a sync of the disk beside a trial, so
  // trials note how many they have seen.
  int64_t submits() const { return submits_; }
  void count_change() { ++submits_; }
  // Requests over HTTP so far; trials note them as well.
  int64_t web_requests() const { return web_requests_; }
  void count_web_request() { ++web_requests_; }
  // How long an experiment has stood at closed gates of its plan since it last got through: a run that gives way there leaves it
  // to its next one, whose deadline goes on. pre: the gate is held
  std::chrono::nanoseconds& waited_at_gates(store::Id experiment) { return waited_at_gates_[experiment]; }

  // Goes on with it until it is over or stopped. An Error means that the laboratory is broken, not the plan.
  Result<RunEnd> run(store::Id experiment, Observer& observer, StopSignal& stop);

  // The same up to its first trial: expanded and built. kDone: it is.
  Result<RunEnd> build(store::Id experiment, Observer& observer, StopSignal& stop);

  // Runs a trial again. The seed gives the same sequence of layouts; when each begins is driven by time.
  Result<store::Outcome> replay(store::Id trial, Observer& observer, StopSignal& stop);
  // Its program under a tool (by_hand.h), such as {"perf", "stat"}, on this terminal; nothing is stored. The exit status.
  // kDenied: the experiment is another user's.
  Result<int> replay_under(store::Id trial, const std::vector<std::string>& tool, Observer& observer, StopSignal& stop);
  // Plans `blocks` more blocks at the end of the schedule; the experiment is to be resumed then.
  Status extend(store::Id experiment, int blocks);

 private:
  Engine(Options options, store::Store store, store::Recovery recovered)
      : options_(std::move(options)), store_(std::move(store)), recovered_(std::move(recovered)) {}
  void say_what_stays_tuned(store::Id experiment, Observer& observer);
  // kStopped: before it had a map. kExtended: it has trials again.
  enum class Mapped { kOver, kStopped, kExtended };
  // pre: the gate is held; no trial is left
  Result<Mapped> map_layouts(store::Id experiment, Observer& observer, StopSignal& stop);
  Status finish(store::Id experiment, Observer& observer);
  Options options_;
  store::Store store_;
  store::Recovery recovered_;
  Gate gate_;
  std::atomic<int64_t> submits_{0}, web_requests_{0};
  std::map<store::Id, std::chrono::nanoseconds> waited_at_gates_;
};

// "7c9e6679-...": changes with every boot. Empty if the kernel does not say.
std::string boot_id(const host::Roots& roots);

}  // namespace stab::engine
