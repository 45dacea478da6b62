// What the parts of Store share: the database, the writer's lock, and the scope that makes each operation one
// transaction. Internal to store/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace stab::store {

struct Store::State {
  Database database;
  UniqueFd writer_lock;  // invalid: a reader
  std::string path;
  bool is_copy = false;  // a reader of what the file held when it was opened: `database` is no file of this path
  std::string part_schema{};  // what write_part makes, once it was asked for (store/parts.cc)

  // Runs `body` as one transaction, or as a savepoint of the one that is open. Its failure undoes all of it.
  Status atomically(const std::function<Status()>& body);
  // After a commit between trials: keeps the WAL small (see kCheckpointPages).
  Status checkpoint_if_large();

  // --- steps of operations, always called inside atomically() ---
  Result<TrialRow> load_trial(Id trial);
  Status count_planned(Id experiment, TrialKind kind, int64_t more);  // after they were added
  Result<std::vector<Id>> insert_trials(Id experiment, TrialKind kind, const std::vector<NewTrial>& trials);
  Status claim(Id trial, const Claim& claim);
  Status claim(const std::vector<Id>& trials, const Claim& claim);
  Result<int64_t> recorded_in_company_of(const TrialRow& trial);
  Result<Replacement> finish(const Outcome& outcome, int max_attempts);
  Status store_outcome(const Outcome& outcome);
  Result<int64_t> attempts_that_ended_so(const TrialRow& trial, TrialState end);
  Result<Id> plan_next_attempt(const TrialRow& trial);
  Status quarantine(const TrialRow& trial, std::string_view reason);
  Result<int64_t> cancel_planned(Id experiment, uint32_t first_block);
  Result<int64_t> cancel_some(Id experiment, int64_t rows);
  Result<ExperimentState> state_of(Id experiment);
  Result<ExperimentState> advance(Id experiment, ExperimentEvent event, std::string_view failure, int64_t at_ns);
  Status fulfil_wishes(int64_t at_ns);  // pre: nothing runs

  // --- store/parts.cc ---
  Result<std::string> schema_of_parts();
  // How many it records. pre: the part is attached as `other`, and its trials are those of one planned block, on which a machine
  // has spent no more than `most_ns`
  Result<int64_t> take_part_in(Id experiment, int64_t most_ns);

  // --- store/causal.cc ---
  Status store_causal(Id trial, const CausalRun& run);
  Result<int64_t> number_of_point(Id experiment, const ProgressPointRow& point);

  // --- store/usage.cc ---
  // What would be more than a number of the store's can be stays the largest.
  Status add_usage(Id experiment, int64_t trials, int64_t stored_bytes, int64_t machine_ns);
  // Of a trial that has just ended: what its experiment and its user take.
  Status account(const TrialRow& trial, const Outcome& outcome);
};

// What read_numbered<TrialRow>() reads.
const std::string& trial_columns();

Error not_found(std::string_view what, Id id);

}  // namespace stab::store
