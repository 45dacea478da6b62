// A replay is an experiment as any other: the plan of its trial, with a table behind it. What the table can't say, which binaries
// ran, is read off the experiment of the trial, and only where both are of one user: a hash alone opens nobody's binary.
#include "stabd/engine/results/replay_of.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/layout_replay.h"
#include "plan/parse.h"
#include "stabd/engine/build/expand.h"

namespace stab::engine {
namespace {

plan::ScreenKey key_of(const store::ExperimentRow& row) { return {row.name, row.submitted_at_ns, 0}; }

// What the trial's first response differs by from the mean of the others of its cell, on the response's scale.
Result<std::optional<double>> excess_of(store::Store& store, const store::TrialRow& trial, const plan::Response& response) {
  STAB_TRY(const std::vector<store::SampleRow> rows, store.samples(trial.experiment, response.name));
  double sum = 0;
  int count = 0;
  std::optional<double> own;
  for (const store::SampleRow& row : rows) {
    if (row.subject != trial.subject || row.cell != trial.cell || !row.value) continue;
    if (response.scale == plan::Scale::kLog && *row.value <= 0) continue;
    const double value = response.scale == plan::Scale::kLog ? std::log(*row.value) : *row.value;
    if (row.trial == trial.id) {
      own = value;
    } else if (!row.excluded) {
      sum += value;
      ++count;
    }
  }
  if (!own || count == 0 || !std::isfinite(*own - sum / count)) return std::optional<double>();
  return std::optional(*own - sum / count);
}

std::string number(store::Id id) { return std::to_string(id); }

// Each replay of a trial draws other fresh layouts. Only the user's own replays count: the lines are no secret.
Result<int> next_draw(store::Store& store, const std::string& lines, int64_t uid) {
  STAB_TRY(const auto before, store.experiments_whose_plan_has(lines, uid));
  int last = 0;
  for (const store::ExperimentRow& row : before) last = std::max(last, plan::draw_in(row.plan_text, lines));
  return std::min(last + 1, plan::kMostReplays);
}

// What of a replay is its trial's.
Result<plan::LayoutReplay> layout_of(const store::ExperimentRow& row, const ExpandedPlan& expanded,
                                     const store::TrialRow& trial) {
  if (trial.cell < 0 || static_cast<size_t>(trial.cell) >= expanded.design.cells.size() || trial.subject < 0 ||
      static_cast<size_t>(trial.subject) >= expanded.subjects.size())
    return Error{ErrorCode::kCorrupt, "trial " + number(trial.id) + " is of a cell that the plan doesn't make", {}};
  plan::LayoutReplay replay;
  replay.of = key_of(row);
  replay.trial = trial.id;
  replay.workload = expanded.subjects[static_cast<size_t>(trial.subject)].name;
  replay.seed = trial.seed;
  replay.link = trial.link;
  const plan::Cell& cell = expanded.design.cells[static_cast<size_t>(trial.cell)];
  for (size_t f = 0; f < expanded.plan.factors.size(); ++f) {
    const plan::Factor& factor = expanded.plan.factors[f];
    replay.levels[factor.name] = factor.levels[static_cast<size_t>(cell.levels[f])].name;
  }
  return replay;
}

// A table that was written by hand may name a link that nothing was built with, or stand behind another plan, whose programs are
// others. What nobody has recorded of the trial is taken as it stands there.
Result<store::TrialRow> trial_that_wrote(store::Store& store, const store::ExperimentRow& of, const ExpandedPlan& then,
                                         const plan::LayoutReplay& how, const plan::Plan& plan) {
  auto trial = store.trial(how.trial);
  if (trial && trial->experiment == of.id) {
    STAB_TRY(plan::LayoutReplay written, layout_of(of, then, *trial));
    written.times = how.times;
    written.draw = how.draw;
    written.excess = how.excess;
    if (plan::replay_text(then.plan, written) == plan.text) return trial;
  }
  return bad_input("[layout.replay] is not what belongs to trial " + number(how.trial) + " of '" + of.name +
                   "': let 'stabctl replay " + number(how.trial) + " --times " + std::to_string(how.times) + "' write it");
}

}  // namespace

Result<ReplayPlan> replay_plan(store::Store& store, store::Id id, int times) {
  if (times < 2 || times > plan::kMostReplays)
    return bad_input("'" + std::to_string(times) + "' times: expected 2 to " + std::to_string(plan::kMostReplays));
  STAB_TRY(const store::TrialRow trial, store.trial(id));
  STAB_TRY(store::ExperimentRow row, store.experiment(trial.experiment));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  const std::string name = "trial " + number(id);
  if (trial.kind != store::TrialKind::kMain)
    return bad_input(name + " is no trial of the schedule, so it is no part of what its report says; name one that the page "
                            "shows");
  if (trial.state != store::TrialState::kRecorded)
    return bad_input(name + " was not recorded, it is " + std::string(store::name(trial.state)) +
                     ": there is no time of it to explain; 'stabctl output " + number(id) + "' says what befell it");
  if (expanded.plan.layout.replay || expanded.plan.layout.confirms || expanded.plan.layout.verification)
    return bad_input("experiment " + number(row.id) + " is written by the engine; replay a trial of '" +
                     (expanded.plan.layout.replay ? expanded.plan.layout.replay->of.name : "the plan that it came from") + "'");
  STAB_TRY(plan::LayoutReplay replay, layout_of(row, expanded, trial));
  replay.times = times;
  STAB_TRY(replay.excess, excess_of(store, trial, expanded.plan.experiment.responses[0]));
  STAB_TRY(replay.draw, next_draw(store, plan::replay_lines(replay.of, id), row.submitter_uid));
  plan::Parsed parsed = plan::parse_plan(plan::replay_text(expanded.plan, replay), row.plan_path);
  if (!parsed.plan) {
    std::string why;
    for (const toml::Diagnostic& fault : parsed.errors) why += (why.empty() ? "" : "; ") + fault.message + ": " + fault.hint;
    return bad_input(name + " can't be compared with fresh layouts: " + why);
  }
  return ReplayPlan{*std::move(parsed.plan), std::move(row)};
}

Result<store::ExperimentRow> replayed_experiment(store::Store& store, const store::ExperimentRow& replay,
                                                 const plan::LayoutReplay& how) {
  STAB_TRY(const std::vector<store::ExperimentSummary> all, store.summaries(replay.submitter_uid));
  for (const store::ExperimentSummary& one : all)
    if (one.name == how.of.name && one.submitted_at_ns == how.of.submitted_ns) return store.experiment(one.id);
  return Error{ErrorCode::kNotFound,
               "this replays trial " + number(how.trial) + " of '" + how.of.name + "', and no such experiment of user " +
                   std::to_string(replay.submitter_uid) + " is in this database, so its program is unknown; import that "
                                                          "experiment, too",
               {}};
}

Result<std::vector<store::BuildRow>> replayed_builds(store::Store& store, const store::ExperimentRow& of,
                                                     const plan::LayoutReplay& how, const plan::Plan& plan,
                                                     std::vector<std::string>& first_words) {
  STAB_TRY(const ExpandedPlan then, expand_stored(of));
  STAB_TRY(const store::TrialRow trial, trial_that_wrote(store, of, then, how, plan));
  STAB_TRY(const plan::Design design, plan::make_design(plan));
  STAB_TRY(const std::vector<store::BuildRow> recorded, store.builds(of.id));
  const plan::Subject& subject = then.subjects[static_cast<size_t>(trial.subject)];
  const plan::Cell& cell = then.design.cells[static_cast<size_t>(trial.cell)];
  const plan::Command& first = then.plan.programs[static_cast<size_t>(subject.program)].workloads[0].run;
  std::vector<store::BuildRow> out;
  const plan::BuildSet builds = plan::make_builds(plan, design);
  for (const plan::Build& build : builds.all()) {
    const auto index = static_cast<size_t>(then.builds.of(subject.program, cell.index, build.link));
    if (index >= recorded.size())
      return Error{ErrorCode::kCorrupt, "'" + of.name + "' has not recorded what it built for trial " + number(trial.id), {}};
    out.push_back(recorded[index]);
    first_words.push_back(plan::substitute(first, then.plan, cell, build.link).argv[0]);
  }
  return out;
}

std::vector<std::string> machine_differences(store::Store& store, const store::ExperimentRow& of, const plan::LayoutReplay& how,
                                             const std::map<std::string, std::string>& now) {
  std::map<std::string, std::string> then;
  if (const auto facts = store.host_facts(of.id)) then = *facts;
  // Of several machines, the one that ran the trial's block.
  const auto trial = store.trial(how.trial);
  const auto parts = store.parts(of.id);
  const auto epochs = store.slot_epochs(of.id);
  if (trial && trial->experiment == of.id && parts && epochs)
    for (const store::PartRow& part : *parts)
      for (const store::SlotEpochRow& row : *epochs)
        if (part.block == trial->block && part.fate == store::PartFate::kRecorded && row.slot == part.slot &&
            row.epoch == part.epoch)
          then = row.facts;
  std::vector<std::string> out;
  for (const char* fact : {"cpu.model", "machine", "cpu.microcode", "cpu.smt", "kernel.release", "host.name"}) {
    const auto before = std::as_const(then).find(fact), after = now.find(fact);
    if (before == then.end() || after == now.end() || before->second == after->second) continue;
    out.push_back(std::string(fact) + ": " + before->second + " then, " + after->second + " now");
  }
  return out;
}

}  // namespace stab::engine
