// Experiments whose blocks run on other machines. Each slot, a share of the blocks, is run by one worker at a time on a store
// of its own; a finished block comes back as a part, a small SQLite file with all attempts at its places.
//
// Execution is at least once, since a machine may be lost after it ran a block; recording is exactly once:
//   - each start of a slot has an epoch of its own, a fencing token: a part of an older one is superseded, whatever it holds.
//     Which attempt counts depends on epochs, never on values
//   - a part is taken in whole, in one transaction with the row that says so, or not at all
//   - trials_recorded_once and parts_recorded_once make a second record of a place or a block impossible
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "store/attached.h"
#include "store/store_state.h"
#include "store/tables.h"

namespace stab::store {
namespace {

constexpr std::string_view kPartFormat = "stab-part 2";

// To take in a part of 100,000 trials takes less than a second. Of a value of its own a part has no more than all of it may have.
constexpr std::chrono::seconds kImportLimit{10};
constexpr int kMostValueBytes = 64 << 20;

// What a part holds of a trial, besides its id: its place, then what became of the attempt.
std::string place_columns(std::string_view prefix = "") { return column_names<NewTrial>(prefix); }
std::string become_columns() { return names_of(attempt_columns()); }

// What belongs to a trial and goes with it.
constexpr std::string_view kOfTrial[] = {"outcomes", "responses", "epochs", "ledger", "exclusions"};
std::string columns_besides_trial(std::string_view table) { return table_of_experiment(table).names_without("trial"); }

bool is_sqlite(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[16] = {};
  return file.read(head, sizeof head) && std::string_view(head, sizeof head) == std::string_view("SQLite format 3\0", 16);
}

// The tables of a part, with what `places` selects of trials.
Status make_tables(Database& database, const std::string& places) {
  const auto run = [&](const std::string& sql) -> Status { return database.execute(sql.c_str()); };
  STAB_CHECK_OK(run("CREATE TABLE other.part(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT"));
  STAB_CHECK_OK(run("CREATE TABLE other.trials AS SELECT id, " + place_columns() + ", " + become_columns() +
                    " FROM main.trials WHERE " + places));
  for (const std::string_view table : kOfTrial) {
    const std::string name(table);
    STAB_CHECK_OK(run("CREATE TABLE other." + name + " AS SELECT trial, " + columns_besides_trial(table) + " FROM main." + name +
                      " WHERE trial IN (SELECT id FROM other.trials)"));
  }
  return run(
      "CREATE TABLE other.quarantines AS SELECT subject, cell, trial, reason FROM main.quarantines WHERE trial IN "
      "(SELECT id FROM other.trials)");
}

// Of what is attached as `other`: all that decides what its tables are. A part has far fewer and shorter ones than are read.
Result<std::string> schema_of_other(Database& database) {
  STAB_TRY(const auto rows, database.select("SELECT substr(type, 1, 100), substr(name, 1, 100), substr(tbl_name, 1, 100), "
                                            "substr(sql, 1, 100000) FROM other.sqlite_schema ORDER BY rowid LIMIT 20",
                                            [](const Statement& row) {
                                              return row.text(0) + " " + row.text(1) + " " + row.text(2) + " " + row.text(3) +
                                                     "\n";
                                            }));
  std::string schema;
  for (const std::string& row : rows) schema += row;
  return schema;
}

// Why the file that is attached as `other` is no part of this label; empty: it is. pre: it has the tables of one
Result<std::string> unlike_label(Database& database, const PartLabel& label) {
  STAB_TRY(const auto rows, database.select("SELECT substr(key, 1, 100), substr(value, 1, 100) FROM other.part LIMIT 100",
                                            read_pair<std::string, std::string>));
  const std::map<std::string, std::string> found(rows.begin(), rows.end());
  const std::pair<const char*, std::string> keys[] = {
      {"format", std::string(kPartFormat)},   {"experiment", label.identity},           {"slot", std::to_string(label.slot)},
      {"epoch", std::to_string(label.epoch)}, {"number", std::to_string(label.number)}, {"block", std::to_string(label.block)}};
  for (const auto& [key, expected] : keys) {
    const auto at = found.find(key);
    const std::string value = at == found.end() ? "" : at->second;
    if (value != expected) return std::string("its ") + key + " is '" + value + "', expected '" + expected + "'";
  }
  return std::string();
}

// Why its trials can't be those of the block; empty: they are all of them, and over.
Result<std::string> unlike_block(Database& database, Id experiment, int64_t first, int64_t places) {
  const std::string ours = "main.trials WHERE experiment = " + std::to_string(experiment) +
                           " AND kind = 'main' AND position >= " + std::to_string(first) + " AND position < " +
                           std::to_string(first + places);
  const std::pair<const char*, std::string> wrongs[] = {
      // One look at our index for each; IS, as a NULL is no value.
      {"places that aren't the block's",
       "SELECT count(*) FROM other.trials p WHERE NOT EXISTS (SELECT 1 FROM " + ours + " AND attempt = 1 AND "
       "main.trials.position = p.position AND (" + place_columns("main.trials.") + ") IS (" + place_columns("p.") + "))"},
      // Those that it has are the block's.
      {"places of the block that it lacks",
       "SELECT (SELECT count(*) FROM " + ours + " AND attempt = 1) - (SELECT count(DISTINCT position) FROM other.trials)"},
      {"places whose attempts don't count from 1, or whose last one isn't the valid one",
       "SELECT count(*) FROM (SELECT position FROM other.trials GROUP BY position HAVING max(attempt) <> count(*) OR "
       "count(DISTINCT attempt) <> count(*) OR min(attempt) <> 1 OR sum(superseded = 0) <> 1 OR max(attempt) <> "
       "max(CASE WHEN superseded = 0 THEN attempt END))"},
      {"attempts that aren't over",
       "SELECT count(*) FROM other.trials WHERE state NOT IN ('recorded', 'failed', 'timeout', 'lost', 'quarantined')"},
      {"places that are taken here already", "SELECT count(*) FROM " + ours + " AND (attempt <> 1 OR state <> 'planned')"},
      {"attempts whose result and state disagree",
       "SELECT count(*) FROM other.trials t LEFT JOIN other.outcomes o ON o.trial = t.id WHERE "
       "(t.state <> 'quarantined') <> (o.trial IS NOT NULL)"},
  };
  for (const auto& [what, sql] : wrongs) {
    STAB_TRY(const int64_t count, database.integer(sql));
    if (count != 0) return "it has " + std::to_string(count) + " " + what;
  }
  return std::string();
}

// Of what a part holds besides trials. Most parts lack some, and a statement that copies nothing has to be prepared all the same.
Result<std::set<std::string>> tables_with_rows(Database& database) {
  std::string sql = "SELECT EXISTS(SELECT 1 FROM other.quarantines)";
  for (const std::string_view table : kOfTrial) sql += ", EXISTS(SELECT 1 FROM other." + std::string(table) + ")";
  STAB_TRY(Statement * query, database.prepare(sql));
  STAB_TRY(const bool row, query->step());
  std::set<std::string> filled;
  if (row && query->integer(0) != 0) filled.insert("quarantines");
  int column = 1;
  for (const std::string_view table : kOfTrial)
    if (row && query->integer(column++) != 0) filled.emplace(table);
  query->reset();
  return filled;
}

Status note_part(Database& database, Id experiment, const PartLabel& label, const std::string& sha256, const PartVerdict& verdict,
                 int64_t at_ns) {
  PartRow row;
  static_cast<PartLabel&>(row) = label;
  row.sha256 = sha256;
  row.fate = verdict.fate;
  row.why = verdict.why;
  row.trials = verdict.recorded;
  row.at_ns = at_ns;
  STAB_TRY(Statement * insert, prepare_insert<PartRow>(database));
  return insert_row(*insert, row, experiment);
}

// What the trials of the attached part take, as usage.cc counts those that ran here. Of a text with a zero in it, length() would
// count what is in front.
Result<int64_t> bytes_of_part(Database& database) {
  std::string sql = "SELECT (SELECT 40 * count(*) FROM other.responses) + (SELECT 20 * count(*) FROM other.ledger)";
  const auto count = [&](std::string_view table, const std::vector<Column>& columns) {
    for (const Column& column : columns)
      if ((column.type == "TEXT" || column.type == "BLOB") && column.name != "state")
        sql += " + (SELECT coalesce(sum(length(CAST(" + column.name + " AS BLOB))), 0) FROM other." + std::string(table) + ")";
  };
  count("trials", attempt_columns());
  for (const std::string_view table : kOfTrial) count(table, table_of_experiment(table).columns);
  count("quarantines", table_of_experiment("quarantines").columns);
  return database.integer(sql);
}

// The machine's time that the trials of the attached part took. They have it from a clock that somebody may have set meanwhile,
// or from a worker that says anything; a machine runs one trial at a time, so together they took no longer than `most_ns`.
Result<int64_t> machine_time_of_part(Database& database, int64_t most_ns) {
  const std::string most = std::to_string(most_ns);
  return database.integer("SELECT CAST(min(total(min(max(finished_at_ns - claimed_at_ns, 0), " + most + ")), " + most +
                          ") AS INTEGER) FROM other.trials WHERE claimed_at_ns > 0 AND state <> 'lost'");
}

// By our own clock, since the slot was granted the epoch.
Result<int64_t> time_since_grant(Database& database, Id experiment, const PartLabel& label, int64_t now_ns) {
  return database.integer(
      "SELECT max(? - granted_at_ns, 0) FROM main.slot_epochs WHERE experiment = ? AND slot = ? AND epoch = ?", now_ns,
      experiment, label.slot, label.epoch);
}

Result<int64_t> newest_epoch(Database& database, Id experiment, int slot) {
  return database.integer("SELECT coalesce(max(epoch), 0) FROM main.slot_epochs WHERE experiment = ? AND slot = ?", experiment,
                          slot);
}

}  // namespace

Result<std::string> Store::State::schema_of_parts() {
  if (!part_schema.empty()) return part_schema;
  STAB_TRY(const Attached other, Attached::open(database, ":memory:", Database::Attach::kNew));
  STAB_CHECK_OK(make_tables(database, "false"));
  STAB_TRY(part_schema, schema_of_other(database));
  return part_schema;
}

Result<int64_t> Store::State::take_part_in(Id experiment, int64_t most_ns) {
  const std::string of = std::to_string(experiment);
  // First attempts are planned here already; later ones get rows of their own. All become what the part says in one update. A
  // trigger would count each row by itself, which takes longer than the update, so they are counted below, by state.
  const auto later = [&]() -> Status {
    STAB_TRY(Statement * more, database.prepare("INSERT INTO main.trials(experiment, kind, attempt, superseded, " +
                                                place_columns() + ") SELECT " + of + ", 'main', attempt, 0, " +
                                                place_columns() + " FROM other.trials WHERE attempt > 1 ORDER BY id"));
    return more->run();
  };
  STAB_TRY(const int64_t places, database.integer("SELECT sum(attempt = 1) FROM other.trials"));
  STAB_TRY(const int64_t attempts, database.integer("SELECT count(*) FROM other.trials"));
  if (attempts > places) STAB_CHECK_OK(later());
  STAB_CHECK_OK(
      database.execute("CREATE TEMP TABLE IF NOT EXISTS part_ids(theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL); "
                       "DELETE FROM part_ids"));
  STAB_TRY(Statement * pair,
           database.prepare("INSERT INTO part_ids SELECT p.id, t.id FROM other.trials p CROSS JOIN main.trials t "
                            "ON t.experiment = " +
                            of +
                            " AND t.kind = 'main' AND t.position = p.position AND "
                            "t.attempt = p.attempt"));
  STAB_CHECK_OK(pair->run());
  const auto become = [&]() -> Status {
    const WithoutTriggers counted_below(database);
    std::string set;
    for (const Column& column : attempt_columns())
      if (column.name != "attempt") set += (set.empty() ? "" : ", ") + column.name + " = p." + column.name;
    STAB_TRY(Statement * update,
             database.prepare("UPDATE main.trials SET " + set +
                              " FROM other.trials p JOIN part_ids i ON i.theirs = p.id WHERE main.trials.id = i.ours"));
    return update->run();
  };
  STAB_CHECK_OK(become());
  STAB_CHECK_OK(count_planned(experiment, TrialKind::kMain, -places));
  STAB_TRY(Statement * count,
           database.prepare("INSERT INTO main.trial_counts SELECT " + of +
                            ", 'main', superseded, state, count(*) FROM other.trials WHERE true GROUP BY superseded, state ON "
                            "CONFLICT DO UPDATE SET number = number + excluded.number"));
  STAB_CHECK_OK(count->run());
  STAB_TRY(const std::set<std::string> filled, tables_with_rows(database));
  for (const std::string_view table : kOfTrial) {
    const std::string name(table), columns = columns_besides_trial(table);
    if (!filled.contains(name)) continue;
    STAB_TRY(Statement * copy, database.prepare("INSERT INTO main." + name + "(trial, " + columns + ") SELECT i.ours, " +
                                                columns + " FROM other." + name + " o JOIN part_ids i ON i.theirs = o.trial"));
    STAB_CHECK_OK(copy->run());
  }
  if (filled.contains("quarantines")) {
    STAB_TRY(Statement * quarantine,
             database.prepare("INSERT OR IGNORE INTO main.quarantines(experiment, subject, cell, trial, reason) SELECT " + of +
                              ", subject, cell, i.ours, reason FROM other.quarantines q JOIN part_ids i ON i.theirs = q.trial"));
    STAB_CHECK_OK(quarantine->run());
  }
  STAB_TRY(const int64_t bytes, bytes_of_part(database));
  STAB_TRY(const int64_t machine_ns, machine_time_of_part(database, most_ns));
  STAB_CHECK_OK(add_usage(experiment, 0, bytes, machine_ns));
  return database.integer("SELECT count(*) FROM other.trials WHERE state = 'recorded'");
}

Result<int64_t> Store::grant_slot(Id experiment, int slot, std::string_view host, int64_t at_ns) {
  int64_t epoch = 0;
  STAB_CHECK_OK(state_->atomically([&]() -> Status {
    STAB_TRY(const int64_t newest, newest_epoch(state_->database, experiment, slot));
    epoch = newest + 1;
    STAB_TRY(Statement * insert, state_->database.prepare("INSERT INTO slot_epochs(experiment, slot, epoch, host, state, "
                                                          "granted_at_ns) VALUES(?, ?, ?, ?, 'granted', ?)"));
    return insert->run(experiment, slot, epoch, host, at_ns);
  }));
  return epoch;
}

Status Store::update_slot(Id experiment, const SlotEpochRow& row) {
  return state_->atomically([&]() -> Status {
    Database& database = state_->database;
    STAB_TRY(Statement * update,
             database.prepare("UPDATE slot_epochs SET state = ?, why = ?, ended_at_ns = ?, machine = CASE ?4 "
                              "WHEN '' THEN machine ELSE ?4 END WHERE experiment = ? AND slot = ? AND epoch = ?"));
    STAB_CHECK_OK(update->run(name(row.state), row.why, row.ended_at_ns, row.machine, experiment, row.slot, row.epoch));
    if (database.changes() != 1)
      return Error{ErrorCode::kNotFound, "slot " + std::to_string(row.slot) + " has no epoch " + std::to_string(row.epoch), {}};
    STAB_TRY(Statement * fact, database.prepare("INSERT OR REPLACE INTO slot_facts VALUES(?, ?, ?, ?, ?)"));
    for (const auto& [key, value] : row.facts) STAB_CHECK_OK(fact->run(experiment, row.slot, row.epoch, key, value));
    return {};
  });
}

Result<std::vector<SlotEpochRow>> Store::slot_epochs(Id experiment) {
  STAB_TRY(std::vector<SlotEpochRow> rows,
           state_->database.select("SELECT " + column_names<SlotEpochRow>() +
                                       " FROM slot_epochs WHERE experiment = ? ORDER BY slot, epoch",
                                   read_record<SlotEpochRow>, experiment));
  STAB_TRY(Statement * facts, state_->database.prepare("SELECT slot, epoch, name, value FROM slot_facts WHERE experiment = ?"));
  facts->bind(experiment);
  std::map<std::pair<int64_t, int64_t>, SlotEpochRow*> row_of;
  for (SlotEpochRow& row : rows) row_of[{row.slot, row.epoch}] = &row;
  while (true) {
    STAB_TRY(const bool more, facts->step());
    if (!more) return rows;
    const auto row = row_of.find({facts->integer(0), facts->integer(1)});
    if (row != row_of.end()) row->second->facts[facts->text(2)] = facts->text(3);
  }
}

Status Store::write_part(Id experiment, const PartLabel& label, int64_t first, int64_t places, const std::string& path) {
  std::error_code code;
  if (std::filesystem::exists(path, code)) return bad_input("part '" + path + "' exists already");
  Database& database = state_->database;
  const Status made = [&]() -> Status {
    STAB_TRY(const Attached other, Attached::open(database, path, Database::Attach::kNew));
    return state_->atomically([&]() -> Status {
      STAB_CHECK_OK(make_tables(database, "experiment = " + std::to_string(experiment) + " AND kind = 'main' AND position >= " +
                                              std::to_string(first) + " AND position < " + std::to_string(first + places)));
      STAB_TRY(Statement * put, database.prepare("INSERT INTO other.part VALUES(?, ?)"));
      STAB_CHECK_OK(put->run("format", kPartFormat));
      STAB_CHECK_OK(put->run("experiment", label.identity));
      STAB_CHECK_OK(put->run("slot", std::to_string(label.slot)));
      STAB_CHECK_OK(put->run("epoch", std::to_string(label.epoch)));
      STAB_CHECK_OK(put->run("number", std::to_string(label.number)));
      return put->run("block", std::to_string(label.block));
    });
  }();
  if (!made) std::filesystem::remove(path, code);
  return made;
}

Result<PartVerdict> Store::import_part(Id experiment, const PartLabel& label, int64_t first, int64_t places,
                                       const std::string& sha256, const std::string& path, int64_t at_ns) {
  Database& database = state_->database;
  if (database.in_transaction()) return Error{ErrorCode::kInternal, "a part can't be taken in within another transaction", {}};
  PartVerdict verdict;
  // The store's own answer, without a look at the file. None: it is to be taken in.
  const auto settled = [&]() -> Result<bool> {
    STAB_TRY(const int64_t is_known,
             database.integer("SELECT EXISTS(SELECT 1 FROM main.parts WHERE experiment = ? AND sha256 = ?)", experiment, sha256));
    if (is_known != 0) {
      verdict.fate = PartFate::kDuplicate;
      return true;
    }
    STAB_TRY(const int64_t newest, newest_epoch(database, experiment, label.slot));
    if (label.epoch < newest) {
      verdict.fate = PartFate::kSuperseded;
      verdict.why = "its slot is in epoch " + std::to_string(newest) + " by now";
    }
    if (label.epoch > newest) verdict.why = "its slot has no epoch " + std::to_string(label.epoch);
    return label.epoch != newest;
  };
  STAB_TRY(const bool is_settled, settled());
  if (verdict.fate == PartFate::kDuplicate) return verdict;
  if (is_settled) {
    STAB_CHECK_OK(state_->atomically([&] { return note_part(database, experiment, label, sha256, verdict, at_ns); }));
    return verdict;
  }
  const auto refused = [&](std::string why) -> Result<PartVerdict> {
    verdict = {PartFate::kRefused, std::move(why), 0};
    STAB_CHECK_OK(state_->atomically([&] { return note_part(database, experiment, label, sha256, verdict, at_ns); }));
    return verdict;
  };
  if (!is_sqlite(path)) return refused("it is no SQLite file");
  STAB_TRY(const std::string schema, state_->schema_of_parts());
  std::string why;
  WorkLimit limit(kImportLimit, kMostValueBytes);
  const Status done = [&]() -> Status {
    STAB_TRY(const Attached other, [&] {
      const Bounded opening(database, limit);
      return Attached::open(database, path, Database::Attach::kImmutable);
    }());
    const Bounded bounded(database, limit);
    return state_->atomically([&]() -> Status {
      // What can't be read as a part is the part's fault: our own tables were just read.
      const auto fault = [&]() -> Result<std::string> {
        STAB_TRY(const std::string found, schema_of_other(database));
        if (found != schema) return std::string("its tables are not those of a part");
        STAB_TRY(std::string unlike, unlike_label(database, label));
        if (!unlike.empty()) return unlike;
        return unlike_block(database, experiment, first, places);
      }();
      why = fault ? *fault : fault.error().message;
      if (!why.empty()) return bad_input(why);
      STAB_TRY(const int64_t most_ns, time_since_grant(database, experiment, label, at_ns));
      const Result<int64_t> recorded = state_->take_part_in(experiment, most_ns);
      // What our tables don't take of its rows is its fault, too; left without a fate it would come back for ever.
      if (!recorded && recorded.error().code == ErrorCode::kInternal)
        why = "its rows are not those of a part: " + recorded.error().message;
      if (!recorded) return recorded.error();
      verdict = {PartFate::kRecorded, "", *recorded};
      return note_part(database, experiment, label, sha256, verdict, at_ns);
    });
  }();
  if (!done && limit.was_met()) return refused("to take it in takes more than " + std::to_string(kImportLimit.count()) + " s");
  if (!why.empty()) return refused(why);
  // Torn where its first pages don't show it; ours would have said so before.
  if (!done && done.error().code == ErrorCode::kCorrupt) return refused(done.error().message);
  STAB_CHECK_OK(done);
  STAB_CHECK_OK(state_->checkpoint_if_large());
  return verdict;
}

Result<std::vector<PartRow>> Store::parts(Id experiment) {
  return state_->database.select(
      "SELECT " + column_names<PartRow>() + " FROM parts WHERE experiment = ? ORDER BY slot, epoch, number, sha256",
      read_record<PartRow>, experiment);
}

Result<std::vector<SlotParts>> Store::recorded_parts(Id experiment) {
  return state_->database.select(
      "SELECT slot, count(*), max(at_ns) FROM parts WHERE experiment = ? AND fate = 'recorded' GROUP BY slot ORDER BY slot",
      [](const Statement& row) {
        return SlotParts{static_cast<int>(row.integer(0)), row.integer(1), row.integer(2)};
      },
      experiment);
}

}  // namespace stab::store
