// What people want of experiments while others run: to cancel, pause, delete, resume, rerun or prefer them, and to look at one by
// its cells' names. What was answered is on disk.
#include <algorithm>

#include "stabd/daemon/runs/engine_thread.h"
#include "stabd/engine/build/gate_open.h"

namespace stab::daemon {
namespace {

// Rows that are deleted or cancelled at once: about 20 ms.
constexpr int64_t kRowsAtOnce = 2000;

}  // namespace

// With the gate held the engine stands still, between its steps or in a trial: whether something runs stays true. A wish
// that is stored is fulfilled by the next start if this engine dies before it could.
Status EngineThread::cancel(store::Id experiment) {
  const std::lock_guard<engine::Gate> gate(engine_->gate());
  engine_->count_change();
  STAB_TRY(const store::ExperimentSummary row, engine_->store().summary(experiment));
  if (is_over(row.state) && row.state != store::ExperimentState::kCancelled)
    return bad_input("experiment " + std::to_string(experiment) + " is over already");
  if (row.state == store::ExperimentState::kCancelled) return {};
  STAB_CHECK_OK(engine_->store().wish(experiment, store::Wish::kCancel, now_ns()));
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (running_ == experiment && stop_) {
      cancelled_ = experiment;
      stop_->now();
      return {};
    }
  }
  if (machine_runs_.cancel(experiment)) return {};
  return cancel_in_slices(experiment);
}

Status EngineThread::cancel_in_slices(store::Id experiment) {
  for (;;) {
    STAB_TRY(const bool more, engine_->store().cancel_some(experiment, kRowsAtOnce));
    if (!more) break;
    const engine::GateOpen open(engine_->gate());
  }
  return engine_->store().cancel(experiment, "cancelled by its user", now_ns());
}

// Between two slices of a cancel the gate is open: the wish is stored by then, and the experiment's state is still what it was.
Result<bool> EngineThread::is_still_wanted(store::Id experiment) {
  const Result<store::ExperimentSummary> now = engine_->store().summary(experiment);
  if (!now && now.error().code == ErrorCode::kNotFound) return false;
  if (!now) return now.error();
  STAB_TRY(const auto wishes, engine_->store().wishes());
  const bool is_to_stop =
      std::any_of(wishes.begin(), wishes.end(), [&](const auto& one) { return one.first == experiment; });
  return waits(now->state) && !is_to_stop;
}

Status EngineThread::pause(store::Id experiment) {
  const std::lock_guard<engine::Gate> gate(engine_->gate());
  engine_->count_change();
  STAB_TRY(const store::ExperimentSummary row, engine_->store().summary(experiment));
  if (row.state == store::ExperimentState::kPaused) return {};
  if (!waits(row.state))
    return bad_input("experiment " + std::to_string(experiment) + " is " + std::string(store::name(row.state)));
  if (machine_runs_.has(experiment)) {
    STAB_CHECK_OK(engine_->store().wish(experiment, store::Wish::kPause, now_ns()));
    if (machine_runs_.pause(experiment)) return {};
  }
  if (running() != experiment) return advance(experiment, store::ExperimentEvent::kPause, "");
  STAB_CHECK_OK(engine_->store().wish(experiment, store::Wish::kPause, now_ns()));
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (running_ == experiment && stop_) {
      paused_ = experiment;
      stop_->after_this_trial();
      return {};
    }
  }
  // It has just left, to give way or at its end, and nobody comes who would look at the wish.
  return advance(experiment, store::ExperimentEvent::kPause, "");
}

Status EngineThread::remove(store::Id experiment) {
  {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    engine_->count_change();
    STAB_CHECK_OK(engine_->store().wish(experiment, store::Wish::kDelete, now_ns()));
  }
  {
    const std::lock_guard<std::mutex> held(mutex_);
    deletes_ = true;
  }
  kick();
  return {};
}

Status EngineThread::unmask(store::Id experiment, const std::string& why) {
  const std::lock_guard<engine::Gate> gate(engine_->gate());
  STAB_TRY(const bool already, blinding_.is_unmasked(engine_->store(), experiment));
  if (already) return {};
  engine_->count_change();
  STAB_CHECK_OK(engine_->store().log({now_ns(), experiment, engine::kUnmasked, why}));
  blinding_.unmask(experiment);
  return {};
}

Status EngineThread::resume(store::Id experiment) {
  int priority = 0;
  {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    engine_->count_change();
    STAB_TRY(const store::ExperimentSummary row, engine_->store().summary(experiment));
    if (!step(row.state, store::ExperimentEvent::kResume).legal)
      return bad_input("experiment " + std::to_string(experiment) + " is " + std::string(store::name(row.state)) +
                       ", neither paused nor failed");
    priority = row.priority;
    STAB_TRY(const store::ExperimentState resumed, engine_->store().resume(experiment, now_ns()));
    (void)resumed;
  }
  waits_with(priority);
  return {};
}

Status EngineThread::set_priority(store::Id experiment, int priority) {
  {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    engine_->count_change();
    STAB_CHECK_OK(engine_->store().set_priority(experiment, priority));
  }
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (running_ == experiment) {
      priority_ = priority;
    } else {
      give_way_to(priority);
    }
  }
  kick();
  return {};
}

Result<store::Id> EngineThread::rerun(store::Id trial, store::Id experiment) {
  store::Id planned = 0;
  int priority = 0;
  {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    engine_->count_change();
    STAB_TRY(const store::ExperimentSummary row, engine_->store().summary(experiment));
    priority = row.priority;
    STAB_TRY(planned, engine_->store().rerun(trial));
  }
  waits_with(priority);
  return planned;
}

Status EngineThread::delete_what_waits() {
  for (;;) {
    STAB_TRY(const bool more, delete_a_slice());
    if (!more) return {};
    const engine::GateOpen open(engine_->gate());
  }
}

Result<bool> EngineThread::delete_a_slice() {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (!deletes_) return false;
    deletes_ = false;
  }
  STAB_TRY(const auto wishes, engine_->store().wishes());
  const auto found =
      std::find_if(wishes.begin(), wishes.end(), [](const auto& one) { return one.second == store::Wish::kDelete; });
  if (found == wishes.end()) return false;
  const Result<bool> gone = engine_->store().delete_some(found->first, kRowsAtOnce);
  const std::lock_guard<std::mutex> held(mutex_);
  deletes_ = true;  // there may be another one; what the store refuses is tried again with the next work
  if (!gone) return gone.error();
  return true;
}

}  // namespace stab::daemon
