// EngineThread: the daemon's engine, one experiment after the other, on a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stabd/engine.h"

namespace stab::engine {

// What happened, for those who watch.
struct EngineEvent {
  store::Id experiment = 0;
  std::string json;   // the params of an event notification
  bool ends = false;  // the experiment is over, or was stopped
};

// An experiment that the engine has just left: done, failed, cancelled, paused or stopped, as the store says too; or
// unsettled: the store did not take what became of it, and the engine will go on with it.
struct EndedRun {
  store::Id experiment = 0;  // 0: the thread has just begun
  std::string state, why;
};

class EngineThread final : private Observer {
 public:
  // `wake` is called from the engine's thread whenever take_events() has something; it must only signal.
  // `between` is called on the engine's thread, without the gate, at its start and whenever it leaves an
  // experiment; it ends early when `quit_fd` is readable.
  EngineThread(Engine& engine, std::function<void()> wake, std::function<void(const EndedRun&, int quit_fd)> between)
      : engine_(&engine), wake_(std::move(wake)), between_(std::move(between)) {}
  ~EngineThread() { stop(); }

  void start();
  // Kills what runs, whose trial is lost and replaced, and joins. Idempotent.
  void stop();
  // There may be something to do.
  void kick();
  // Something of this priority waits: what runs with a lower one gives way after its trial.
  void waits_with(int priority);
  std::vector<EngineEvent> take_events();
  store::Id running() const;
  // Planned trials will not run; the running one is killed. Takes the gate.
  Status cancel(store::Id experiment);
  // A running one stops after its trial. Takes the gate.
  Status pause(store::Id experiment);
  // A paused one waits for its turn again. Takes the gate.
  Status resume(store::Id experiment);
  // Takes the gate. What runs goes on even if another one now has a higher priority: its turn is next.
  Status set_priority(store::Id experiment, int priority);
  // Plans another attempt at a trial; an experiment that was over waits for its turn again. Takes the gate.
  Result<store::Id> rerun(store::Id trial, store::Id experiment);
  // Work for the disk, done on the engine's thread as soon as no trial runs. Forgotten if the daemon is stopped before.
  void between_trials(std::function<void(store::Store&)> work);

 private:
  void loop();
  // These two: false where the store failed. Trying again at once would be trying for ever.
  bool run_what_waits();
  bool run(const store::ExperimentRow& row);
  Result<std::optional<store::ExperimentRow>> next_experiment();
  Status recover();  // pre: no trial runs. Those that are claimed nevertheless are lost, and planned again
  Status settle(store::Id experiment, store::ExperimentState state, const std::string& why);
  std::string stored_state(store::Id experiment);
  bool tell_end(const Status& stored, store::Id experiment, const std::string& state, const std::string& why);
  void phase(std::string_view text) override;
  void note(std::string_view text) override;
  void trial_done(const TrialNews& news) override;
  void note_of(store::Id experiment, std::string_view text);
  void give_way_to(int priority);  // pre: mutex_ is held
  void do_work();  // pre: the gate is held, no trial runs
  void push(EngineEvent event);
  void end(store::Id experiment, const std::string& state, const std::string& why);

  Engine* engine_;
  std::function<void()> wake_;
  std::function<void(const EndedRun&, int quit_fd)> between_;
  StopSignal quit_signal_;
  std::thread thread_;
  mutable std::mutex mutex_;  // of everything below; never held while the gate is taken
  std::condition_variable changed_;
  bool quit_ = false, kicked_ = true, yields_ = false;
  int priority_ = 0;  // of what runs
  store::Id running_ = 0, paused_ = 0;
  store::Id cancelled_ = 0;  // wanted; not yet stored
  std::unique_ptr<StopSignal> stop_;
  std::vector<EngineEvent> events_;
  std::vector<std::function<void(store::Store&)>> work_;
};

}  // namespace stab::engine
