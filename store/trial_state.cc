// The state x state table of a stored trial, as words on disk and as a rule. Every pair is visible here and
// enumerated by the test.
#include "store/trial_state.h"

#include <array>
#include <utility>

namespace stab::store {
namespace {

constexpr std::array<std::pair<TrialState, std::string_view>, 11> kNames = {{
    {TrialState::kPlanned, "planned"},
    {TrialState::kClaimed, "claimed"},
    {TrialState::kStarted, "started"},
    {TrialState::kExited, "exited"},
    {TrialState::kVerified, "verified"},
    {TrialState::kRecorded, "recorded"},
    {TrialState::kFailed, "failed"},
    {TrialState::kTimeout, "timeout"},
    {TrialState::kLost, "lost"},
    {TrialState::kQuarantined, "quarantined"},
    {TrialState::kCancelled, "cancelled"},
}};

// Claimed by an engine and not over.
bool is_open(TrialState state) {
  return state == TrialState::kClaimed || state == TrialState::kStarted || state == TrialState::kExited ||
         state == TrialState::kVerified;
}

}  // namespace

std::string_view name(TrialState state) {
  for (const auto& [value, word] : kNames)
    if (value == state) return word;
  return "?";
}

std::optional<TrialState> trial_state(std::string_view name) {
  for (const auto& [value, word] : kNames)
    if (word == name) return value;
  return std::nullopt;
}

bool is_final(TrialState state) { return state != TrialState::kPlanned && !is_open(state); }

bool may_follow(TrialState from, TrialState to) {
  switch (to) {
    case TrialState::kPlanned: return false;
    case TrialState::kClaimed:
    case TrialState::kQuarantined:
    case TrialState::kCancelled: return from == TrialState::kPlanned;
    case TrialState::kStarted: return from == TrialState::kClaimed;
    case TrialState::kExited: return from == TrialState::kStarted;
    case TrialState::kVerified: return from == TrialState::kExited;
    // An engine that stores only claims and outcomes passes through the states between in memory.
    case TrialState::kRecorded:
    case TrialState::kFailed:
    case TrialState::kTimeout:
    case TrialState::kLost: return is_open(from);
  }
  return false;
}

}  // namespace stab::store
