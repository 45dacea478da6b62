// What a command of one line has submitted, and of which no run has ended.
#pragma once

#include "base/result.h"
#include "stabctl/command_line/arguments.h"
#include "store/store.h"

namespace stab::ctl {

// Whether nothing of it has come to an end, well or not: no run, and not the whole.
Result<bool> is_without_runs(store::Store& store, store::Id experiment);

// Takes such a one out of the database: who asks again submits another, and `resume` would go on with what nobody waits for. What
// is built for it stays, and serves who asks again. What has runs, or was refused, stays. Where the database can't be written, as
// on a full disk, standard error says what does it later.
void take_back_without_runs(store::Store& store, store::Id experiment, const Arguments& arguments);

// The same where its command ends without an answer: of what has runs and isn't over, too, standard error says what can be done.
void take_back_or_say(store::Store& store, store::Id experiment, const Arguments& arguments);

// Takes any one out; says what does it later where that fails. Whether it is gone.
bool deleted_or_said(store::Store& store, store::Id experiment, const Arguments& arguments);

// take_back_or_say() where running it has failed. `end`: what came of that
template <class End>
Result<End> begun_or_taken_back(store::Store& store, store::Id experiment, const Arguments& arguments, Result<End> end) {
  if (!end) take_back_or_say(store, experiment, arguments);
  return end;
}

}  // namespace stab::ctl
