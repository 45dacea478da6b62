// The queue is the store itself: of whatever is submitted, ready or running there the highest priority is next; of equal
// ones that of the user who has had the machine least (a share is halved every day), and of theirs the lowest number. What
// runs gives way after its trial to a higher priority, and after its turn to a user of the same priority who has had less. So a
// daemon that was killed goes on where it was, without a state of its own; and where the store doesn't take what became of an
// experiment (a full disk, somebody else's lock), we wait, recover as a start does, and go on where it was.
#include "stabd/engine_thread.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <tuple>

#include "engine/experiment/gate_open.h"
#include "stabd/estimates.h"

namespace stab::engine {
namespace {

// Watchers that don't read must not make the daemon grow; newer news replace nothing, they are just dropped.
constexpr size_t kMaxEvents = 4096;
// Until the next try after the store has failed: people make room on a disk, and nobody tells us when they have.
constexpr std::chrono::seconds kTryAgain{60};
// What runs has the machine for so long before another user of its priority has: to change costs a set-up and warm-ups.
constexpr std::chrono::minutes kTurn{15};
// Rows that are deleted or cancelled at once: about 20 ms.
constexpr int64_t kRowsAtOnce = 2000;

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
  machine_runs_.quit();
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
  yields_to_ = "an experiment of a higher priority";
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

// With the gate held the engine stands still, between its steps or in a trial: whether something runs stays true. A wish
// that is stored is fulfilled by the next start if this engine dies before it could.
Status EngineThread::cancel(store::Id experiment) {
  const std::lock_guard<Gate> gate(engine_->gate());
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
    const GateOpen open(engine_->gate());
  }
  return engine_->store().cancel(experiment, "cancelled by its user", now_ns());
}

Status EngineThread::pause(store::Id experiment) {
  const std::lock_guard<Gate> gate(engine_->gate());
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
  const std::lock_guard<std::mutex> held(mutex_);
  if (running_ != experiment || !stop_) return {};
  paused_ = experiment;
  stop_->after_this_trial();
  return {};
}

Status EngineThread::remove(store::Id experiment) {
  {
    const std::lock_guard<Gate> gate(engine_->gate());
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
  const std::lock_guard<Gate> gate(engine_->gate());
  STAB_TRY(const bool already, blinding_.is_unmasked(engine_->store(), experiment));
  if (already) return {};
  engine_->count_change();
  STAB_CHECK_OK(engine_->store().log({now_ns(), experiment, kUnmasked, why}));
  blinding_.unmask(experiment);
  return {};
}

Status EngineThread::resume(store::Id experiment) {
  int priority = 0;
  {
    const std::lock_guard<Gate> gate(engine_->gate());
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
    const std::lock_guard<Gate> gate(engine_->gate());
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
    const std::lock_guard<Gate> gate(engine_->gate());
    engine_->count_change();
    STAB_TRY(const store::ExperimentSummary row, engine_->store().summary(experiment));
    priority = row.priority;
    STAB_TRY(planned, engine_->store().rerun(trial));
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

bool EngineThread::run_what_waits() {
  for (;;) {
    after_machines();
    const Result<std::optional<store::ExperimentSummary>> next = next_experiment();
    if (!next) return false;
    if (!*next) return true;
    if (!run(**next)) return false;
    const std::lock_guard<std::mutex> held(mutex_);
    if (quit_) return true;
  }
}

Result<std::optional<store::ExperimentSummary>> EngineThread::next_experiment() {
  const std::lock_guard<Gate> gate(engine_->gate());
  do_work();
  for (;;) {
    STAB_TRY(const bool more, delete_a_slice());
    if (!more) break;
    const GateOpen open(engine_->gate());
  }
  return first_in_turn();
}

Result<std::optional<store::ExperimentSummary>> EngineThread::first_in_turn() {
  STAB_TRY(std::vector<store::ExperimentSummary> all, engine_->store().summaries());
  STAB_TRY(const auto wishes, engine_->store().wishes());
  const auto is_to_stop = [&](store::Id id) {
    return std::any_of(wishes.begin(), wishes.end(), [&](const auto& one) { return one.first == id; });
  };
  std::erase_if(all, [&](const store::ExperimentSummary& row) {
    return !waits(row.state) || is_to_stop(row.id) || machine_runs_.has(row.id) || waits_for_machines(row.id);
  });
  if (all.empty()) return std::optional<store::ExperimentSummary>();
  STAB_TRY(const auto shares, engine_->store().shares(now_ns()));
  const auto share_of = [&](const store::ExperimentSummary& row) {
    const auto found = shares.find(row.submitter_uid);
    return found == shares.end() ? 0.0 : found->second;
  };
  const auto place = [&](const store::ExperimentSummary& row) { return std::tuple(-row.priority, share_of(row), row.id); };
  return std::optional(
      *std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); }));
}

bool EngineThread::had_its_time(store::Id experiment, int64_t uid) {
  if (!time_limit_) return false;
  const auto limit = time_limit_(static_cast<uid_t>(uid));
  const auto usage = engine_->store().usage(experiment);
  return limit.count() > 0 && usage && usage->machine_ns >= limit.count();
}

void EngineThread::share_the_machine() {
  const store::Id experiment = running();
  const auto now = engine_->options().clock->monotonic_raw();
  if (had_its_time(experiment, uid_)) {
    const std::lock_guard<std::mutex> held(mutex_);
    if (stop_) stop_->after_this_trial();
    return;
  }
  if (now - turn_began_ < kTurn) return;
  turn_began_ = now;
  const auto next = first_in_turn();
  if (!next || !*next || (*next)->submitter_uid == uid_) return;
  const std::lock_guard<std::mutex> held(mutex_);
  if (!stop_ || (*next)->priority != priority_) return;
  yields_ = true;
  yields_to_ = "another user, who has had the machine less";
  stop_->after_this_trial();
}

bool EngineThread::run(const store::ExperimentSummary& row) {
  const store::Id experiment = row.id;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    uid_ = row.submitter_uid;
  }
  const std::string had_time = "it has had the machine for as long as one experiment of its user may; an administrator can "
                               "raise wall_time in [quota], then 'stabctl resume' goes on";
  const bool out_of_time = [&] {
    const std::lock_guard<Gate> gate(engine_->gate());
    return had_its_time(experiment, row.submitter_uid);
  }();
  if (out_of_time)
    return tell_end(settle(experiment, store::ExperimentEvent::kPause, had_time), experiment, ExperimentEnd::kPaused, had_time);
  bool is_elsewhere = false;
  {
    const std::lock_guard<Gate> gate(engine_->gate());
    (void)blinding_.is_unmasked(engine_->store(), experiment);  // where the store fails, it stays masked
    const Result<bool> machines = has_machines(engine_->store(), experiment);  // where it fails, the run says why
    is_elsewhere = machines && *machines;
  }
  turn_began_ = engine_->options().clock->monotonic_raw();
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
  // Whatever a plan can make fail in here ends its experiment, not the daemon, which would meet it again at each start.
  const Result<RunEnd> ended = [&]() -> Result<RunEnd> {
    try {
      return is_elsewhere ? engine_->build(experiment, *this, *stop_) : engine_->run(experiment, *this, *stop_);
    } catch (const std::exception& exception) {
      return Error{ErrorCode::kInternal, std::string("the engine can't run it: ") + exception.what(), {}};
    }
  }();
  if (gap_) gap_->trials_end();
  bool cancelled = false, paused = false, yields = false, quits = false;
  std::string why_yields;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    running_ = 0;
    quits = quit_;
    yields = std::exchange(yields_, false);
    why_yields = std::exchange(yields_to_, {});
    stop_.reset();
    cancelled = cancelled_ == experiment;
    if (cancelled) cancelled_ = 0;
    paused = std::exchange(paused_, 0) == experiment;
  }
  // What became of its last trial may not be stored.
  Status stored = ended ? Status() : recover();
  // Whoever started us starts us again, with another one; nothing of this is the experiment's fault.
  if (!ended && engine_->lost_broker()) {
    note_of(experiment, ended.error().message);
    return false;
  }
  if (cancelled) {
    if (stored) stored = settle(experiment, store::ExperimentEvent::kCancel, "cancelled by its user");
    if (!stored) {  // it must not go on
      const std::lock_guard<std::mutex> held(mutex_);
      cancelled_ = experiment;
    }
    return tell_end(stored, experiment, ExperimentEnd::kCancelled, "");
  }
  if (paused && ended && *ended == RunEnd::kStopped)
    return tell_end(settle(experiment, store::ExperimentEvent::kPause, ""), experiment, ExperimentEnd::kPaused, "");
  if (!ended) {
    // The laboratory is broken for this experiment; the next one may still run.
    const std::string& why = ended.error().message;
    if (stored) stored = settle(experiment, store::ExperimentEvent::kFail, why);
    return tell_end(stored, experiment, ExperimentEnd::kFailed, why);
  }
  if (is_elsewhere && *ended == RunEnd::kDone) return begin_on_machines(row);
  switch (*ended) {
    case RunEnd::kDone: return tell_end(stored, experiment, ExperimentEnd::kDone, "");
    case RunEnd::kGaps: return tell_end(stored, experiment, ExperimentEnd::kDone, "some cells are quarantined");
    case RunEnd::kRejected: return tell_end(stored, experiment, stored_end(experiment), "a build or the preflight failed");
    case RunEnd::kStopped: break;
  }
  if (yields) {
    note_of(experiment, "gives way to " + why_yields);
    return true;
  }
  if (quits) return tell_end(stored, experiment, ExperimentEnd::kStopped, "");
  const bool time_is_up = [&] {
    const std::lock_guard<Gate> gate(engine_->gate());
    return had_its_time(experiment, row.submitter_uid);
  }();
  if (time_is_up)
    return tell_end(settle(experiment, store::ExperimentEvent::kPause, had_time), experiment, ExperimentEnd::kPaused, had_time);
  // Nobody asked: a gate stayed closed. Waiting again at once would be waiting for ever.
  const std::string why = "a gate stayed closed until its deadline; 'stabctl resume' waits again";
  return tell_end(settle(experiment, store::ExperimentEvent::kPause, why), experiment, ExperimentEnd::kPaused, why);
}

Status EngineThread::recover() {
  const std::lock_guard<Gate> gate(engine_->gate());
  const Result<store::Recovery> recovered =
      engine_->store().recover(engine_->options().clock->realtime().count(), kMaxAttemptsWhenLost);
  return recovered ? Status() : Status(recovered.error());
}

Status EngineThread::settle(store::Id experiment, store::ExperimentEvent event, const std::string& why) {
  const std::lock_guard<Gate> gate(engine_->gate());
  return event == store::ExperimentEvent::kCancel ? cancel_in_slices(experiment) : advance(experiment, event, why);
}

Status EngineThread::advance(store::Id experiment, store::ExperimentEvent event, const std::string& why) {
  STAB_TRY(const store::ExperimentState state, engine_->store().advance(experiment, event, why, now_ns()));
  (void)state;
  return {};
}

// What a run itself has stored: failed, or paused where it can go on once its binaries are back.
ExperimentEnd EngineThread::stored_end(store::Id experiment) {
  const std::lock_guard<Gate> gate(engine_->gate());
  const auto row = engine_->store().summary(experiment);
  if (row && row->state == store::ExperimentState::kCancelled) return ExperimentEnd::kCancelled;
  return row && row->state == store::ExperimentState::kPaused ? ExperimentEnd::kPaused : ExperimentEnd::kFailed;
}

// What is not stored has not happened: the store says that the experiment runs, and so it will.
bool EngineThread::tell_end(const Status& stored, store::Id experiment, ExperimentEnd how, const std::string& why) {
  if (stored) {
    end(experiment, how, why);
    return true;
  }
  const std::string text = std::string(name(how)) + (why.empty() ? "" : ": " + why) +
                           "; this can't be stored: " + stored.error().message + "; goes on in " +
                           std::to_string(kTryAgain.count()) + " s";
  note_of(experiment, text);
  between_({experiment, ExperimentEnd::kUnsettled, text}, quit_signal_.now_fd());
  return false;
}

void EngineThread::push(EngineEvent event) {
  const int64_t uid = [&] {
    const std::lock_guard<std::mutex> held(mutex_);
    return uid_;
  }();
  push(std::move(event), uid);
}

void EngineThread::push(EngineEvent event, int64_t uid) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (events_.size() >= kMaxEvents && !event.ends) return;
    event.uid = uid;
    events_.push_back(std::move(event));
  }
  wake_();
}

void EngineThread::end(store::Id experiment, ExperimentEnd how, const std::string& why) {
  push({experiment, to_json({experiment, EndNews{how, why}}), true, 0});
  between_({experiment, how, why}, quit_signal_.now_fd());
}

void EngineThread::phase(std::string_view text) {
  const store::Id id = running();
  push({id, to_json({id, PhaseNews{std::string(text)}}), false, 0});
}

void EngineThread::note(std::string_view text) { note_of(running(), text); }

void EngineThread::note_of(store::Id experiment, std::string_view text) {
  push({experiment, to_json({experiment, NoteNews{std::string(text)}}), false, 0});
}

void EngineThread::trial_done(const TrialNews& news) {
  do_work();
  if (const auto more = delete_a_slice(); !more) note("delete: " + more.error().message);
  const store::Id id = running();
  share_the_machine();
  ToldTrial told = blinding_.is_known_unmasked(id) ? ToldTrial{news, {}, {}} : blinding_.masked(id, news);
  if (const auto used = engine_->store().usage(id))
    told.left_ns = time_left(used->machine_ns, news.done, news.planned - news.done);
  push({id, to_json({id, std::move(told)}), false, 0});
  if (gap_ == nullptr) return;
  gap_->trials_begin();
  gap_->between_trials(wake_);
}

}  // namespace stab::engine
