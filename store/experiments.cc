// Experiments: what was submitted, what it expands to, its builds, host facts and log.
#include <algorithm>

#include "store/store_state.h"

namespace stab::store {
namespace {

constexpr std::string_view kExperimentColumns =
    "SELECT id, name, state, failure, plan_text, plan_path, plan_directory, seed, submitter_uid, submitter_gid, "
    "priority, submitted_at_ns, finished_at_ns, schedule_fingerprint, schedule_version, replicates FROM experiments ";

// Columns 0 to 3 of both: id, name, state, failure.
template <typename Row>
Result<Row> read_head(const Statement& row) {
  Row out;
  out.id = row.integer(0);
  out.name = row.text(1);
  const std::optional<ExperimentState> state = experiment_state(row.text(2));
  if (!state) return Error{ErrorCode::kCorrupt, "experiment " + std::to_string(out.id) + " has no known state", {}};
  out.state = *state;
  out.failure = row.text(3);
  return out;
}

Result<ExperimentRow> read_experiment(const Statement& row) {
  STAB_TRY(ExperimentRow out, read_head<ExperimentRow>(row));
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

constexpr std::string_view kSummaryColumns =
    "SELECT id, name, state, failure, submitter_uid, priority, submitted_at_ns, finished_at_ns, schedule_version, "
    "replicates FROM experiments ";
// What waits to be deleted is gone for everybody who asks.
constexpr std::string_view kNotDeleted =
    "NOT EXISTS (SELECT 1 FROM wishes w WHERE w.experiment = experiments.id AND w.wish = 'delete') ";

Result<ExperimentSummary> read_summary(const Statement& row) {
  STAB_TRY(ExperimentSummary out, read_head<ExperimentSummary>(row));
  out.submitter_uid = row.integer(4);
  out.priority = static_cast<int>(row.integer(5));
  out.submitted_at_ns = row.integer(6);
  out.finished_at_ns = row.integer(7);
  out.schedule_version = static_cast<int>(row.integer(8));
  out.replicates = row.integer(9);
  return out;
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
    STAB_TRY(Statement * usage, state_->database.prepare("INSERT INTO usage VALUES(?, ?, ?, ?, 0)"));
    return usage->bind(id)
        .bind(experiment.submitter_uid)
        .bind(experiment.promised_trials)
        .bind(static_cast<int64_t>(experiment.plan_text.size()) + experiment.promised_trials * kTrialBytes)
        .run();
  });
  if (!done) return done.error();
  return id;
}

Status Store::expand(Id experiment, const Expansion& expansion) {
  Database& database = state_->database;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(const ExperimentState before, state_->state_of(experiment));
    if (!step(before, ExperimentEvent::kExpand).legal)
      return bad_input("experiment " + std::to_string(experiment) + " does not wait to be expanded");
    STAB_TRY(const ExperimentState ready, state_->advance(experiment, ExperimentEvent::kExpand, "", 0));
    (void)ready;
    STAB_TRY(
        Statement * update,
        database.prepare("UPDATE experiments SET schedule_fingerprint = ?, schedule_version = ?, replicates = ? WHERE id = ?"));
    STAB_CHECK_OK(update->bind(expansion.schedule_fingerprint)
                      .bind(expansion.schedule_version)
                      .bind(expansion.replicates)
                      .bind(experiment)
                      .run());
    STAB_CHECK_OK(insert_factors(database, experiment, expansion.factors));
    STAB_CHECK_OK(insert_subjects(database, experiment, expansion.subjects));
    STAB_CHECK_OK(insert_cells(database, experiment, expansion.cells));
    STAB_CHECK_OK(insert_builds(database, experiment, expansion.builds));
    STAB_TRY(Statement * stretch, database.prepare("INSERT INTO stretches VALUES(?, 0, ?)"));
    STAB_CHECK_OK(stretch->bind(experiment).bind(expansion.replicates).run());
    STAB_TRY(auto main_ids, state_->insert_trials(experiment, TrialKind::kMain, expansion.trials));
    STAB_TRY(auto preflight_ids, state_->insert_trials(experiment, TrialKind::kPreflight, expansion.preflight));
    return {};
  });
  if (!done) return done.error();
  return state_->checkpoint_if_large();
}

Status Store::extend(Id experiment, const std::vector<NewTrial>& trials, int64_t replicates, int64_t promised) {
  Database& database = state_->database;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(Statement * stretch,
             database.prepare("INSERT INTO stretches SELECT ?1, replicates, ?2 - replicates FROM experiments WHERE id = ?1"));
    STAB_CHECK_OK(stretch->bind(experiment).bind(replicates).run());
    STAB_TRY(const ExperimentState before, state_->state_of(experiment));
    STAB_TRY(Statement * update, database.prepare("UPDATE experiments SET replicates = ?1 WHERE id = ?2 AND replicates < ?1"));
    STAB_CHECK_OK(update->bind(replicates).bind(experiment).run());
    if (database.changes() != 1 || !step(before, ExperimentEvent::kExtend).legal)
      return bad_input("experiment " + std::to_string(experiment) + " is " + std::string(name(before)) +
                       " and can't be extended to " + std::to_string(replicates) +
                       " replicates; it must be ready, running or done, and have fewer");
    STAB_TRY(const ExperimentState extended, state_->advance(experiment, ExperimentEvent::kExtend, "", 0));
    (void)extended;
    STAB_TRY(auto ids, state_->insert_trials(experiment, TrialKind::kMain, trials));
    const int64_t more = std::max(promised, static_cast<int64_t>(trials.size()));
    return state_->add_usage(experiment, more, more * kTrialBytes, 0);
  });
  if (!done) return done.error();
  return state_->checkpoint_if_large();
}

Status Store::plan_more(Id experiment, TrialKind kind, const std::vector<NewTrial>& trials) {
  if (trials.empty()) return {};
  STAB_CHECK_OK(state_->atomically([&]() -> Status {
    STAB_TRY(const int64_t next, places(experiment, kind));
    if (next != static_cast<int64_t>(trials.front().order))
      return Error{ErrorCode::kInternal, "a slice of the schedule begins at " + std::to_string(trials.front().order) +
                                             ", the next place is " + std::to_string(next), {}};
    STAB_TRY(auto ids, state_->insert_trials(experiment, kind, trials));
    return {};
  }));
  return state_->checkpoint_if_large();
}

Result<int64_t> Store::places(Id experiment, TrialKind kind) {
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT coalesce(max(position) + 1, 0) FROM trials WHERE experiment = ? AND kind = ?"));
  STAB_TRY(const bool row, query->bind(experiment).bind(name(kind)).step());
  const int64_t count = row ? query->integer(0) : 0;
  query->reset();
  return count;
}

Result<std::vector<std::pair<int64_t, int64_t>>> Store::stretches(Id experiment) {
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT first_block, blocks FROM stretches WHERE experiment = ? ORDER BY first_block"));
  query->bind(experiment);
  return read_rows(*query, [](const Statement& row) { return std::pair(row.integer(0), row.integer(1)); });
}

// A wish to stop is fulfilled by whatever has stopped it.
Result<ExperimentState> Store::State::advance(Id experiment, ExperimentEvent event, std::string_view failure, int64_t at_ns) {
  STAB_TRY(const ExperimentState before, state_of(experiment));
  const ExperimentStep next = step(before, event);
  if (!next.legal)
    return Error{ErrorCode::kInternal, "experiment " + std::to_string(experiment) + " is " + std::string(name(before)) +
                                           ", which allows no '" + std::string(name(event)) + "'", {}};
  // What stays as it was keeps why and since when; a pause may have another reason.
  if (next.state != before || (!is_over(before) && !failure.empty())) {
    STAB_TRY(Statement * update,
             database.prepare("UPDATE experiments SET state = ?, failure = ?, finished_at_ns = ? WHERE id = ? AND state = ?"));
    update->bind(name(next.state))
        .bind(failure)
        .bind(is_over(next.state) ? at_ns : int64_t{0})
        .bind(experiment)
        .bind(name(before));
    STAB_CHECK_OK(change_one(database, *update, "experiment", experiment));
  }
  if (!is_over(next.state) && next.state != ExperimentState::kPaused) return next.state;
  STAB_TRY(Statement * forget, database.prepare("DELETE FROM wishes WHERE experiment = ? AND wish <> 'delete'"));
  STAB_CHECK_OK(forget->bind(experiment).run());
  return next.state;
}

Result<ExperimentState> Store::State::state_of(Id experiment) {
  STAB_TRY(Statement * query, database.prepare("SELECT state FROM experiments WHERE id = ?"));
  query->bind(experiment);
  STAB_TRY(const std::vector<std::string> words, read_rows(*query, [](const Statement& row) { return row.text(0); }));
  if (words.empty()) return not_found("experiment", experiment);
  if (const auto state = experiment_state(words[0])) return *state;
  return Error{ErrorCode::kCorrupt, "experiment " + std::to_string(experiment) + " is in no known state: '" + words[0] + "'", {}};
}

Result<ExperimentState> Store::advance(Id experiment, ExperimentEvent event, std::string_view failure, int64_t at_ns) {
  ExperimentState state{};
  STAB_CHECK_OK(state_->atomically([&]() -> Status {
    STAB_TRY(state, state_->advance(experiment, event, failure, at_ns));
    return {};
  }));
  return state;
}

Result<ExperimentState> Store::resume(Id experiment, int64_t at_ns) {
  STAB_TRY(const ExperimentSummary row, summary(experiment));
  return advance(experiment, row.schedule_version == 0 ? ExperimentEvent::kResumeUnplanned : ExperimentEvent::kResume, "", at_ns);
}

Status Store::cancel(Id experiment, std::string_view why, int64_t at_ns) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(const int64_t planned, state_->cancel_planned(experiment, 0));
    (void)planned;
    STAB_TRY(const ExperimentState cancelled, state_->advance(experiment, ExperimentEvent::kCancel, why, at_ns));
    (void)cancelled;
    return {};
  });
}

Result<bool> Store::cancel_some(Id experiment, int64_t rows) {
  bool more = false;
  STAB_CHECK_OK(state_->atomically([&]() -> Status {
    STAB_TRY(const int64_t cancelled, state_->cancel_some(experiment, rows));
    more = cancelled == rows;
    return {};
  }));
  STAB_CHECK_OK(state_->checkpoint_if_large());
  return more;
}

Status Store::wish(Id experiment, Wish wish, int64_t at_ns) {
  return state_->atomically([&]() -> Status {
    // Whoever cancels after a pause means it; a pause after that changes nothing.
    STAB_TRY(Statement * put,
             state_->database.prepare("INSERT INTO wishes VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET wish = excluded.wish, "
                                      "at_ns = excluded.at_ns WHERE wish = 'pause'"));
    return put->bind(experiment).bind(name(wish)).bind(at_ns).run();
  });
}

Result<std::vector<std::pair<Id, Wish>>> Store::wishes() {
  STAB_TRY(Statement * query, state_->database.prepare("SELECT experiment, wish FROM wishes ORDER BY experiment"));
  return read_rows(*query, [](const Statement& row) {
    return std::pair(row.integer(0), store::wish(row.text(1)).value_or(Wish::kPause));
  });
}

Status Store::State::fulfil_wishes(int64_t at_ns) {
  STAB_TRY(
      Statement * unwanted,
      database.prepare("SELECT w.experiment FROM wishes w JOIN experiments e ON e.id = w.experiment WHERE w.wish = 'cancel'"));
  STAB_TRY(const std::vector<Id> to_cancel, read_rows(*unwanted, [](const Statement& row) { return row.integer(0); }));
  for (const Id id : to_cancel) {
    STAB_TRY(const int64_t planned, cancel_planned(id, 0));
    (void)planned;
    STAB_TRY(const ExperimentState cancelled, advance(id, ExperimentEvent::kCancel, "cancelled by its user", at_ns));
    (void)cancelled;
  }
  STAB_TRY(Statement * to_stop, database.prepare("SELECT experiment FROM wishes WHERE wish = 'pause'"));
  STAB_TRY(const std::vector<Id> to_pause, read_rows(*to_stop, [](const Statement& row) { return row.integer(0); }));
  for (const Id id : to_pause) {
    STAB_TRY(const ExperimentState paused, advance(id, ExperimentEvent::kPause, "", at_ns));
    (void)paused;
  }
  return {};
}

Result<bool> Store::delete_some(Id experiment, int64_t rows) {
  Database& database = state_->database;
  bool gone = false;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(Statement * trials,
             database.prepare("DELETE FROM trials WHERE id IN (SELECT id FROM trials WHERE experiment = ? LIMIT ?)"));
    STAB_CHECK_OK(trials->bind(experiment).bind(rows).run());
    if (database.changes() == rows) return {};
    STAB_TRY(Statement * remove, database.prepare("DELETE FROM experiments WHERE id = ?"));
    gone = true;
    return remove->bind(experiment).run();
  });
  STAB_CHECK_OK(done);
  STAB_CHECK_OK(state_->checkpoint_if_large());
  return gone;
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

Result<std::vector<ExperimentSummary>> Store::summaries(std::optional<int64_t> uid) {
  const std::string which = uid ? "WHERE submitter_uid = ? AND " : "WHERE ";
  STAB_TRY(Statement * query, state_->database.prepare(std::string(kSummaryColumns) + "INDEXED BY experiments_shown " + which +
                                                       std::string(kNotDeleted)));
  if (uid) query->bind(*uid);
  STAB_TRY(std::vector<ExperimentSummary> found, read_rows(*query, read_summary));
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return found;
}

Result<ExperimentSummary> Store::summary(Id experiment) {
  STAB_TRY(Statement * query,
           state_->database.prepare(std::string(kSummaryColumns) + "WHERE id = ? AND " + std::string(kNotDeleted)));
  query->bind(experiment);
  STAB_TRY(std::vector<ExperimentSummary> found, read_rows(*query, read_summary));
  if (found.empty()) return not_found("experiment", experiment);
  return std::move(found[0]);
}

Result<std::optional<ExperimentSummary>> Store::newest_named(std::string_view name, int64_t uid) {
  STAB_TRY(Statement * query,
           state_->database.prepare(std::string(kSummaryColumns) + "WHERE submitter_uid = ? AND name = ? AND " +
                                    std::string(kNotDeleted) + "ORDER BY id DESC LIMIT 1"));
  query->bind(uid).bind(name);
  STAB_TRY(std::vector<ExperimentSummary> found, read_rows(*query, read_summary));
  if (found.empty()) return std::optional<ExperimentSummary>();
  return std::optional(std::move(found[0]));
}

Result<std::vector<int64_t>> Store::users_of_name(std::string_view name) {
  STAB_TRY(Statement * query, state_->database.prepare("SELECT DISTINCT submitter_uid FROM experiments WHERE name = ?"));
  query->bind(name);
  return read_rows(*query, [](const Statement& row) { return row.integer(0); });
}

Result<std::vector<ExperimentRow>> Store::experiments() {
  STAB_TRY(Statement * query, state_->database.prepare(std::string(kExperimentColumns) + "ORDER BY id"));
  return read_rows(*query, read_experiment);
}

Result<std::vector<ExperimentRow>> Store::experiments_whose_plan_has(std::string_view text, int64_t uid) {
  STAB_TRY(Statement * query,
           state_->database.prepare(std::string(kExperimentColumns) + "WHERE submitter_uid = ? AND instr(plan_text, ?) > 0 AND " +
                                    std::string(kNotDeleted) + "ORDER BY id"));
  query->bind(uid).bind(text);
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
    STAB_TRY(Statement * before,
             state_->database.prepare("SELECT experiment, length(CAST(log AS BLOB)) FROM builds WHERE id = ?"));
    STAB_TRY(const bool known, before->bind(build.id).step());
    const Id experiment = known ? before->integer(0) : 0;
    const int64_t log_bytes = known ? before->integer(1) : 0;
    before->reset();
    STAB_CHECK_OK(state_->add_usage(experiment, 0, static_cast<int64_t>(build.log.size()) - log_bytes, 0));
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

namespace {

Result<std::vector<EnvironmentRow>> environments_of(Database& database, Id experiment) {
  STAB_TRY(Statement * query,
           database.prepare("SELECT e.number, e.since_ns, coalesce(f.name, ''), coalesce(f.value, '') FROM environments e "
                            "LEFT JOIN environment_facts f ON f.experiment = e.experiment AND f.number = e.number "
                            "WHERE e.experiment = ? ORDER BY e.number"));
  query->bind(experiment);
  std::vector<EnvironmentRow> out;
  for (;;) {
    STAB_TRY(const bool row, query->step());
    if (!row) return out;
    const int number = static_cast<int>(query->integer(0));
    if (out.empty() || out.back().number != number) out.push_back({number, query->integer(1), {}});
    if (const std::string name = query->text(2); !name.empty()) out.back().facts[name] = query->text(3);
  }
}

}  // namespace

Status Store::put_host_facts(Id experiment, const std::map<std::string, std::string>& facts, int64_t at_ns) {
  return state_->atomically([&]() -> Status {
    Database& database = state_->database;
    STAB_TRY(Statement * put, database.prepare("INSERT OR REPLACE INTO host_facts VALUES(?, ?, ?)"));
    for (const auto& [fact, value] : facts) STAB_CHECK_OK(put->bind(experiment).bind(fact).bind(value).run());
    STAB_TRY(const std::vector<EnvironmentRow> before, environments_of(database, experiment));
    if (!before.empty() && before.back().facts == facts) return {};
    const int number = before.empty() ? 1 : before.back().number + 1;
    STAB_TRY(Statement * environment, database.prepare("INSERT INTO environments VALUES(?, ?, ?)"));
    STAB_CHECK_OK(environment->bind(experiment).bind(number).bind(at_ns).run());
    STAB_TRY(Statement * fact_of, database.prepare("INSERT INTO environment_facts VALUES(?, ?, ?, ?)"));
    int64_t bytes = 0;
    for (const auto& [fact, value] : facts) {
      STAB_CHECK_OK(fact_of->bind(experiment).bind(number).bind(fact).bind(value).run());
      bytes += static_cast<int64_t>(fact.size() + value.size());
    }
    return state_->add_usage(experiment, 0, bytes, 0);
  });
}

Result<std::vector<EnvironmentRow>> Store::environments(Id experiment) { return environments_of(state_->database, experiment); }

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
    STAB_CHECK_OK(insert->bind(event.kind).bind(event.text).run());
    return state_->add_usage(event.experiment, 0, static_cast<int64_t>(event.kind.size() + event.text.size()), 0);
  });
}

Result<bool> Store::has_event(Id experiment, std::string_view kind) {
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT EXISTS(SELECT 1 FROM events WHERE experiment = ? AND kind = ?)"));
  STAB_TRY(const bool row, query->bind(experiment).bind(kind).step());
  const bool found = row && query->integer(0) != 0;
  query->reset();
  return found;
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
