// What a run says and stores of its experiment as a whole; its trials are stored by experiment_run.cc.
#include "stabd/engine/experiment/live_experiment.h"

#include <utility>

#include "base/wording.h"
#include "plan/short_plan.h"
#include "plan/slicing.h"
#include "store/trial_machine.h"

namespace stab::engine {
namespace {

// Trials name these by their numbers, and those are places in what the plan expands to. A bundle may have been made by anybody.
// pre: rows are in the order of their numbers, and no two have the same
template <typename Row>
Status check_numbers(const std::vector<Row>& rows, size_t of_plan, const char* what) {
  if (rows.empty()) return {};  // nothing is stored yet
  if (rows.size() == of_plan && rows.front().index == 0 && static_cast<size_t>(rows.back().index) + 1 == of_plan) return {};
  return Error{ErrorCode::kCorrupt,
               "the experiment has " + plural(rows.size(), what) + ", up to number " + std::to_string(rows.back().index) +
                   ", and its plan makes " + std::to_string(of_plan) + ": what is stored is not of this plan",
               {}};
}

}  // namespace

Result<std::unique_ptr<LiveExperiment>> LiveExperiment::load(Engine& engine, store::Id id, Observer& observer, StopSignal& stop) {
  STAB_TRY(store::ExperimentRow row, engine.store().experiment(id));
  STAB_TRY(ExpandedPlan expanded, expand_stored(row));
  STAB_TRY(const std::vector<store::SubjectRow> subjects, engine.store().subjects(id));
  STAB_CHECK_OK(check_numbers(subjects, expanded.subjects.size(), "subject"));
  STAB_TRY(const std::vector<store::CellRow> cells, engine.store().cells(id));
  STAB_CHECK_OK(check_numbers(cells, expanded.design.cells.size(), "cell"));
  STAB_TRY(const std::vector<store::BuildRow> builds, engine.store().builds(id));
  STAB_CHECK_OK(check_numbers(builds, expanded.builds.all().size(), "build"));
  if (plan::has_epoch_by_preflight(expanded.plan)) {
    for (const store::CellRow& cell : cells)
      expanded.design.cells[static_cast<size_t>(cell.index)].layout.epoch_ns = static_cast<uint64_t>(cell.epoch_ns);
  }
  // Whether enough is known is decided of all machines' trials, by their controller.
  if (engine.options().share) expanded.plan.stopping.rule = plan::StoppingRule::kFixed;
  return std::unique_ptr<LiveExperiment>(new LiveExperiment(engine, observer, stop, std::move(row), std::move(expanded)));
}

Status LiveExperiment::take_epoch(std::chrono::nanoseconds epoch) {
  STAB_CHECK_OK(store().set_epoch(id(), epoch.count()));
  for (plan::Cell& cell : expanded_.design.cells) cell.layout.epoch_ns = static_cast<uint64_t>(epoch.count());
  return {};
}

const plan::Cell& LiveExperiment::cell_of(const store::TrialRow& trial) const {
  return expanded_.design.cells[static_cast<size_t>(trial.cell)];
}

std::string LiveExperiment::name_of(const store::TrialRow& trial) const {
  return expanded_.subjects[static_cast<size_t>(trial.subject)].name + ", " + cell_of(trial).name;
}

Status LiveExperiment::advance(store::ExperimentEvent event, const std::string& why) {
  STAB_TRY(row_.state, store().advance(row_.id, event, why, now_ns()));
  return {};
}

Status LiveExperiment::resume() {
  STAB_TRY(row_.state, store().resume(row_.id, now_ns()));
  return {};
}

Status LiveExperiment::reject(const std::string& why, store::ExperimentEvent event) {
  STAB_CHECK_OK(note_and_log("rejected", why));
  return advance(event, why);
}

Status LiveExperiment::log(const char* kind, const std::string& text) const {
  return store().log({now_ns(), row_.id, kind, text});
}

Status LiveExperiment::note_and_log(const char* kind, const std::string& text) const {
  note(text);
  return log(kind, text);
}

void LiveExperiment::tell(const store::TrialRow& trial, const store::Outcome& outcome, int64_t done, int64_t planned) const {
  const plan::Cell& cell = cell_of(trial);
  TrialNews news;
  news.kind = trial.kind;
  news.state = step(outcome.state, store::TrialEvent::kStored).state;
  news.subject = expanded_.subjects[static_cast<size_t>(trial.subject)].name;
  news.cell = cell.name;
  if (plan().experiment.blocks != plan::BlockMode::kSliced) {
    news.wall_ns = outcome.wall_ns;
  } else if (!plan::runs_alone(plan(), trial.block) && outcome.user_ns && outcome.system_ns) {
    news.wall_ns = *outcome.user_ns + *outcome.system_ns;
  }
  const bool timed = trial.pass == 0 && !plan().counters.simulation.on();  // a simulator's time is no replicate's
  if (timed) news.layout = plan::layout_of(cell, trial.layout);
  news.failure = outcome.failure;
  news.done = done;
  news.planned = planned;
  observer_->trial_done(news);
}

}  // namespace stab::engine
