// What a command of one line has submitted, and of which no run has ended.
#pragma once

#include "base/result.h"
#include "store/store.h"

namespace stab::ctl {

// Whether nothing of it has come to an end, well or not: no run, and not the whole.
inline Result<bool> is_without_runs(store::Store& store, store::Id experiment) {
  using State = store::TrialState;
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const store::Progress progress, store.progress(experiment));
  int64_t waiting = 0;
  for (const State state : {State::kPlanned, State::kClaimed, State::kLost, State::kCancelled}) waiting += progress.count(state);
  return !store::is_over(row.state) && waiting == progress.attempts;
}

// Takes such a one out of the database: who asks again submits another, and `resume` would go on with what nobody waits for. What
// is built for it stays, and serves who asks again. What has runs, or was refused, stays.
inline void take_back_without_runs(store::Store& store, store::Id experiment) {
  const Result<bool> is_empty = is_without_runs(store, experiment);
  if (is_empty && *is_empty) (void)store.delete_experiment(experiment).ok();
}

// The same where running it has failed. `end`: what came of that
template <class End>
Result<End> begun_or_taken_back(store::Store& store, store::Id experiment, Result<End> end) {
  if (!end) take_back_without_runs(store, experiment);
  return end;
}

}  // namespace stab::ctl
