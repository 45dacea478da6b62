// Every state with every event: the pairs that are legal are drawn here once more, and all others are not. That the table is
// what production runs is read in its sources: whatever event nobody raises, or action nobody performs, should not exist.
#include "store/trial_machine.h"
#include "tests/places.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace stab::store {
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

// The whole table, one line a state, one letter an event in the order of TrialEvent: the state that follows,
// '.' for illegal. A change of the table must change this picture.
TEST(TrialMachine, EveryPair) {
  const std::vector<std::string> picture = {
      // claim launched failed exited deadline overflow cancel gone accepted rejected cut-off spoiled unanswered stored ...
      "C..............QN.",  // planned
      ".SF.......LL..L...",  // claimed
      "...XTFL....L..L...",  // started
      ".......XVFL...L...",  // exited
      "...........LFRL...",  // verified
      "..................",  // recorded
      ".......F..L..F...F",  // failed
      ".......T.....T...T",  // timeout
      ".......L.....L...L",  // lost
      ".................P",  // quarantined
      "..................",  // cancelled
  };
  const std::string letters = "PCSXVRFTLQN";
  for (int state = 0; state < kStates; ++state) {
    std::string row;
    for (int event = 0; event < kEvents; ++event) {
      const TrialStep next = step(static_cast<S>(state), static_cast<E>(event));
      row += next.legal ? letters[static_cast<size_t>(next.state)] : '.';
    }
    EXPECT_EQ(row, picture[static_cast<size_t>(state)]) << name(static_cast<S>(state));
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

// The kill that a deadline brings about is no normal end.
TEST(TrialMachine, FirstCauseWins) {
  EXPECT_EQ(run(S::kStarted, {E::kDeadline, E::kTreeGone, E::kStored}), S::kTimeout);
  EXPECT_EQ(run(S::kStarted, {E::kCancel, E::kTreeGone, E::kStored}), S::kLost);
  EXPECT_EQ(run(S::kStarted, {E::kOverflow, E::kTreeGone, E::kStored}), S::kFailed);
  EXPECT_EQ(run(S::kStarted, {E::kOverflow, E::kTreeGone, E::kCutOff, E::kStored}), S::kLost) << "a failure of our doing is none";
  for (const S verdict : {S::kTimeout, S::kLost, S::kVerified}) EXPECT_FALSE(step(verdict, E::kCutOff).legal) << name(verdict);
}

TEST(TrialMachine, EveryEndKillsTheTreeBeforeItIsStored) {
  for (const E cause : {E::kExited, E::kDeadline, E::kOverflow, E::kCancel})
    EXPECT_TRUE(has(step(S::kStarted, cause).actions, A::kKillTree)) << name(cause);
  for (const E cause : {E::kLaunchFailed, E::kCutOff})
    EXPECT_TRUE(has(step(S::kClaimed, cause).actions, A::kKillTree)) << name(cause);
}

TEST(TrialMachine, EndIsStampedOnlyByTheProgramsOwnExit) {
  for (int state = 0; state < kStates; ++state)
    for (int event = 0; event < kEvents; ++event) {
      const bool stamps = has(step(static_cast<S>(state), static_cast<E>(event)).actions, A::kStampEnd);
      EXPECT_EQ(stamps, static_cast<S>(state) == S::kStarted && static_cast<E>(event) == E::kExited);
    }
}

// Whoever is cut off between claim and record is lost, never half a result; for all others there is nothing to recover.
TEST(TrialMachine, FoundAtStart) {
  const std::set<S> under_way = {S::kClaimed, S::kStarted, S::kExited, S::kVerified};
  for (int state = 0; state < kStates; ++state) {
    const S from = static_cast<S>(state);
    EXPECT_EQ(is_under_way(from), under_way.contains(from)) << name(from);
    EXPECT_EQ(step(from, E::kFoundAtStart).state, under_way.contains(from) ? S::kLost : from) << name(from);
  }
}

TEST(TrialMachine, OnlyTrialsWithoutAResultAreReplaced) {
  for (int state = 0; state < kStates; ++state) {
    const S from = static_cast<S>(state);
    const bool no_result = from == S::kFailed || from == S::kTimeout || from == S::kLost;
    EXPECT_EQ(has(step(from, E::kStored).actions, A::kReplace), no_result) << name(from);
    EXPECT_EQ(has(step(from, E::kRerun).actions, A::kRepeat), no_result) << name(from);
  }
}

// Every kind, end and number of attempts, at a limit of two.
TEST(TrialMachine, WhatBecomesOfAPlace) {
  for (const TrialKind kind : {TrialKind::kMain, TrialKind::kPreflight, TrialKind::kWarmup, TrialKind::kReplay})
    for (const S end : {S::kFailed, S::kTimeout, S::kLost})
      for (const int64_t same_ends : {1, 2, 3}) {
        AfterEnd expected = kind == TrialKind::kMain ? AfterEnd::kQuarantine : AfterEnd::kNothing;
        const bool asks_again = kind == TrialKind::kMain || (kind != TrialKind::kReplay && end == S::kLost);
        if (same_ends < 2 && asks_again) expected = AfterEnd::kAnotherAttempt;
        EXPECT_EQ(after_end(kind, end, same_ends, 2), expected) << name(kind) << ' ' << name(end) << ' ' << same_ends;
      }
}

TEST(TrialMachine, NamesRoundTripAndDiffer) {
  std::set<std::string_view> names, events;
  for (int state = 0; state < kStates; ++state) {
    EXPECT_EQ(trial_state(name(static_cast<S>(state))), static_cast<S>(state));
    names.insert(name(static_cast<S>(state)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kStates));
  EXPECT_FALSE(trial_state("done").has_value());
  for (int event = 0; event < kEvents; ++event) events.insert(name(static_cast<E>(event)));
  EXPECT_EQ(events.size(), static_cast<size_t>(kEvents));
}

// --- what production does with it ------------------------------------------------------------------------

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The sources of the store and of the engine, but for the table; `which` is in the name.
std::string sources(const std::string& which = "") {
  std::string out;
  for (const char* folder : {"/store", "/stabd/engine", "/stabd/daemon"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(STAB_SOURCE_DIR + std::string(folder)))
      if (file.path().extension() == ".cc" && file.path().stem() != "trial_machine" &&
          file.path().string().find(which) != std::string::npos)
        out += read(file.path());
  return out;
}

// The names in an enum of trial_machine.h, in their order.
std::vector<std::string> enumerators(const std::string& type) {
  const std::string header = read(STAB_SOURCE_DIR + std::string("/store/trial_machine.h"));
  const size_t begin = header.find("enum class " + type + " "), end = header.find("};", begin);
  std::vector<std::string> out;
  for (size_t at = header.find("\n  k", begin); at < end; at = header.find("\n  k", at + 1))
    out.push_back(header.substr(at + 3, header.find_first_of(" ,", at + 3) - at - 3));
  return out;
}

TEST(TrialMachine, ProductionRaisesEveryEventAndPerformsEveryAction) {
  const std::string all = sources();
  const std::vector<std::string> events = enumerators("TrialEvent"), actions = enumerators("TrialAction");
  ASSERT_EQ(events.size(), static_cast<size_t>(kEvents));
  ASSERT_EQ(actions.size(), 9u);
  for (const std::string& event : events) EXPECT_NE(all.find("TrialEvent::" + event), std::string::npos) << event;
  for (const std::string& action : actions)
    EXPECT_TRUE(action == "kNone" || all.find("TrialAction::" + action) != std::string::npos) << action;
}

TEST(TrialMachine, RecoveryIsDecidedHereAndNowhereElse) {
  const std::string table = read(STAB_SOURCE_DIR + std::string("/store/trial_machine.cc"));
  EXPECT_NE(table.find("Recovery is decided here and nowhere else"), std::string::npos);
  const std::string all = sources();
  EXPECT_EQ(all.find("Recovery is decided"), std::string::npos);
  for (const char* room : {"/stabd/engine/", "/stabd/daemon/"})
    EXPECT_EQ(sources(room).find("kFoundAtStart"), std::string::npos) << "the store finds them";
  // No statement writes a state as a word: whatever it becomes comes out of the table.
  for (int state = 0; state < kStates; ++state)
    EXPECT_EQ(all.find("UPDATE trials SET state = '" + std::string(name(static_cast<S>(state)))), std::string::npos)
        << name(static_cast<S>(state));
}

// docs/reference/run-states.md shows the same table.
TEST(TrialMachine, IsAsThePageSays) {
  std::string table = "| |";
  for (int event = 0; event < kEvents; ++event) table += " " + std::string(name(static_cast<E>(event))) + " |";
  table += "\n|";
  for (int event = -1; event < kEvents; ++event) table += "---|";
  for (int state = 0; state < kStates; ++state) {
    table += "\n| " + std::string(name(static_cast<S>(state))) + " |";
    for (int event = 0; event < kEvents; ++event) {
      const TrialStep next = step(static_cast<S>(state), static_cast<E>(event));
      table += next.legal ? " " + std::string(name(next.state)) + " |" : " |";
    }
  }
  const std::string page = read(STAB_SOURCE_DIR + std::string("/docs/reference/run-states.md"));
  EXPECT_NE(page.find(table), std::string::npos) << table;
}

}  // namespace
}  // namespace stab::store
