// EngineThread: the daemon's engine, one experiment after the other, on a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
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

class EngineThread final : private Observer {
 public:
  // `wake` is called from the engine's thread whenever take_events() has something; it must only signal.
  EngineThread(Engine& engine, std::function<void()> wake) : engine_(&engine), wake_(std::move(wake)) {}
  ~EngineThread() { stop(); }

  void start();
  // Kills what runs, whose trial is lost and replaced, and joins. Idempotent.
  void stop();
  // Something was submitted or resumed.
  void kick();
  std::vector<EngineEvent> take_events();
  store::Id running() const;
  // Planned trials will not run; the running one is killed. Takes the gate.
  Status cancel(store::Id experiment);
  // A running one stops after its trial. Takes the gate.
  Status pause(store::Id experiment);
  // A paused one waits for its turn again. Takes the gate.
  Status resume(store::Id experiment);

 private:
  void loop();
  Result<store::Id> next_experiment();  // 0: none
  void run(store::Id experiment);
  void phase(std::string_view text) override;
  void note(std::string_view text) override;
  void trial_done(const TrialNews& news) override;
  void push(EngineEvent event);
  void end(store::Id experiment, std::string_view state, const std::string& why);

  Engine* engine_;
  std::function<void()> wake_;
  std::thread thread_;
  mutable std::mutex mutex_;  // of everything below; never held while the gate is taken
  std::condition_variable changed_;
  bool quit_ = false, kicked_ = true;
  store::Id running_ = 0, cancelled_ = 0, paused_ = 0;
  std::unique_ptr<StopSignal> stop_;
  std::vector<EngineEvent> events_;
};

}  // namespace stab::engine
