// The states of a stored trial and which may follow which. One row is one attempt; a replacement is a new row
// with the same place in the schedule and the next attempt number.
#pragma once

#include <optional>
#include <string_view>

namespace stab::store {

// Do not renumber, do not rename: on disk (as words).
enum class TrialState {
  kPlanned,      // waits
  kClaimed,      // an engine (boot_id, attempt) is about to launch it
  kStarted,      // its process runs
  kExited,       // its process ended, nothing is checked yet
  kVerified,     // output and dose agree with the plan, results not stored yet
  kRecorded,     // results are stored: the only state that is analysed
  kFailed,       // wrong exit, output or dose, or it could not be launched
  kTimeout,      // killed at its limit
  kLost,         // claimed or started when the engine or the machine died; kept
  kQuarantined,  // never ran: its cell failed too often
  kCancelled,    // never ran: its experiment was cancelled, or the stopping rule ended it
};

std::string_view name(TrialState state);
std::optional<TrialState> trial_state(std::string_view name);

// planned -> claimed -> started -> exited -> verified; from any of the last four recorded, failed, timeout or
// lost (an engine need not store each step); from planned also quarantined and cancelled. The rest is final.
bool may_follow(TrialState from, TrialState to);
bool is_final(TrialState state);

}  // namespace stab::store
