// EngineThread: the daemon's engine, one experiment after the other, on a thread of its own; and beside it, each on its own
// thread, the controllers of experiments whose trials run on other machines (machine_runs.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "stabd/daemon/events/blinding.h"
#include "stabd/daemon/events/event_outbox.h"
#include "stabd/daemon/events/watch_events.h"
#include "stabd/daemon/requests/trial_gap.h"
#include "stabd/daemon/runs/machine_runs.h"
#include "stabd/daemon/runs/turns.h"
#include "stabd/engine/experiment/engine.h"

namespace stab::daemon {

// An experiment that the engine has just left.
struct EndedRun {
  store::Id experiment = 0;  // 0: the thread has just begun
  ExperimentEnd how = ExperimentEnd::kStopped;
  std::string why;
};

class EngineThread final : private engine::Observer {
 public:
  // `wake` is called from the engine's thread whenever take_events() has something; it must only signal.
  // `between` is called on the engine's thread, without the gate, at its start and whenever it leaves an
  // experiment; it ends early when `quit_fd` is readable.
  EngineThread(engine::Engine& engine, std::function<void()> wake, std::function<void(const EndedRun&, int quit_fd)> between)
      : engine_(&engine),
        turns_(engine),
        wake_(wake),
        outbox_(std::move(wake)),
        between_(std::move(between)),
        machine_runs_(engine, machine_listener()) {}
  ~EngineThread() override { stop(); }

  void start();
  // Kills what runs, whose trial is lost and replaced, and joins. Idempotent.
  void stop();
  // There may be something to do.
  void kick();
  // Something of this priority waits: what runs with a lower one gives way after its trial.
  void waits_with(int priority);
  std::vector<EngineEvent> take_events() { return outbox_.take(); }
  store::Id running() const;  // here
  // Here or on machines.
  bool runs(store::Id experiment) const { return running() == experiment || machine_runs_.has(experiment); }
  // Why nothing runs here though something waits, and when it is tried again; empty: nothing is in its way.
  std::string waits_for() const;
  const MachineRuns& machine_runs() const { return machine_runs_; }
  // What may be told of trials.
  Blinding& blinding() { return blinding_; }
  // Somebody looks at it by its cells' names before it is over: its log keeps who, and what was done by then.
  Status unmask(store::Id experiment, const std::string& why);
  // What these five have answered is on disk, and holds after a crash. All of them take the gate. engine_thread_wishes.cc
  // Planned trials will not run; the running one is killed.
  Status cancel(store::Id experiment);
  // A running one stops after its trial.
  Status pause(store::Id experiment);
  // Goes as soon as no trial runs, and is gone at once for everybody who asks.
  Status remove(store::Id experiment);
  // A paused one waits for its turn again.
  Status resume(store::Id experiment);
  // What runs goes on even if another one now has a higher priority: its turn is next.
  Status set_priority(store::Id experiment, int priority);
  // Plans another attempt at a trial; an experiment that was over waits for its turn again.
  Result<store::Id> rerun(store::Id trial, store::Id experiment);
  // Work for the disk, done on the engine's thread as soon as no trial runs. Forgotten if the daemon is stopped before.
  void between_trials(std::function<void(store::Store&)> work);
  // Told when trials follow each other and when there is room between two. Before start().
  void serve_browsers_in(TrialGap& gap) { gap_ = &gap; }
  // How long an experiment of that user may have the machine; 0: no limit. Before start().
  void limit_time(std::function<std::chrono::nanoseconds(uid_t)> limit) { turns_.limit_time(std::move(limit)); }
  // How much of the database the parts of an experiment of that user may take; 0: no limit. Before start().
  void limit_parts(std::function<uint64_t(uid_t)> limit) { parts_limit_ = std::move(limit); }

 private:
  void loop();
  bool can_not(const std::string& why);  // false; what waits_for() says until the next try
  // These two: false where the store failed, which can_not() was told. Trying again at once would be trying for ever.
  bool run_what_waits();
  bool run(const store::ExperimentSummary& row);
  // What others have asked for while an experiment ran.
  struct Asked {
    bool cancelled = false, paused = false, yields = false, quits = false;
    bool ran_out = false;  // the time of one experiment of its user, within a trial or another step
    std::string yields_to;
  };
  // From the first to the second they can.
  void open_to_wishes(const store::ExperimentSummary& row);
  Asked close_to_wishes(store::Id experiment);
  // These three: false where what became of it can't be stored.
  bool settle_run(const store::ExperimentSummary& row, const Result<engine::RunEnd>& ended, const Asked& asked, Status stored);
  bool pause_itself(store::Id experiment, const std::string& why);
  bool tell_end(const Status& stored, store::Id experiment, ExperimentEnd how, const std::string& why);
  Result<std::optional<store::ExperimentSummary>> next_experiment();
  Status recover();  // pre: no trial runs. Those that are claimed nevertheless are lost, and planned again
  Status settle(store::Id experiment, store::ExperimentEvent event, const std::string& why);
  Status advance(store::Id experiment, store::ExperimentEvent event, const std::string& why);  // pre: the gate is held
  ExperimentEnd stored_end(store::Id experiment);
  void phase(std::string_view text) override;
  void note(std::string_view text) override;
  void trial_done(const engine::TrialNews& news) override;
  void trial_progress(const engine::ProgressNews& news) override;
  void at_closed_gate() override;
  void note_of(store::Id experiment, std::string_view text);
  void give_way_to(int priority);  // pre: mutex_ is held
  void do_work();  // pre: the gate is held, no trial runs
  // A slice of what is to be deleted; true: there is more. The same.
  Result<bool> delete_a_slice();
  Status delete_what_waits();  // all of it; between two slices the gate is open
  // Those that wait, and of them the one whose turn it is. The same.
  Result<std::optional<store::ExperimentSummary>> first_in_turn();
  // Whether it still waits or runs, and nobody wishes that it stops. pre: the gate is held
  Result<bool> is_still_wanted(store::Id experiment);
  void share_the_machine();  // what runs stops after its trial if it had its time, or another user's turn has come
  // A trial, a build or another step that does not end is killed when the experiment's time is over. pre of the first: the gate
  // is held
  void bound_what_runs();
  void bound_the_next_step();  // from now on it has as much as there was left at the last trial's end
  void lend_the_machine();   // what runs waits for a gate of its plan, and gives way to any other of its priority
  // Its planned trials, in slices, then itself. pre: the gate is held; it opens meanwhile
  Status cancel_in_slices(store::Id experiment);
  bool time_is_up(store::Id experiment, int64_t uid);
  int64_t now_ns() const { return engine_->options().clock->realtime().count(); }
  void push(EngineEvent event);
  void push(EngineEvent event, int64_t uid);
  // engine_thread_machines.cc
  MachineRuns::Listener machine_listener();
  bool begin_on_machines(const store::ExperimentSummary& row);
  void ended_on_machines(store::Id experiment, int64_t uid, const Result<engine::RunEnd>& end, MachineRuns::Wished wished);
  bool waits_for_machines(store::Id experiment) const;
  void after_machines();  // pre: the engine's thread, without the gate. What is to be done after a run ended
  void end(store::Id experiment, ExperimentEnd how, const std::string& why);

  engine::Engine* engine_;
  Turns turns_;
  std::function<uint64_t(uid_t)> parts_limit_;
  Blinding blinding_;
  std::function<void()> wake_;
  EventOutbox outbox_;
  std::function<void(const EndedRun&, int quit_fd)> between_;
  engine::StopSignal quit_signal_;
  std::thread thread_;
  mutable std::mutex mutex_;  // of everything below; never held while the gate is taken
  std::condition_variable changed_;
  bool quit_ = false, kicked_ = true, yields_ = false;
  std::string yields_to_;  // why
  std::string waits_for_;
  int priority_ = 0;      // of what runs
  int64_t uid_ = 0;       // the same
  bool deletes_ = true;   // something may be to delete
  store::Id running_ = 0, paused_ = 0;
  store::Id cancelled_ = 0;  // wanted; not yet stored
  std::unique_ptr<engine::StopSignal> stop_;
  std::optional<std::chrono::nanoseconds> time_left_;  // of what runs, with some slack; none: no limit
  std::vector<std::function<void(store::Store&)>> work_;
  TrialGap* gap_ = nullptr;
  std::vector<EndedRun> ended_;              // on machines, and nothing was done about it yet
  std::set<store::Id> no_room_;              // for whose controller there was none; the engine's thread only, with the gate
  MachineRuns machine_runs_;                 // the last: its threads use what is above
};

}  // namespace stab::daemon
