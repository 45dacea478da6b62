// What running in copies has more to do in one program than in another, counted in runs of their own: explain, compare and gate
// allow for what it may cost.
#pragma once

#include <map>
#include <string>

#include "analysis/commands/answers/copy_price.h"
#include "base/clock.h"
#include "stabctl/run/run_command.h"
#include "stabd/engine/results/function_places.h"

namespace stab::ctl {

// `margin`: a tenth of it is the least that is allowed for.
commands::CopyFacts copy_facts(const engine::CopiedRun& older, const engine::CopiedRun& newer, double margin);

struct CountedCopies {
  std::map<std::string, commands::CopyFacts> by_workload;
  std::string uncounted;  // why one of the workloads, or all of them, has none; empty: all have
};

// `plan` runs each side in identical copies, sampled, the old one in its first cell.
CountedCopies counted_copies(engine::Engine& engine, const plan::Plan& plan, const std::string& directory,
                             const Arguments& arguments, const Clock& clock, Budget& limit, engine::StopSignal& stop);

}  // namespace stab::ctl
