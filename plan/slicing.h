// Sliced blocks: the trials of a block run at the same time on one CPU, in time slices, and CPU time is compared. Whatever the
// machine does meanwhile, it does to each of them in turn, so that it cancels in their differences.
//
// The programs also meet each other in the caches. What that does to a difference is estimated from control blocks, whose trials
// run one after the other. Which blocks those are follows from the plan's seed alone, so that every machine and every later run
// knows it: of each ten blocks, say, one that is drawn.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/design.h"
#include "plan/plan.h"
#include "plan/toml/section.h"

namespace stab::plan {

// Cells of a sliced plan. With the longest slices the last of so many waits a second and a half for its next turn.
inline constexpr size_t kMostAtOnce = 16;
// What Linux takes: kernel/sched/fair.c clamps to these.
inline constexpr nanoseconds kLeastSlice = std::chrono::microseconds(100), kMostSlice = std::chrono::milliseconds(100);

// Whether the trials of this block run one after the other.
bool runs_alone(const Plan& plan, uint32_t block);
// Of the first so many blocks.
size_t control_blocks(const Plan& plan, uint32_t blocks);

// 3 ms, which is Linux's own, or a twentieth of the trial where that is less. A machine's speed changes within tens of
// milliseconds, and what changes while each trial has one turn is in their difference: with slices of 15 ms its deviation was
// twice that with 3 ms. Below that, ticks of the clock end a turn, whatever is asked.
nanoseconds slice_for(nanoseconds shortest_trial);

// What a sliced plan can't have, of the whole plan; the cure is in the words.
void check_slicing(toml::Faults& faults, const Plan& plan, const Design& design);
// What plan check says of it; empty: the plan isn't sliced.
std::string slicing_text(const Plan& plan, size_t cells);

}  // namespace stab::plan
