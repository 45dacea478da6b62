// plan check: everything that can be known of a plan before anything runs.
#include <cstdio>

#include "plan/check.h"
#include "plan/parse.h"
#include "stabctl/commands.h"

namespace stab::ctl {

int plan_check_command(const Arguments& arguments) {
  const Result<plan::Parsed> parsed = plan::load_plan(arguments.plan);
  if (!parsed) {
    complain(parsed.error());
    return kExitUsage;
  }
  std::fputs(plan::render(parsed->warnings).c_str(), stderr);
  std::fputs(plan::render(parsed->errors).c_str(), stderr);
  if (!parsed->plan) return kExitUsage;
  std::optional<std::chrono::nanoseconds> per_trial;
  if (arguments.seconds_per_trial)
    per_trial = std::chrono::nanoseconds(static_cast<int64_t>(*arguments.seconds_per_trial * 1e9));
  const Result<plan::CheckReport> report = plan::check_plan(*parsed->plan, per_trial);
  if (!report) return complain(report.error());
  std::fputs(plan::render(*report, *parsed->plan).c_str(), stdout);
  return kExitDone;
}

}  // namespace stab::ctl
