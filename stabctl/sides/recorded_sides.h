// How the recorded runs of an experiment of two sides differ in what they printed and how they ended, and whether both sides ran
// one file.
#pragma once

#include <map>
#include <string>

#include "analysis/commands/answers/failed_runs.h"
#include "analysis/commands/answers/side_differences.h"
#include "base/result.h"
#include "store/store.h"

namespace stab::ctl {

// By workload, of cells 0 and 1. A side counts whose runs, two or more, all did the same: one that prints times or addresses
// prints something else each time. A build's file is known of what its program's first workload starts. Workloads of which
// nothing is to be said are absent.
Result<std::map<std::string, commands::SideDifferences>> side_differences(store::Store& store, store::Id experiment);

// Of each workload, cell 0 is the base: runs that a signal, a timeout, a wrong exit status or a wrong output has ended, and all
// runs. What the lab did wrong is not among the failures.
Result<commands::FailedByWorkload> failed_runs(store::Store& store, store::Id experiment);

}  // namespace stab::ctl
