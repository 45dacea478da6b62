// Every state x event pair is a row below or illegal. Three rules shape the table:
//
//   - the tree is killed after every end, a normal one too: a child left behind would disturb the next trial;
//   - a verdict (failed, timeout, lost) is fixed by the first event that causes it; what comes later, such as
//     the exit that our own kill brings about, does not change it;
//   - only a stored outcome releases a trial, so that a crash in between finds it claimed or started.
#include "stabd/trial_machine.h"

#include <array>
#include <iterator>

namespace stab::engine {
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

// kDeadline, kOverflow and kCancel may be in flight when the program ends: they are legal and idle then.
constexpr Row kRows[] = {
    {S::kPlanned, E::kClaim, S::kClaimed, A::kLaunch},
    {S::kPlanned, E::kCancel, S::kPlanned, A::kNone},
    {S::kPlanned, E::kFoundAtStart, S::kPlanned, A::kNone},

    {S::kClaimed, E::kLaunched, S::kStarted, A::kArmDeadline},
    {S::kClaimed, E::kLaunchFailed, S::kFailed, A::kKillTree},
    {S::kClaimed, E::kCancel, S::kLost, A::kKillTree},
    {S::kClaimed, E::kFoundAtStart, S::kLost, A::kKillTree},

    {S::kStarted, E::kExited, S::kExited, A::kStampEnd | A::kKillTree},
    {S::kStarted, E::kDeadline, S::kTimeout, A::kKillTree},
    {S::kStarted, E::kOverflow, S::kFailed, A::kKillTree},
    {S::kStarted, E::kCancel, S::kLost, A::kKillTree},
    {S::kStarted, E::kFoundAtStart, S::kLost, A::kKillTree},

    {S::kExited, E::kDeadline, S::kExited, A::kNone},
    {S::kExited, E::kOverflow, S::kExited, A::kNone},
    {S::kExited, E::kCancel, S::kExited, A::kNone},
    {S::kExited, E::kTreeGone, S::kExited, A::kCheck},
    {S::kExited, E::kAccepted, S::kVerified, A::kStore},
    {S::kExited, E::kRejected, S::kFailed, A::kStore},
    {S::kExited, E::kFoundAtStart, S::kLost, A::kKillTree},

    {S::kVerified, E::kDeadline, S::kVerified, A::kNone},
    {S::kVerified, E::kCancel, S::kVerified, A::kNone},
    {S::kVerified, E::kStored, S::kRecorded, A::kRelease},
    {S::kVerified, E::kFoundAtStart, S::kLost, A::kKillTree},

    {S::kRecorded, E::kCancel, S::kRecorded, A::kNone},
    {S::kRecorded, E::kFoundAtStart, S::kRecorded, A::kNone},

    {S::kFailed, E::kExited, S::kFailed, A::kNone},
    {S::kFailed, E::kDeadline, S::kFailed, A::kNone},
    {S::kFailed, E::kOverflow, S::kFailed, A::kNone},
    {S::kFailed, E::kCancel, S::kFailed, A::kNone},
    {S::kFailed, E::kTreeGone, S::kFailed, A::kStore},
    {S::kFailed, E::kStored, S::kFailed, A::kReplace | A::kRelease},
    {S::kFailed, E::kFoundAtStart, S::kFailed, A::kNone},

    {S::kTimeout, E::kExited, S::kTimeout, A::kNone},
    {S::kTimeout, E::kDeadline, S::kTimeout, A::kNone},
    {S::kTimeout, E::kOverflow, S::kTimeout, A::kNone},
    {S::kTimeout, E::kCancel, S::kTimeout, A::kNone},
    {S::kTimeout, E::kTreeGone, S::kTimeout, A::kStore},
    {S::kTimeout, E::kStored, S::kTimeout, A::kReplace | A::kRelease},
    {S::kTimeout, E::kFoundAtStart, S::kTimeout, A::kNone},

    {S::kLost, E::kExited, S::kLost, A::kNone},
    {S::kLost, E::kDeadline, S::kLost, A::kNone},
    {S::kLost, E::kOverflow, S::kLost, A::kNone},
    {S::kLost, E::kCancel, S::kLost, A::kNone},
    {S::kLost, E::kTreeGone, S::kLost, A::kStore},
    {S::kLost, E::kStored, S::kLost, A::kReplace | A::kRelease},
    {S::kLost, E::kFoundAtStart, S::kLost, A::kNone},

    {S::kQuarantined, E::kCancel, S::kQuarantined, A::kNone},
    {S::kQuarantined, E::kFoundAtStart, S::kQuarantined, A::kNone},

    {S::kCancelled, E::kCancel, S::kCancelled, A::kNone},
    {S::kCancelled, E::kFoundAtStart, S::kCancelled, A::kNone},
};

using Table = std::array<std::array<TrialStep, kTrialEventCount>, kTrialStateCount>;

constexpr Table make_table() {
  Table table{};
  for (int state = 0; state < kTrialStateCount; ++state)
    for (TrialStep& cell : table[state]) cell.state = static_cast<S>(state);
  for (const Row& row : kRows)
    table[static_cast<int>(row.from)][static_cast<int>(row.event)] = {row.to, row.actions, true};
  return table;
}
constexpr Table kTable = make_table();

}  // namespace

TrialStep step(TrialState state, TrialEvent event) {
  return kTable[static_cast<int>(state)][static_cast<int>(event)];
}

std::string_view name(TrialEvent event) {
  constexpr std::string_view kNames[] = {"claim",  "launched", "launch failed", "exited",
                                         "deadline", "overflow", "cancel",        "tree gone",
                                         "accepted", "rejected", "stored",        "found at start"};
  static_assert(std::size(kNames) == kTrialEventCount);
  return kNames[static_cast<int>(event)];
}

}  // namespace stab::engine
