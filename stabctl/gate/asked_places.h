// What `stabctl explain` says of the two revisions of a gate or of a search: whether the places of their functions, which random
// layouts average away, make one of them slower.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/gate/gate_places.h"
#include "base/clock.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/explain/explained_sides.h"
#include "stabctl/revisions/revisions.h"
#include "stabctl/terminal/progress.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/experiment/stop_signal.h"

namespace stab::ctl {

// A workload that explain takes, how it is asked by hand, and its two sides as they are before anything is built: whoever edits
// the file or the working tree meanwhile changes nothing of what is asked.
struct AskedPlace {
  std::string command;
  Result<ExplainedSides> sides;
};
using PlacesByWorkload = std::map<std::string, AskedPlace>;

// `commands`: by workload, how explain is asked by hand.
PlacesByWorkload places_to_ask(const Arguments& arguments, const Revisions& revisions,
                               const std::map<std::string, std::string>& commands);

// What the places of the two revisions' functions add, asked of each of these workloads, until `end` of the monotonic clock, if
// there is one. Where there is no answer, it says why.
std::vector<commands::GatePlace> ask_places(engine::Engine& engine, const Arguments& arguments, const Clock& clock,
                                            const PlacesByWorkload& places, std::optional<std::chrono::nanoseconds> end,
                                            engine::StopSignal& stop, ToldNotes& told);

// "10 min for each of 2 workloads, 20 min": what that takes at most without an end.
std::string time_of_places(size_t workloads);

}  // namespace stab::ctl
