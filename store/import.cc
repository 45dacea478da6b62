// Moving an experiment between stores. The other file is attached to our connection, its rows are copied by name
// of column (tables.h); experiment, trials and builds get ids past ours, all other keys are relative to them.
// A bundle may come from a stranger: the file must be a store of this version whose tables are plain tables, and
// our tables' constraints apply to what it holds.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "store/attached.h"
#include "store/schema.h"
#include "store/store_state.h"
#include "store/tables.h"
#include "store/unwritable_place.h"

namespace stab::store {
namespace {

Status check_other(Database& database, const std::string& path) {
  const Status owner = check_owner(database, "other");
  if (!owner) return Error{owner.error().code, "'" + path + "': " + owner.error().message, {}};
  STAB_TRY(const int64_t application, database.integer("PRAGMA other.application_id"));
  if (application != kApplicationId) return corrupt("'" + path + "' is empty, and no store of Stab's");
  STAB_TRY(const int64_t version, database.integer("PRAGMA other.user_version"));
  if (version != kSchemaVersion)
    return Error{ErrorCode::kUnavailable,
                 "'" + path + "' has schema version " + std::to_string(version) + ", expected " +
                     std::to_string(kSchemaVersion) + "; take in what 'stabctl db backup' makes of it, which has this version",
                 {}};
  // A view or a virtual table of the same name would run what the file says. What a table is, SQLite tells, not the
  // text that the file has for it.
  STAB_TRY(const int64_t strange,
           database.integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'other' AND type <> 'table' AND name IN "
                            "(SELECT name FROM main.sqlite_schema WHERE type = 'table')"));
  if (strange != 0) return Error{ErrorCode::kCorrupt, "'" + path + "' has something else than tables where tables belong", {}};
  return {};
}

// Copies a table's rows of one experiment. Ids are replaced, the rest is as it is.
std::string copy_sql(const Table& table, const std::string& from, const std::string& to) {
  std::string columns, values, where = "trial IN (SELECT id FROM other.trials WHERE experiment = " + from + ")", order;
  for (const Column& column : table.columns) {
    std::string value = column.name;
    switch (id_in(table, column.name)) {
      case IdOf::kNothing: break;
      case IdOf::kExperiment:
        value = to;
        where = column.name + " = " + from;
        break;
      case IdOf::kTrial: value = "(SELECT ours FROM import_ids WHERE theirs = " + column.name + ")"; break;
      case IdOf::kRow: order = " ORDER BY " + column.name; continue;
    }
    columns += (columns.empty() ? "" : ", ") + column.name;
    values += (values.empty() ? "" : ", ") + value;
  }
  const std::string name(table.name);
  return "INSERT INTO main." + name + "(" + columns + ") SELECT " + values + " FROM other." + name + " WHERE " + where + order;
}

// Numbers that a store counts up from 0 or 1: it goes on behind the largest, so there has to be room behind it.
struct Counted {
  const char* table;
  const char* columns;
  bool has_trial = false;  // and no experiment
};
constexpr Counted kCounted[] = {
    {"levels", "factor_position, position"},
    {"subjects", "subject"},
    {"cells", "cell"},
    {"builds", "id"},
    {"trials", "id, position, attempt, block"},
    {"regions", "subject, number"},
    {"progress_points", "number"},
    {"windows", "number, position", true},
    {"stretches", "first_block, blocks"},
    {"quarantines", "subject, cell, trial"},
    {"slot_epochs", "slot, epoch"},
    {"parts", "slot, epoch, number, block"},
    {"environments", "number"},
};
// So many trials of 100 bytes would be 100 TB.
constexpr int64_t kMostCounted = int64_t{1} << 40;

Status check_numbers(Database& database, const std::string& path, Id experiment) {
  const std::string of = "experiment = " + std::to_string(experiment);
  for (const Counted& counted : kCounted) {
    const std::string columns = std::string("(0, ") + counted.columns + ")";
    const std::string where = counted.has_trial ? "trial IN (SELECT id FROM other.trials WHERE " + of + ")" : of;
    STAB_TRY(const int64_t wrong,
             database.integer("SELECT count(*) FROM other." + std::string(counted.table) + " WHERE " + where + " AND (min" +
                              columns + " < 0 OR max" + columns + " > " + std::to_string(kMostCounted) + ")"));
    if (wrong != 0)
      return Error{ErrorCode::kCorrupt,
                   "'" + path + "' has " + std::to_string(wrong) + " rows in '" + counted.table +
                       "' with numbers below 0 or above " + std::to_string(kMostCounted) + ", which no store of Stab's gives out",
                   {}};
  }
  return {};
}

// What each trial's id becomes. A copy that we make ourselves keeps them, past ours; a stranger's trials are numbered one after
// the other, so that they take no more of our ids than there are trials, whatever ids they have.
Status number_trials(Database& database, Id experiment, bool is_strangers) {
  STAB_CHECK_OK(
      database.execute("CREATE TEMP TABLE IF NOT EXISTS import_ids(theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL); "
                       "DELETE FROM import_ids"));
  // AUTOINCREMENT ids are never used again, so the next one is past sqlite_sequence, not past max(id).
  STAB_TRY(Statement * number,
           database.prepare("INSERT INTO import_ids SELECT id, coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = "
                            "'trials'), 0) + " +
                            std::string(is_strangers ? "row_number() OVER (ORDER BY id)" : "id") +
                            " FROM other.trials WHERE experiment = ?"));
  return number->run(experiment);
}

// Builds are counted from 0, and whoever reads them uses the number as an index.
Status check_builds(Database& database, Id imported) {
  const std::string of = " WHERE experiment = " + std::to_string(imported);
  const std::string count = "(SELECT count(*) FROM main.builds" + of + ")";
  STAB_TRY(const int64_t wrong,
           database.integer("SELECT (SELECT count(*) FROM main.builds" + of + " AND build NOT BETWEEN 0 AND " + count +
                            " - 1) + (SELECT count(*) FROM main.trials" + of + " AND coalesce(build, -1) NOT BETWEEN 0 AND " +
                            count + " - 1)"));
  if (wrong == 0) return {};
  return Error{ErrorCode::kCorrupt, "the experiment has builds that aren't numbered from 0", {}};
}

}  // namespace

Result<Id> Store::import_experiment(const std::string& other_path, Id experiment, std::optional<Importer> importer) {
  Database& database = state_->database;
  if (database.in_transaction())
    return Error{ErrorCode::kInternal, "an import can't be part of another transaction", {}};
  std::error_code code;
  if (!std::filesystem::is_regular_file(other_path, code))
    return Error{ErrorCode::kNotFound, "'" + other_path + "' does not exist", {}};
  if (needs_unwritable_files(other_path)) return unwritable_place(other_path);
  STAB_TRY(const Attached other, Attached::open(database, other_path, Database::Attach::kReadOnly));
  STAB_CHECK_OK(check_other(database, other_path));
  const uintmax_t bytes = std::filesystem::file_size(other_path, code);
  if (code) return system_error("stat '" + other_path + "'", code.value());

  Id imported = 0;
  const Status done = state_->atomically([&]() -> Status {
    STAB_CHECK_OK(check_numbers(database, other_path, experiment));
    STAB_TRY(const int64_t last, database.integer("SELECT coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = "
                                                  "'experiments'), 0)"));
    imported = last + 1;
    STAB_CHECK_OK(number_trials(database, experiment, importer.has_value()));
    for (const Table& table : tables_of_experiment()) {
      STAB_TRY(Statement * insert,
               database.prepare(copy_sql(table, std::to_string(experiment), std::to_string(imported))));
      STAB_CHECK_OK(insert->run());
      if (table.name == "experiments" && database.changes() != 1) return not_found("experiment", experiment);
    }
    STAB_CHECK_OK(check_builds(database, imported));
    // Counted here, not believed.
    STAB_TRY(
        Statement * count,
        database.prepare("INSERT INTO main.trial_counts SELECT experiment, kind, superseded, state, count(*) FROM main.trials "
                         "WHERE experiment = ? GROUP BY kind, superseded, state"));
    STAB_CHECK_OK(count->run(imported));
    if (!importer) return {};
    // What a stranger says that it takes is not believed: at most its file's bytes, and it had no time on this machine.
    STAB_TRY(Statement * usage,
             database.prepare("INSERT OR REPLACE INTO main.usage SELECT ?1, ?2, count(*), ?3, 0 FROM main.trials "
                              "WHERE experiment = ?1 AND kind = 'main' AND superseded = 0"));
    STAB_CHECK_OK(usage->run(imported, importer->uid, static_cast<int64_t>(bytes)));
    STAB_TRY(Statement * own,
             database.prepare("UPDATE main.experiments SET submitter_uid = ?, submitter_gid = ?, priority = 0 WHERE id = ?"));
    STAB_CHECK_OK(own->run(importer->uid, importer->gid, imported));
    STAB_TRY(const ExperimentSummary row, summary(imported));
    STAB_TRY(const ExperimentState state, state_->advance(imported, ExperimentEvent::kImport, row.failure, 0));
    (void)state;
    return {};
  });
  if (!done) return done.error();
  STAB_CHECK_OK(state_->checkpoint_if_large());
  return imported;
}

Status Store::bundle(Id experiment, const std::string& path) {
  std::error_code code;
  if (std::filesystem::exists(path, code)) return bad_input("bundle '" + path + "' exists already; choose another path");
  STAB_TRY(const ExperimentRow row, this->experiment(experiment));
  (void)row;
  // Made under a name that is nobody's; whatever fails leaves nothing.
  const std::string part = path + ".part-" + std::to_string(::getpid());
  if (std::filesystem::exists(part, code)) return bad_input("'" + part + "' exists already; remove it");
  const std::string whole = part + "-all";  // a file of what we read from a copy, as files alone can be attached
  const auto clear = [&] {
    for (const char* end : {"", "-wal", "-shm", "-journal", ".writer"})
      for (const std::string& file : {part, whole}) ::unlink((file + end).c_str());
  };
  const Status made = [&]() -> Status {
    STAB_TRY(Store copy, open(part, Access::kWrite));
    if (state_->is_copy) STAB_CHECK_OK(backup(whole));
    STAB_TRY(const Id id, copy.import_experiment(state_->is_copy ? whole : state_->path, experiment));
    (void)id;
    // WAL would want its files beside it, also from a reader who can't make any.
    return copy.state_->database.execute("PRAGMA journal_mode = DELETE");
  }();
  Status done = made;
  if (done && ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0)
    done = system_error("make bundle '" + path + "'", errno);
  clear();
  return done;
}

}  // namespace stab::store
