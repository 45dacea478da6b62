// What is next the store says (turns.h). What runs gives way after its trial to a higher priority, and after its turn to a user
// of the same priority who has had less; while it waits for a gate of its plan, to any other of its priority at once. Where the
// store doesn't take what became of an experiment (a full disk, somebody else's lock), we wait, recover as a start does, and go
// on where it was.
#include "stabd/daemon/runs/engine_thread.h"

#include <chrono>
#include <exception>
#include <utility>

#include "stabd/daemon/runs/estimates.h"
#include "stabd/engine/build/gate_open.h"

namespace stab::daemon {
namespace {

// Until the next try after the store has failed: people make room on a disk, and nobody tells us when they have.
constexpr std::chrono::seconds kTryAgain{60};
// More passes around a trial than is counted for it.
constexpr std::chrono::seconds kSlack{5};
constexpr char kHadItsTime[] =
    "it has had the machine for as long as one experiment of its user may; an administrator can raise wall_time in [quota], then "
    "'stabctl resume' goes on";

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

store::Id EngineThread::running() const {
  const std::lock_guard<std::mutex> held(mutex_);
  return running_;
}

std::string EngineThread::waits_for() const {
  const std::lock_guard<std::mutex> held(mutex_);
  return waits_for_;
}

bool EngineThread::can_not(const std::string& why) {
  const std::lock_guard<std::mutex> held(mutex_);
  waits_for_ = why + "; tried again every " + std::to_string(kTryAgain.count()) + " s";
  return false;
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
    const Status recovered = well ? Status() : recover();
    well = recovered ? run_what_waits() : can_not(recovered.error().message);
    const std::lock_guard<std::mutex> held(mutex_);
    if (well) waits_for_.clear();
  }
}

bool EngineThread::run_what_waits() {
  for (;;) {
    after_machines();
    const Result<std::optional<store::ExperimentSummary>> next = next_experiment();
    if (!next) return can_not(next.error().message);
    if (!*next) return true;
    if (!run(**next)) return false;
    const std::lock_guard<std::mutex> held(mutex_);
    if (quit_) return true;
  }
}

Result<std::optional<store::ExperimentSummary>> EngineThread::next_experiment() {
  const std::lock_guard<engine::Gate> gate(engine_->gate());
  do_work();
  STAB_CHECK_OK(delete_what_waits());
  return first_in_turn();
}

Result<std::optional<store::ExperimentSummary>> EngineThread::first_in_turn() {
  return turns_.first([this](store::Id id) { return machine_runs_.has(id) || waits_for_machines(id); });
}

void EngineThread::bound_what_runs() {
  const auto left = turns_.time_left(running(), uid_);
  const std::lock_guard<std::mutex> held(mutex_);
  time_left_ = left ? std::optional(*left + kSlack) : std::nullopt;
  if (stop_ && time_left_) stop_->now_after(*time_left_);
}

void EngineThread::bound_the_next_step() {
  const std::lock_guard<std::mutex> held(mutex_);
  if (stop_ && time_left_) stop_->now_after(*time_left_);
}

void EngineThread::share_the_machine() {
  if (turns_.had_its_time(running(), uid_)) {
    const std::lock_guard<std::mutex> held(mutex_);
    if (stop_) stop_->after_this_trial();
    return;
  }
  if (!turns_.is_over()) return;
  const auto next = first_in_turn();
  if (!next || !*next || (*next)->submitter_uid == uid_) return;
  const std::lock_guard<std::mutex> held(mutex_);
  if (!stop_ || (*next)->priority != priority_) return;
  yields_ = true;
  yields_to_ = "another user, who has had the machine less";
  stop_->after_this_trial();
}

void EngineThread::lend_the_machine() {
  const store::Id waiting = running();
  const auto next = turns_.first([&](store::Id id) {
    return id == waiting || machine_runs_.has(id) || waits_for_machines(id) || turns_.stands_back(id);
  });
  if (!next || !*next) return;
  const std::lock_guard<std::mutex> held(mutex_);
  if (!stop_ || (*next)->priority < priority_) return;
  turns_.stand_back(waiting);
  yields_ = true;
  yields_to_ = "another experiment, while a gate of its plan is closed";
  stop_->after_this_trial();
}

bool EngineThread::time_is_up(store::Id experiment, int64_t uid) {
  const std::lock_guard<engine::Gate> gate(engine_->gate());
  return turns_.had_its_time(experiment, uid);
}

bool EngineThread::run(const store::ExperimentSummary& row) {
  const store::Id experiment = row.id;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    uid_ = row.submitter_uid;
  }
  bool is_elsewhere = false, had_its_time = false;
  {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    // Since it was chosen somebody may have paused, cancelled or deleted it. From here on a wish finds it running.
    const Result<bool> wanted = is_still_wanted(experiment);
    if (!wanted) return can_not(wanted.error().message);
    if (!*wanted) return true;
    had_its_time = turns_.had_its_time(experiment, row.submitter_uid);
    (void)blinding_.is_unmasked(engine_->store(), experiment);  // where the store fails, it stays masked
    const Result<bool> machines = engine::has_machines(engine_->store(), experiment);  // where it fails, the run says why
    is_elsewhere = machines && *machines;
    if (!had_its_time) {
      turns_.begin();
      open_to_wishes(row);
      bound_what_runs();
    }
  }
  if (had_its_time) return pause_itself(experiment, kHadItsTime);
  // What was submitted since this one was chosen found nothing that runs.
  if (const auto first = next_experiment(); first && *first && (*first)->id != experiment) {
    const std::lock_guard<std::mutex> held(mutex_);
    give_way_to((*first)->priority);
  }
  // Whatever a plan can make fail in here ends its experiment, not the daemon, which would meet it again at each start.
  const Result<engine::RunEnd> ended = [&]() -> Result<engine::RunEnd> {
    try {
      return is_elsewhere ? engine_->build(experiment, *this, *stop_) : engine_->run(experiment, *this, *stop_);
    } catch (const std::exception& exception) {
      return Error{ErrorCode::kInternal, std::string("the engine can't run it: ") + exception.what(), {}};
    }
  }();
  if (gap_) gap_->trials_end();
  const Asked asked = close_to_wishes(experiment);
  // What became of its last trial may not be stored.
  const Status stored = ended ? Status() : recover();
  // Whoever started us starts us again, with another one; nothing of this is the experiment's fault.
  if (!ended && engine_->lost_broker()) {
    note_of(experiment, ended.error().message);
    return can_not(ended.error().message);
  }
  const bool is_built = is_elsewhere && ended && *ended == engine::RunEnd::kDone;
  if (is_built && !asked.cancelled && !asked.paused && !asked.quits) return begin_on_machines(row);
  // The last build ends as if nobody had asked; what was asked during it holds before the first machine is started.
  return settle_run(row, is_built ? Result<engine::RunEnd>(engine::RunEnd::kStopped) : ended, asked, stored);
}

void EngineThread::open_to_wishes(const store::ExperimentSummary& row) {
  const std::lock_guard<std::mutex> held(mutex_);
  running_ = row.id;
  priority_ = row.priority;
  waits_for_.clear();
  stop_ = std::make_unique<engine::StopSignal>();
  if (quit_ || cancelled_ == row.id) stop_->now();
}

EngineThread::Asked EngineThread::close_to_wishes(store::Id experiment) {
  const std::lock_guard<std::mutex> held(mutex_);
  running_ = 0;
  Asked asked;
  asked.quits = quit_;
  asked.yields = std::exchange(yields_, false);
  asked.yields_to = std::exchange(yields_to_, {});
  asked.ran_out = stop_->ran_out();
  time_left_.reset();
  stop_.reset();
  asked.cancelled = cancelled_ == experiment;
  if (asked.cancelled) cancelled_ = 0;
  asked.paused = std::exchange(paused_, 0) == experiment;
  return asked;
}

// The order is that of what is stronger: a wish of its user's, a failure, the run's own end, then why it was stopped.
bool EngineThread::settle_run(const store::ExperimentSummary& row, const Result<engine::RunEnd>& ended, const Asked& asked,
                              Status stored) {
  const store::Id experiment = row.id;
  if (asked.cancelled) {
    if (stored) stored = settle(experiment, store::ExperimentEvent::kCancel, "cancelled by its user");
    if (!stored) {  // it must not go on
      const std::lock_guard<std::mutex> held(mutex_);
      cancelled_ = experiment;
    }
    return tell_end(stored, experiment, ExperimentEnd::kCancelled, "");
  }
  if (asked.paused && ended && *ended == engine::RunEnd::kStopped) return pause_itself(experiment, "");
  if (!ended) {
    // The laboratory is broken for this experiment; the next one may still run.
    const std::string& why = ended.error().message;
    if (stored) stored = settle(experiment, store::ExperimentEvent::kFail, why);
    return tell_end(stored, experiment, ExperimentEnd::kFailed, why);
  }
  switch (*ended) {
    case engine::RunEnd::kDone: return tell_end(stored, experiment, ExperimentEnd::kDone, "");
    case engine::RunEnd::kGaps: return tell_end(stored, experiment, ExperimentEnd::kDone, "some cells are quarantined");
    case engine::RunEnd::kRejected:
      return tell_end(stored, experiment, stored_end(experiment), "a build or the preflight failed");
    case engine::RunEnd::kStopped: break;
  }
  if (asked.ran_out) return pause_itself(experiment, kHadItsTime);
  if (asked.yields) {
    note_of(experiment, "gives way to " + asked.yields_to);
    return true;
  }
  if (asked.quits) return tell_end(stored, experiment, ExperimentEnd::kStopped, "");
  if (time_is_up(row.id, row.submitter_uid)) return pause_itself(experiment, kHadItsTime);
  // Nobody asked: a gate stayed closed. Waiting again at once would be waiting for ever.
  return pause_itself(experiment, "a gate stayed closed until its deadline; 'stabctl resume' waits again");
}

bool EngineThread::pause_itself(store::Id experiment, const std::string& why) {
  return tell_end(settle(experiment, store::ExperimentEvent::kPause, why), experiment, ExperimentEnd::kPaused, why);
}

Status EngineThread::recover() {
  const std::lock_guard<engine::Gate> gate(engine_->gate());
  const Result<store::Recovery> recovered =
      engine_->store().recover(engine_->options().clock->realtime().count(), engine::kMaxAttemptsWhenLost);
  return recovered ? Status() : Status(recovered.error());
}

Status EngineThread::settle(store::Id experiment, store::ExperimentEvent event, const std::string& why) {
  const std::lock_guard<engine::Gate> gate(engine_->gate());
  if (event == store::ExperimentEvent::kCancel) return cancel_in_slices(experiment);
  // A cancel that came while it ended found nothing that runs, and stands.
  const auto row = engine_->store().summary(experiment);
  if (row && row->state == store::ExperimentState::kCancelled) return {};
  if (row && row->state == store::ExperimentState::kPaused && event == store::ExperimentEvent::kPause) return {};
  return advance(experiment, event, why);
}

Status EngineThread::advance(store::Id experiment, store::ExperimentEvent event, const std::string& why) {
  STAB_TRY(const store::ExperimentState state, engine_->store().advance(experiment, event, why, now_ns()));
  (void)state;
  return {};
}

// What a run itself has stored: failed, or paused where it can go on once its binaries are back.
ExperimentEnd EngineThread::stored_end(store::Id experiment) {
  const std::lock_guard<engine::Gate> gate(engine_->gate());
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
  (void)can_not(stored.error().message);
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
  event.uid = uid;
  outbox_.put(std::move(event));
}

void EngineThread::end(store::Id experiment, ExperimentEnd how, const std::string& why) {
  push({experiment, to_json({experiment, EndNews{how, why}}), true, 0});
  between_({experiment, how, why}, quit_signal_.now_fd());
}

void EngineThread::phase(std::string_view text) {
  bound_the_next_step();
  const store::Id id = running();
  push({id, to_json({id, PhaseNews{std::string(text)}}), false, 0});
}

void EngineThread::note(std::string_view text) { note_of(running(), text); }

void EngineThread::note_of(store::Id experiment, std::string_view text) {
  push({experiment, to_json({experiment, NoteNews{std::string(text)}}), false, 0});
}

// Without its cell: how far a trial is says nothing of the cells to who may not know them yet.
void EngineThread::trial_progress(const engine::ProgressNews& news) {
  const store::Id id = running();
  push({id, to_json({id, news}), false, 0});
}

// Nothing is measured meanwhile, so whoever waits for a moment between two trials has it, browsers included.
void EngineThread::at_closed_gate() {
  do_work();
  // What the store refuses to delete is tried again behind the next trial, and said there.
  (void)delete_what_waits();
  lend_the_machine();
  bound_the_next_step();  // to wait takes none of its time
  if (gap_ != nullptr) gap_->between_trials(wake_);
}

void EngineThread::trial_done(const engine::TrialNews& news) {
  do_work();
  if (const auto more = delete_a_slice(); !more) note("delete: " + more.error().message);
  const store::Id id = running();
  share_the_machine();
  bound_what_runs();
  ToldTrial told = blinding_.is_known_unmasked(id) ? ToldTrial{news, {}, {}} : blinding_.masked(id, news);
  if (const auto used = engine_->store().usage(id))
    told.left_ns = time_left(used->machine_ns, news.done, news.planned - news.done);
  push({id, to_json({id, std::move(told)}), false, 0});
  if (gap_ == nullptr) return;
  gap_->trials_begin();
  gap_->between_trials(wake_);
}

}  // namespace stab::daemon
