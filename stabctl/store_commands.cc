// Care of a database and of what it holds: db check | backup | vacuum, logs, delete, rerun. None of them runs a
// program; those that write wait for no engine, they say that one has the database.
#include <cstdio>
#include <ctime>

#include "stabctl/commands.h"
#include "stabctl/database.h"

namespace stab::ctl {
namespace {

int done_or(const Status& status) { return status.ok() ? kExitDone : complain(status.error()); }

std::string date_text(int64_t realtime_ns) {
  const time_t seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

}  // namespace

int db_check_command(const Arguments& arguments) {
  auto store = open_for_reading(arguments);
  if (!store) return complain(store.error());
  const auto problems = store->check();
  if (!problems) return complain(problems.error());
  for (const std::string& problem : *problems) std::printf("%s\n", printable(problem).c_str());
  if (problems->empty()) std::printf("no problem found\n");
  return problems->empty() ? kExitDone : kExitFailed;
}

int db_backup_command(const Arguments& arguments) {
  auto store = open_for_reading(arguments);
  if (!store) return complain(store.error());
  return done_or(store->backup(arguments.path));
}

int db_vacuum_command(const Arguments& arguments) {
  auto store = open_for_writing(arguments);
  if (!store) return complain(store.error());
  return done_or(store->vacuum());
}

int logs_command(const Arguments& arguments) {
  auto store = open_for_reading(arguments);
  if (!store) return complain(store.error());
  const auto row = chosen_experiment(*store, arguments.experiment);
  if (!row) return complain(row.error());
  const auto builds = store->builds(row->id);
  if (!builds) return complain(builds.error());
  for (const store::BuildRow& build : *builds)
    std::printf("build %s: %s\n%s", printable(build.name).c_str(), std::string(store::name(build.state)).c_str(),
                printable(build.log).c_str());
  const auto events = store->events(row->id);
  if (!events) return complain(events.error());
  for (const store::EventRow& event : *events)
    std::printf("%s  %-16s %s\n", date_text(event.at_ns).c_str(), printable(event.kind).c_str(), printable(event.text).c_str());
  const auto trials = store->trials(row->id, {});
  if (!trials) return complain(trials.error());
  for (const store::TrialRow& trial : *trials) {
    if (trial.state != store::TrialState::kFailed && trial.state != store::TrialState::kTimeout &&
        trial.state != store::TrialState::kLost)
      continue;
    const auto outcome = store->outcome(trial.id);
    if (!outcome) return complain(outcome.error());
    std::printf("trial %lld, attempt %d: %s: %s\n%s%s", static_cast<long long>(trial.id), trial.attempt,
                std::string(store::name(trial.state)).c_str(), printable(outcome->failure).c_str(),
                printable(outcome->stdout_head).c_str(), printable(outcome->stderr_head).c_str());
  }
  return kExitDone;
}

int delete_command(const Arguments& arguments) {
  auto store = open_for_writing(arguments);
  if (!store) return complain(store.error());
  const auto row = chosen_experiment(*store, arguments.experiment);
  if (!row) return complain(row.error());
  return done_or(store->delete_experiment(row->id));
}

int rerun_command(const Arguments& arguments) {
  auto store = open_for_writing(arguments);
  if (!store) return complain(store.error());
  const auto planned = store->rerun(arguments.trial);
  if (!planned) return complain(planned.error());
  std::printf("planned again as trial %lld; 'stabctl resume' runs it\n", static_cast<long long>(*planned));
  return kExitDone;
}

}  // namespace stab::ctl
