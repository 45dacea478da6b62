// What a worker's engine noted of its machine: that code is drawn alone, that the kernel has no slices so short, that an output
// depends on the layout. The controller has it in the experiment's log. What an experiment decides is noted by the controller
// alone, so other kinds of events don't count, whoever sends them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "store/records.h"

namespace stab::engine {

inline constexpr std::string_view kLogNote = "log";
inline constexpr size_t kMostWorkerEvents = 200;  // of a slot
// Whether an event of this kind says how a machine is, and not what an experiment decided.
bool is_of_a_machine(std::string_view kind);

struct WorkerEvent {
  std::string kind, text;
};

// The note: one line each, the kind in front of a tab.
std::string log_note(const std::vector<store::EventRow>& events);
// Of a note, whoever wrote it: no more than kMostWorkerEvents.
std::vector<WorkerEvent> parse_log_note(std::string_view text);

}  // namespace stab::engine
