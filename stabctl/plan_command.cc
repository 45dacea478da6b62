// plan check: everything that can be known of a plan before anything runs.
#include <cstdio>

#include "plan/check.h"
#include "stabctl/commands.h"
#include "stabctl/plan_file.h"

namespace stab::ctl {

int plan_check_command(const Arguments& arguments) {
  const PlanFile file = read_plan(arguments.plan);
  if (!file.plan) return file.exit_code;
  std::optional<std::chrono::nanoseconds> per_trial;
  if (arguments.seconds_per_trial)
    per_trial = std::chrono::nanoseconds(static_cast<int64_t>(*arguments.seconds_per_trial * 1e9));
  const Result<plan::CheckReport> report = plan::check_plan(*file.plan, per_trial);
  if (!report) return complain(report.error());
  std::fputs(plan::render(*report, *file.plan).c_str(), stdout);
  return kExitDone;
}

}  // namespace stab::ctl
