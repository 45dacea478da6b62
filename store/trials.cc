// The life of a trial on disk. Every change of state is a row of trial_machine.cc, and an outcome, its responses, its ledger
// and the change of state are one transaction: a crash leaves a trial claimed (later: lost) or recorded, never half of it.
#include <algorithm>

#include "store/store_state.h"
#include "store/table.h"
#include "store/trial_machine.h"

namespace stab::store {
namespace {

Error bad_step(const TrialRow& trial, std::string_view what) {
  return {ErrorCode::kInternal,
          "trial " + std::to_string(trial.id) + " is " + std::string(name(trial.state)) + ", which allows no '" +
              std::string(what) + "'",
          {}};
}

// The rows of an event as SQL, for whole sets of trials: "state IN (...)", the states that it is legal in, and the update
// to where it leads them. pre: it leads all of them to one state
std::string where_legal(TrialEvent event) {
  std::string words;
  for (int state = 0; state < kTrialStateCount; ++state)
    if (step(static_cast<TrialState>(state), event).legal)
      words += (words.empty() ? "'" : ", '") + std::string(name(static_cast<TrialState>(state))) + "'";
  return "state IN (" + words + ")";
}
std::string update_to(TrialEvent event) {
  for (int state = 0; state < kTrialStateCount; ++state)
    if (const TrialStep next = step(static_cast<TrialState>(state), event); next.legal)
      return "UPDATE trials SET state = '" + std::string(name(next.state)) + "'";
  return {};
}

}  // namespace

const std::string& trial_columns() {
  static const std::string kColumns = "id, " + column_names<TrialRow>();
  return kColumns;
}

Result<TrialRow> Store::State::load_trial(Id trial) {
  STAB_TRY(std::optional<TrialRow> found,
           database.select_one("SELECT " + trial_columns() + " FROM trials WHERE id = ?", read_numbered<TrialRow>, trial));
  if (!found) return not_found("trial", trial);
  return *std::move(found);
}

Result<std::vector<Id>> Store::State::insert_trials(Id experiment, TrialKind kind,
                                                    const std::vector<NewTrial>& trials) {
  STAB_TRY(Statement * insert, prepare_insert<TrialRow>(database));
  std::vector<Id> ids;
  ids.reserve(trials.size());
  TrialRow row;
  row.experiment = experiment;
  row.kind = kind;
  for (const NewTrial& trial : trials) {
    static_cast<NewTrial&>(row) = trial;
    STAB_CHECK_OK(insert_row(*insert, row));
    ids.push_back(database.last_id());
  }
  STAB_CHECK_OK(count_planned(experiment, kind, static_cast<int64_t>(trials.size())));
  return ids;
}

Status Store::State::count_planned(Id experiment, TrialKind kind, int64_t more) {
  STAB_TRY(
      Statement * count,
      database.prepare(
          "INSERT INTO trial_counts VALUES(?, ?, 0, 'planned', ?) ON CONFLICT DO UPDATE SET number = number + excluded.number"));
  return count->run(experiment, name(kind), more);
}

Status Store::State::claim(Id trial, const Claim& claim) {
  STAB_TRY(const TrialRow row, load_trial(trial));
  const TrialStep claimed = step(row.state, TrialEvent::kClaim);
  if (!claimed.legal) return bad_step(row, name(TrialEvent::kClaim));
  STAB_TRY(Statement * update, database.prepare("UPDATE trials SET state = ?, boot_id = ?, claimed_at_ns = ? WHERE id = ?"));
  return update->run(name(claimed.state), claim.boot_id, claim.claimed_at_ns, trial);
}

Status Store::State::claim(const std::vector<Id>& trials, const Claim& claim) {
  for (const Id trial : trials) STAB_CHECK_OK(this->claim(trial, claim));
  return {};
}

Status Store::State::store_outcome(const Outcome& outcome) {
  STAB_TRY(Statement * insert, prepare_insert<Outcome>(database));
  STAB_CHECK_OK(insert_row(*insert, outcome, outcome.trial));
  STAB_TRY(Statement * response, prepare_insert<ResponseRow>(database));
  for (const ResponseRow& row : outcome.responses) STAB_CHECK_OK(insert_row(*response, row, outcome.trial));
  STAB_TRY(Statement * ledger, database.prepare("INSERT INTO ledger VALUES(?, ?, ?)"));
  for (const auto& [key, value] : outcome.ledger) STAB_CHECK_OK(ledger->run(outcome.trial, key, value));
  STAB_TRY(Statement * exclusion, database.prepare("INSERT INTO exclusions VALUES(?, ?)"));
  for (const std::string& rule : outcome.excluded_by) STAB_CHECK_OK(exclusion->run(outcome.trial, rule));
  if (outcome.causal) STAB_CHECK_OK(store_causal(outcome.trial, *outcome.causal));
  if (outcome.epochs.empty()) return {};
  STAB_TRY(Statement * epochs, database.prepare("INSERT INTO epochs VALUES(?, ?)"));
  return epochs->bind(outcome.trial).bind_bytes(outcome.epochs).run();
}

Result<Id> Store::State::plan_next_attempt(const TrialRow& trial) {
  STAB_TRY(Statement * supersede, database.prepare("UPDATE trials SET superseded = 1 WHERE id = ?"));
  STAB_CHECK_OK(supersede->run(trial.id));
  const std::string place = column_names<NewTrial>();
  STAB_TRY(Statement * insert,
           database.prepare("INSERT INTO trials(experiment, kind, attempt, " + place +
                            ") SELECT experiment, kind, attempt + 1, " + place + " FROM trials WHERE id = ?"));
  STAB_CHECK_OK(insert->run(trial.id));
  const Id next = database.last_id();
  STAB_CHECK_OK(count_planned(trial.experiment, trial.kind, 1));
  return next;
}

// How often this trial's place came to nothing in the same way: losses are the machine's and the engine's, failures the
// program's, and neither uses up the other's attempts.
Result<int64_t> Store::State::attempts_that_ended_so(const TrialRow& trial, TrialState end) {
  return database.integer(
      "SELECT count(*) FROM trials WHERE experiment = ? AND kind = ? AND position = ? AND "
      "state IN ('lost', 'failed', 'timeout') AND (state = 'lost') = ?",
      trial.experiment, name(trial.kind), trial.order, end == TrialState::kLost);
}

// Trials of the same sliced block that have a result; what ran in company says so in its ledger.
Result<int64_t> Store::State::recorded_in_company_of(const TrialRow& trial) {
  return database.integer(
      "SELECT count(*) FROM trials t JOIN ledger l ON l.trial = t.id AND l.key = 'overlap' WHERE t.experiment = ? AND t.kind = ? "
      "AND t.superseded = 0 AND t.state = 'recorded' AND t.subject = ? AND t.block = ? AND t.run = ? AND t.pass = ? AND t.id <> "
      "?",
      trial.experiment, name(trial.kind), trial.subject, trial.block, trial.run, trial.pass, trial.id);
}

Status Store::State::quarantine(const TrialRow& trial, std::string_view reason) {
  STAB_TRY(Statement * insert, database.prepare("INSERT OR IGNORE INTO quarantines VALUES(?, ?, ?, ?, ?)"));
  STAB_CHECK_OK(insert->run(trial.experiment, trial.subject, trial.cell, trial.id, reason));
  STAB_TRY(Statement * update, database.prepare(update_to(TrialEvent::kQuarantine) +
                                                " WHERE experiment = ? AND kind = 'main' AND superseded = 0 AND " +
                                                where_legal(TrialEvent::kQuarantine) + " AND subject = ? AND cell = ?"));
  return update->run(trial.experiment, trial.subject, trial.cell);
}

Result<int64_t> Store::State::cancel_planned(Id experiment, uint32_t first_block) {
  STAB_TRY(Statement * update,
           database.prepare(update_to(TrialEvent::kDrop) + " WHERE experiment = ? AND kind = 'main' AND superseded = 0 AND " +
                            where_legal(TrialEvent::kDrop) + " AND block >= ?"));
  STAB_CHECK_OK(update->run(experiment, first_block));
  return database.changes();
}

Result<int64_t> Store::State::cancel_some(Id experiment, int64_t rows) {
  STAB_TRY(Statement * update, database.prepare(update_to(TrialEvent::kDrop) +
                                                " WHERE id IN (SELECT id FROM trials WHERE experiment = ? AND kind = 'main' "
                                                "AND superseded = 0 AND " +
                                                where_legal(TrialEvent::kDrop) + " LIMIT ?)"));
  STAB_CHECK_OK(update->run(experiment, rows));
  return database.changes();
}

Result<Replacement> Store::State::finish(const Outcome& outcome, int max_attempts) {
  STAB_TRY(const TrialRow trial, load_trial(outcome.trial));
  const TrialStep stored = step(outcome.state, TrialEvent::kStored);
  if (!stored.legal || !is_under_way(trial.state)) return bad_step(trial, "stored as " + std::string(name(outcome.state)));
  STAB_TRY(Statement * update,
           database.prepare("UPDATE trials SET state = ?, failure = ?, started_at_ns = max(started_at_ns, ?), "
                            "finished_at_ns = ? WHERE id = ?"));
  STAB_CHECK_OK(update->run(name(stored.state), outcome.failure, outcome.started_at_ns, outcome.finished_at_ns, outcome.trial));
  STAB_CHECK_OK(store_outcome(outcome));
  STAB_CHECK_OK(account(trial, outcome));

  Replacement replacement;
  if (!has(stored.actions, TrialAction::kReplace)) return replacement;
  STAB_TRY(const int64_t attempts, attempts_that_ended_so(trial, stored.state));
  switch (after_end(trial.kind, stored.state, attempts, max_attempts)) {
    case AfterEnd::kAnotherAttempt: {
      STAB_TRY(replacement.next_attempt, plan_next_attempt(trial));
      break;
    }
    case AfterEnd::kQuarantine:
      STAB_CHECK_OK(quarantine(trial, outcome.failure));
      replacement.quarantined = true;
      break;
    case AfterEnd::kNothing: break;
  }
  return replacement;
}

// --- operations ------------------------------------------------------------------------------------------

Result<std::vector<Id>> Store::add_trials(Id experiment, TrialKind kind, const std::vector<NewTrial>& trials) {
  std::vector<Id> ids;
  const Status done = state_->atomically([&]() -> Status {
    // Positions of added trials go on from the last one of their kind.
    STAB_TRY(const int64_t first, places(experiment, kind));
    uint32_t position = static_cast<uint32_t>(first);
    std::vector<NewTrial> placed = trials;
    for (NewTrial& trial : placed) trial.order = position++;
    STAB_TRY(ids, state_->insert_trials(experiment, kind, placed));
    return {};
  });
  if (!done) return done.error();
  return ids;
}

Result<std::optional<TrialRow>> Store::next_trial(Id experiment, TrialKind kind) {
  return state_->database.select_one("SELECT " + trial_columns() +
                                         " FROM trials WHERE experiment = ? AND kind = ? AND superseded = 0 AND " +
                                         where_legal(TrialEvent::kClaim) + " ORDER BY position LIMIT 1",
                                     read_numbered<TrialRow>, experiment, name(kind));
}

Result<std::vector<TrialRow>> Store::planned_beside(const TrialRow& trial) {
  return state_->database.select(
      "SELECT " + trial_columns() + " FROM trials WHERE experiment = ? AND kind = ? AND superseded = 0 AND " +
          where_legal(TrialEvent::kClaim) + " AND subject = ? AND block = ? AND run = ? AND pass = ? ORDER BY position",
      read_numbered<TrialRow>, trial.experiment, name(trial.kind), trial.subject, trial.block, trial.run, trial.pass);
}

Result<TrialRow> Store::trial(Id trial) { return state_->load_trial(trial); }

Status Store::claim(Id trial, const Claim& claim) { return this->claim(std::vector<Id>{trial}, claim); }

Status Store::claim(const std::vector<Id>& trials, const Claim& claim) {
  STAB_CHECK_OK(state_->atomically([&] { return state_->claim(trials, claim); }));
  return state_->checkpoint_if_large();
}

Result<Replacement> Store::finish(const Outcome& outcome, int max_attempts) {
  Replacement replacement;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(replacement, state_->finish(outcome, max_attempts));
    return {};
  });
  if (!done) return done.error();
  STAB_CHECK_OK(state_->checkpoint_if_large());
  return replacement;
}

Result<std::vector<Replacement>> Store::finish_and_claim(const std::vector<Outcome>& outcomes, const Attempts& attempts,
                                                         const std::vector<Id>& next, const Claim& claim) {
  std::vector<Replacement> replacements;
  const Status done = state_->atomically([&]() -> Status {
    for (const Outcome& outcome : outcomes) {
      const bool lost = outcome.state == TrialState::kLost;
      STAB_TRY(replacements.emplace_back(), state_->finish(outcome, lost ? attempts.most_when_lost : attempts.most));
    }
    return state_->claim(next, claim);
  });
  if (!done) return done.error();
  STAB_CHECK_OK(state_->checkpoint_if_large());
  return replacements;
}

Result<Recovery> Store::recover(int64_t now_ns, int max_attempts) {
  Recovery recovery;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(const std::vector<TrialRow> open,
             state_->database.select("SELECT " + trial_columns() + " FROM trials WHERE " +
                                         where_legal(TrialEvent::kFoundAtStart) + " ORDER BY id",
                                     read_numbered<TrialRow>));
    for (const TrialRow& trial : open) {
      Outcome outcome;
      outcome.trial = trial.id;
      outcome.state = step(trial.state, TrialEvent::kFoundAtStart).state;
      outcome.failure = "the engine or the machine stopped while this trial was under way";
      outcome.finished_at_ns = now_ns;
      STAB_TRY(const Replacement replacement, state_->finish(outcome, max_attempts));
      recovery.lost.push_back(trial.id);
      if (replacement.next_attempt) recovery.replacements.push_back(*replacement.next_attempt);
      if (replacement.quarantined) ++recovery.quarantined_cells;
    }
    return state_->fulfil_wishes(now_ns);
  });
  if (!done) return done.error();
  STAB_CHECK_OK(state_->checkpoint_if_large());
  return recovery;
}

Result<int64_t> Store::cancel_planned(Id experiment, uint32_t first_block) {
  int64_t count = 0;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(count, state_->cancel_planned(experiment, first_block));
    return {};
  });
  if (!done) return done.error();
  return count;
}

Status Store::keep_blocks(Id experiment, const std::vector<uint32_t>& blocks) {
  std::string list;
  for (const uint32_t block : blocks) list += (list.empty() ? "" : ", ") + std::to_string(block);
  STAB_CHECK_OK(state_->atomically([&]() -> Status {
    STAB_TRY(Statement * update, state_->database.prepare(update_to(TrialEvent::kDrop) +
                                                          " WHERE experiment = ? AND kind = 'main' AND superseded = 0 AND " +
                                                          where_legal(TrialEvent::kDrop) + " AND block NOT IN (" + list + ")"));
    return update->run(experiment);
  }));
  return state_->checkpoint_if_large();
}

Result<int64_t> Store::open_places(Id experiment, int64_t first, int64_t places) {
  return state_->database.integer(
      "SELECT count(*) FROM trials WHERE experiment = ? AND kind = 'main' AND position >= ? AND "
      "position < ? AND superseded = 0 AND (" +
          where_legal(TrialEvent::kClaim) + " OR " + where_legal(TrialEvent::kFoundAtStart) + ")",
      experiment, first, first + places);
}

Result<Id> Store::rerun(Id trial) {
  Id next = 0;
  const Status done = state_->atomically([&]() -> Status {
    STAB_TRY(const int64_t superseded, state_->database.integer("SELECT superseded FROM trials WHERE id = ?", trial));
    STAB_TRY(const TrialRow found, state_->load_trial(trial));
    if (superseded != 0) return bad_input("trial " + std::to_string(trial) + " was replaced already; rerun its latest attempt");
    if (found.kind == TrialKind::kReplay)
      return bad_input("trial " + std::to_string(trial) +
                       " is a replay, and no run would take up another attempt; replay the trial that it repeats once more");
    STAB_TRY(const int64_t beside, state_->recorded_in_company_of(found));
    if (beside > 0)
      return bad_input("trial " + std::to_string(trial) +
                       " is of a sliced block, and the block's other trials have run without it; "
                       "repair the program and run the plan again");
    if (found.state == TrialState::kCancelled)
      return bad_input("trial " + std::to_string(trial) +
                       " was left out, by the plan's stopping rule or as its experiment was cancelled");
    const TrialStep again = step(found.state, TrialEvent::kRerun);
    if (!again.legal)
      return bad_input("trial " + std::to_string(trial) + " is " + std::string(name(found.state)) +
                       "; only a trial that did not pass can be run again");
    STAB_TRY(const ExperimentState before, state_->state_of(found.experiment));
    if (!step(before, ExperimentEvent::kRerun).legal)
      return bad_input("experiment " + std::to_string(found.experiment) + " is " + std::string(name(before)) +
                       "; none of its trials runs any more");
    STAB_TRY(const ExperimentState woken, state_->advance(found.experiment, ExperimentEvent::kRerun, "", 0));
    (void)woken;
    if (has(again.actions, TrialAction::kRepeat)) {
      STAB_TRY(next, state_->plan_next_attempt(found));
      return {};
    }
    STAB_TRY(Statement * update, state_->database.prepare("UPDATE trials SET state = ? WHERE id = ?"));
    next = trial;
    return update->run(name(again.state), trial);
  });
  if (!done) return done.error();
  return next;
}

}  // namespace stab::store
