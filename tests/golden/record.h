// An experiment that is done without having been run: its plan expanded as the engine does it, its trials recorded with
// outcomes that the caller makes up. With fewer trials recorded than there are it is left as it was, running.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "stabd/engine/build/expand.h"
#include "store/store.h"

namespace stab {

// fill: sets what its test is about; times of day, exit status and an undisturbed ledger are there already.
using FillOutcome = std::function<void(const store::TrialRow& trial, const plan::Cell& cell, store::Outcome& outcome)>;

inline Result<store::Id> record_experiment(store::Store& store, plan::Plan plan, const FillOutcome& fill,
                                           int64_t submitted_at_ns = 1'700'000'000'000'000'000,
                                           size_t most = SIZE_MAX) {
  STAB_TRY(const engine::ExpandedPlan expanded, engine::expand(std::move(plan)));
  STAB_TRY(store::Transaction all, store.begin());
  store::NewExperiment row;
  row.name = expanded.plan.experiment.name;
  row.plan_text = expanded.plan.text;
  row.plan_path = "made-up";
  row.plan_directory = "/nowhere";
  row.seed = expanded.plan.experiment.seed;
  row.submitted_at_ns = submitted_at_ns;
  STAB_TRY(const store::Id experiment, store.add_experiment(row));
  store::Store::Expansion rows = engine::rows_of(expanded);
  const plan::Schedule schedule = plan::make_schedule(expanded.plan, expanded.design);
  rows.trials = engine::rows_of(expanded, schedule);
  if (expanded.plan.experiment.preflight)
    rows.preflight = engine::rows_of(expanded, plan::make_preflight(expanded.plan, expanded.design));
  rows.schedule_fingerprint = plan::fingerprint(schedule);
  STAB_CHECK_OK(store.expand(experiment, rows));
  store::Store::TrialFilter main_trials;
  main_trials.kind = store::TrialKind::kMain;
  STAB_TRY(auto trials, store.trials(experiment, main_trials));
  const bool is_whole = most >= trials.size();
  if (!is_whole) trials.resize(most);
  for (const store::TrialRow& trial : trials) {
    store::Outcome outcome;
    outcome.trial = trial.id;
    outcome.started_at_ns = row.submitted_at_ns + trial.order * 1'000'000'000ll;
    outcome.exit_status = 0;
    for (std::string_view key : plan::kLedgerKeys) outcome.ledger[std::string(key)] = 0;
    fill(trial, expanded.design.cells[static_cast<size_t>(trial.cell)], outcome);
    outcome.finished_at_ns = outcome.started_at_ns + outcome.wall_ns.value_or(0);
    STAB_CHECK_OK(store.claim(trial.id, {"made-up", outcome.started_at_ns}));
    STAB_TRY([[maybe_unused]] const auto replaced, store.finish(outcome, 1));
  }
  for (const store::ExperimentEvent event : {store::ExperimentEvent::kRun, store::ExperimentEvent::kFinish}) {
    if (event == store::ExperimentEvent::kFinish && !is_whole) continue;
    STAB_TRY([[maybe_unused]] const auto state, store.advance(experiment, event, "", row.submitted_at_ns));
  }
  STAB_CHECK_OK(all.commit());
  return experiment;
}

}  // namespace stab
