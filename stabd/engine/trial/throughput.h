// Throughput: visits of a program's progress points per second, where a plan asks for it.
#pragma once

#include <string>
#include <vector>

#include "stabd/engine/trial/dose.h"
#include "store/records.h"

namespace stab::engine {

// Why a trial whose plan asks for the throughput of these points can't count; empty: each was visited, or none is asked for.
std::string points_missing(const std::vector<std::string>& points, const std::optional<Dose>& dose);

// One response each, "progress:NAME": visits by wall time, the visits in `raw`. pre: nothing is missing.
void add_throughputs(const std::vector<std::string>& points, const Dose& dose, store::Outcome& outcome);

}  // namespace stab::engine
