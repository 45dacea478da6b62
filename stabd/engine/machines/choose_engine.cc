#include "stabd/engine/machines/choose_engine.h"

#include <utility>

#include "stabd/engine/machines/process_engine.h"
#include "stabd/engine/machines/slurm_engine.h"

namespace stab::engine {

std::unique_ptr<MachineEngine> choose_engine(const plan::Machines& machines, const std::string& stabctl, const Clock& clock,
                                             const std::string& identity, Spool& spool) {
  const std::string there = machines.stabctl.empty() ? stabctl : machines.stabctl;
  if (machines.engine == plan::MachineEngineKind::kSlurm) {
    SlurmEngine::Setting setting;
    setting.prefix = "stab-" + identity.substr(0, 12);
    setting.spool = spool.directory();
    setting.stabctl = there;
    setting.options = machines.options;
    setting.clock = &clock;
    return std::make_unique<SlurmEngine>(std::move(setting));
  }
  ProcessEngine::Setting setting;
  setting.spool = &spool;
  setting.stabctl = there;
  if (machines.engine == plan::MachineEngineKind::kSsh) {
    setting.shared = !machines.spool.empty();
    setting.command = machines.command;
    // A host that is gone is noticed within a minute; nobody is there to type a password.
    if (setting.command.empty())
      setting.command = {"ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"};
    setting.command.insert(setting.command.end(), machines.options.begin(), machines.options.end());
  }
  return std::make_unique<ProcessEngine>(std::move(setting));
}

std::string spool_name(const std::string& identity, int64_t replicates) {
  return identity.substr(0, 16) + "-" + std::to_string(replicates);
}

}  // namespace stab::engine
