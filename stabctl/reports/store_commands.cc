// Care of a database and of what it holds: db check | backup | vacuum, logs, delete, rerun. None of them runs a
// program; those that write wait for no engine, they say that one has the database.
#include <cstdio>

#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabd/engine/results/log_text.h"

namespace stab::ctl {
namespace {

int done_or(const Status& status) { return status.ok() ? kExitDone : complain(status.error()); }

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
  auto store = open_for_changes(arguments);
  if (!store) return complain(store.error());
  return done_or(store->vacuum());
}

int logs_command(const Arguments& arguments) {
  if (!arguments.socket.empty()) return daemon_logs_command(arguments);
  auto stored = open_experiment(arguments, arguments.experiment);
  if (!stored) return complain(stored.error());
  const auto text = engine::log_text(stored->store, stored->row.id);
  if (!text) return complain(text.error());
  std::fputs(text->c_str(), stdout);
  return kExitDone;
}

int delete_command(const Arguments& arguments) {
  if (!arguments.socket.empty()) return daemon_delete_command(arguments);
  auto store = open_for_changes(arguments);
  if (!store) return complain(store.error());
  const auto row = chosen_experiment(*store, arguments.experiment);
  if (!row) return complain(row.error());
  return done_or(store->delete_experiment(row->id));
}

int rerun_command(const Arguments& arguments) {
  if (!arguments.socket.empty()) return daemon_rerun_command(arguments);
  auto store = open_for_changes(arguments);
  if (!store) return complain(store.error());
  const auto planned = store->rerun(arguments.trial);
  if (!planned) return complain(planned.error());
  std::printf("planned again as trial %lld; it runs with: stabctl resume%s\n", static_cast<long long>(*planned),
              database_option(arguments).c_str());
  return kExitDone;
}

}  // namespace stab::ctl
