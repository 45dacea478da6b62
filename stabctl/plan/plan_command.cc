// plan check: everything that can be known of a plan before anything runs. plan power: what it needs, from a pilot.
#include <algorithm>
#include <cstdio>

#include "analysis/commands/selftest/causal_report.h"
#include "analysis/commands/stats/power_command.h"
#include "base/number_text.h"
#include "plan/check.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/plan/plan_file.h"
#include "stabctl/records/database.h"
#include "stabctl/terminal/terminal.h"
#include "stabd/engine/results/pilot.h"

namespace stab::ctl {
namespace {

// How long a causal experiment's windows take, and what they can show.
std::string causal_text(const plan::CheckReport& report, const plan::Plan& plan, std::optional<double> seconds_per_trial) {
  const plan::Causal& causal = *plan.causal;
  if (causal.candidates == 0) {
    const double window_s = std::chrono::duration<double>(causal.window).count();
    const int factor = plan.factor_index(plan::kLoadFactor);
    const size_t loads = factor < 0 ? 0 : plan.factors[static_cast<size_t>(factor)].levels.size();
    const std::string window = number_text(window_s);
    char text[300], few[100] = "";
    if (loads < 3 || plan.experiment.replicates < 3)
      std::snprintf(few, sizeof few, "; this plan has %zu and %d, so it will give none", loads, plan.experiment.replicates);
    std::snprintf(text, sizeof text,
                  "amplified load: windows of %s s, from so long after the first arrival on, as many as a trial lasts for\n"
                  "  a knee takes 3 loads, 3 trials at each, and 100 arrivals in their windows%s\n", window.c_str(), few);
    return text;
  }
  plan::CausalRegions regions;
  regions.candidates = static_cast<uint32_t>(causal.candidates);
  // A plan that names its lines has no others to explore.
  regions.others.assign(1, causal.lines.empty() && causal.explore > 0 ? 1 : 0);
  const auto arms = plan::arms_of_block(causal, plan.experiment.seed, "causal check", 0, regions);
  const auto count = [&](plan::CausalArmKind kind) {
    return static_cast<uint64_t>(
        std::count_if(arms.begin(), arms.end(), [&](const plan::CausalArm& arm) { return arm.kind == kind; }));
  };
  commands::CausalWish wish;
  wish.budget.lines = regions.candidates;
  wish.budget.speedups = causal.speedups.size();
  wish.budget.points = std::max<size_t>(1, causal.progress.size() + causal.latency.size());
  wish.budget.programs = report.subjects.size();
  wish.budget.cells = report.design.cells.size();
  wish.budget.trials = static_cast<uint64_t>(plan.experiment.replicates);
  wish.budget.window_s = std::chrono::duration<double>(causal.window).count();
  wish.budget.cooloff_s = std::chrono::duration<double>(causal.cooloff).count();
  wish.budget.block_windows = arms.size();
  wish.budget.block_nulls = count(plan::CausalArmKind::kNull);
  wish.budget.block_baselines = count(plan::CausalArmKind::kBaseline);
  wish.budget.alpha = plan.experiment.alpha;
  wish.budget.margin = plan.experiment.margin;
  wish.whole_runs = causal.experiments == plan::Causal::Experiments::kTrials;
  wish.control_trials = wish.budget.trials;
  wish.trial_s = seconds_per_trial;
  const std::string block = wish.whole_runs ? "  " : "  a block has " + std::to_string(arms.size()) + " windows; ";
  return commands::causal_wish_text(wish) + block +
         std::to_string(static_cast<size_t>(causal.pilot) * report.design.cells.size() * report.subjects.size()) +
         " pilot trials find the lines before the first one\n";
}

}  // namespace

int plan_check_command(const Arguments& arguments) {
  const PlanFile file = read_plan(arguments.plan);
  if (!file.plan) return file.exit_code;
  std::optional<std::chrono::nanoseconds> per_trial;
  if (arguments.seconds_per_trial)
    per_trial = std::chrono::nanoseconds(static_cast<int64_t>(*arguments.seconds_per_trial * 1e9));
  const Result<plan::CheckReport> report = plan::check_plan(*file.plan, per_trial);
  if (!report) return complain(report.error());
  std::fputs(plan::render(*report, *file.plan).c_str(), stdout);
  if (file.plan->causal) std::fputs(("\n" + causal_text(*report, *file.plan, arguments.seconds_per_trial)).c_str(), stdout);
  return kExitDone;
}

int plan_power_command(const Arguments& arguments) {
  const PlanFile file = read_plan(arguments.plan);
  if (!file.plan) return file.exit_code;
  auto stored = open_experiment(arguments, arguments.pilot);
  if (!stored) return complain(stored.error());
  const auto pilot = engine::pilot_for(stored->store, stored->row, *file.plan);
  if (!pilot) return complain(pilot.error());
  commands::PowerOptions options;
  options.margin = arguments.margin;
  options.power = arguments.power;
  options.planned = static_cast<uint64_t>(file.plan->experiment.replicates);
  options.unknown = pilot->unknown;
  options.responses = pilot->responses;
  options.is_sliced = file.plan->experiment.blocks == plan::BlockMode::kSliced;
  options.json = arguments.json;
  options.width = terminal_width();
  return print(commands::run_power(pilot->samples, options));
}

}  // namespace stab::ctl
