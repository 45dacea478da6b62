// A run's thread is joined by whoever begins or ends the next one: it can't join itself.
#include "stabd/daemon/runs/machine_runs.h"

#include <exception>
#include <utility>
#include <vector>

namespace stab::daemon {

struct MachineRuns::Run final : engine::Observer {
  Run(store::Id id, int64_t of, std::unique_ptr<engine::MachineRun> what, const Listener& told)
      : experiment(id), uid(of), run(std::move(what)), listener(&told) {}
  void phase(std::string_view text) override { listener->said(experiment, uid, true, std::string(text)); }
  void note(std::string_view text) override { listener->said(experiment, uid, false, std::string(text)); }
  void trial_done(const engine::TrialNews&) override {}  // trials come in blocks

  const store::Id experiment;
  const int64_t uid;
  std::unique_ptr<engine::MachineRun> run;
  const Listener* listener;
  engine::StopSignal stop;
  std::atomic<bool> leave{false};
  std::thread thread;
  // Of the lock:
  Wished wished = Wished::kNothing;
  bool decided = false;  // what it comes to no longer depends on what is wished
  bool over = false;
  std::map<int, int64_t> signs;
};

MachineRuns::MachineRuns(engine::Engine& engine, Listener listener) : engine_(&engine), listener_(std::move(listener)) {}
MachineRuns::~MachineRuns() {
  quit();
}

Status MachineRuns::begin(store::Id experiment, int64_t uid) {
  std::vector<std::unique_ptr<Run>> over;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    for (auto at = runs_.begin(); at != runs_.end();) {
      if (!at->second->over) {
        ++at;
        continue;
      }
      over.push_back(std::move(at->second));
      at = runs_.erase(at);
    }
    if (quits_ || runs_.size() >= kMostMachineRuns)
      return Error{ErrorCode::kBusy, std::to_string(kMostMachineRuns) + " experiments are on machines already", {}};
  }
  for (const auto& run : over) run->thread.join();
  STAB_TRY(std::unique_ptr<engine::MachineRun> run, engine::MachineRun::prepare(*engine_, experiment));
  auto one = std::make_unique<Run>(experiment, uid, std::move(run), listener_);
  Run& here = *one;
  const std::lock_guard<std::mutex> held(mutex_);
  runs_[experiment] = std::move(one);
  here.thread = std::thread([this, &here] { serve(here); });
  return {};
}

void MachineRuns::serve(Run& run) {
  engine::MachineRun::Watch watch;
  watch.leave = &run.leave;
  watch.signs = [&](const std::map<int, int64_t>& signs) {
    const std::lock_guard<std::mutex> held(mutex_);
    run.signs = signs;
  };
  watch.may_go_on = [&] { return listener_.may_go_on(run.experiment, run.uid); };
  watch.why_no_room = [&](int64_t bytes) { return listener_.why_no_room(run.uid, bytes); };
  const Result<engine::RunEnd> end = [&]() -> Result<engine::RunEnd> {
    try {
      return run.run->to_end(run, run.stop, watch);
    } catch (const std::exception& exception) {
      return Error{ErrorCode::kInternal, std::string("its controller failed: ") + exception.what(), {}};
    }
  }();
  const Wished wished = [&] {
    const std::lock_guard<std::mutex> held(mutex_);
    run.decided = true;
    return run.wished;
  }();
  if (wished == Wished::kCancel) run.run->clear();
  run.run.reset();
  listener_.ended(run.experiment, run.uid, end, wished);
  {
    const std::lock_guard<std::mutex> held(mutex_);
    run.over = true;
  }
  listener_.gone();
}

bool MachineRuns::wish(store::Id experiment, Wished wished) {
  const std::lock_guard<std::mutex> held(mutex_);
  const auto at = runs_.find(experiment);
  if (at == runs_.end() || at->second->decided) return false;
  Run& run = *at->second;
  if (run.wished == Wished::kNothing || wished == Wished::kCancel) run.wished = wished;
  if (wished == Wished::kPause) run.stop.after_this_trial();
  else run.stop.now();
  return true;
}

bool MachineRuns::has(store::Id experiment) const {
  const std::lock_guard<std::mutex> held(mutex_);
  const auto at = runs_.find(experiment);
  return at != runs_.end() && !at->second->over;
}

bool MachineRuns::is_full() const {
  const std::lock_guard<std::mutex> held(mutex_);
  size_t live = 0;
  for (const auto& [experiment, run] : runs_) live += !run->over;
  return live >= kMostMachineRuns;
}

void MachineRuns::quit() {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    quits_ = true;
    for (auto& [experiment, run] : runs_) {
      if (run->wished == Wished::kNothing) run->wished = Wished::kQuit;
      run->leave = true;
      run->stop.now();
    }
  }
  // They look at their own entry until their end.
  for (auto& [experiment, run] : runs_)
    if (run->thread.joinable()) run->thread.join();
}

std::map<int, int64_t> MachineRuns::signs_of_life(store::Id experiment) const {
  const std::lock_guard<std::mutex> held(mutex_);
  const auto at = runs_.find(experiment);
  return at == runs_.end() ? std::map<int, int64_t>() : at->second->signs;
}

}  // namespace stab::daemon
