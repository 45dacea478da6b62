// Order and seeds are persisted before the first trial, so that any resume yields the same sequence. Everything
// here is a pure function of the plan's text.
#include "stabd/engine/build/expand.h"

#include <sstream>

#include "base/wording.h"
#include "counters/events.h"
#include "plan/parse.h"
#include "plan/schedule.h"

namespace stab::engine {
namespace {

store::CellRow row_of(const plan::Plan& plan, const plan::Cell& cell) {
  store::CellRow row;
  row.index = cell.index;
  row.name = cell.name;
  row.code = abi::kCodeWords[static_cast<int>(cell.layout.code)];
  row.stack = abi::kStackWords[static_cast<int>(cell.layout.stack)];
  row.heap = abi::kHeapWords[static_cast<int>(cell.layout.heap)];
  row.epoch_ns = static_cast<int64_t>(cell.layout.epoch_ns);
  row.env_size_bytes = static_cast<int64_t>(cell.layout.env_size_bytes);
  for (size_t i = 0; i < plan.factors.size(); ++i)
    row.levels[plan.factors[i].name] = plan.factors[i].levels[static_cast<size_t>(cell.levels[i])].name;
  return row;
}

std::string command_text(const plan::Command& command) {
  std::string text;
  for (const std::string& word : command.argv) text += (text.empty() ? "" : " ") + word;
  return text;
}

store::NewTrial row_of(const ExpandedPlan& expanded, const plan::PlannedTrial& planned) {
  store::NewTrial row;
  row.order = planned.order;
  row.subject = static_cast<int>(planned.subject);
  row.cell = static_cast<int>(planned.cell);
  row.build = expanded.builds.of(expanded.subjects[planned.subject].program, row.cell, planned.link);
  row.block = planned.block;
  row.run = planned.run;
  row.pass = planned.pass;
  row.link = planned.link;
  row.seed = planned.seed;
  row.layout = planned.layout;
  return row;
}

}  // namespace

const plan::Program& ExpandedPlan::program_of(int subject) const {
  return plan.programs[static_cast<size_t>(subjects[static_cast<size_t>(subject)].program)];
}

const plan::Workload& ExpandedPlan::workload_of(int subject) const {
  return program_of(subject).workloads[static_cast<size_t>(subjects[static_cast<size_t>(subject)].workload)];
}

Result<ExpandedPlan> expand(plan::Plan plan) {
  ExpandedPlan expanded;
  STAB_TRY(expanded.design, plan::make_design(plan));
  expanded.subjects = plan::subjects(plan);
  expanded.builds = plan::make_builds(plan, expanded.design);
  expanded.plan = std::move(plan);
  return expanded;
}

Result<ExpandedPlan> expand_stored(const store::ExperimentRow& row) {
  plan::ParseOptions options;
  options.stored = true;
  if (row.schedule_version > 0) options.schedule_version = row.schedule_version;
  plan::Parsed parsed = plan::parse_plan(row.plan_text, row.plan_path, options);
  if (!parsed.plan)
    return Error{ErrorCode::kCorrupt, "the stored plan no longer parses: " + toml::render(parsed.errors), {}};
  return expand(std::move(*parsed.plan));
}

std::vector<toml::Diagnostic> event_faults(const plan::Plan& plan) {
  std::vector<toml::Diagnostic> faults;
  const plan::Counters& counters = plan.counters;
  for (size_t i = 0; i < counters.events.size(); ++i) {
    const auto resolved = counters::resolve({counters.events[i]});
    if (resolved) continue;
    SourceSpot spot = i < counters.spots.size() ? counters.spots[i] : SourceSpot();
    spot.file = plan.path;
    faults.push_back(toml::diagnostic_at(plan.text, spot, resolved.error().message,
                                         did_you_mean(counters.events[i], counters::known_events())));
  }
  return faults;
}

store::Store::Expansion rows_of(const ExpandedPlan& expanded) {
  const plan::Plan& plan = expanded.plan;
  store::Store::Expansion rows;
  for (const plan::Factor& factor : plan.factors) {
    store::FactorRow row{factor.name, {}};
    for (const plan::Level& level : factor.levels) row.levels.push_back(level.name);
    rows.factors.push_back(std::move(row));
  }
  for (size_t i = 0; i < expanded.subjects.size(); ++i) {
    const int index = static_cast<int>(i);
    rows.subjects.push_back(
        {index, expanded.subjects[i].name, expanded.program_of(index).name, expanded.workload_of(index).name});
  }
  for (const plan::Cell& cell : expanded.design.cells) rows.cells.push_back(row_of(plan, cell));
  for (const plan::Build& build : expanded.builds.all()) {
    store::BuildRow row;
    row.index = build.index;
    row.name = build.name;
    row.program = plan.programs[static_cast<size_t>(build.program)].name;
    row.link = build.link;
    row.command = command_text(build.command);
    rows.builds.push_back(std::move(row));
  }
  rows.schedule_version = plan::kScheduleVersion;
  rows.replicates = plan.experiment.replicates;
  return rows;
}

std::vector<store::NewTrial> rows_of(const ExpandedPlan& expanded, const plan::Schedule& schedule) {
  std::vector<store::NewTrial> rows;
  rows.reserve(schedule.trials.size());
  for (const plan::PlannedTrial& planned : schedule.trials) rows.push_back(row_of(expanded, planned));
  return rows;
}

}  // namespace stab::engine
