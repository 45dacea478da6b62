// The life of one experiment as a pure table: step(state, event) -> the state that follows.
//
//   submitted -> ready -> running -> done | failed | paused | cancelled, and back again by resume, extend and rerun
//
// The store guards it: no other statement writes an experiment's state (experiments.cc: advance). Whoever decides that
// something happens (a user's request, the engine at the end of a run, a start after a crash) raises an event.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/records.h"

namespace stab::store {

inline constexpr int kExperimentStateCount = static_cast<int>(ExperimentState::kFailed) + 1;

enum class ExperimentEvent : uint8_t {
  kExpand,           // its schedule is stored
  kRun,              // the engine begins with it, or goes on after a crash
  kFinish,           // every place of its schedule is over
  kPause,            // a user, its time limit or a gate stops it, or it needs a binary that is not there
  kFail,             // a build, the preflight or the laboratory failed
  kCancel,           // a user wants no more of it
  kResume,           // it is to go on: it has a schedule
  kResumeUnplanned,  // the same, before it had one
  kExtend,           // more blocks are promised
  kRerun,            // another attempt at one of its trials is planned
  kImport,           // it came from another database
};
inline constexpr int kExperimentEventCount = static_cast<int>(ExperimentEvent::kImport) + 1;

struct ExperimentStep {
  ExperimentState state = ExperimentState::kSubmitted;
  bool legal = false;  // false: this event must not occur in this state; state is unchanged

  bool operator==(const ExperimentStep&) const = default;
};

ExperimentStep step(ExperimentState state, ExperimentEvent event);

// "resume", for messages and tests.
std::string_view name(ExperimentEvent event);

}  // namespace stab::store
