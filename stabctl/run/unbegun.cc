// An experiment can't be deleted where the database can't be written, and that is mostly why a command ends without an answer. So
// whoever took it back in silence would leave something in `list` that nobody knows of.
#include "stabctl/run/unbegun.h"

#include <cstdio>
#include <string>

#include "stabctl/records/database.h"

namespace stab::ctl {
namespace {

// "stabctl delete 7 --db lab.db"
std::string command(const char* verb, store::Id experiment, const Arguments& arguments) {
  return std::string("stabctl ") + verb + " " + std::to_string(experiment) + database_option(arguments);
}

}  // namespace

Result<bool> is_without_runs(store::Store& store, store::Id experiment) {
  using State = store::TrialState;
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const store::Progress progress, store.progress(experiment));
  int64_t waiting = 0;
  for (const State state : {State::kPlanned, State::kClaimed, State::kLost, State::kCancelled}) waiting += progress.count(state);
  return !store::is_over(row.state) && waiting == progress.attempts;
}

bool deleted_or_said(store::Store& store, store::Id experiment, const Arguments& arguments) {
  const Status gone = store.delete_experiment(experiment);
  if (gone || gone.error().code == ErrorCode::kNotFound) return true;
  if (!arguments.is_database_temporary)
    std::fprintf(stderr, "experiment %lld stays in the database; once that can be written, this removes it: %s\n",
                 static_cast<long long>(experiment), command("delete", experiment, arguments).c_str());
  return false;
}

void take_back_without_runs(store::Store& store, store::Id experiment, const Arguments& arguments) {
  const Result<bool> is_empty = is_without_runs(store, experiment);
  if (is_empty ? *is_empty : is_empty.error().code != ErrorCode::kNotFound) deleted_or_said(store, experiment, arguments);
}

void take_back_or_say(store::Store& store, store::Id experiment, const Arguments& arguments) {
  const Result<bool> is_empty = is_without_runs(store, experiment);
  if (!is_empty || *is_empty) return take_back_without_runs(store, experiment, arguments);
  const auto row = store.experiment(experiment);
  if (arguments.is_database_temporary || (row && store::is_over(row->state))) return;
  std::fprintf(stderr, "experiment %lld keeps the runs that it has; to go on with it: %s; to remove it: %s\n",
               static_cast<long long>(experiment), command("resume", experiment, arguments).c_str(),
               command("delete", experiment, arguments).c_str());
}

}  // namespace stab::ctl
