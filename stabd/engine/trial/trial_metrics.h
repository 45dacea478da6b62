// TrialMetrics: what a trial's program says that it measured, as responses of the trial.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "stabd/engine/separation/worker.h"
#include "store/records.h"

namespace stab::engine {

// Before the name of a benchmark in the database, so that none can take the place of wall_time or of a counter.
inline constexpr std::string_view kMetricPrefix = "metric:";

// Adds a response for each benchmark; what is wrong with the output comes back in words, empty: nothing. An Error is the
// worker's end or the engine's.
Result<std::string> add_metrics(const plan::Metrics& metrics, const std::string& directory, int out_fd, Worker* worker,
                                std::vector<store::ResponseRow>& responses);

}  // namespace stab::engine
