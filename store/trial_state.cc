// The words on disk.
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

}  // namespace stab::store
