// What the engine's thread does for experiments on machines: it builds them in their turn, as they take the lab's machine for
// that, and gives them a controller. What they come to is stored by the controller's thread at once; what follows from it,
// notes to users and retention, waits until no trial runs here.
#include <utility>

#include "stabd/daemon/runs/engine_thread.h"

namespace stab::daemon {

MachineRuns::Listener EngineThread::machine_listener() {
  MachineRuns::Listener listener;
  listener.said = [this](store::Id experiment, int64_t uid, bool is_phase, const std::string& text) {
    const WatchEvent event = is_phase ? WatchEvent{experiment, PhaseNews{text}} : WatchEvent{experiment, NoteNews{text}};
    push({experiment, to_json(event), false, 0}, uid);
  };
  listener.may_go_on = [this](store::Id experiment, int64_t uid) { return !time_is_up(experiment, uid); };
  listener.why_no_room = [this](int64_t uid, int64_t bytes) -> std::string {
    const uint64_t most = parts_limit_ ? parts_limit_(static_cast<uid_t>(uid)) : 0;
    if (most == 0) return {};
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    const Result<int64_t> used = engine_->store().stored_bytes_of(uid);
    if (!used) return used.error().message;
    if (static_cast<uint64_t>(*used + bytes) <= most) return {};
    return "its user's experiments take " + std::to_string(*used) + " bytes of the database, another part has " +
           std::to_string(bytes) + ", and they may take " + std::to_string(most) +
           "; 'stabctl delete' some that are over, or let an administrator raise stored in [quota], then resume it";
  };
  listener.ended = [this](store::Id experiment, int64_t uid, const Result<engine::RunEnd>& end, MachineRuns::Wished wished) {
    ended_on_machines(experiment, uid, end, wished);
  };
  listener.gone = [this] { kick(); };
  return listener;
}

bool EngineThread::waits_for_machines(store::Id experiment) const {
  return no_room_.contains(experiment) && machine_runs_.is_full();
}

bool EngineThread::begin_on_machines(const store::ExperimentSummary& row) {
  const Result<bool> begun = [&]() -> Result<bool> {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    no_room_.erase(row.id);
    // Whoever has stopped it since it was built found nothing that runs.
    STAB_TRY(const bool wanted, is_still_wanted(row.id));
    if (!wanted) return false;
    STAB_TRY(const store::ExperimentSummary now, engine_->store().summary(row.id));
    if (now.state != store::ExperimentState::kRunning) return false;
    // Blocks that were added since are promised and not yet planned: it has its turn again.
    if (now.replicates != row.replicates) return false;
    const Status started = machine_runs_.begin(row.id, row.submitter_uid);
    if (started) return true;
    if (started.error().code != ErrorCode::kBusy || !machine_runs_.is_full()) return started.error();
    no_room_.insert(row.id);
    return false;
  }();
  if (begun) return true;
  const std::string why = begun.error().message + "; 'stabctl resume' tries again";
  return tell_end(settle(row.id, store::ExperimentEvent::kPause, why), row.id, ExperimentEnd::kPaused, why);
}

void EngineThread::ended_on_machines(store::Id experiment, int64_t uid, const Result<engine::RunEnd>& end,
                                     MachineRuns::Wished wished) {
  Status stored;
  ExperimentEnd how = ExperimentEnd::kDone;
  std::string why;
  const auto pause = [&](std::string because) {
    how = ExperimentEnd::kPaused;
    why = std::move(because);
    stored = settle(experiment, store::ExperimentEvent::kPause, why);
  };
  if (wished == MachineRuns::Wished::kCancel) {
    how = ExperimentEnd::kCancelled;
    stored = settle(experiment, store::ExperimentEvent::kCancel, "cancelled by its user");
  } else if (!end) {
    // Every block that is recorded stays, and none is lost by a pause.
    pause(end.error().message + "; 'stabctl resume' goes on");
  } else if (*end == engine::RunEnd::kRejected) {
    how = stored_end(experiment);
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    const auto row = engine_->store().summary(experiment);
    why = row ? row->failure : "";
  } else if (*end == engine::RunEnd::kGaps) {
    why = "some cells are quarantined";
  } else if (*end == engine::RunEnd::kStopped) {
    if (wished == MachineRuns::Wished::kPause) pause("");
    else if (wished == MachineRuns::Wished::kQuit) how = ExperimentEnd::kStopped;
    else if (time_is_up(experiment, uid))
      pause("its machines have run for as long as one experiment of its user may; an administrator can raise wall_time in "
            "[quota], then 'stabctl resume' goes on");
    else return;  // blocks were added: it waits for its turn to be built again
  }
  if (!stored) {  // the store says that it runs, and so it will
    why = std::string(name(how)) + (why.empty() ? "" : ": " + why) + "; this can't be stored: " + stored.error().message;
    push({experiment, to_json({experiment, NoteNews{why}}), false, 0}, uid);
    how = ExperimentEnd::kUnsettled;
  } else {
    push({experiment, to_json({experiment, EndNews{how, why}}), true, 0}, uid);
  }
  const std::lock_guard<std::mutex> held(mutex_);
  ended_.push_back({experiment, how, why});
}

void EngineThread::after_machines() {
  std::vector<EndedRun> ended;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    ended.swap(ended_);
  }
  for (const EndedRun& run : ended) between_(run, quit_signal_.now_fd());
}

}  // namespace stab::daemon
