// How the recorded runs of an experiment of two sides differ in what they printed and how they ended, and whether both sides ran
// one file.
#pragma once

#include <map>
#include <string>

#include "analysis/commands/side_differences.h"
#include "base/result.h"
#include "store/store.h"

namespace stab::ctl {

// By workload, of cells 0 and 1. A side counts whose runs, two or more, all did the same: one that prints times or addresses
// prints something else each time. A build's file is known of its program's first workload. Workloads of which nothing is to be
// said are absent.
Result<std::map<std::string, commands::SideDifferences>> side_differences(store::Store& store, store::Id experiment);

}  // namespace stab::ctl
