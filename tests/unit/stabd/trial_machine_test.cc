// Every state with every event: the pairs that are legal are listed here once more, and all others are not.
#include "stabd/trial_machine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stab::engine {
namespace {

using S = TrialState;
using E = TrialEvent;
using A = TrialAction;

constexpr int kStates = kTrialStateCount, kEvents = kTrialEventCount;

S run(S state, std::initializer_list<E> events) {
  for (const E event : events) {
    const TrialStep next = step(state, event);
    EXPECT_TRUE(next.legal) << name(state) << " x " << name(event);
    state = next.state;
  }
  return state;
}

bool final_state(S state) {
  return store::is_final(state);
}

// The whole table, one line a state, one letter an event in the order of TrialEvent: the state that follows,
// '.' for illegal. A change of the table must change this picture.
TEST(TrialMachine, EveryPair) {
  const std::vector<std::string> picture = {
      //  C L F X D O K G A R S B      (claim launched failed exited deadline overflow cancel gone ...)
      "C.....P....P",  // planned
      ".SF...L....L",  // claimed
      "...XTFL....L",  // started
      "....XXXXVF.L",  // exited
      "....V.V...RL",  // verified
      "......R....R",  // recorded
      "...FFFFF..FF",  // failed
      "...TTTTT..TT",  // timeout
      "...LLLLL..LL",  // lost
      "......Q....Q",  // quarantined
      "......N....N",  // cancelled
  };
  const std::string letters = "PCSXVRFTLQN";
  for (int state = 0; state < kStates; ++state) {
    std::string row;
    for (int event = 0; event < kEvents; ++event) {
      const TrialStep next = step(static_cast<S>(state), static_cast<E>(event));
      row += next.legal ? letters[static_cast<int>(next.state)] : '.';
    }
    EXPECT_EQ(row, picture[state]) << name(static_cast<S>(state));
  }
}

TEST(TrialMachine, IllegalPairsChangeNothing) {
  for (int state = 0; state < kStates; ++state)
    for (int event = 0; event < kEvents; ++event) {
      const TrialStep next = step(static_cast<S>(state), static_cast<E>(event));
      if (next.legal) continue;
      EXPECT_EQ(next.state, static_cast<S>(state));
      EXPECT_EQ(next.actions, A::kNone);
    }
}

TEST(TrialMachine, GoodTrialIsRecorded) {
  EXPECT_EQ(run(S::kPlanned, {E::kClaim, E::kLaunched, E::kExited, E::kTreeGone, E::kAccepted, E::kStored}),
            S::kRecorded);
}

// The kill that a deadline brings about must not turn the timeout into a normal end.
TEST(TrialMachine, FirstCauseWins) {
  EXPECT_EQ(run(S::kStarted, {E::kDeadline, E::kExited, E::kTreeGone, E::kStored}), S::kTimeout);
  EXPECT_EQ(run(S::kStarted, {E::kCancel, E::kExited, E::kDeadline, E::kTreeGone, E::kStored}), S::kLost);
  EXPECT_EQ(run(S::kStarted, {E::kOverflow, E::kDeadline, E::kExited, E::kTreeGone, E::kStored}), S::kFailed);
  EXPECT_EQ(run(S::kStarted, {E::kExited, E::kDeadline, E::kCancel, E::kTreeGone, E::kAccepted, E::kStored}),
            S::kRecorded);
}

TEST(TrialMachine, EveryEndKillsTheTreeBeforeItIsStored) {
  for (const E cause : {E::kExited, E::kDeadline, E::kOverflow, E::kCancel})
    EXPECT_TRUE(has(step(S::kStarted, cause).actions, A::kKillTree)) << name(cause);
  for (const E cause : {E::kLaunchFailed, E::kCancel})
    EXPECT_TRUE(has(step(S::kClaimed, cause).actions, A::kKillTree)) << name(cause);
}

TEST(TrialMachine, EndIsStampedOnlyByTheProgramsOwnExit) {
  for (int state = 0; state < kStates; ++state)
    for (int event = 0; event < kEvents; ++event) {
      const bool stamps = has(step(static_cast<S>(state), static_cast<E>(event)).actions, A::kStampEnd);
      EXPECT_EQ(stamps, static_cast<S>(state) == S::kStarted && static_cast<E>(event) == E::kExited);
    }
}

// Whoever is cut off between claim and record is lost, never half a result; finished trials stay as they are.
TEST(TrialMachine, FoundAtStart) {
  for (int state = 0; state < kStates; ++state) {
    const S from = static_cast<S>(state);
    const S expected = from == S::kPlanned || final_state(from) ? from : S::kLost;
    EXPECT_EQ(step(from, E::kFoundAtStart).state, expected) << name(from);
  }
}

TEST(TrialMachine, OnlyTrialsWithoutAResultAreReplaced) {
  EXPECT_FALSE(has(step(S::kVerified, E::kStored).actions, A::kReplace));
  for (const S state : {S::kFailed, S::kTimeout, S::kLost})
    EXPECT_TRUE(has(step(state, E::kStored).actions, A::kReplace)) << name(state);
}

TEST(TrialMachine, FinalStatesAreNeverLeft) {
  for (int state = 0; state < kStates; ++state) {
    if (!final_state(static_cast<S>(state))) continue;
    for (int event = 0; event < kEvents; ++event)
      EXPECT_EQ(step(static_cast<S>(state), static_cast<E>(event)).state, static_cast<S>(state));
  }
}

// What the store lets happen to a row contains what the machine does.
TEST(TrialMachine, StoreAllowsEveryChange) {
  for (int state = 0; state < kStates; ++state)
    for (int event = 0; event < kEvents; ++event) {
      const S from = static_cast<S>(state), to = step(from, static_cast<E>(event)).state;
      if (from == to) continue;
      EXPECT_TRUE(store::may_follow(from, to)) << name(from) << " -> " << name(to);
    }
}

}  // namespace
}  // namespace stab::engine
