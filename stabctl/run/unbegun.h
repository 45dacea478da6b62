// What a command of one line has submitted and could not begin.
#pragma once

#include "base/result.h"
#include "store/store.h"

namespace stab::ctl {

// Takes it out of the database: who asks again submits another, and nothing resumes this one. What has begun stays.
inline void take_back_unbegun(store::Store& store, store::Id experiment) {
  const auto row = store.experiment(experiment);
  if (row && row->state == store::ExperimentState::kSubmitted) (void)store.delete_experiment(experiment).ok();
}

// The same where running it has failed. `end`: what came of that
template <class End>
Result<End> begun_or_taken_back(store::Store& store, store::Id experiment, Result<End> end) {
  if (!end) take_back_unbegun(store, experiment);
  return end;
}

}  // namespace stab::ctl
