// plan check: everything that can be known of a plan before anything runs. plan power: what it needs, from a pilot.
#include <algorithm>
#include <cstdio>

#include "analysis/commands/causal_report.h"
#include "analysis/commands/method_commands.h"
#include "plan/check.h"
#include "stabctl/commands.h"
#include "stabctl/database.h"
#include "stabctl/plan_file.h"
#include "stabctl/terminal.h"
#include "engine/results/pilot.h"

namespace stab::ctl {
namespace {

// How long a causal experiment's windows take, and what they can show.
std::string causal_text(const plan::CheckReport& report, const plan::Plan& plan, std::optional<double> seconds_per_trial) {
  const plan::Causal& causal = *plan.causal;
  if (causal.candidates == 0) {
    const double window_s = std::chrono::duration<double>(causal.window).count();
    char text[300];
    std::snprintf(text, sizeof text,
                  "amplified load: windows of %g s, from so long after the first arrival on, as many as a trial lasts for\n"
                  "  a knee takes 3 loads, 3 trials at each, and 100 arrivals in their windows\n", window_s);
    return text;
  }
  plan::CausalRegions regions;
  regions.candidates = static_cast<uint32_t>(causal.candidates);
  regions.others.assign(1, causal.explore > 0 ? 1 : 0);
  const auto arms = plan::arms_of_block(causal, plan.experiment.seed, "causal check", 0, regions);
  const auto count = [&](plan::CausalArmKind kind) {
    return static_cast<uint64_t>(
        std::count_if(arms.begin(), arms.end(), [&](const plan::CausalArm& arm) { return arm.kind == kind; }));
  };
  analysis::CausalWish wish;
  wish.lines = regions.candidates;
  wish.speedups = causal.speedups.size();
  wish.programs = report.subjects.size();
  wish.cells = report.design.cells.size();
  wish.window_s = std::chrono::duration<double>(causal.window).count();
  wish.cooloff_s = std::chrono::duration<double>(causal.cooloff).count();
  wish.block_windows = arms.size();
  wish.block_nulls = count(plan::CausalArmKind::kNull);
  wish.block_baselines = count(plan::CausalArmKind::kBaseline);
  wish.control_share = static_cast<double>(wish.block_nulls + count(plan::CausalArmKind::kSlowdown)) /
                       static_cast<double>(arms.size());
  wish.replicates = static_cast<uint64_t>(plan.experiment.replicates);
  wish.control_trials = wish.replicates;
  wish.trial_s = seconds_per_trial;
  wish.alpha = plan.experiment.alpha;
  wish.margin = plan.experiment.margin;
  return analysis::causal_wish_text(wish) + "  a block has " + std::to_string(arms.size()) + " windows; " +
         std::to_string(static_cast<size_t>(causal.pilot) * wish.cells * wish.programs) +
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
  auto store = open_for_reading(arguments);
  if (!store) return complain(store.error());
  const auto row = chosen_experiment(*store, arguments.pilot);
  if (!row) return complain(row.error());
  const auto pilot = engine::pilot_for(*store, *row, *file.plan);
  if (!pilot) return complain(pilot.error());
  analysis::PowerOptions options;
  options.margin = arguments.margin;
  options.power = arguments.power;
  options.planned = static_cast<uint64_t>(file.plan->experiment.replicates);
  options.unknown = pilot->unknown;
  options.json = arguments.json;
  options.width = terminal_width();
  return print(analysis::run_power(pilot->samples, options));
}

}  // namespace stab::ctl
