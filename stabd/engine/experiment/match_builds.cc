#include "stabd/engine/experiment/match_builds.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "plan/matched_layouts.h"
#include "plan/schedule.h"
#include "stabd/engine/results/match_tables.h"

namespace stab::engine {

Status match_layouts(LiveExperiment& experiment, TrialRunner& runner, const store::ExperimentRow& of) {
  const plan::Plan& plan = experiment.plan();
  // What was recorded by an earlier version ran in layouts of its own, and so does its replay.
  const bool may_match = of.schedule_version == 0 || of.schedule_version >= plan::kMatchingScheduleVersion;
  if (plan.experiment.layouts != plan::Layouts::kMatched || !may_match) return {};
  const auto& cells = experiment.expanded().design.cells;
  const bool places = std::any_of(cells.begin(), cells.end(),
                                  [](const plan::Cell& cell) { return plan::is_placed_by_table(cell.layout.code); });
  const LayoutTool tool = layout_tool(experiment.options(), experiment.row(), experiment.gate(), experiment.stop().now_fd());
  const Archive archive(archive_beside(experiment.options().database));
  for (size_t program = 0; program < plan.programs.size(); ++program) {
    ProgramMatch match;
    const std::string& name = plan.programs[program].name;
    if (places) {
      STAB_TRY(match, match_program(experiment.store(), of.id, name, archive, tool));
      if (match.line.empty())
        STAB_CHECK_OK(experiment.note_and_log(
            kMatchedLayouts,
            name + ": its code is drawn alone in each build, as " + kNoMatchTable + match.why_not + kRestIsMatched));
      else
        STAB_CHECK_OK(
            experiment.log(kMatchedLayouts, name + ": " + match.line + " of " + std::to_string(match.builds) + " builds"));
    }
    runner.match(static_cast<int>(program), {std::move(match.line), std::make_shared<const std::string>(std::move(match.rows))});
  }
  return {};
}

}  // namespace stab::engine
