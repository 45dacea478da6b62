// Experiments: what was submitted, what it expands to, its builds, host facts and log.
#include <charconv>

#include "store/store_state.h"

namespace stab::store {
namespace {

constexpr std::string_view kExperimentColumns =
    "SELECT id, name, state, failure, plan_text, plan_path, plan_directory, seed, submitter_uid, submitter_gid, "
    "priority, submitted_at_ns, finished_at_ns, schedule_fingerprint, schedule_version, replicates FROM experiments ";

Result<ExperimentRow> read_experiment(const Statement& row) {
  ExperimentRow out;
  out.id = row.integer(0);
  out.name = row.text(1);
  const std::optional<ExperimentState> state = experiment_state(row.text(2));
  if (!state) return Error{ErrorCode::kCorrupt, "experiment " + std::to_string(out.id) + " has no known state", {}};
  out.state = *state;
  out.failure = row.text(3);
  out.plan_text = row.text(4);
  out.plan_path = row.text(5);
  out.plan_directory = row.text(6);
  out.seed = static_cast<uint64_t>(row.integer(7));
  out.submitter_uid = row.integer(8);
  out.submitter_gid = row.integer(9);
  out.priority = static_cast<int>(row.integer(10));
  out.submitted_at_ns = row.integer(11);
  out.finished_at_ns = row.integer(12);
  out.schedule_fingerprint = static_cast<uint64_t>(row.integer(13));
  out.schedule_version = static_cast<int>(row.integer(14));
  out.replicates = row.integer(15);
  return out;
}

SubjectRow read_subject(const Statement& row) {
  return {static_cast<int>(row.integer(0)), row.text(1), row.text(2), row.text(3)};
}

CellRow read_cell(const Statement& row) {
  CellRow cell;
  cell.index = static_cast<int>(row.integer(0));
  cell.name = row.text(1);
  cell.code = row.text(2);
  cell.stack = row.text(3);
  cell.heap = row.text(4);
  cell.epoch_ns = row.integer(5);
  cell.env_size_bytes = row.integer(6);
  return cell;
}

BuildRow read_build(const Statement& row) {
  BuildRow build;
  build.id = row.integer(0);
  build.index = static_cast<int>(row.integer(1));
  build.name = row.text(2);
  build.program = row.text(3);
  build.link = static_cast<int>(row.integer(4));
  build.state = build_state(row.text(5)).value_or(BuildState::kFailed);
  build.command = row.text(6);
  build.input_hash = row.text(7);
  build.binary_path = row.text(8);
  build.binary_sha256 = row.text(9);
  build.log = row.text(10);
  build.duration_ns = row.integer(11);
  return build;
}

// Runs a statement that must change exactly one row of the named thing.
Status change_one(Database& database, Statement& statement, std::string_view what, Id id) {
  STAB_CHECK_OK(statement.run());
  if (database.changes() == 1) return {};
  return not_found(what, id);
}

Status insert_factors(Database& database, Id experiment, const std::vector<FactorRow>& factors) {
  STAB_TRY(Statement * insert, database.prepare("INSERT INTO levels VALUES(?, ?, ?, ?, ?)"));
  for (size_t f = 0; f < factors.size(); ++f)
    for (size_t l = 0; l < factors[f].levels.size(); ++l)
      STAB_CHECK_OK(insert->bind(experiment)
                        .bind(static_cast<int64_t>(f))
                        .bind(static_cast<int64_t>(l))
                        .bind(factors[f].name)
                        .bind(factors[f].levels[l])
                        .run());
  return {};
}

Status insert_subjects(Database& database, Id experiment, const std::vector<SubjectRow>& subjects) {
  STAB_TRY(Statement * insert, database.prepare("INSERT INTO subjects VALUES(?, ?, ?, ?, ?)"));
  for (const SubjectRow& subject : subjects)
    STAB_CHECK_OK(insert->bind(experiment)
                      .bind(subject.index)
                      .bind(subject.name)
                      .bind(subject.program)
                      .bind(subject.workload)
                      .run());
  return {};
}

Status insert_cells(Database& database, Id experiment, const std::vector<CellRow>& cells) {
  STAB_TRY(Statement * insert, database.prepare("INSERT INTO cells VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
  STAB_TRY(Statement * insert_level, database.prepare("INSERT INTO cell_levels VALUES(?, ?, ?, ?)"));
  for (const CellRow& cell : cells) {
    STAB_CHECK_OK(insert->bind(experiment)
                      .bind(cell.index)
                      .bind(cell.name)
                      .bind(cell.code)
                      .bind(cell.stack)
                      .bind(cell.heap)
                      .bind(cell.epoch_ns)
                      .bind(cell.env_size_bytes)
                      .run());
    for (const auto& [factor, level] : cell.levels)
      STAB_CHECK_OK(insert_level->bind(experiment).bind(cell.index).bind(factor).bind(level).run());
  }
  return {};
}

Status insert_builds(Database& database, Id experiment, const std::vector<BuildRow>& builds) {
  STAB_TRY(Statement * insert,
           database.prepare("INSERT INTO builds(experiment, build, name, program, link, state, command, input_hash, "
                            "binary_path, binary_sha256, log, duration_ns) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const BuildRow& build : builds)
    STAB_CHECK_OK(insert->bind(experiment)
                      .bind(build.index)
                      .bind(build.name)
                      .bind(build.program)
                      .bind(build.link)
                      .bind(name(build.state))
                      .bind(build.command)
                      .bind(build.input_hash)
                      .bind(build.binary_path)
                      .bind(build.binary_sha256)
                      .bind(build.log)
                      .bind(build.duration_ns)
                      .run());
  return {};
}

}  // namespace

Result<Id> Store::add_experiment(const NewExperiment& experiment) {
  Id id = 0;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(Statement * insert,
             state_->database.prepare("INSERT INTO experiments(name, state, plan_text, plan_path, plan_directory, "
                                      "seed, submitter_uid, submitter_gid, priority, submitted_at_ns) "
                                      "VALUES(?, 'submitted', ?, ?, ?, ?, ?, ?, ?, ?)"));
    STAB_CHECK_OK(insert->bind(experiment.name)
                      .bind(experiment.plan_text)
                      .bind(experiment.plan_path)
                      .bind(experiment.plan_directory)
                      .bind(experiment.seed)
                      .bind(experiment.submitter_uid)
                      .bind(experiment.submitter_gid)
                      .bind(experiment.priority)
                      .bind(experiment.submitted_at_ns)
                      .run());
    id = state_->database.last_id();
    return {};
  });
  if (!done) return done.error();
  return id;
}

Status Store::expand(Id experiment, const Expansion& expansion) {
  Database& database = state_->database;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(Statement * update,
             database.prepare("UPDATE experiments SET state = 'ready', schedule_fingerprint = ?, schedule_version = ?, "
                              "replicates = ? WHERE id = ? AND state = 'submitted'"));
    STAB_CHECK_OK(update->bind(expansion.schedule_fingerprint)
                      .bind(expansion.schedule_version)
                      .bind(expansion.replicates)
                      .bind(experiment)
                      .run());
    if (database.changes() != 1)
      return bad_input("experiment " + std::to_string(experiment) + " does not wait to be expanded");
    STAB_CHECK_OK(insert_factors(database, experiment, expansion.factors));
    STAB_CHECK_OK(insert_subjects(database, experiment, expansion.subjects));
    STAB_CHECK_OK(insert_cells(database, experiment, expansion.cells));
    STAB_CHECK_OK(insert_builds(database, experiment, expansion.builds));
    STAB_TRY(auto main_ids, state_->insert_trials(experiment, TrialKind::kMain, expansion.trials));
    STAB_TRY(auto preflight_ids, state_->insert_trials(experiment, TrialKind::kPreflight, expansion.preflight));
    return {};
  });
  if (!done) return done.error();
  return state_->checkpoint_if_large();
}

Status Store::extend(Id experiment, const std::vector<NewTrial>& trials, int64_t replicates) {
  Database& database = state_->database;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(Statement * update,
             database.prepare("UPDATE experiments SET replicates = ?1, "
                              "state = CASE state WHEN 'done' THEN 'ready' ELSE state END, finished_at_ns = 0 "
                              "WHERE id = ?2 AND replicates < ?1 AND state NOT IN ('submitted', 'cancelled')"));
    STAB_CHECK_OK(update->bind(replicates).bind(experiment).run());
    if (database.changes() != 1)
      return bad_input("experiment " + std::to_string(experiment) + " can't be extended to " +
                       std::to_string(replicates) + " replicates; it must be expanded, not cancelled, and have fewer");
    STAB_TRY(auto ids, state_->insert_trials(experiment, TrialKind::kMain, trials));
    return {};
  });
  if (!done) return done.error();
  return state_->checkpoint_if_large();
}

Status Store::set_state(Id experiment, ExperimentState state, std::string_view failure, int64_t at_ns) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * update,
             state_->database.prepare("UPDATE experiments SET state = ?, failure = ?, finished_at_ns = ? WHERE id = ?"));
    update->bind(name(state)).bind(failure).bind(is_over(state) ? at_ns : int64_t{0}).bind(experiment);
    return change_one(state_->database, *update, "experiment", experiment);
  });
}

Status Store::set_priority(Id experiment, int priority) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * update, state_->database.prepare("UPDATE experiments SET priority = ? WHERE id = ?"));
    update->bind(priority).bind(experiment);
    return change_one(state_->database, *update, "experiment", experiment);
  });
}

Status Store::delete_experiment(Id experiment) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * remove, state_->database.prepare("DELETE FROM experiments WHERE id = ?"));
    remove->bind(experiment);
    return change_one(state_->database, *remove, "experiment", experiment);
  });
}

Result<ExperimentRow> Store::experiment(Id experiment) {
  STAB_TRY(Statement * query, state_->database.prepare(std::string(kExperimentColumns) + "WHERE id = ?"));
  query->bind(experiment);
  STAB_TRY(std::vector<ExperimentRow> found, read_rows(*query, read_experiment));
  if (found.empty()) return not_found("experiment", experiment);
  return std::move(found[0]);
}

Result<ExperimentRow> Store::find_experiment(std::string_view name_or_id) {
  STAB_TRY(Statement * query,
           state_->database.prepare(std::string(kExperimentColumns) + "WHERE name = ? ORDER BY id DESC LIMIT 1"));
  query->bind(name_or_id);
  STAB_TRY(std::vector<ExperimentRow> found, read_rows(*query, read_experiment));
  if (!found.empty()) return std::move(found[0]);
  Id id = 0;
  const char* end = name_or_id.data() + name_or_id.size();
  const auto [stop, error] = std::from_chars(name_or_id.data(), end, id);
  if (error == std::errc() && stop == end) return experiment(id);
  return Error{ErrorCode::kNotFound, "there is no experiment '" + std::string(name_or_id) + "'", {}};
}

Result<std::vector<ExperimentRow>> Store::experiments() {
  STAB_TRY(Statement * query, state_->database.prepare(std::string(kExperimentColumns) + "ORDER BY id"));
  return read_rows(*query, read_experiment);
}

Result<std::vector<FactorRow>> Store::factors(Id experiment) {
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT factor, level, position FROM levels WHERE experiment = ? "
                                    "ORDER BY factor_position, position"));
  query->bind(experiment);
  struct LevelRow {
    std::string factor, level;
    int64_t position;
  };
  STAB_TRY(const std::vector<LevelRow> levels, read_rows(*query, [](const Statement& row) {
             return LevelRow{row.text(0), row.text(1), row.integer(2)};
           }));
  std::vector<FactorRow> out;
  for (const LevelRow& row : levels) {
    if (row.position == 0) out.push_back({row.factor, {}});
    if (out.empty()) return Error{ErrorCode::kCorrupt, "a factor's levels don't start at 0", {}};
    out.back().levels.push_back(row.level);
  }
  return out;
}

Result<std::vector<SubjectRow>> Store::subjects(Id experiment) {
  STAB_TRY(Statement * query,
           state_->database.prepare(
               "SELECT subject, name, program, workload FROM subjects WHERE experiment = ? ORDER BY subject"));
  query->bind(experiment);
  return read_rows(*query, read_subject);
}

Result<std::vector<CellRow>> Store::cells(Id experiment) {
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT cell, name, code, stack, heap, epoch_ns, env_size_bytes FROM cells "
                                    "WHERE experiment = ? ORDER BY cell"));
  query->bind(experiment);
  STAB_TRY(std::vector<CellRow> out, read_rows(*query, read_cell));
  STAB_TRY(Statement * levels,
           state_->database.prepare("SELECT cell, factor, level FROM cell_levels WHERE experiment = ? ORDER BY cell"));
  levels->bind(experiment);
  struct LevelRow {
    size_t cell;
    std::string factor, level;
  };
  STAB_TRY(const std::vector<LevelRow> rows, read_rows(*levels, [](const Statement& row) {
             return LevelRow{static_cast<size_t>(row.integer(0)), row.text(1), row.text(2)};
           }));
  for (const LevelRow& row : rows) {
    if (row.cell >= out.size()) return Error{ErrorCode::kCorrupt, "levels of a cell that does not exist", {}};
    out[row.cell].levels[row.factor] = row.level;
  }
  return out;
}

Result<std::vector<BuildRow>> Store::builds(Id experiment) {
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT id, build, name, program, link, state, command, input_hash, binary_path, "
                                    "binary_sha256, log, duration_ns FROM builds WHERE experiment = ? ORDER BY build"));
  query->bind(experiment);
  return read_rows(*query, read_build);
}

Status Store::update_build(const BuildRow& build) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * update,
             state_->database.prepare("UPDATE builds SET state = ?, command = ?, input_hash = ?, binary_path = ?, "
                                      "binary_sha256 = ?, log = ?, duration_ns = ? WHERE id = ?"));
    update->bind(name(build.state))
        .bind(build.command)
        .bind(build.input_hash)
        .bind(build.binary_path)
        .bind(build.binary_sha256)
        .bind(build.log)
        .bind(build.duration_ns)
        .bind(build.id);
    return change_one(state_->database, *update, "build", build.id);
  });
}

Status Store::put_host_facts(Id experiment, const std::map<std::string, std::string>& facts) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * put, state_->database.prepare("INSERT OR REPLACE INTO host_facts VALUES(?, ?, ?)"));
    for (const auto& [fact, value] : facts) STAB_CHECK_OK(put->bind(experiment).bind(fact).bind(value).run());
    return {};
  });
}

Result<std::map<std::string, std::string>> Store::host_facts(Id experiment) {
  STAB_TRY(Statement * query, state_->database.prepare("SELECT name, value FROM host_facts WHERE experiment = ?"));
  query->bind(experiment);
  STAB_TRY(const auto rows, read_rows(*query, [](const Statement& row) { return std::pair(row.text(0), row.text(1)); }));
  return std::map<std::string, std::string>(rows.begin(), rows.end());
}

Status Store::log(const EventRow& event) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * insert,
             state_->database.prepare("INSERT INTO events(at_ns, experiment, kind, text) VALUES(?, ?, ?, ?)"));
    insert->bind(event.at_ns);
    if (event.experiment != 0) {
      insert->bind(event.experiment);
    } else {
      insert->bind(std::nullopt);
    }
    return insert->bind(event.kind).bind(event.text).run();
  });
}

Result<std::vector<EventRow>> Store::events(Id experiment) {
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT at_ns, coalesce(experiment, 0), kind, text FROM events "
                                    "WHERE experiment IS nullif(?, 0) ORDER BY id"));
  query->bind(experiment);
  return read_rows(*query, [](const Statement& row) {
    return EventRow{row.integer(0), row.integer(1), row.text(2), row.text(3)};
  });
}

}  // namespace stab::store
