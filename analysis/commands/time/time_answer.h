// The pure part of `stabctl time`: runs of one program in, how long it takes and how that spreads out.
#pragma once

#include <optional>
#include <string>

#include "analysis/commands/time/stored_baseline.h"
#include "analysis/commands/time/timed_runs.h"
#include "analysis/report/experiment/samples.h"
#include "base/result.h"

namespace stab::commands {

struct TimeFacts {
  std::string command;     // as the user wrote it
  std::string about;       // a sentence: what was randomized, and what that leaves open
  std::string unfinished;  // why it ended before its last run; empty: it didn't
  int64_t experiment = 0;
  double waited = 0;  // share of the runs' wall time in which they could have run, and others had their CPU
  std::string next;  // the command to type next
  std::optional<BaselineAnswer> against{};  // the stored baseline that was asked for
  std::string baseline{}, stored{};         // its file; and the one that took these runs
};

struct TimeOutput {
  int exit_code = 0;  // of a comparison with a stored baseline: 0 not slower by the margin, 1 slower, 3 unsure
  std::string text, json, markdown;  // JSON: "stab-time", docs/reference/report-json.md
};

// `samples`: responses wall_time and cpu_time of one cell, whose layouts ran several times each where layout is randomized.
// `wall` and `cpu`: the same runs. kBadInput: there are fewer than two.
Result<TimeOutput> time_answer(const report::Samples& samples, const TimedRuns& wall, const TimedRuns& cpu,
                               const TimeFacts& facts, int width = 100);

}  // namespace stab::commands
