// The life of one trial as a pure table: step(state, event) -> {state, actions}.
//
//   planned -> claimed -> started -> exited -> verified -> recorded, or failed | timeout | lost
//   planned -> quarantined | cancelled
//
// Every change of a trial's state is a row of this table, and every row is one that production takes. Whoever runs a trial
// (stabd/engine/trial/live_trial.cc) and whoever stores it (store/trials.cc) turn what happens into events, and do what the row
// says: live trials, preflight, what a crash has left, replacement, quarantine, cancelling and running again.
// docs/reference/schema.md shows the states for people.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/records.h"

namespace stab::store {

inline constexpr int kTrialStateCount = static_cast<int>(TrialState::kCancelled) + 1;

enum class TrialEvent : uint8_t {
  kClaim,         // the scheduler picked it, and the claim is stored
  kLaunched,      // go was sent and the exec succeeded
  kLaunchFailed,  // it can't be run: its directory or prepare failed, or a step of the launcher
  kExited,        // the first process ended by itself
  kDeadline,      // its timeout passed
  kOverflow,      // it wrote more output than the plan allows
  kCancel,        // the user or a shutdown wants it gone now
  kTreeGone,      // no process of its tree is left
  kAccepted,      // output, dose and counters fit
  kRejected,      // one of them contradicts the plan
  kCutOff,        // something of ours that it needs went away, so that nothing is known of it
  kSpoiled,       // another trial of its sliced block came to nothing, so that it did not have the company that it was to have
  kUnanswered,    // in preflight: it passed, and gave no value of the response that the plan is about
  kStored,        // its outcome is in the store
  kFoundAtStart,  // an engine that has just started found it in the store
  kQuarantine,    // its cell came to nothing too often
  kDrop,          // its experiment is cancelled, or its stopping rule needs no more
  kRerun,         // a user wants it to be run again
};
inline constexpr int kTrialEventCount = static_cast<int>(TrialEvent::kRerun) + 1;

// A set of things to do, in the order of the bits.
enum class TrialAction : uint16_t {
  kNone = 0,
  kLaunch = 1 << 0,    // start helper and launcher, open counters, send go
  kWait = 1 << 1,      // until it ends, or its timeout or another limit ends it
  kStampEnd = 1 << 2,  // before anything else is done
  kKillTree = 1 << 3,  // until it is empty; raises kTreeGone
  kCheck = 1 << 4,     // collect and compare; raises kAccepted, kRejected or kCutOff
  kStore = 1 << 5,     // write the outcome; raises kStored
  kReplace = 1 << 6,   // what after_end() says of its place in the schedule
  kRepeat = 1 << 7,    // plan another attempt in its place
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

// Claimed and not over: what a crash would lose.
bool is_under_way(TrialState state);

// What becomes of a place in the schedule whose trial ended without a result.
enum class AfterEnd : uint8_t {
  kAnotherAttempt,  // in the same place, thus in its block and with its seed
  kQuarantine,      // no further trial of its cell
  kNothing,         // the end was the answer
};
// `same_ends`: attempts of this place that ended so, this one included: losses, or failures and timeouts.
// pre: `end` is failed, timeout or lost
AfterEnd after_end(TrialKind kind, TrialState end, int64_t same_ends, int64_t max_attempts);

// "launch failed", for messages and tests.
std::string_view name(TrialEvent event);

}  // namespace stab::store
