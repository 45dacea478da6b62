// The queue is the store itself: whatever is submitted, ready or running there and has the highest priority,
// then the lowest number, is next. What runs gives way to a higher priority after its trial. So a daemon that was
// killed goes on where it was, without a state of its own; and where the store doesn't take what became of an experiment
// (a full disk, somebody else's lock), we wait, recover as a start does, and go on where it was.
#include "stabd/engine_thread.h"

#include <nlohmann/json.hpp>

#include <chrono>

namespace stab::engine {
namespace {

using Json = nlohmann::json;

// Watchers that don't read must not make the daemon grow; newer news replace nothing, they are just dropped.
constexpr size_t kMaxEvents = 4096;
// Until the next try after the store has failed: people make room on a disk, and nobody tells us when they have.
constexpr std::chrono::seconds kTryAgain{60};

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool waits(store::ExperimentState state) {
  return state == store::ExperimentState::kSubmitted || state == store::ExperimentState::kReady ||
         state == store::ExperimentState::kRunning;
}

}  // namespace

void EngineThread::start() { thread_ = std::thread([this] { loop(); }); }

void EngineThread::stop() {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    quit_ = true;
    quit_signal_.now();
    if (stop_) stop_->now();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void EngineThread::kick() {
  const std::lock_guard<std::mutex> held(mutex_);
  kicked_ = true;
  changed_.notify_all();
}

void EngineThread::waits_with(int priority) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    give_way_to(priority);
  }
  kick();
}

void EngineThread::give_way_to(int priority) {
  if (running_ == 0 || !stop_ || priority <= priority_) return;
  yields_ = true;
  stop_->after_this_trial();
}

std::vector<EngineEvent> EngineThread::take_events() {
  const std::lock_guard<std::mutex> held(mutex_);
  return std::exchange(events_, {});
}

store::Id EngineThread::running() const {
  const std::lock_guard<std::mutex> held(mutex_);
  return running_;
}

Status EngineThread::cancel(store::Id experiment) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (running_ == experiment && stop_) {
      cancelled_ = experiment;
      stop_->now();
      return {};
    }
  }
  const std::lock_guard<std::mutex> gate(engine_->gate());
  if (const auto planned = engine_->store().cancel_planned(experiment); !planned) return planned.error();
  return engine_->store().set_state(experiment, store::ExperimentState::kCancelled, "cancelled by its user",
                                    engine_->options().clock->realtime().count());
}

Status EngineThread::pause(store::Id experiment) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (running_ == experiment && stop_) {
      paused_ = experiment;
      stop_->after_this_trial();
      return {};
    }
  }
  const std::lock_guard<std::mutex> gate(engine_->gate());
  STAB_TRY(const store::ExperimentRow row, engine_->store().experiment(experiment));
  if (!waits(row.state)) return bad_input("experiment " + std::to_string(experiment) + " is " + std::string(store::name(row.state)));
  return engine_->store().set_state(experiment, store::ExperimentState::kPaused, "",
                                    engine_->options().clock->realtime().count());
}

Status EngineThread::resume(store::Id experiment) {
  int priority = 0;
  {
    const std::lock_guard<std::mutex> gate(engine_->gate());
    STAB_TRY(const store::ExperimentRow row, engine_->store().experiment(experiment));
    if (row.state != store::ExperimentState::kPaused && row.state != store::ExperimentState::kFailed)
      return bad_input("experiment " + std::to_string(experiment) + " is " + std::string(store::name(row.state)) +
                       ", neither paused nor failed");
    priority = row.priority;
    // One that was paused, or failed, before its first trial has no schedule yet.
    const auto state = row.schedule_version == 0 ? store::ExperimentState::kSubmitted : store::ExperimentState::kReady;
    STAB_CHECK_OK(engine_->store().set_state(experiment, state, "", engine_->options().clock->realtime().count()));
  }
  waits_with(priority);
  return {};
}

Status EngineThread::set_priority(store::Id experiment, int priority) {
  {
    const std::lock_guard<std::mutex> gate(engine_->gate());
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
    const std::lock_guard<std::mutex> gate(engine_->gate());
    STAB_TRY(const store::ExperimentRow row, engine_->store().experiment(experiment));
    if (row.state == store::ExperimentState::kCancelled)
      return bad_input("experiment " + std::to_string(experiment) + " is cancelled; none of its trials runs any more");
    priority = row.priority;
    STAB_TRY(planned, engine_->store().rerun(trial));
    if (row.state == store::ExperimentState::kDone || row.state == store::ExperimentState::kFailed)
      STAB_CHECK_OK(engine_->store().set_state(experiment, store::ExperimentState::kReady, "",
                                               engine_->options().clock->realtime().count()));
  }
  waits_with(priority);
  return planned;
}

void EngineThread::between_trials(std::function<void(store::Store&)> work) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    work_.push_back(std::move(work));
  }
  kick();
}

void EngineThread::do_work() {
  std::vector<std::function<void(store::Store&)>> waiting;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    waiting.swap(work_);
  }
  for (const auto& work : waiting) work(engine_->store());
}

void EngineThread::loop() {
  between_({}, quit_signal_.now_fd());
  for (bool well = true;;) {
    {
      std::unique_lock<std::mutex> held(mutex_);
      const auto called = [this] { return quit_ || kicked_; };
      if (well) changed_.wait(held, called);
      if (!well) changed_.wait_for(held, kTryAgain, called);
      if (quit_) return;
      kicked_ = false;
    }
    // A trial may still be claimed that nobody runs.
    well = (well || recover().ok()) && run_what_waits();
  }
}

bool EngineThread::run_what_waits() {
  for (;;) {
    const Result<std::optional<store::ExperimentRow>> next = next_experiment();
    if (!next) return false;
    if (!*next) return true;
    if (!run(**next)) return false;
    const std::lock_guard<std::mutex> held(mutex_);
    if (quit_) return true;
  }
}

Result<std::optional<store::ExperimentRow>> EngineThread::next_experiment() {
  const std::lock_guard<std::mutex> gate(engine_->gate());
  do_work();
  STAB_TRY(const std::vector<store::ExperimentRow> all, engine_->store().experiments());
  const store::ExperimentRow* best = nullptr;
  for (const store::ExperimentRow& row : all) {
    if (!waits(row.state)) continue;
    if (best == nullptr || row.priority > best->priority || (row.priority == best->priority && row.id < best->id))
      best = &row;
  }
  return best == nullptr ? std::optional<store::ExperimentRow>() : *best;
}

bool EngineThread::run(const store::ExperimentRow& row) {
  const store::Id experiment = row.id;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    running_ = experiment;
    priority_ = row.priority;
    stop_ = std::make_unique<StopSignal>();
    if (quit_ || cancelled_ == experiment) stop_->now();
  }
  // What was submitted since this one was chosen found nothing that runs.
  if (const auto first = next_experiment(); first && *first && (*first)->id != experiment) {
    const std::lock_guard<std::mutex> held(mutex_);
    give_way_to((*first)->priority);
  }
  const Result<RunEnd> ended = engine_->run(experiment, *this, *stop_);
  bool cancelled = false, paused = false, yields = false, quits = false;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    running_ = 0;
    quits = quit_;
    yields = std::exchange(yields_, false);
    stop_.reset();
    cancelled = cancelled_ == experiment;
    if (cancelled) cancelled_ = 0;
    paused = std::exchange(paused_, 0) == experiment;
  }
  // What became of its last trial may not be stored.
  Status stored = ended ? Status() : recover();
  if (cancelled) {
    if (stored) stored = cancel(experiment);
    if (!stored) {  // it must not go on
      const std::lock_guard<std::mutex> held(mutex_);
      cancelled_ = experiment;
    }
    return tell_end(stored, experiment, "cancelled", "");
  }
  if (paused && ended && *ended == RunEnd::kStopped) return tell_end(pause(experiment), experiment, "paused", "");
  if (!ended) {
    // The laboratory is broken for this experiment; the next one may still run.
    const std::string& why = ended.error().message;
    if (stored) stored = settle(experiment, store::ExperimentState::kFailed, why);
    return tell_end(stored, experiment, "failed", why);
  }
  switch (*ended) {
    case RunEnd::kDone: return tell_end(stored, experiment, "done", "");
    case RunEnd::kGaps: return tell_end(stored, experiment, "done", "some cells are quarantined");
    case RunEnd::kRejected: return tell_end(stored, experiment, stored_state(experiment), "a build or the preflight failed");
    case RunEnd::kStopped: break;
  }
  if (yields) {
    note_of(experiment, "gives way to an experiment of a higher priority");
    return true;
  }
  if (quits) return tell_end(stored, experiment, "stopped", "");
  // Nobody asked: a gate stayed closed. Waiting again at once would be waiting for ever.
  const std::string why = "a gate stayed closed until its deadline; 'stabctl resume' waits again";
  return tell_end(settle(experiment, store::ExperimentState::kPaused, why), experiment, "paused", why);
}

Status EngineThread::recover() {
  const std::lock_guard<std::mutex> gate(engine_->gate());
  const Result<store::Recovery> recovered =
      engine_->store().recover(engine_->options().clock->realtime().count(), kMaxAttemptsWhenLost);
  return recovered ? Status() : Status(recovered.error());
}

Status EngineThread::settle(store::Id experiment, store::ExperimentState state, const std::string& why) {
  const std::lock_guard<std::mutex> gate(engine_->gate());
  return engine_->store().set_state(experiment, state, why, engine_->options().clock->realtime().count());
}

// What a run itself has stored: failed, or paused where it can go on once its binaries are back.
std::string EngineThread::stored_state(store::Id experiment) {
  const std::lock_guard<std::mutex> gate(engine_->gate());
  const auto row = engine_->store().experiment(experiment);
  return row ? std::string(name(row->state)) : "failed";
}

// What is not stored has not happened: the store says that the experiment runs, and so it will.
bool EngineThread::tell_end(const Status& stored, store::Id experiment, const std::string& state, const std::string& why) {
  if (stored) {
    end(experiment, state, why);
    return true;
  }
  const std::string text = state + (why.empty() ? "" : ": " + why) + "; this can't be stored: " + stored.error().message +
                           "; goes on in " + std::to_string(kTryAgain.count()) + " s";
  note_of(experiment, text);
  between_({experiment, "unsettled", text}, quit_signal_.now_fd());
  return false;
}

void EngineThread::push(EngineEvent event) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (events_.size() >= kMaxEvents && !event.ends) return;
    events_.push_back(std::move(event));
  }
  wake_();
}

void EngineThread::end(store::Id experiment, const std::string& state, const std::string& why) {
  push({experiment, dump({{"experiment", experiment}, {"kind", "end"}, {"state", state}, {"text", why}}), true});
  between_({experiment, state, why}, quit_signal_.now_fd());
}

void EngineThread::phase(std::string_view text) {
  const store::Id id = running();
  push({id, dump({{"experiment", id}, {"kind", "phase"}, {"text", text}})});
}

void EngineThread::note(std::string_view text) { note_of(running(), text); }

void EngineThread::note_of(store::Id experiment, std::string_view text) {
  push({experiment, dump({{"experiment", experiment}, {"kind", "note"}, {"text", text}})});
}

void EngineThread::trial_done(const TrialNews& news) {
  do_work();
  const store::Id id = running();
  Json json = {{"experiment", id},         {"kind", "trial"},
               {"trial_kind", store::name(news.kind)}, {"state", store::name(news.state)},
               {"subject", news.subject},  {"cell", news.cell},
               {"done", news.done},        {"planned", news.planned}};
  if (news.wall_ns) json["wall_ns"] = *news.wall_ns;
  if (news.layout != 0) json["layout"] = news.layout;
  if (!news.failure.empty()) json["failure"] = news.failure;
  push({id, dump(json)});
}

}  // namespace stab::engine
