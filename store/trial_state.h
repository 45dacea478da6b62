// The states of a trial. One row is one attempt; a replacement is a new row with the same place in the schedule and the
// next attempt number. What leads from one to another: trial_machine.h.
#pragma once

#include <optional>
#include <string_view>

namespace stab::store {

// Do not renumber, do not rename: on disk (as words).
enum class TrialState {
  kPlanned,      // waits
  kClaimed,      // an engine (boot_id, attempt) is about to launch it
  kStarted,      // its process runs                                        } these three are in
  kExited,       // its process ended, nothing is checked yet                } the memory of an
  kVerified,     // output and dose agree with the plan, results not stored  } engine only
  kRecorded,     // results are stored: the only state that is analysed
  kFailed,       // wrong exit, output or dose, or it could not be launched
  kTimeout,      // killed at its limit
  kLost,         // claimed or started when the engine or the machine died; kept
  kQuarantined,  // never ran: its cell failed too often
  kCancelled,    // never ran: its experiment was cancelled, or the stopping rule ended it
};

std::string_view name(TrialState state);
std::optional<TrialState> trial_state(std::string_view name);

}  // namespace stab::store
