// How the recorded runs of an experiment whose cells are sides differ in what they printed and how they ended, and whether two
// of them ran one file.
#pragma once

#include <map>
#include <string>

#include "analysis/commands/answers/failed_runs.h"
#include "analysis/commands/answers/side_differences.h"
#include "base/result.h"
#include "store/store.h"

namespace stab::ctl {

// By workload, of cell 0 and of cell `other` of `sides`. A side counts whose runs, two or more, all did the same: one that prints
// times or addresses prints something else each time. A build's file is known of what its program's first workload starts.
// Workloads of which nothing is to be said are absent.
using DifferencesByWorkload = std::map<std::string, commands::SideDifferences>;
Result<DifferencesByWorkload> side_differences(store::Store& store, store::Id experiment, size_t other = 1, size_t sides = 2);

// Of each workload, cell 0 is the base: runs that a signal, a timeout, a wrong exit status or a wrong output has ended, and all
// runs. What the lab did wrong is not among the failures.
Result<commands::FailedByWorkload> failed_runs(store::Store& store, store::Id experiment);

}  // namespace stab::ctl
