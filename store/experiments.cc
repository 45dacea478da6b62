// Experiments: what was submitted, what it expands to, its builds, host facts and log.
#include <algorithm>

#include "store/store_state.h"
#include "store/table.h"

namespace stab::store {
namespace {

std::string select_experiments() { return "SELECT id, " + column_names<ExperimentRow>() + " FROM experiments "; }
std::string select_summaries() { return "SELECT id, " + column_names<ExperimentSummary>() + " FROM experiments "; }

// What waits to be deleted is gone for everybody who asks.
constexpr std::string_view kNotDeleted =
    "NOT EXISTS (SELECT 1 FROM wishes w WHERE w.experiment = experiments.id AND w.wish = 'delete') ";

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
      STAB_CHECK_OK(
          insert->run(experiment, static_cast<int64_t>(f), static_cast<int64_t>(l), factors[f].name, factors[f].levels[l]));
  return {};
}

Status insert_subjects(Database& database, Id experiment, const std::vector<SubjectRow>& subjects) {
  STAB_TRY(Statement * insert, prepare_insert<SubjectRow>(database));
  for (const SubjectRow& subject : subjects) STAB_CHECK_OK(insert_row(*insert, subject, experiment));
  return {};
}

Status insert_cells(Database& database, Id experiment, const std::vector<CellRow>& cells) {
  STAB_TRY(Statement * insert, prepare_insert<CellRow>(database));
  STAB_TRY(Statement * insert_level, database.prepare("INSERT INTO cell_levels VALUES(?, ?, ?, ?)"));
  for (const CellRow& cell : cells) {
    STAB_CHECK_OK(insert_row(*insert, cell, experiment));
    for (const auto& [factor, level] : cell.levels) STAB_CHECK_OK(insert_level->run(experiment, cell.index, factor, level));
  }
  return {};
}

Status insert_builds(Database& database, Id experiment, const std::vector<BuildRow>& builds) {
  STAB_TRY(Statement * insert, prepare_insert<BuildRow>(database));
  for (const BuildRow& build : builds) STAB_CHECK_OK(insert_row(*insert, build, experiment));
  return {};
}

}  // namespace

Result<Id> Store::add_experiment(const NewExperiment& experiment) {
  Id id = 0;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(Statement * insert, prepare_insert<ExperimentRow>(state_->database));
    ExperimentRow row;
    static_cast<NewExperiment&>(row) = experiment;
    STAB_CHECK_OK(insert_row(*insert, row));
    id = state_->database.last_id();
    STAB_TRY(Statement * usage, state_->database.prepare("INSERT INTO usage VALUES(?, ?, ?, ?, 0)"));
    return usage->run(id, experiment.submitter_uid, experiment.promised_trials,
                      static_cast<int64_t>(experiment.plan_text.size()) + experiment.promised_trials * kTrialBytes);
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
    STAB_CHECK_OK(update->run(expansion.schedule_fingerprint, expansion.schedule_version, expansion.replicates, experiment));
    STAB_CHECK_OK(insert_factors(database, experiment, expansion.factors));
    STAB_CHECK_OK(insert_subjects(database, experiment, expansion.subjects));
    STAB_CHECK_OK(insert_cells(database, experiment, expansion.cells));
    STAB_CHECK_OK(insert_builds(database, experiment, expansion.builds));
    STAB_TRY(Statement * stretch, database.prepare("INSERT INTO stretches VALUES(?, 0, ?)"));
    STAB_CHECK_OK(stretch->run(experiment, expansion.replicates));
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
    STAB_CHECK_OK(stretch->run(experiment, replicates));
    STAB_TRY(const ExperimentState before, state_->state_of(experiment));
    STAB_TRY(Statement * update, database.prepare("UPDATE experiments SET replicates = ?1 WHERE id = ?2 AND replicates < ?1"));
    STAB_CHECK_OK(update->run(replicates, experiment));
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
  return state_->database.integer("SELECT coalesce(max(position) + 1, 0) FROM trials WHERE experiment = ? AND kind = ?",
                                  experiment, name(kind));
}

Result<std::vector<std::pair<int64_t, int64_t>>> Store::stretches(Id experiment) {
  return state_->database.select("SELECT first_block, blocks FROM stretches WHERE experiment = ? ORDER BY first_block",
                                 read_pair<int64_t, int64_t>, experiment);
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
  STAB_CHECK_OK(forget->run(experiment));
  return next.state;
}

Result<ExperimentState> Store::State::state_of(Id experiment) {
  const auto read = [](const Statement& row) {
    ExperimentState state{};
    return Columns(row).word("state", state, experiment_state).made(state);
  };
  STAB_TRY(const std::optional<ExperimentState> state,
           database.select_one("SELECT state FROM experiments WHERE id = ?", read, experiment));
  if (!state) return not_found("experiment", experiment);
  return *state;
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
    return put->run(experiment, name(wish), at_ns);
  });
}

Result<std::vector<std::pair<Id, Wish>>> Store::wishes() {
  return state_->database.select("SELECT experiment, wish FROM wishes ORDER BY experiment", [](const Statement& row) {
    std::pair<Id, Wish> out;
    return Columns(row).into(out.first).word("wish", out.second, store::wish).made(out);
  });
}

Status Store::State::fulfil_wishes(int64_t at_ns) {
  STAB_TRY(const std::vector<Id> to_cancel,
           database.select("SELECT w.experiment FROM wishes w JOIN experiments e ON e.id = w.experiment WHERE w.wish = 'cancel'",
                           first_integer));
  for (const Id id : to_cancel) {
    STAB_TRY(const int64_t planned, cancel_planned(id, 0));
    (void)planned;
    STAB_TRY(const ExperimentState cancelled, advance(id, ExperimentEvent::kCancel, "cancelled by its user", at_ns));
    (void)cancelled;
  }
  STAB_TRY(const std::vector<Id> to_pause, database.select("SELECT experiment FROM wishes WHERE wish = 'pause'", first_integer));
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
    STAB_CHECK_OK(trials->run(experiment, rows));
    if (database.changes() == rows) return {};
    STAB_TRY(Statement * remove, database.prepare("DELETE FROM experiments WHERE id = ?"));
    gone = true;
    return remove->run(experiment);
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
  STAB_TRY(std::optional<ExperimentRow> found,
           state_->database.select_one(select_experiments() + "WHERE id = ?", read_numbered<ExperimentRow>, experiment));
  if (!found) return not_found("experiment", experiment);
  return *std::move(found);
}

Result<std::vector<ExperimentSummary>> Store::summaries(std::optional<int64_t> uid) {
  const std::string which = uid ? "WHERE submitter_uid = ? AND " : "WHERE ";
  STAB_TRY(Statement * query, state_->database.prepare(select_summaries() + "INDEXED BY experiments_shown " + which +
                                                       std::string(kNotDeleted)));
  if (uid) query->bind(*uid);
  STAB_TRY(std::vector<ExperimentSummary> found, read_rows(*query, read_numbered<ExperimentSummary>));
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return found;
}

Result<ExperimentSummary> Store::summary(Id experiment) {
  STAB_TRY(std::optional<ExperimentSummary> found,
           state_->database.select_one(select_summaries() + "WHERE id = ? AND " + std::string(kNotDeleted),
                                       read_numbered<ExperimentSummary>, experiment));
  if (!found) return not_found("experiment", experiment);
  return *std::move(found);
}

Result<std::optional<ExperimentSummary>> Store::newest_named(std::string_view name, int64_t uid) {
  return state_->database.select_one(select_summaries() + "WHERE submitter_uid = ? AND name = ? AND " +
                                         std::string(kNotDeleted) + "ORDER BY id DESC LIMIT 1",
                                     read_numbered<ExperimentSummary>, uid, name);
}

Result<std::vector<int64_t>> Store::users_of_name(std::string_view name) {
  return state_->database.select("SELECT DISTINCT submitter_uid FROM experiments WHERE name = ?", first_integer, name);
}

Result<std::vector<ExperimentRow>> Store::experiments() {
  return state_->database.select(select_experiments() + "ORDER BY id", read_numbered<ExperimentRow>);
}

Result<std::vector<ExperimentRow>> Store::experiments_whose_plan_has(std::string_view text, int64_t uid) {
  return state_->database.select(select_experiments() + "WHERE submitter_uid = ? AND instr(plan_text, ?) > 0 AND " +
                                     std::string(kNotDeleted) + "ORDER BY id",
                                 read_numbered<ExperimentRow>, uid, text);
}

Result<std::vector<FactorRow>> Store::factors(Id experiment) {
  struct LevelRow {
    std::string factor, level;
    int64_t position;
  };
  STAB_TRY(const std::vector<LevelRow> levels,
           state_->database.select(
               "SELECT factor, level, position FROM levels WHERE experiment = ? ORDER BY factor_position, position",
               [](const Statement& row) {
                 return LevelRow{row.text(0), row.text(1), row.integer(2)};
               },
               experiment));
  std::vector<FactorRow> out;
  for (const LevelRow& row : levels) {
    if (row.position == 0) out.push_back({row.factor, {}});
    if (out.empty()) return Error{ErrorCode::kCorrupt, "a factor's levels don't start at 0", {}};
    out.back().levels.push_back(row.level);
  }
  return out;
}

Result<std::vector<SubjectRow>> Store::subjects(Id experiment) {
  return state_->database.select("SELECT " + column_names<SubjectRow>() + " FROM subjects WHERE experiment = ? ORDER BY subject",
                                 read_record<SubjectRow>, experiment);
}

Status Store::set_epoch(Id experiment, int64_t epoch_ns) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * update, state_->database.prepare("UPDATE cells SET epoch_ns = ? WHERE experiment = ?"));
    return update->run(epoch_ns, experiment);
  });
}

Result<std::vector<CellRow>> Store::cells(Id experiment) {
  Database& database = state_->database;
  STAB_TRY(std::vector<CellRow> out,
           database.select("SELECT " + column_names<CellRow>() + " FROM cells WHERE experiment = ? ORDER BY cell",
                           read_record<CellRow>, experiment));
  struct LevelRow {
    size_t cell;
    std::string factor, level;
  };
  STAB_TRY(const std::vector<LevelRow> rows, database.select(
                                                 "SELECT cell, factor, level FROM cell_levels WHERE experiment = ? ORDER BY cell",
                                                 [](const Statement& row) {
                                                   return LevelRow{static_cast<size_t>(row.integer(0)), row.text(1), row.text(2)};
                                                 },
                                                 experiment));
  for (const LevelRow& row : rows) {
    if (row.cell >= out.size()) return Error{ErrorCode::kCorrupt, "levels of a cell that does not exist", {}};
    out[row.cell].levels[row.factor] = row.level;
  }
  return out;
}

Result<std::vector<BuildRow>> Store::builds(Id experiment) {
  return state_->database.select("SELECT id, " + column_names<BuildRow>() + " FROM builds WHERE experiment = ? ORDER BY build",
                                 read_numbered<BuildRow>, experiment);
}

Status Store::update_build(const BuildRow& build) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(const auto before,
             state_->database.select_one("SELECT experiment, length(CAST(log AS BLOB)) FROM builds WHERE id = ?",
                                         read_pair<Id, int64_t>, build.id));
    const auto [experiment, log_bytes] = before.value_or(std::pair<Id, int64_t>());
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
    for (const auto& [fact, value] : facts) STAB_CHECK_OK(put->run(experiment, fact, value));
    STAB_TRY(const std::vector<EnvironmentRow> before, environments_of(database, experiment));
    if (!before.empty() && before.back().facts == facts) return {};
    const int number = before.empty() ? 1 : before.back().number + 1;
    STAB_TRY(Statement * environment, database.prepare("INSERT INTO environments VALUES(?, ?, ?)"));
    STAB_CHECK_OK(environment->run(experiment, number, at_ns));
    STAB_TRY(Statement * fact_of, database.prepare("INSERT INTO environment_facts VALUES(?, ?, ?, ?)"));
    int64_t bytes = 0;
    for (const auto& [fact, value] : facts) {
      STAB_CHECK_OK(fact_of->run(experiment, number, fact, value));
      bytes += static_cast<int64_t>(fact.size() + value.size());
    }
    return state_->add_usage(experiment, 0, bytes, 0);
  });
}

Result<std::vector<EnvironmentRow>> Store::environments(Id experiment) { return environments_of(state_->database, experiment); }

Result<std::map<std::string, std::string>> Store::host_facts(Id experiment) {
  STAB_TRY(const auto rows, state_->database.select("SELECT name, value FROM host_facts WHERE experiment = ?",
                                                    read_pair<std::string, std::string>, experiment));
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
    STAB_CHECK_OK(insert->run(event.kind, event.text));
    return state_->add_usage(event.experiment, 0, static_cast<int64_t>(event.kind.size() + event.text.size()), 0);
  });
}

Result<bool> Store::has_event(Id experiment, std::string_view kind) {
  STAB_TRY(const int64_t found,
           state_->database.integer("SELECT EXISTS(SELECT 1 FROM events WHERE experiment = ? AND kind = ?)", experiment, kind));
  return found != 0;
}

Result<std::vector<EventRow>> Store::events(Id experiment) {
  return state_->database.select(
      "SELECT at_ns, coalesce(experiment, 0), kind, text FROM events WHERE experiment IS nullif(?, 0) ORDER BY id",
      [](const Statement& row) {
        return EventRow{row.integer(0), row.integer(1), row.text(2), row.text(3)};
      },
      experiment);
}

}  // namespace stab::store
