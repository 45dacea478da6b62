// What whoever watches an experiment is told: the params of an event notification (docs/reference/protocol.md), as types, and
// both directions of their JSON. The daemon writes it, stabctl reads it, and nobody else knows the names of the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/results/precision.h"

namespace stab::daemon {

// How the engine left an experiment. All but the last are as the store says, too. Do not rename: on the wire.
enum class ExperimentEnd {
  kDone,
  kFailed,
  kCancelled,
  kPaused,
  kStopped,    // the daemon was told to stop; its next start goes on
  kUnsettled,  // the store did not take what became of it, and the engine will go on with it
};
std::string_view name(ExperimentEnd end);
std::optional<ExperimentEnd> experiment_end(std::string_view name);
// None of its trials runs any more, unless it is extended or rerun.
constexpr bool is_over(ExperimentEnd end) {
  return end == ExperimentEnd::kDone || end == ExperimentEnd::kFailed || end == ExperimentEnd::kCancelled;
}

struct PhaseNews {
  std::string text;
};
struct NoteNews {
  std::string text;
};
// Somebody has changed the experiment by a method of the protocol: "pause".
struct ChangeNews {
  std::string text;
};
// News of a trial, with what stands for its time while that is not told (stabd/daemon/events/blinding.h).
struct ToldTrial {
  engine::TrialNews news;                // masked: no time, and a cell's name that says nothing
  std::optional<double> relative_log_s;  // masked: the logarithm of its seconds, plus a constant of its cell
  std::optional<int64_t> left_ns;        // until the experiment has run all its trials

  // To compute from how well each mean is known, which no constant of a cell changes. As a time it means nothing where it is
  // masked.
  engine::TrialNews for_precision() const;
};
struct EndNews {
  ExperimentEnd how = ExperimentEnd::kDone;
  std::string text;
};

struct WatchEvent {
  store::Id experiment = 0;
  std::variant<PhaseNews, NoteNews, ToldTrial, ChangeNews, EndNews, engine::ProgressNews> what;
};
// One line. Text that is no UTF-8 is replaced.
std::string to_json(const WatchEvent& event);
// Nothing: a kind of event that a newer daemon may have. kBadInput where the line is no event, or one with words that nobody
// knows.
Result<std::optional<WatchEvent>> watch_event(std::string_view json);

// "cells" of the answer to `watch`: what is known of wall times so far, to go on from; and how well, for who does not compute.
std::string cells_json(const engine::Precision& precision);
Result<engine::Precision> precision_in(std::string_view cells_json);

}  // namespace stab::daemon
