// Opening, recovering and submitting. The run itself is stabd/engine/experiment/experiment_run.cc.
#include "stabd/engine/experiment/engine.h"

#include <filesystem>

#include "stabd/broker/wire/client.h"
#include "plan/limits.h"
#include "plan/size.h"
#include "stabd/engine/experiment/confirm_map.h"
#include "stabd/engine/experiment/experiment_run.h"
#include "stabd/engine/experiment/planning.h"
#include "stabd/engine/separation/places.h"

namespace stab::engine {

std::string boot_id(const host::Roots& roots) {
  return host::read_small_file(roots.proc + "/sys/kernel/random/boot_id").value_or("");
}

bool Engine::lost_broker() const { return options_.broker->gone(); }

Result<std::unique_ptr<Engine>> Engine::open(const Options& options) {
  const std::string parent = std::filesystem::path(options.database).parent_path().string();
  if (const Status made = parent.empty() ? Status() : make_directories(parent); !made) {
    Error error = made.error();
    error.message += store::kWritableCure;
    return error;
  }
  STAB_CHECK_OK(close_files_beside(options.database));
  STAB_TRY(store::Store store, store::Store::open(options.database, store::Store::Access::kWrite));
  STAB_TRY(store::Recovery recovered, store.recover(options.clock->realtime().count(), kMaxAttemptsWhenLost));
  // What a dead tuner had left the broker has turned back before anything runs.
  if (const std::string& found = options.broker->found(); !found.empty())
    STAB_CHECK_OK(store.log({options.clock->realtime().count(), 0, "knobs-restored", found}));
  return std::unique_ptr<Engine>(new Engine(options, std::move(store), std::move(recovered)));
}

Result<store::Id> Engine::submit(const plan::Plan& plan, const std::string& plan_directory, uid_t uid, gid_t gid,
                                int priority, int64_t promised_trials) {
  store::NewExperiment row;
  row.name = plan.experiment.name;
  row.plan_text = plan.text;
  row.plan_path = plan.path;
  row.plan_directory = plan_directory;
  row.seed = plan.experiment.seed;
  row.submitter_uid = uid;
  row.submitter_gid = gid;
  row.priority = priority;
  row.promised_trials = promised_trials;
  if (promised_trials == 0) {
    STAB_TRY(const plan::Design design, plan::make_design(plan));
    row.promised_trials = static_cast<int64_t>(plan::trials_of(plan, design));
  }
  row.submitted_at_ns = options_.clock->realtime().count();
  const std::lock_guard<Gate> held(gate_);
  ++submits_;
  return store_.add_experiment(row);
}

Result<RunEnd> Engine::run(store::Id experiment, Observer& observer, StopSignal& stop) {
  const std::lock_guard<Gate> held(gate_);
  for (;;) {
    const Result<RunEnd> ended = [&]() -> Result<RunEnd> {
      STAB_TRY(const std::unique_ptr<ExperimentRun> run, ExperimentRun::prepare(*this, experiment, observer, stop));
      return run->to_end();
    }();
    say_what_stays_tuned(experiment, observer);
    if (!ended || (*ended != RunEnd::kDone && *ended != RunEnd::kGaps)) return ended;
    STAB_TRY(const store::ExperimentSummary now, store_.summary(experiment));
    if (now.state == store::ExperimentState::kDone) return ended;  // since an earlier run
    if (*ended == RunEnd::kDone && !options_.share) {
      STAB_TRY(const Mapped mapped, map_layouts(experiment, observer, stop));
      if (mapped == Mapped::kStopped) return RunEnd::kStopped;
      if (mapped == Mapped::kExtended) continue;
    }
    STAB_CHECK_OK(finish(experiment, observer));
    return ended;
  }
}

// Before the experiment is done: an engine that ends meanwhile, however, leaves the next one to do it.
Result<Engine::Mapped> Engine::map_layouts(store::Id experiment, Observer& observer, StopSignal& stop) {
  STAB_TRY(const store::ExperimentRow row, store_.experiment(experiment));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  const auto confirmed = confirm_map(*this, row, expanded, observer, stop.now_fd());
  if (!confirmed && stop.asked()) return Mapped::kStopped;
  // What was measured stays measured, whatever a map of it comes to.
  if (!confirmed) {
    observer.note("no layout map: " + confirmed.error().message);
    (void)store_.log({options_.clock->realtime().count(), experiment, "no-layout-map", confirmed.error().message});
  }
  // The gate may have been open, and somebody may have extended the experiment.
  STAB_TRY(const bool over, is_over(store_, experiment, expanded));
  return over ? Mapped::kOver : Mapped::kExtended;
}

Status Engine::finish(store::Id experiment, Observer& observer) {
  STAB_TRY(const store::ExperimentState state,
           store_.advance(experiment, store::ExperimentEvent::kFinish, "", options_.clock->realtime().count()));
  (void)state;
  // What is done stays done: everything is on disk, if in the write-ahead log.
  if (const Status moved = store_.checkpoint(); !moved) observer.note(moved.error().message);
  return {};
}

Result<RunEnd> Engine::build(store::Id experiment, Observer& observer, StopSignal& stop) {
  const std::lock_guard<Gate> held(gate_);
  STAB_TRY(const std::unique_ptr<ExperimentRun> run, ExperimentRun::prepare(*this, experiment, observer, stop));
  STAB_TRY(const std::optional<RunEnd> end, run->to_builds());
  return end.value_or(RunEnd::kDone);
}

Result<store::Outcome> Engine::replay(store::Id trial, Observer& observer, StopSignal& stop) {
  const std::lock_guard<Gate> held(gate_);
  STAB_TRY(const store::TrialRow row, store_.trial(trial));
  Result<store::Outcome> outcome = [&]() -> Result<store::Outcome> {
    STAB_TRY(const std::unique_ptr<ExperimentRun> run, ExperimentRun::prepare(*this, row.experiment, observer, stop));
    return run->replay(trial);
  }();
  say_what_stays_tuned(row.experiment, observer);
  return outcome;
}

namespace {

// Under a tool a program has this process's user and terminal: root's, or the daemon's, for a plan of anybody's.
Status may_run_by_hand(const store::ExperimentSummary& experiment) {
  const auto own = static_cast<int64_t>(::geteuid());
  if (experiment.submitter_uid == own) return {};
  const std::string id = std::to_string(experiment.id);
  return Error{ErrorCode::kDenied,
               "experiment " + id + " is user " + std::to_string(experiment.submitter_uid) +
                   "'s, and under a tool its program would run as user " + std::to_string(own) +
                   ", on this terminal; leave that to its user, or make it yours: 'stabctl bundle " + id +
                   " FILE', then 'stabctl bundle --import FILE' into a database of your own",
               {}};
}

}  // namespace

Result<int> Engine::replay_under(store::Id trial, const std::vector<std::string>& tool, Observer& observer, StopSignal& stop) {
  const std::lock_guard<Gate> held(gate_);
  STAB_TRY(const store::TrialRow row, store_.trial(trial));
  STAB_TRY(const store::ExperimentSummary experiment, store_.summary(row.experiment));
  STAB_CHECK_OK(may_run_by_hand(experiment));
  Result<int> status = [&]() -> Result<int> {
    STAB_TRY(const std::unique_ptr<ExperimentRun> run, ExperimentRun::prepare(*this, row.experiment, observer, stop));
    return run->replay_under(trial, tool);
  }();
  say_what_stays_tuned(row.experiment, observer);
  return status;
}

// pre: the gate is held, no ExperimentRun lives: its knobs are turned back where that could be.
void Engine::say_what_stays_tuned(store::Id experiment, Observer& observer) {
  if (lost_broker()) return;
  const Result<broker::Reply> restored = options_.broker->ask(broker::RestoreKnobs{});
  if (restored) return;
  observer.note(restored.error().message);
  (void)store_.log({options_.clock->realtime().count(), experiment, "knobs-not-restored", restored.error().message});
}

// Only what it promises is stored here: the engine stores the schedule itself, in slices, before it runs it.
Status Engine::extend(store::Id experiment, int blocks) {
  STAB_TRY(const store::ExperimentRow row, [&] {
    const std::lock_guard<Gate> held(gate_);
    return store_.experiment(experiment);
  }());
  if (blocks < 1) return bad_input("'" + std::to_string(blocks) + "' blocks: expected at least 1");
  if (row.state != store::ExperimentState::kDone && row.state != store::ExperimentState::kRunning &&
      row.state != store::ExperimentState::kReady)
    return bad_input("experiment " + std::to_string(experiment) + " is " + std::string(store::name(row.state)));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  // What a confidence sequence says holds whenever one stops, and however long one goes on.
  if (expanded.plan.stopping.rule != plan::StoppingRule::kFixed && expanded.plan.stopping.rule != plan::StoppingRule::kSequence)
    return bad_input("the plan's [stopping] rule fixes the number of replicates, and an unplanned look would raise false alarms; "
                     "submit a new plan");
  const uint64_t block = plan::block_trials(expanded.plan, expanded.design);
  const uint64_t trials = plan::times(block, static_cast<uint64_t>(row.replicates) + static_cast<uint64_t>(blocks));
  if (trials > plan::kMaxTrials)
    return bad_input("that makes " + plan::count_text(trials) + " trials, and an experiment has at most " +
                     std::to_string(plan::kMaxTrials));
  const std::lock_guard<Gate> held(gate_);
  STAB_TRY(const store::ExperimentRow now, store_.experiment(experiment));
  if (now.replicates != row.replicates || now.state != row.state)
    return Error{
        ErrorCode::kBusy, "experiment " + std::to_string(experiment) + " is being changed by another user or command; try "
                                                                       "again", {}};
  if (expanded.plan.stopping.rule == plan::StoppingRule::kSequence) {
    STAB_TRY(const store::Progress progress, store_.progress(experiment));
    if (progress.count(store::TrialState::kCancelled) > 0)
      return bad_input("experiment " + std::to_string(experiment) + " ended by its stopping rule, because every question was "
                       "answered; run its plan again for more blocks");
  }
  ++submits_;
  return store_.extend(experiment, {}, row.replicates + blocks,
                       static_cast<int64_t>(block) * blocks);
}

}  // namespace stab::engine
