// What one trial has printed, as far as it is kept: the first bytes of both streams where it did not pass, or was a replay. Of
// others there are lengths and hashes. stabctl prints it from a database of one's own, or gets it from the daemon.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace stab::engine {

// Of one stream, at most so much is shown, whatever a database of a stranger's holds.
inline constexpr size_t kShownOutputBytes = 16 << 10;

struct StreamOutput {
  std::optional<int64_t> bytes;  // that it printed; absent: nobody counted them
  std::string sha256;            // of all of them
  std::string head;              // the first ones, safe for a terminal; empty: none, or not kept
  size_t kept = 0;               // how many these are, before they were made safe
};

struct TrialOutput {
  store::Id trial = 0, experiment = 0;
  std::string experiment_name, subject, cell;
  store::TrialKind kind = store::TrialKind::kMain;
  store::TrialState state = store::TrialState::kPlanned;
  int attempt = 1;
  std::string failure;  // why there is no result
  std::optional<int> exit_status, signal;
  StreamOutput out, err;
};

// kNotFound where there is no such trial, kUnavailable where it has not ended.
Result<TrialOutput> trial_output(store::Store& store, store::Id trial);
// Of the newest attempts that did not pass, at most so many: without what they have printed.
Result<std::vector<TrialOutput>> trials_not_passed(store::Store& store, store::Id experiment, size_t most);

std::string output_text(const TrialOutput& output);
std::string output_json(const TrialOutput& output);
// What output_json() wrote, made safe for a terminal again: it may come from anybody. kCorrupt where it is nothing of the kind.
Result<TrialOutput> parse_output(std::string_view json);

}  // namespace stab::engine
