// Every state x event pair is a row below or illegal. Four rules shape the table:
//
//   - the tree is killed after every end, a normal one too: a child left behind would disturb the next trial;
//   - a verdict (verified, failed, timeout, lost) is fixed by the first event that causes it. Two things may be known only
//     after it: that a preflight measured nothing, and that a failure was our doing;
//   - the store sees claims and outcomes. Started, exited and verified are states of the engine that runs the trial; a
//     database may hold them nevertheless, since a bundle may come from anywhere;
//   - a trial without a result is replaced when its outcome is stored, in the same transaction;
//   - a sliced block is repeated whole: where one of its trials comes to nothing, those that passed are lost.
//
// Recovery is decided here and nowhere else: the rows of kFoundAtStart.
#include "store/trial_machine.h"

#include <array>
#include <iterator>

namespace stab::store {
namespace {

using S = TrialState;
using E = TrialEvent;
using A = TrialAction;

struct Row {
  S from;
  E event;
  S to;
  A actions;
};

constexpr Row kRows[] = {
    {S::kPlanned, E::kClaim, S::kClaimed, A::kLaunch},
    {S::kPlanned, E::kQuarantine, S::kQuarantined, A::kNone},
    {S::kPlanned, E::kDrop, S::kCancelled, A::kNone},

    {S::kClaimed, E::kLaunched, S::kStarted, A::kWait},
    {S::kClaimed, E::kLaunchFailed, S::kFailed, A::kKillTree},
    {S::kClaimed, E::kCutOff, S::kLost, A::kKillTree},
    {S::kClaimed, E::kSpoiled, S::kLost, A::kKillTree},
    {S::kClaimed, E::kFoundAtStart, S::kLost, A::kStore},

    {S::kStarted, E::kExited, S::kExited, A::kStampEnd | A::kKillTree},
    {S::kStarted, E::kDeadline, S::kTimeout, A::kKillTree},
    {S::kStarted, E::kOverflow, S::kFailed, A::kKillTree},
    {S::kStarted, E::kCancel, S::kLost, A::kKillTree},
    {S::kStarted, E::kSpoiled, S::kLost, A::kKillTree},
    {S::kStarted, E::kFoundAtStart, S::kLost, A::kStore},

    {S::kExited, E::kTreeGone, S::kExited, A::kCheck},
    {S::kExited, E::kAccepted, S::kVerified, A::kStore},
    {S::kExited, E::kRejected, S::kFailed, A::kStore},
    {S::kExited, E::kCutOff, S::kLost, A::kStore},
    {S::kExited, E::kFoundAtStart, S::kLost, A::kStore},

    {S::kVerified, E::kUnanswered, S::kFailed, A::kStore},
    {S::kVerified, E::kSpoiled, S::kLost, A::kStore},
    {S::kVerified, E::kStored, S::kRecorded, A::kNone},
    {S::kVerified, E::kFoundAtStart, S::kLost, A::kStore},

    {S::kFailed, E::kTreeGone, S::kFailed, A::kStore},
    {S::kFailed, E::kCutOff, S::kLost, A::kStore},
    {S::kFailed, E::kStored, S::kFailed, A::kReplace},
    {S::kFailed, E::kRerun, S::kFailed, A::kRepeat},

    {S::kTimeout, E::kTreeGone, S::kTimeout, A::kStore},
    {S::kTimeout, E::kStored, S::kTimeout, A::kReplace},
    {S::kTimeout, E::kRerun, S::kTimeout, A::kRepeat},

    {S::kLost, E::kTreeGone, S::kLost, A::kStore},
    {S::kLost, E::kStored, S::kLost, A::kReplace},
    {S::kLost, E::kRerun, S::kLost, A::kRepeat},

    // It never ran, so that it keeps its attempt number.
    {S::kQuarantined, E::kRerun, S::kPlanned, A::kNone},
};

using StepTable = std::array<std::array<TrialStep, kTrialEventCount>, kTrialStateCount>;

constexpr StepTable make_table() {
  StepTable table{};
  for (int state = 0; state < kTrialStateCount; ++state)
    for (TrialStep& cell : table[state]) cell.state = static_cast<S>(state);
  for (const Row& row : kRows)
    table[static_cast<int>(row.from)][static_cast<int>(row.event)] = {row.to, row.actions, true};
  return table;
}
constexpr StepTable kTable = make_table();

}  // namespace

TrialStep step(TrialState state, TrialEvent event) {
  return kTable[static_cast<int>(state)][static_cast<int>(event)];
}

bool is_under_way(TrialState state) { return step(state, TrialEvent::kFoundAtStart).legal; }

AfterEnd after_end(TrialKind kind, TrialState end, int64_t same_ends, int64_t max_attempts) {
  // A failed preflight is an answer; only a lost one asks again. A replay is asked for by hand, and nobody would run another
  // attempt of it.
  const bool asks_again = kind == TrialKind::kMain || (end == TrialState::kLost && kind != TrialKind::kReplay);
  if (asks_again && same_ends < max_attempts) return AfterEnd::kAnotherAttempt;
  return kind == TrialKind::kMain ? AfterEnd::kQuarantine : AfterEnd::kNothing;
}

std::string_view name(TrialEvent event) {
  constexpr std::string_view kNames[] = {"claim",      "launched",  "launch failed",  "exited",     "deadline", "overflow",
                                         "cancel",     "tree gone", "accepted",       "rejected",   "cut off",  "spoiled",
                                         "unanswered", "stored",    "found at start", "quarantine", "drop",     "rerun"};
  static_assert(std::size(kNames) == kTrialEventCount);
  return kNames[static_cast<int>(event)];
}

}  // namespace stab::store
