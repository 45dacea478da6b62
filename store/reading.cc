// Reading: progress for people, samples for the analysis. Nothing here writes.
#include <algorithm>
#include <utility>

#include "store/store_state.h"

namespace stab::store {
namespace {

// Responses that every trial has, and the expression that reads them from an outcome.
constexpr std::pair<std::string_view, std::string_view> kBuiltin[] = {
    {"wall_time", "o.wall_ns / 1e9"},
    {"user_time", "o.user_ns / 1e9"},
    {"system_time", "o.system_ns / 1e9"},
    {"max_rss", "CAST(o.max_rss_kib AS REAL)"},
    // In the dose report alone, and only if the program began a region.
    {"region_time", "CASE WHEN json_valid(o.dose_json) THEN json_extract(o.dose_json, '$.region.wall_ns') END / 1e9"},
};

SampleRow read_sample(const Statement& row) {
  SampleRow sample;
  sample.trial = row.integer(0);
  sample.subject = static_cast<int>(row.integer(1));
  sample.cell = static_cast<int>(row.integer(2));
  sample.block = static_cast<uint32_t>(row.integer(3));
  sample.order = static_cast<uint32_t>(row.integer(4));
  sample.run = static_cast<int>(row.integer(5));
  sample.link = static_cast<int>(row.integer(6));
  sample.seed = static_cast<uint64_t>(row.integer(7));
  sample.layout = static_cast<uint64_t>(row.integer(8));
  sample.value = row.maybe_number(9);
  sample.layouts_executed = row.maybe_integer(10);
  sample.excluded = row.integer(11) != 0;
  return sample;
}

ResponseRow read_response(const Statement& row) {
  return {row.text(0), row.maybe_number(1), row.maybe_integer(2), row.maybe_integer(3), row.maybe_integer(4), row.text(5)};
}

std::string first_text(const Statement& row) { return row.text(0); }

// Attempts that stand alike.
struct Counted {
  std::optional<TrialState> state;
  bool superseded;
  int64_t count;
};
Counted read_counted(const Statement& row, int first) {
  return {trial_state(row.text(first)), row.integer(first + 1) != 0, row.integer(first + 2)};
}

void add(const Counted& group, Progress& out) {
  out.attempts += group.count;
  if (group.superseded) return;
  out.planned_total += group.count;
  if (group.state) out.by_state[*group.state] += group.count;
}

}  // namespace

Result<Progress> Store::progress(Id experiment) {
  Progress out;
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT state, superseded, number FROM trial_counts WHERE experiment = ? AND "
                                    "kind = 'main' AND number > 0"));
  query->bind(experiment);
  STAB_TRY(const std::vector<Counted> groups, read_rows(*query, [](const Statement& row) { return read_counted(row, 0); }));
  for (const Counted& group : groups) add(group, out);
  return out;
}

Result<std::map<Id, Listed>> Store::listed(std::optional<int64_t> uid, Id from) {
  // Each is a walk along an index, with a look-up for each of the user's experiments.
  const std::string of =
      uid ? "IN (SELECT id FROM experiments INDEXED BY experiments_shown WHERE submitter_uid = ?1 AND id >= ?2)" : ">= ?2";
  const auto prepared = [&](const std::string& sql) -> Result<Statement*> {
    STAB_TRY(Statement * query, state_->database.prepare(sql));
    if (uid) query->bind(*uid);
    else query->bind(std::nullopt);
    query->bind(from);
    return query;
  };
  std::map<Id, Listed> out;
  STAB_TRY(Statement * counts, prepared("SELECT experiment, state, superseded, number FROM trial_counts WHERE experiment " + of +
                                        " AND kind = 'main' AND number > 0"));
  STAB_TRY(const auto groups,
           read_rows(*counts, [](const Statement& row) { return std::pair(row.integer(0), read_counted(row, 1)); }));
  for (const auto& [experiment, group] : groups) add(group, out[experiment].progress);
  STAB_TRY(Statement * usage, prepared("SELECT experiment, machine_ns FROM usage WHERE " +
                                       std::string(uid ? "uid = ?1 AND experiment >= ?2" : "experiment >= ?2") +
                                       " AND machine_ns > 0"));
  STAB_TRY(const auto used, read_rows(*usage, [](const Statement& row) { return std::pair(row.integer(0), row.integer(1)); }));
  for (const auto& [experiment, machine_ns] : used) out[experiment].machine_ns = machine_ns;
  STAB_TRY(Statement * slots, prepared("SELECT DISTINCT experiment FROM slot_epochs WHERE experiment " + of));
  STAB_TRY(const auto on_machines, read_rows(*slots, [](const Statement& row) { return row.integer(0); }));
  for (const Id experiment : on_machines) out[experiment].has_slots = true;
  return out;
}

Result<std::vector<TrialRow>> Store::trials(Id experiment, const TrialFilter& filter) {
  // NULL stands for "any".
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT " + std::string(kTrialColumns) +
                                    " FROM trials WHERE experiment = ?1 AND (?2 IS NULL OR kind = ?2) AND "
                                    "(?3 IS NULL OR state = ?3) AND (?4 IS NULL OR block = ?4) "
                                    "ORDER BY kind, position, attempt LIMIT ?5"));
  query->bind(experiment);
  if (filter.kind) {
    query->bind(name(*filter.kind));
  } else {
    query->bind(std::nullopt);
  }
  if (filter.state) {
    query->bind(name(*filter.state));
  } else {
    query->bind(std::nullopt);
  }
  query->bind(filter.block).bind(filter.limit);
  return read_rows(*query, read_trial);
}

Result<std::string> Store::epochs(Id trial) {
  STAB_TRY(Statement * query, state_->database.prepare("SELECT series FROM epochs WHERE trial = ?"));
  STAB_TRY(const bool found, query->bind(trial).step());
  if (!found) return std::string();
  std::string series = query->bytes(0);
  query->reset();
  return series;
}

Result<Outcome> Store::outcome(Id trial) {
  Database& database = state_->database;
  STAB_TRY(Statement * query,
           database.prepare("SELECT t.state, t.failure, t.started_at_ns, t.finished_at_ns, o.wall_ns, o.exit_status, "
                            "o.signal, o.user_ns, o.system_ns, o.max_rss_kib, o.minor_faults, o.major_faults, "
                            "o.voluntary_switches, o.involuntary_switches, o.stdout_sha256, o.stderr_sha256, "
                            "o.stdout_bytes, o.stderr_bytes, o.stdout_head, o.stderr_head, o.cpu, o.dose_json, "
                            "o.layouts_built, o.layouts_executed, o.functions_moved, o.functions_kept, o.helper_cpu_ns "
                            "FROM outcomes o JOIN trials t ON t.id = o.trial WHERE o.trial = ?"));
  STAB_TRY(const bool found, query->bind(trial).step());
  if (!found) return not_found("the outcome of trial", trial);
  const auto small = [](std::optional<int64_t> value) {
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  };
  Outcome out;
  out.trial = trial;
  out.state = trial_state(query->text(0)).value_or(TrialState::kLost);
  out.failure = query->text(1);
  out.started_at_ns = query->integer(2);
  out.finished_at_ns = query->integer(3);
  out.wall_ns = query->maybe_integer(4);
  out.exit_status = small(query->maybe_integer(5));
  out.signal = small(query->maybe_integer(6));
  out.user_ns = query->maybe_integer(7);
  out.system_ns = query->maybe_integer(8);
  out.max_rss_kib = query->maybe_integer(9);
  out.minor_faults = query->maybe_integer(10);
  out.major_faults = query->maybe_integer(11);
  out.voluntary_switches = query->maybe_integer(12);
  out.involuntary_switches = query->maybe_integer(13);
  out.stdout_sha256 = query->text(14);
  out.stderr_sha256 = query->text(15);
  out.stdout_bytes = query->maybe_integer(16);
  out.stderr_bytes = query->maybe_integer(17);
  out.stdout_head = query->text(18);
  out.stderr_head = query->text(19);
  out.cpu = static_cast<int>(query->integer(20));
  out.dose_json = query->text(21);
  out.layouts_built = query->maybe_integer(22);
  out.layouts_executed = query->maybe_integer(23);
  out.functions_moved = query->maybe_integer(24);
  out.functions_kept = query->maybe_integer(25);
  out.helper_cpu_ns = query->maybe_integer(26);
  query->reset();

  STAB_TRY(Statement * responses,
           database.prepare("SELECT name, value, raw, enabled_ns, running_ns, reason FROM responses WHERE trial = ?"));
  responses->bind(trial);
  STAB_TRY(out.responses, read_rows(*responses, read_response));
  STAB_TRY(Statement * ledger, database.prepare("SELECT key, value FROM ledger WHERE trial = ?"));
  ledger->bind(trial);
  STAB_TRY(const auto evidence, read_rows(*ledger, [](const Statement& row) {
             return std::pair(row.text(0), row.maybe_number(1).value_or(0));
           }));
  out.ledger.insert(evidence.begin(), evidence.end());
  STAB_TRY(Statement * exclusions, database.prepare("SELECT rule FROM exclusions WHERE trial = ?"));
  exclusions->bind(trial);
  STAB_TRY(out.excluded_by, read_rows(*exclusions, first_text));
  return out;
}

Result<std::vector<std::string>> Store::response_names(Id experiment) {
  std::vector<std::string> out;
  for (const auto& [name, expression] : kBuiltin) out.emplace_back(name);
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT r.name FROM responses r JOIN trials t ON t.id = r.trial "
                                    "WHERE t.experiment = ? AND t.kind = 'main' AND t.state = 'recorded' "
                                    "GROUP BY r.name ORDER BY min(r.trial), r.name"));
  query->bind(experiment);
  STAB_TRY(const std::vector<std::string> counters, read_rows(*query, first_text));
  out.insert(out.end(), counters.begin(), counters.end());
  return out;
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
  STAB_TRY(Statement * query,
           state_->database.prepare("SELECT r.reason, count(*) FROM responses r JOIN trials t ON t.id = r.trial "
                                    "WHERE t.experiment = ? AND r.name = ? AND r.value IS NULL AND t.kind = 'main' AND "
                                    "t.state = 'recorded' GROUP BY r.reason"));
  query->bind(experiment).bind(response);
  STAB_TRY(const auto rows, read_rows(*query, [](const Statement& row) { return std::pair(row.text(0), row.integer(1)); }));
  return std::map<std::string, int64_t>(rows.begin(), rows.end());
}

}  // namespace stab::store
