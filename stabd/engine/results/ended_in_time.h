// An experiment that had a time to measure in, and whose time is over: what it has is all that there will be. The time was set
// before any of its data was seen, so its last whole block may be its last look (analysis/report/contrasts/stopping_decision.h).
// That is recorded, so that each later report gives the verdict that was given when it ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "base/result.h"
#include "store/store.h"

namespace stab::engine {

// Do not rename: on disk. The kind of the event that says so; its text is the number of whole blocks, and a word.
inline constexpr char kTimeEnded[] = "time-ended";

// Drops what is still planned and makes the experiment done, if it has `fewest` whole blocks and a rule that may end so; false:
// it hasn't, and stays as it is. pre: nothing of it runs
Result<bool> end_in_time(store::Store& store, store::Id experiment, uint32_t fewest, std::chrono::nanoseconds realtime);

// The samples as they are judged, by those events. Trials behind the end mean that it went on later: they stay, and are more than
// its last look.
void judge_as_ended(const std::vector<store::EventRow>& events, report::Samples& samples);

}  // namespace stab::engine
