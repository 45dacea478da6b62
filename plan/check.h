// Check: what `stabctl plan check` tells of a plan before anything runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "plan/design.h"
#include "plan/plan.h"
#include "plan/schedule.h"

namespace stab::plan {

struct CheckReport {
  std::vector<Subject> subjects;
  Design design;
  size_t builds = 0;
  size_t trials = 0;             // of the whole plan, without preflight and warm-up
  size_t preflight_trials = 0;
  size_t warmup_trials = 0;
  // Known only when seconds_per_trial was given.
  std::optional<std::chrono::nanoseconds> estimated;
  // By the timeouts; absent where no program has one of its own.
  std::optional<std::chrono::nanoseconds> at_most;
  uint64_t schedule_fingerprint = 0;

  size_t all_trials() const { return trials + preflight_trials + warmup_trials; }
};

// `per_trial`: what a trial is thought to take, from an earlier run or the preflight.
Result<CheckReport> check_plan(const Plan& plan, std::optional<std::chrono::nanoseconds> per_trial = {});

// For a terminal: subjects, the design matrix (at most max_cells rows), aliases, trials, duration.
std::string render(const CheckReport& report, const Plan& plan, size_t max_cells = 64);

// Why no difference between levels of a treatment will have an answer, whatever the trials show, and what to write instead: each
// side is in the one layout that the linker made (analysis/report/contrasts/compared_cells.h). Empty: nothing speaks against it.
std::string why_no_answer(const Plan& plan, const Design& design);

// "1 h 20 min", "35 s", "120 ms".
std::string duration_text(std::chrono::nanoseconds duration);

}  // namespace stab::plan
