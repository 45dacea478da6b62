#include "stabd/engine/experiment/match_builds.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/wording.h"
#include "plan/matched_layouts.h"
#include "plan/schedule.h"
#include "stabd/engine/results/match_tables.h"

namespace stab::engine {
namespace {

// The files that one build of a program is run as, where it is several: a table knows the first of them alone. Empty: one file.
std::set<std::string> files_of_one_build(const ExpandedPlan& expanded, size_t program) {
  std::map<int, std::set<std::string>> by_build;
  const plan::Plan& plan = expanded.plan;
  for (const plan::Cell& cell : expanded.design.cells) {
    if (!plan::is_placed_by_table(cell.layout.code)) continue;
    const int build = expanded.builds.of(static_cast<int>(program), cell.index, 0);
    if (build < 0) continue;
    for (const plan::Workload& workload : plan.programs[program].workloads)
      by_build[build].insert(plan::substitute(workload.run, plan, cell, 0).argv[0]);
  }
  const auto several = std::find_if(by_build.begin(), by_build.end(), [](const auto& one) { return one.second.size() > 1; });
  return several == by_build.end() ? std::set<std::string>() : several->second;
}

// Why no table can be made of them, and what to write.
std::string why_of_one_build(const plan::Program& program, const std::set<std::string>& files) {
  const std::string& word = program.workloads[0].run.argv[0];
  return in_quotes(*files.begin()) + " and " + in_quotes(*files.rbegin()) + " are programs of one build" +
         (program.build.empty() ? "; build = [\"true\", \"" + word + "\"] makes a build of each, as 'stabctl compare' does"
                                : "; name " + word + " in its build command, so that each has a build of its own");
}

std::string renamed_text(size_t functions) {
  if (functions == 0) return "";
  return "; " + plural(functions, "function") + " of another name by what is in " + (functions == 1 ? "it" : "them");
}

}  // namespace

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
      const std::set<std::string> files = files_of_one_build(experiment.expanded(), program);
      if (files.empty()) {
        STAB_TRY(match, match_program(experiment.store(), of.id, name, archive, tool));
      } else {
        match.why_not = why_of_one_build(plan.programs[program], files);
      }
      if (match.line.empty())
        STAB_CHECK_OK(experiment.note_and_log(
            kMatchedLayouts,
            name + ": its code is drawn alone in each build, as " + kNoMatchTable + match.why_not + kRestIsMatched));
      else
        STAB_CHECK_OK(
            experiment.log(kMatchedLayouts, name + ": " + match.line + " of " + std::to_string(match.builds) + " builds" +
                                                renamed_text(match.renamed.size())));
    }
    runner.match(static_cast<int>(program), {std::move(match.line), std::make_shared<const std::string>(std::move(match.rows))});
  }
  return {};
}

}  // namespace stab::engine
