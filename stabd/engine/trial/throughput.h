// Throughput: visits of a program's progress points per second, where a plan asks for it.
#pragma once

#include <string>
#include <vector>

#include "stabd/engine/trial/dose.h"
#include "store/records.h"

namespace stab::engine {

// Why a trial whose plan asks for these throughputs can't count; empty: each point was visited, or none is asked for.
std::string points_missing(const std::vector<std::string>& throughputs, const std::optional<Dose>& dose);

// One response each: "progress:NAME", visits by wall time, or "progress_cpu:NAME", by CPU time; the visits in `raw`.
// pre: nothing is missing.
void add_throughputs(const std::vector<std::string>& throughputs, const Dose& dose, store::Outcome& outcome);

}  // namespace stab::engine
