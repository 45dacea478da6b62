// The life of one trial as a pure table: step(state, event) -> {state, actions}.
//
//   planned -> claimed -> started -> exited -> verified -> recorded, or failed | timeout | lost
//
// The engine turns what happens (a pipe that closes, a timer, a process that ends) into events and carries out
// the actions; what follows from what is decided here and nowhere else. The states are the store's;
// docs/trials.md shows the same table.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/trial_state.h"

namespace stab::engine {

using store::TrialState;
inline constexpr int kTrialStateCount = static_cast<int>(TrialState::kCancelled) + 1;

enum class TrialEvent : uint8_t {
  kClaim,         // the scheduler picked it, and the claim is stored
  kLaunched,      // go was sent and the exec succeeded
  kLaunchFailed,  // a step of the launcher failed
  kExited,        // the first process ended by itself or by our kill
  kDeadline,      // its timeout passed
  kOverflow,      // it wrote more output than the plan allows
  kCancel,        // the user or a shutdown wants it gone now
  kTreeGone,      // no process of its tree is left
  kAccepted,      // output, dose and counters fit
  kRejected,      // one of them contradicts the plan
  kStored,        // its outcome is in the store
  kFoundAtStart,  // a new engine found it in the store
};
inline constexpr int kTrialEventCount = 12;

// A set of things to do, in the order of the bits.
enum class TrialAction : uint16_t {
  kNone = 0,
  kLaunch = 1 << 0,       // start helper and launcher, open counters, send go
  kArmDeadline = 1 << 1,
  kStampEnd = 1 << 2,     // before anything else is done
  kKillTree = 1 << 3,     // until it is empty; raises kTreeGone
  kCheck = 1 << 4,        // collect and compare; raises kAccepted or kRejected
  kStore = 1 << 5,        // write the outcome; raises kStored
  kReplace = 1 << 6,      // plan another attempt in the same block, while attempts are left
  kRelease = 1 << 7,      // directory, descriptors, memory
};
constexpr TrialAction operator|(TrialAction a, TrialAction b) {
  return static_cast<TrialAction>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
constexpr bool has(TrialAction set, TrialAction one) {
  return (static_cast<uint16_t>(set) & static_cast<uint16_t>(one)) != 0;
}

struct TrialStep {
  TrialState state = TrialState::kPlanned;
  TrialAction actions = TrialAction::kNone;
  bool legal = false;  // false: this event must not occur in this state; state is unchanged, no actions

  bool operator==(const TrialStep&) const = default;
};

TrialStep step(TrialState state, TrialEvent event);

// "launch failed", for logs and tests.
std::string_view name(TrialEvent event);

}  // namespace stab::engine
