// Every state x event pair is a row below or illegal. Three rules shape the table:
//
//   - what was cancelled stays so, whatever the run that was under way comes to;
//   - a user who was told that an experiment is cancelled was told the truth, also if its last trial ended meanwhile;
//   - a file from elsewhere doesn't decide when something runs: what was not over is paused.
#include "store/experiment_machine.h"

#include <array>
#include <iterator>

namespace stab::store {
namespace {

using S = ExperimentState;
using E = ExperimentEvent;

struct Row {
  S from;
  E event;
  S to;
};

constexpr Row kRows[] = {
    {S::kSubmitted, E::kExpand, S::kReady},
    {S::kSubmitted, E::kPause, S::kPaused},
    {S::kSubmitted, E::kFail, S::kFailed},
    {S::kSubmitted, E::kCancel, S::kCancelled},
    {S::kSubmitted, E::kImport, S::kPaused},

    {S::kReady, E::kRun, S::kRunning},
    {S::kReady, E::kPause, S::kPaused},
    {S::kReady, E::kFail, S::kFailed},
    {S::kReady, E::kCancel, S::kCancelled},
    {S::kReady, E::kExtend, S::kReady},
    {S::kReady, E::kRerun, S::kReady},
    {S::kReady, E::kImport, S::kPaused},

    {S::kRunning, E::kRun, S::kRunning},
    {S::kRunning, E::kFinish, S::kDone},
    {S::kRunning, E::kPause, S::kPaused},
    {S::kRunning, E::kFail, S::kFailed},
    {S::kRunning, E::kCancel, S::kCancelled},
    {S::kRunning, E::kExtend, S::kRunning},
    {S::kRunning, E::kRerun, S::kRunning},
    {S::kRunning, E::kImport, S::kPaused},

    {S::kPaused, E::kPause, S::kPaused},
    {S::kPaused, E::kCancel, S::kCancelled},
    {S::kPaused, E::kResume, S::kReady},
    {S::kPaused, E::kResumeUnplanned, S::kSubmitted},
    {S::kPaused, E::kRerun, S::kPaused},
    {S::kPaused, E::kImport, S::kPaused},

    {S::kDone, E::kCancel, S::kCancelled},
    {S::kDone, E::kExtend, S::kReady},
    {S::kDone, E::kRerun, S::kReady},
    {S::kDone, E::kImport, S::kDone},

    {S::kFailed, E::kCancel, S::kCancelled},
    {S::kFailed, E::kResume, S::kReady},
    {S::kFailed, E::kResumeUnplanned, S::kSubmitted},
    {S::kFailed, E::kRerun, S::kReady},
    {S::kFailed, E::kImport, S::kFailed},

    {S::kCancelled, E::kPause, S::kCancelled},
    {S::kCancelled, E::kFail, S::kCancelled},
    {S::kCancelled, E::kCancel, S::kCancelled},
    {S::kCancelled, E::kImport, S::kCancelled},
};

using StepTable = std::array<std::array<ExperimentStep, kExperimentEventCount>, kExperimentStateCount>;

constexpr StepTable make_table() {
  StepTable table{};
  for (int state = 0; state < kExperimentStateCount; ++state)
    for (ExperimentStep& cell : table[state]) cell.state = static_cast<S>(state);
  for (const Row& row : kRows) table[static_cast<int>(row.from)][static_cast<int>(row.event)] = {row.to, true};
  return table;
}
constexpr StepTable kTable = make_table();

}  // namespace

ExperimentStep step(ExperimentState state, ExperimentEvent event) {
  return kTable[static_cast<int>(state)][static_cast<int>(event)];
}

std::string_view name(ExperimentEvent event) {
  constexpr std::string_view kNames[] = {"expand", "run",    "finish", "pause", "fail",  "cancel",
                                         "resume", "resume before it has a schedule", "extend", "rerun", "import"};
  static_assert(std::size(kNames) == kExperimentEventCount);
  return kNames[static_cast<int>(event)];
}

}  // namespace stab::store
