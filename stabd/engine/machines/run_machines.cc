// Beyond the builds everything is the controller's (controller.h); this file gives it its spool, its engine and its turns.
//
// A daemon that acts for several users runs nothing of theirs with its own rights: its engine is the submitter's deputy
// (deputy.h), and its spool is one that only it sees.
#include "stabd/engine/machines/run_machines.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/version.h"
#include "plan/size.h"
#include "plan/stopping.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/build/slots.h"
#include "stabd/engine/experiment/stopping_point.h"
#include "stabd/engine/experiment/trial_sequence.h"
#include "stabd/engine/machines/choose_engine.h"
#include "stabd/engine/machines/deputy_engine.h"
#include "stabd/engine/separation/places.h"
#include "stabd/engine/separation/runs_as.h"

namespace stab::engine {
namespace {

constexpr std::chrono::milliseconds kRound{200};
// A round in which nothing came is followed by a pause of so many times what it took. What comes is taken in no later than this.
constexpr int kIdleShare = 120;
constexpr std::chrono::milliseconds kLongestRound{5000};
// A worker that was asked to stop ends its trial first; what it brings until then is taken in.
constexpr std::chrono::seconds kLastRounds{10};

// What workers need, once; a file that is there is whole.
Status fill_spool(Engine& engine, const store::ExperimentRow& row, const std::vector<store::BuildRow>& builds, Spool& spool) {
  const Archive archive(archive_beside(engine.options().database));
  for (const store::BuildRow& build : builds) {
    const std::string name = "binary." + build.binary_sha256;
    if (spool.has(name)) continue;
    STAB_TRY(const std::string path, archive.find(build.binary_sha256));
    STAB_CHECK_OK(spool.put_copy(name, path));
  }
  if (spool.has(kSpoolBundle)) return {};
  const std::string bundle = spool.directory() + "/aside/bundle";
  std::filesystem::remove(bundle);
  STAB_CHECK_OK(engine.store().bundle(row.id, bundle));
  STAB_CHECK_OK(spool.put_copy(kSpoolBundle, bundle));
  std::filesystem::remove(bundle);
  return {};
}

bool is_deputed(const Engine::Options& options, const store::ExperimentRow& row) {
  return runs_as(options, static_cast<uid_t>(row.submitter_uid), static_cast<gid_t>(row.submitter_gid)).has_value();
}

}  // namespace

std::chrono::milliseconds pause_after(std::chrono::nanoseconds took) {
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(took * kIdleShare), kRound, kLongestRound);
}

Result<bool> has_machines(store::Store& store, store::Id experiment) {
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  return expanded.plan.machines.count > 0;
}

Result<RunEnd> run_on_machines(Engine& engine, store::Id experiment, Observer& observer, StopSignal& stop) {
  STAB_TRY(const RunEnd built, engine.build(experiment, observer, stop));
  if (built != RunEnd::kDone) return built;
  STAB_TRY(const std::unique_ptr<MachineRun> run, [&] {
    const std::lock_guard<Gate> held(engine.gate());
    return MachineRun::prepare(engine, experiment);
  }());
  return run->to_end(observer, stop, {});
}

Result<std::unique_ptr<MachineRun>> MachineRun::prepare(Engine& engine, store::Id experiment) {
  store::Store& store = engine.store();
  STAB_TRY(store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment));
  const std::string identity = identity_of(row, builds);
  const plan::Machines& machines = expanded.plan.machines;
  const bool is_ours = machines.spool.empty() || is_deputed(engine.options(), row);
  const std::string root = is_ours ? files_beside(engine.options().database) + "/machines" : machines.spool;
  STAB_TRY(Spool spool, Spool::open(root + "/" + spool_name(identity, row.replicates)));
  std::unique_ptr<MachineRun> run(new MachineRun(engine, std::move(row), std::move(spool)));
  if (run->row_.state != store::ExperimentState::kDone) STAB_CHECK_OK(fill_spool(engine, run->row_, builds, run->spool_));
  run->machines_ = machines;
  run->identity_ = identity;
  run->block_places_ = static_cast<int64_t>(plan::block_trials(expanded.plan, expanded.design));
  STAB_TRY(const std::vector<store::SlotEpochRow> epochs, store.slot_epochs(experiment));
  for (const store::SlotEpochRow& epoch : epochs) run->newest_[epoch.slot] = epoch.epoch;
  return run;
}

Result<std::unique_ptr<MachineEngine>> MachineRun::own_engine(const std::string& identity) {
  const Engine::Options& options = engine_->options();
  const std::string stabctl = options.installation.bin + "/stabctl";
  if (!is_deputed(options, row_)) return choose_engine(machines_, stabctl, *options.clock, identity, spool_);
  DeputyLaunch launch{started_by(*options.broker), stabctl,
                      runs_as(options, static_cast<uid_t>(row_.submitter_uid), static_cast<gid_t>(row_.submitter_gid))};
  DeputyEngine::Setting setting;
  setting.launch = [launch = std::move(launch)] { return launch_deputy(launch); };
  setting.name = spool_name(identity, row_.replicates);
  setting.identity = identity;
  setting.plan_text = row_.plan_text;
  setting.spool = &spool_;
  setting.clock = options.clock;
  setting.newest = newest_;
  setting.blocks_of.resize(static_cast<size_t>(machines_.count));
  for (const int slot : deal_blocks(row_.seed, machines_.count, static_cast<int>(row_.replicates)))
    ++setting.blocks_of[static_cast<size_t>(slot)];
  // As the engine that the deputy has (choose_engine.h), and the connection's own time.
  setting.patience = machines_.engine == plan::MachineEngineKind::kSlurm ? std::chrono::seconds(65) : std::chrono::seconds(5);
  return std::unique_ptr<MachineEngine>(std::make_unique<DeputyEngine>(std::move(setting)));
}

Status MachineRun::advance(store::ExperimentEvent event, const std::string& why) const {
  const std::lock_guard<Gate> held(engine_->gate());
  STAB_TRY(const store::ExperimentState state,
           engine_->store().advance(row_.id, event, why, engine_->options().clock->realtime().count()));
  (void)state;
  return {};
}

Result<RunEnd> MachineRun::to_end(Observer& observer, StopSignal& stop, const Watch& watch) {
  if (row_.state == store::ExperimentState::kDone) return RunEnd::kDone;
  ::signal(SIGPIPE, SIG_IGN);
  STAB_TRY(const std::unique_ptr<MachineEngine> starter, own_engine(identity_));
  Controller::Setting setting;
  setting.store = &engine_->store();
  setting.gate = &engine_->gate();
  setting.experiment = row_.id;
  setting.machines = machines_;
  setting.seed = row_.seed;
  setting.blocks = static_cast<int>(row_.replicates);
  setting.block_places = block_places_;
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row_));
  if (expanded.plan.stopping.rule != plan::StoppingRule::kFixed) setting.points = plan::verdict_points(expanded.plan);
  if (!setting.points.empty()) setting.points.pop_back();  // the end
  // A confidence sequence holds whenever it is looked at, and so waits for nobody.
  setting.looks_wait = expanded.plan.stopping.rule != plan::StoppingRule::kSequence;
  setting.decide = [&](int blocks) { return decide(expanded.plan, blocks, observer); };
  setting.identity = identity_;
  setting.version = std::string(version());
  setting.clock = engine_->options().clock;
  setting.spool = &spool_;
  setting.engine = starter.get();
  setting.keeps_aside = !is_deputed(engine_->options(), row_);
  setting.why_no_room = watch.why_no_room;
  setting.note = [&](const std::string& text) { observer.note(text); };
  setting.changes = [&] { engine_->count_change(); };
  STAB_TRY(Controller controller, Controller::open(setting));

  int64_t shown = -1;
  std::optional<std::chrono::nanoseconds> stopping;
  for (;;) {
    if (watch.leave != nullptr && *watch.leave) return RunEnd::kStopped;
    const std::chrono::nanoseconds before = thread_cpu_time();
    STAB_TRY(const bool over, controller.round(!stop.asked()));
    const std::chrono::nanoseconds took = thread_cpu_time() - before;
    if (watch.signs) watch.signs(controller.signs_of_life());
    const bool has_come = controller.recorded_blocks() != shown;
    if (has_come) {
      shown = controller.recorded_blocks();
      observer.phase("on " + std::to_string(machines_.count) + " machines: " + std::to_string(shown) + " of " +
                     std::to_string(controller.needed_blocks()) + " blocks");
      if (watch.may_go_on && !watch.may_go_on()) stop.after_this_trial();
    }
    if (over) return finish(observer, *starter);
    if (controller.has_no_room()) controller.stop_all();
    const bool gives_up = !controller.stalled().empty() && (controller.has_no_room() || !controller.any_alive());
    if (gives_up) {
      observer.note(controller.stalled());
      STAB_CHECK_OK(advance(store::ExperimentEvent::kPause, controller.stalled()));
      return RunEnd::kRejected;
    }
    const auto now = engine_->options().clock->monotonic_raw();
    if (stop.asked()) {
      if (!stopping) {
        controller.stop_all();
        stopping = now;
      }
      pollfd at_once{stop.now_fd(), POLLIN, 0};
      const bool is_cancelled = ::poll(&at_once, 1, 0) > 0;
      // A daemon that ends leaves what there is to the next one.
      if (is_cancelled && !(watch.leave != nullptr && *watch.leave)) starter->forget();
      if (is_cancelled || !controller.any_alive() || now - *stopping > kLastRounds) return RunEnd::kStopped;
    }
    const auto wait = has_come || stop.asked() ? kRound : pause_after(took);
    // A wish to stop that comes with now() wakes us; one after the trial waits for the round.
    pollfd at_once{stop.now_fd(), POLLIN, 0};
    (void)::poll(&at_once, 1, static_cast<int>(wait.count()));
  }
}

void MachineRun::clear() {
  if (is_deputed(engine_->options(), row_)) (void)remove_tree(spool_.directory());
}

// As TrialSequence does between two blocks of one machine. What is not needed is dropped in one transaction, by which the next
// controller knows that it was decided.
Result<int> MachineRun::decide(const plan::Plan& plan, int blocks, Observer& observer) {
  const std::lock_guard<Gate> held(engine_->gate());
  store::Store& store = engine_->store();
  STAB_TRY(const StoppingDecision decision, decide_at(store, row_, plan, blocks));
  if (!decision.text.empty())
    STAB_CHECK_OK(store.log({engine_->options().clock->realtime().count(), row_.id, "look", decision.text}));
  if (decision.replicates >= plan::verdict_points(plan).back()) return static_cast<int>(row_.replicates);
  STAB_TRY(const int64_t dropped, store.cancel_planned(row_.id, static_cast<uint32_t>(decision.replicates)));
  observer.note("the plan's stopping rule: " + std::to_string(decision.replicates) + " replicates are enough, " +
                std::to_string(dropped) + " planned trials are not needed");
  return decision.replicates;
}

// Every block that this run knows is recorded. Some may have been added meanwhile.
Result<RunEnd> MachineRun::finish(Observer& observer, MachineEngine& starter) {
  store::Store& store = engine_->store();
  {
    const std::lock_guard<Gate> held(engine_->gate());
    STAB_CHECK_OK(store.check_in_place());
  }
  starter.forget();
  clear();
  const std::lock_guard<Gate> held(engine_->gate());
  STAB_TRY(const store::ExperimentRow now, store.experiment(row_.id));
  if (now.replicates != row_.replicates) return RunEnd::kStopped;
  STAB_TRY(const store::ExperimentState state,
           store.advance(row_.id, store::ExperimentEvent::kFinish, "", engine_->options().clock->realtime().count()));
  (void)state;
  STAB_TRY(const store::Progress progress, store.progress(row_.id));
  if (const Status moved = store.checkpoint(); !moved) observer.note(moved.error().message);
  return progress.count(store::TrialState::kRecorded) + not_needed(progress) == progress.planned_total ? RunEnd::kDone
                                                                                                       : RunEnd::kGaps;
}

}  // namespace stab::engine
