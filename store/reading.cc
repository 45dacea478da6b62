// Reading: progress for people, samples for the analysis. Nothing here writes.
#include <algorithm>
#include <utility>

#include "store/store_state.h"
#include "store/table.h"

namespace stab::store {
namespace {

// Responses that every trial has, and the expression that reads them from an outcome.
constexpr std::pair<std::string_view, std::string_view> kBuiltin[] = {
    {"wall_time", "o.wall_ns / 1e9"},
    {"cpu_time", "(o.user_ns + o.system_ns) / 1e9"},
    {"user_time", "o.user_ns / 1e9"},
    {"system_time", "o.system_ns / 1e9"},
    {"max_rss", "CAST(o.max_rss_kib AS REAL)"},
    // In the dose report alone, and only if the program began a region.
    {"region_time", "CASE WHEN json_valid(o.dose_json) THEN json_extract(o.dose_json, '$.region.wall_ns') END / 1e9"},
};

Result<SampleRow> read_sample(const Statement& row) {
  SampleRow sample;
  Columns columns(row);
  columns.into(sample.trial, sample.subject, sample.cell, sample.block, sample.order, sample.run, sample.link, sample.seed,
               sample.layout, sample.value, sample.layouts_executed, sample.excluded);
  return columns.made(sample);
}

// All of an outcome but its trial and what stands in other tables.
Result<Outcome> read_outcome(const Statement& row) {
  Outcome out;
  Columns columns(row);
  columns.word("state", out.state, trial_state).into(out.failure, out.started_at_ns, out.finished_at_ns).record(out);
  return columns.made(std::move(out));
}

// Attempts that stand alike.
struct CountedState {
  TrialState state{};
  bool superseded = false;
  int64_t count = 0;
};
Result<CountedState> read_counted(const Statement& row, int first) {
  CountedState out;
  return Columns(row, first).word("state", out.state, trial_state).into(out.superseded, out.count).made(out);
}

void add(const CountedState& group, Progress& out) {
  out.attempts += group.count;
  if (group.superseded) return;
  out.planned_total += group.count;
  out.by_state[group.state] += group.count;
}

}  // namespace

Result<Progress> Store::progress(Id experiment) {
  Progress out;
  STAB_TRY(const std::vector<CountedState> groups,
           state_->database.select(
               "SELECT state, superseded, number FROM trial_counts WHERE experiment = ? AND kind = 'main' AND "
               "number > 0",
               [](const Statement& row) { return read_counted(row, 0); }, experiment));
  for (const CountedState& group : groups) add(group, out);
  return out;
}

Result<std::map<Id, Listed>> Store::listed(std::optional<int64_t> uid, Id from) {
  // Each is a walk along an index, with a look-up for each of the user's experiments.
  const std::string of =
      uid ? "IN (SELECT id FROM experiments INDEXED BY experiments_shown WHERE submitter_uid = ?1 AND id >= ?2)" : ">= ?2";
  Database& database = state_->database;
  std::map<Id, Listed> out;
  STAB_TRY(const auto groups,
           database.select(
               "SELECT experiment, state, superseded, number FROM trial_counts WHERE experiment " + of +
                   " AND kind = 'main' AND number > 0",
               [](const Statement& row) -> Result<std::pair<Id, CountedState>> {
                 STAB_TRY(const CountedState group, read_counted(row, 1));
                 return std::pair(row.integer(0), group);
               },
               uid, from));
  for (const auto& [experiment, group] : groups) add(group, out[experiment].progress);
  STAB_TRY(const auto used,
           database.select("SELECT experiment, machine_ns FROM usage WHERE " +
                               std::string(uid ? "uid = ?1 AND experiment >= ?2" : "experiment >= ?2") + " AND machine_ns > 0",
                           read_pair<Id, int64_t>, uid, from));
  for (const auto& [experiment, machine_ns] : used) out[experiment].machine_ns = machine_ns;
  STAB_TRY(const auto on_machines,
           database.select("SELECT DISTINCT experiment FROM slot_epochs WHERE experiment " + of, first_integer, uid, from));
  for (const Id experiment : on_machines) out[experiment].has_slots = true;
  return out;
}

Result<std::vector<TrialRow>> Store::trials(Id experiment, const TrialFilter& filter) {
  // NULL stands for "any".
  const auto word = [](const auto& wanted) { return wanted ? std::optional(name(*wanted)) : std::nullopt; };
  std::string question = "SELECT ";
  question.append(trial_columns())
      .append(
          " FROM trials WHERE experiment = ?1 AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR state = ?3) AND "
          "(?4 IS NULL OR block = ?4) ORDER BY kind, position, attempt LIMIT ?5");
  return state_->database.select(question, read_numbered<TrialRow>, experiment, word(filter.kind), word(filter.state),
                                 filter.block, filter.limit);
}

Result<std::string> Store::epochs(Id trial) {
  STAB_TRY(std::optional<std::string> series,
           state_->database.select_one(
               "SELECT series FROM epochs WHERE trial = ?", [](const Statement& row) { return row.bytes(0); }, trial));
  return std::move(series).value_or("");
}

Result<Outcome> Store::outcome(Id trial) {
  Database& database = state_->database;
  STAB_TRY(std::optional<Outcome> found,
           database.select_one("SELECT t.state, t.failure, t.started_at_ns, t.finished_at_ns, " + column_names<Outcome>("o.") +
                                   " FROM outcomes o JOIN trials t ON t.id = o.trial WHERE o.trial = ?",
                               read_outcome, trial));
  if (!found) {
    STAB_TRY(const TrialRow without, this->trial(trial));
    const std::string state(name(without.state));
    return Error{ErrorCode::kNotFound, "trial " + std::to_string(trial) + " has no outcome: it is " + state, {}};
  }
  Outcome out = *std::move(found);
  out.trial = trial;
  STAB_TRY(out.responses,
           database.select("SELECT " + column_names<ResponseRow>() + " FROM responses WHERE trial = ?", read_record<ResponseRow>,
                           trial));
  STAB_TRY(const auto evidence,
           database.select(
               "SELECT key, value FROM ledger WHERE trial = ?",
               [](const Statement& row) { return std::pair(row.text(0), row.maybe_number(1).value_or(0)); }, trial));
  out.ledger.insert(evidence.begin(), evidence.end());
  STAB_TRY(out.excluded_by, database.select("SELECT rule FROM exclusions WHERE trial = ?", first_text, trial));
  return out;
}

Result<std::vector<std::string>> Store::response_names(Id experiment) {
  std::vector<std::string> out;
  for (const auto& [name, expression] : kBuiltin) out.emplace_back(name);
  STAB_TRY(const std::vector<std::string> counters,
           state_->database.select("SELECT r.name FROM responses r JOIN trials t ON t.id = r.trial "
                                   "WHERE t.experiment = ? AND t.kind = 'main' AND t.state = 'recorded' "
                                   "GROUP BY r.name ORDER BY min(r.trial), r.name",
                                   first_text, experiment));
  out.insert(out.end(), counters.begin(), counters.end());
  return out;
}

Result<std::vector<DoneRow>> Store::done(Id experiment) {
  return state_->database.select(
      "SELECT t.subject, t.cell, o.stdout_sha256, o.stdout_bytes, o.exit_status, count(*) FROM trials t "
      "JOIN outcomes o ON o.trial = t.id WHERE t.experiment = ? AND t.kind = 'main' AND t.superseded = 0 AND "
      "t.state = 'recorded' GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3",
      [](const Statement& row) {
        return DoneRow{static_cast<int>(row.integer(0)), static_cast<int>(row.integer(1)), row.text(2),
                       row.maybe_integer(3).value_or(0), static_cast<int>(row.maybe_integer(4).value_or(0)), row.integer(5)};
      },
      experiment);
}

Result<std::vector<SampleRow>> Store::samples(Id experiment, std::string_view response) {
  // A builtin is measured in every pass over the counters; only the first is a replicate of its own.
  std::string expression = "r.value", join = "JOIN responses r ON r.trial = t.id AND r.name = ?2", where;
  for (const auto& [name, builtin] : kBuiltin) {
    if (name != response) continue;
    expression = builtin;
    join.clear();
    where = " AND t.pass = 0";
  }
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT t.id, t.subject, t.cell, t.block, t.position, t.run, t.link, t.seed, t.layout, " +
                                    expression +
                                    ", o.layouts_executed, EXISTS(SELECT 1 FROM exclusions x WHERE x.trial = t.id) "
                                    "FROM trials t JOIN outcomes o ON o.trial = t.id " +
                                    join +
                                    " WHERE t.experiment = ?1 AND t.kind = 'main' AND t.superseded = 0 AND "
                                    "t.state = 'recorded'" +
                                    where + " ORDER BY t.position"));
  query->bind(experiment);
  if (!join.empty()) query->bind(response);
  return read_rows(*query, read_sample);
}

Result<std::map<std::string, int64_t>> Store::missing_reasons(Id experiment, std::string_view response) {
  STAB_TRY(const auto rows,
           state_->database.select("SELECT r.reason, count(*) FROM responses r JOIN trials t ON t.id = r.trial "
                                   "WHERE t.experiment = ? AND r.name = ? AND r.value IS NULL AND t.kind = 'main' AND "
                                   "t.state = 'recorded' GROUP BY r.reason",
                                   read_pair<std::string, int64_t>, experiment, response));
  return std::map<std::string, int64_t>(rows.begin(), rows.end());
}

}  // namespace stab::store
