// Opening, recovering and submitting. The run itself is stabd/experiment_run.cc.
#include "stabd/engine.h"

#include <filesystem>

#include "stabd/experiment_run.h"
#include "stabd/host/tuning.h"
#include "stabd/places.h"

namespace stab::engine {

std::string boot_id(const Roots& roots) {
  return read_small_file(roots.proc + "/sys/kernel/random/boot_id").value_or("");
}

Result<std::unique_ptr<Engine>> Engine::open(const Options& options) {
  const std::string parent = std::filesystem::path(options.database).parent_path().string();
  if (!parent.empty()) STAB_CHECK_OK(make_directories(parent));
  STAB_TRY(store::Store store, store::Store::open(options.database, store::Store::Access::kWrite));
  STAB_TRY(store::Recovery recovered, store.recover(options.clock->realtime().count(), kMaxAttemptsWhenLost));
  // A tuner that lives keeps its knobs; what a dead one left is turned back before anything runs.
  const Result<Restored> restored = Tuning::recover(options.roots, options.knob_journal, boot_id(options.roots));
  if (!restored && restored.error().code != ErrorCode::kBusy) return restored.error();
  if (restored && (restored->settings > 0 || !restored->gone.empty()))
    STAB_CHECK_OK(store.log({options.clock->realtime().count(), 0, "knobs-restored",
                             std::to_string(restored->settings) + " settings of the host that a dead engine had left" +
                                 gone_text(*restored)}));
  return std::unique_ptr<Engine>(new Engine(options, std::move(store), std::move(recovered)));
}

Result<store::Id> Engine::submit(const plan::Plan& plan, const std::string& plan_directory, uid_t uid, gid_t gid,
                                int priority) {
  store::NewExperiment row;
  row.name = plan.experiment.name;
  row.plan_text = plan.text;
  row.plan_path = plan.path;
  row.plan_directory = plan_directory;
  row.seed = plan.experiment.seed;
  row.submitter_uid = uid;
  row.submitter_gid = gid;
  row.priority = priority;
  row.submitted_at_ns = options_.clock->realtime().count();
  const std::lock_guard<std::mutex> held(gate_);
  ++submits_;
  return store_.add_experiment(row);
}

Result<RunEnd> Engine::run(store::Id experiment, Observer& observer, StopSignal& stop) {
  const std::lock_guard<std::mutex> held(gate_);
  const Result<RunEnd> ended = [&]() -> Result<RunEnd> {
    STAB_TRY(ExperimentRun run, ExperimentRun::prepare(*this, experiment, observer, stop));
    return run.to_end();
  }();
  say_what_stays_tuned(experiment, observer);
  return ended;
}

Result<store::Outcome> Engine::replay(store::Id trial, Observer& observer, StopSignal& stop) {
  const std::lock_guard<std::mutex> held(gate_);
  STAB_TRY(const store::TrialRow row, store_.trial(trial));
  Result<store::Outcome> outcome = [&]() -> Result<store::Outcome> {
    STAB_TRY(ExperimentRun run, ExperimentRun::prepare(*this, row.experiment, observer, stop));
    return run.replay(trial);
  }();
  say_what_stays_tuned(row.experiment, observer);
  return outcome;
}

// pre: the gate is held, no ExperimentRun lives: its Tuning has restored what it could.
void Engine::say_what_stays_tuned(store::Id experiment, Observer& observer) {
  const Result<Restored> restored = Tuning::restore_ours(options_.roots, options_.knob_journal, boot_id(options_.roots));
  if (restored) return;
  observer.note(restored.error().message);
  (void)store_.log({options_.clock->realtime().count(), experiment, "knobs-not-restored", restored.error().message});
}

Status Engine::extend(store::Id experiment, int blocks) {
  const std::lock_guard<std::mutex> held(gate_);
  STAB_TRY(const store::ExperimentRow row, store_.experiment(experiment));
  if (blocks < 1) return bad_input("'" + std::to_string(blocks) + "' blocks: expected at least 1");
  if (row.state != store::ExperimentState::kDone && row.state != store::ExperimentState::kRunning &&
      row.state != store::ExperimentState::kReady)
    return bad_input("experiment " + std::to_string(experiment) + " is " + std::string(store::name(row.state)));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  if (expanded.plan.stopping.rule != plan::StoppingRule::kFixed)
    return bad_input("the plan's [stopping] sets the number of replicates, and a look more would cost false alarms; "
                     "declare it in a new plan");
  const int first = static_cast<int>(row.replicates);
  return store_.extend(experiment, trials_of(expanded, first, blocks), first + blocks);
}

}  // namespace stab::engine
