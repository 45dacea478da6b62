// Beyond the builds everything is the controller's (controller.h); this file gives it its spool, its engine and its turns.
#include "engine/machines/run_machines.h"

#include <poll.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "base/version.h"
#include "engine/experiment/binary_archive.h"
#include "engine/experiment/expand.h"
#include "engine/experiment/places.h"
#include "engine/machines/controller.h"
#include "engine/machines/process_engine.h"
#include "engine/machines/slots.h"
#include "engine/machines/slurm_engine.h"
#include "plan/size.h"

namespace stab::engine {
namespace {

constexpr int kRoundMs = 200;
// A worker that was asked to stop ends its trial first; what it brings until then is taken in.
constexpr int kLastRounds = 50;

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

ProcessEngine::Setting engine_setting(const plan::Machines& machines, const Installation& installation, Spool& spool) {
  ProcessEngine::Setting setting;
  setting.spool = &spool;
  setting.stabctl = machines.stabctl.empty() ? installation.bin + "/stabctl" : machines.stabctl;
  if (machines.engine == plan::MachineEngineKind::kLocal) return setting;
  setting.shared = !machines.spool.empty();
  setting.command = machines.command;
  // A host that is gone is noticed within a minute; nobody is there to type a password.
  if (setting.command.empty())
    setting.command = {"ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"};
  setting.command.insert(setting.command.end(), machines.options.begin(), machines.options.end());
  return setting;
}

std::unique_ptr<MachineEngine> engine_of(const plan::Machines& machines, const Installation& installation, const Clock& clock,
                                         const std::string& identity, Spool& spool) {
  if (machines.engine != plan::MachineEngineKind::kSlurm)
    return std::make_unique<ProcessEngine>(engine_setting(machines, installation, spool));
  SlurmEngine::Setting setting;
  setting.prefix = "stab-" + identity.substr(0, 12);
  setting.spool = spool.directory();
  setting.stabctl = machines.stabctl.empty() ? installation.bin + "/stabctl" : machines.stabctl;
  setting.options = machines.options;
  setting.clock = &clock;
  return std::make_unique<SlurmEngine>(std::move(setting));
}

}  // namespace

Result<RunEnd> run_on_machines(Engine& engine, store::Id experiment, Observer& observer, StopSignal& stop) {
  STAB_TRY(const RunEnd built, engine.build(experiment, observer, stop));
  if (built != RunEnd::kDone) return built;
  const std::lock_guard<Gate> held(engine.gate());
  store::Store& store = engine.store();
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  if (row.state == store::ExperimentState::kDone) return RunEnd::kDone;
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment));
  const plan::Machines& machines = expanded.plan.machines;
  const int64_t now = engine.options().clock->realtime().count();

  ::signal(SIGPIPE, SIG_IGN);
  const std::string identity = identity_of(row, builds);
  const std::string root = machines.spool.empty() ? files_beside(engine.options().database) + "/machines" : machines.spool;
  // Blocks that were added have a bundle of their own.
  STAB_TRY(Spool spool, Spool::open(root + "/" + identity.substr(0, 16) + "-" + std::to_string(row.replicates)));
  STAB_CHECK_OK(fill_spool(engine, row, builds, spool));
  const std::unique_ptr<MachineEngine> starter =
      engine_of(machines, engine.options().installation, *engine.options().clock, identity, spool);
  Controller::Setting setting;
  setting.store = &store;
  setting.experiment = experiment;
  setting.machines = machines;
  setting.seed = row.seed;
  setting.blocks = static_cast<int>(row.replicates);
  setting.block_places = static_cast<int64_t>(plan::block_trials(expanded.plan, expanded.design));
  setting.identity = identity;
  setting.version = std::string(version());
  setting.clock = engine.options().clock;
  setting.spool = &spool;
  setting.engine = starter.get();
  setting.note = [&](const std::string& text) { observer.note(text); };
  STAB_TRY(Controller controller, Controller::open(setting));

  int64_t shown = -1;
  for (int left = kLastRounds; left > 0;) {
    STAB_TRY(const bool over, controller.round(!stop.asked()));
    if (controller.recorded_blocks() != shown) {
      shown = controller.recorded_blocks();
      observer.phase("on " + std::to_string(machines.count) + " machines: " + std::to_string(shown) + " of " +
                     std::to_string(setting.blocks) + " blocks");
    }
    if (over) {
      STAB_TRY(const store::ExperimentState state,
               store.advance(experiment, store::ExperimentEvent::kFinish, "", engine.options().clock->realtime().count()));
      (void)state;
      STAB_TRY(const store::Progress progress, store.progress(experiment));
      if (const Status moved = store.checkpoint(); !moved) observer.note(moved.error().message);
      return progress.count(store::TrialState::kRecorded) == progress.planned_total ? RunEnd::kDone : RunEnd::kGaps;
    }
    const bool gives_up = !controller.stalled().empty() && !controller.any_alive();
    if (gives_up) {
      observer.note(controller.stalled());
      STAB_TRY(const store::ExperimentState state,
               store.advance(experiment, store::ExperimentEvent::kPause, controller.stalled(), now));
      (void)state;
      return RunEnd::kRejected;
    }
    if (stop.asked()) {
      if (left == kLastRounds) controller.stop_all();
      if (!controller.any_alive()) return RunEnd::kStopped;
      --left;
    }
    ::poll(nullptr, 0, kRoundMs);
  }
  return RunEnd::kStopped;
}

Result<std::vector<std::string>> slots_text(store::Store& store, store::Id experiment) {
  STAB_TRY(const std::vector<store::SlotEpochRow> epochs, store.slot_epochs(experiment));
  std::vector<std::string> lines;
  if (epochs.empty()) return lines;
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  if (expanded.plan.machines.count < 1) return lines;
  const std::vector<int> dealt = deal_blocks(row.seed, expanded.plan.machines.count, static_cast<int>(row.replicates));
  std::map<int, int> share, done;
  for (const int slot : dealt) ++share[slot];
  STAB_TRY(const std::vector<store::PartRow> parts, store.parts(experiment));
  for (const store::PartRow& part : parts)
    if (part.fate == store::PartFate::kRecorded) ++done[part.slot];
  for (const store::SlotEpochRow& epoch : epochs)
    lines.push_back("slot " + std::to_string(epoch.slot) + ", epoch " + std::to_string(epoch.epoch) + ": " +
                    std::string(store::name(epoch.state)) + (epoch.host.empty() ? "" : " on " + epoch.host) +
                    (epoch.machine.empty() ? "" : ", machine " + epoch.machine) + ", " + std::to_string(done[epoch.slot]) +
                    " of " + std::to_string(share[epoch.slot]) + " blocks of the slot" +
                    (epoch.why.empty() ? "" : ": " + epoch.why));
  return lines;
}

}  // namespace stab::engine
