// The queue is the store itself: whatever is submitted, ready or running there and has the highest priority,
// then the lowest number, is next. So a daemon that was killed goes on where it was, without a state of its own.
#include "stabd/engine_thread.h"

#include <nlohmann/json.hpp>

namespace stab::engine {
namespace {

using Json = nlohmann::json;

// Watchers that don't read must not make the daemon grow; newer news replace nothing, they are just dropped.
constexpr size_t kMaxEvents = 4096;

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
  {
    const std::lock_guard<std::mutex> gate(engine_->gate());
    STAB_TRY(const store::ExperimentRow row, engine_->store().experiment(experiment));
    if (row.state != store::ExperimentState::kPaused)
      return bad_input("experiment " + std::to_string(experiment) + " is " + std::string(store::name(row.state)) + ", not paused");
    // One that was paused before its turn has no schedule yet.
    const auto state = row.schedule_version == 0 ? store::ExperimentState::kSubmitted : store::ExperimentState::kReady;
    STAB_CHECK_OK(engine_->store().set_state(experiment, state, "", engine_->options().clock->realtime().count()));
  }
  kick();
  return {};
}

void EngineThread::loop() {
  for (;;) {
    {
      std::unique_lock<std::mutex> held(mutex_);
      changed_.wait(held, [this] { return quit_ || kicked_; });
      if (quit_) return;
      kicked_ = false;
    }
    for (;;) {
      const Result<store::Id> next = next_experiment();
      if (!next || *next == 0) break;
      run(*next);
      const std::lock_guard<std::mutex> held(mutex_);
      if (quit_) return;
    }
  }
}

Result<store::Id> EngineThread::next_experiment() {
  const std::lock_guard<std::mutex> gate(engine_->gate());
  STAB_TRY(const std::vector<store::ExperimentRow> all, engine_->store().experiments());
  const store::ExperimentRow* best = nullptr;
  for (const store::ExperimentRow& row : all) {
    if (!waits(row.state)) continue;
    if (best == nullptr || row.priority > best->priority || (row.priority == best->priority && row.id < best->id))
      best = &row;
  }
  return best == nullptr ? store::Id{0} : best->id;
}

void EngineThread::run(store::Id experiment) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    running_ = experiment;
    stop_ = std::make_unique<StopSignal>();
    if (quit_) stop_->now();
  }
  const Result<RunEnd> ended = engine_->run(experiment, *this, *stop_);
  bool cancelled = false, paused = false;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    running_ = 0;
    stop_.reset();
    cancelled = std::exchange(cancelled_, 0) == experiment;
    paused = std::exchange(paused_, 0) == experiment;
  }
  if (cancelled) {
    const Status done = cancel(experiment);
    return end(experiment, "cancelled", done.ok() ? "" : done.error().message);
  }
  if (paused && ended && *ended == RunEnd::kStopped) {
    const Status done = pause(experiment);
    return end(experiment, "paused", done.ok() ? "" : done.error().message);
  }
  if (!ended) {
    // The laboratory is broken for this experiment; the next one may still run.
    const std::lock_guard<std::mutex> gate(engine_->gate());
    (void)engine_->store().set_state(experiment, store::ExperimentState::kFailed, ended.error().message,
                                     engine_->options().clock->realtime().count());
    return end(experiment, "failed", ended.error().message);
  }
  switch (*ended) {
    case RunEnd::kDone: return end(experiment, "done", "");
    case RunEnd::kGaps: return end(experiment, "done", "some cells are quarantined");
    case RunEnd::kRejected: return end(experiment, "failed", "a build or the preflight failed");
    case RunEnd::kStopped: return end(experiment, "stopped", "");
  }
}

void EngineThread::push(EngineEvent event) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (events_.size() >= kMaxEvents && !event.ends) return;
    events_.push_back(std::move(event));
  }
  wake_();
}

void EngineThread::end(store::Id experiment, std::string_view state, const std::string& why) {
  push({experiment, dump({{"experiment", experiment}, {"kind", "end"}, {"state", state}, {"text", why}}), true});
}

void EngineThread::phase(std::string_view text) {
  const store::Id id = running();
  push({id, dump({{"experiment", id}, {"kind", "phase"}, {"text", text}})});
}

void EngineThread::note(std::string_view text) {
  const store::Id id = running();
  push({id, dump({{"experiment", id}, {"kind", "note"}, {"text", text}})});
}

void EngineThread::trial_done(const TrialNews& news) {
  const store::Id id = running();
  Json json = {{"experiment", id},         {"kind", "trial"},
               {"trial_kind", store::name(news.kind)}, {"state", store::name(news.state)},
               {"subject", news.subject},  {"cell", news.cell},
               {"done", news.done},        {"planned", news.planned}};
  if (news.wall_ns) json["wall_ns"] = *news.wall_ns;
  if (!news.failure.empty()) json["failure"] = news.failure;
  push({id, dump(json)});
}

}  // namespace stab::engine
