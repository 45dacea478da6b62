// Runs of two revisions that failed and were run again: a head that crashes now and then, where the base never does, is not
// accepted for its speed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/report/report_data/worse.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {

// Of one workload; `failed` are among `runs`.
struct FailedRuns {
  uint64_t base_failed = 0, base_runs = 0, head_failed = 0, head_runs = 0;
  std::string example{};  // how one of the head's failed
};
using FailedByWorkload = std::map<std::string, FailedRuns>;

// Fisher's exact test: how often the head would have so large a share of the failures, or a larger one, if both failed alike.
double p_of_failures(const FailedRuns& runs);

// Worse: the head fails more often, at this level; unsure: it failed, and the base never did. `alpha` is shared by all workloads.
report::Worse worse_by_failures(const FailedRuns& runs, double alpha, size_t workloads);
report::Worse worse_by_failures(const FailedByWorkload& all, double alpha);

// "work: 3 of 43 runs of HEAD failed (signal 11), and none of 40 of BASE"; empty: of no workload is anything to be said.
std::string failures_text(const std::string& workload, const FailedRuns& runs);

// As a member of the object that is open.
void write_failures(const FailedByWorkload& all, double alpha, text::JsonWriter& json);

}  // namespace stab::commands
