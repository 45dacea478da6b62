// What starts a plan's workers: the engine that its [machines] names, with what that one needs.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "plan/plan.h"
#include "stabd/engine/machines/machine_engine.h"
#include "stabd/engine/machines/spool.h"

namespace stab::engine {

// `stabctl`: where it is on the machines, unless the plan says. `identity`: of the experiment.
std::unique_ptr<MachineEngine> choose_engine(const plan::Machines& machines, const std::string& stabctl, const Clock& clock,
                                             const std::string& identity, Spool& spool);

// "1f2e3d4c5b6a7988-40": of the spool's directory. Blocks that were added have a bundle and thus a spool of their own.
std::string spool_name(const std::string& identity, int64_t replicates);

}  // namespace stab::engine
