// What experiments and users take, for quotas and for fair shares. Kept beside what it counts, in the same transactions:
// counting it anew takes as long as there is data.
#include <algorithm>
#include <cmath>

#include "store/store_state.h"

namespace stab::store {
namespace {

double decayed(double used_ns, int64_t age_ns) {
  return used_ns * std::exp2(-static_cast<double>(std::max<int64_t>(age_ns, 0)) / static_cast<double>(kShareHalfLifeNs));
}

int64_t bytes_of(const Outcome& outcome) {
  size_t bytes = outcome.stdout_head.size() + outcome.stderr_head.size() + outcome.dose_json.size() + outcome.failure.size();
  bytes += outcome.epochs.size();
  constexpr size_t kWindowBytes = 120, kCountBytes = 16;
  if (outcome.causal)
    for (const WindowRow& window : outcome.causal->windows) bytes += kWindowBytes + kCountBytes * window.counts.size();
  for (const ResponseRow& row : outcome.responses) bytes += row.name.size() + row.reason.size() + 40;
  for (const auto& [key, value] : outcome.ledger) bytes += key.size() + 16;
  for (const std::string& rule : outcome.excluded_by) bytes += rule.size() + 8;
  return static_cast<int64_t>(bytes);
}

}  // namespace

Status Store::State::add_usage(Id experiment, int64_t trials, int64_t stored_bytes, int64_t machine_ns) {
  STAB_TRY(Statement * update,
           database.prepare("UPDATE usage SET trials = min(trials, 9223372036854775807 - max(?1, 0)) + ?1, "
                            "stored_bytes = min(stored_bytes, 9223372036854775807 - max(?2, 0)) + ?2, "
                            "machine_ns = min(machine_ns, 9223372036854775807 - max(?3, 0)) + ?3 WHERE experiment = ?4"));
  return update->run(trials, stored_bytes, machine_ns, experiment);
}

Status Store::State::account(const TrialRow& trial, const Outcome& outcome) {
  STAB_TRY(const std::optional<int64_t> uid,
           database.select_one("SELECT uid FROM usage WHERE experiment = ?", first_integer, trial.experiment));
  if (!uid) return {};
  // Dates say nothing of how long it took: somebody may have set the clock meanwhile. Of a trial that was found at a start nobody
  // knows. One that was lost took what it took: a program that ends its own helper would have the machine for nothing.
  const int64_t machine_ns = std::max<int64_t>(outcome.machine_ns.value_or(0), 0);
  STAB_CHECK_OK(add_usage(trial.experiment, 0, bytes_of(outcome), machine_ns));
  if (machine_ns == 0) return {};
  STAB_TRY(
      const std::optional<double> before,
      database.select_one(
          "SELECT used_ns, at_ns FROM shares WHERE uid = ?",
          [&](const Statement& row) { return decayed(row.maybe_number(0).value_or(0), outcome.finished_at_ns - row.integer(1)); },
          *uid));
  const double used_ns = before.value_or(0);
  STAB_TRY(Statement * put, database.prepare("INSERT OR REPLACE INTO shares VALUES(?, ?, ?)"));
  return put->run(*uid, used_ns + static_cast<double>(machine_ns), outcome.finished_at_ns);
}

Result<Usage> Store::usage(Id experiment) {
  STAB_TRY(const std::optional<Usage> usage, state_->database.select_one(
                                                 "SELECT trials, stored_bytes, machine_ns FROM usage WHERE experiment = ?",
                                                 [](const Statement& row) {
                                                   return Usage{row.integer(0), row.integer(1), row.integer(2)};
                                                 },
                                                 experiment));
  if (!usage) return not_found("experiment", experiment);
  return *usage;
}

Result<UserUsage> Store::usage_of(int64_t uid) {
  STAB_TRY(const std::optional<UserUsage> sums,
           state_->database.select_one(
               "SELECT count(*), coalesce(sum(trials), 0), coalesce(sum(stored_bytes), 0) FROM usage WHERE uid = ?",
               [](const Statement& row) {
                 return UserUsage{row.integer(0), 0, row.integer(1), row.integer(2)};
               },
               uid));
  UserUsage all = sums.value_or(UserUsage());
  STAB_TRY(const std::vector<ExperimentSummary> rows, summaries(uid));
  all.unfinished = std::count_if(rows.begin(), rows.end(), [](const ExperimentSummary& one) { return !is_over(one.state); });
  return all;
}

Result<int64_t> Store::stored_bytes_of(int64_t uid) {
  return state_->database.integer("SELECT coalesce(sum(stored_bytes), 0) FROM usage WHERE uid = ?", uid);
}

Result<std::map<int64_t, double>> Store::shares(int64_t now_ns) {
  STAB_TRY(const auto rows, state_->database.select("SELECT uid, used_ns, at_ns FROM shares", [&](const Statement& row) {
    return std::pair(row.integer(0), decayed(row.maybe_number(1).value_or(0), now_ns - row.integer(2)));
  }));
  return std::map<int64_t, double>(rows.begin(), rows.end());
}

}  // namespace stab::store
