// Schedule: every trial of a plan in the order it will run, with its layout seed. The algorithm is frozen:
// plan and seed give the same schedule byte for byte on every machine and in every later version.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/design.h"
#include "plan/plan.h"

namespace stab::plan {

// 1: each cell has layout seeds of its own. 2: where layouts are matched, the cells of a block share one; a plan that doesn't say
// whether they are is read as of the version that it was expanded with.
inline constexpr int kScheduleVersion = 2;
inline constexpr int kMatchingScheduleVersion = 2;

struct PlannedTrial {
  uint32_t order = 0;        // position, from 0
  uint32_t subject = 0;      // index into subjects(plan)
  uint32_t cell = 0;         // index into Design::cells
  uint32_t block = 0;        // replicate: the pass over all cells of this subject it belongs to
  uint16_t run = 0;          // 0 .. runs_per_seed - 1: trials of one (subject, cell, block) share the seed
  uint16_t pass = 0;         // which group of counters (Counters::sharing)
  uint16_t link = 0;         // link layout, 1..seeds in cells of fixed code, else 0
  uint64_t seed = 0;         // layout seed: independent between subjects and blocks, and between cells unless layouts are matched
  uint64_t layout = 0;       // layout_id(): trials of one subject share a layout exactly where it is equal

  friend bool operator==(const PlannedTrial&, const PlannedTrial&) = default;
};

struct Schedule {
  std::vector<PlannedTrial> trials;
};

// All trials of the blocks [first_block, first_block + blocks). Blocks are independent of how many there are,
// so make_schedule(p, d, 0, 40) starts with make_schedule(p, d, 0, 30), and an extension is
// make_schedule(p, d, 30, 10) with its orders going on from first_block's. (Order::kRandom shuffles within one
// call; its extension is appended likewise.)
Schedule make_schedule(const Plan& plan, const Design& design, int first_block, int blocks);
// The whole plan: all its replicates.
Schedule make_schedule(const Plan& plan, const Design& design);

// One trial for each subject and cell, in order, with seeds of their own: output, dose and counters are
// checked before the first real trial.
Schedule make_preflight(const Plan& plan, const Design& design);

// The groups of counter events, one a pass; one group where the plan multiplexes.
std::vector<std::vector<std::string>> counter_passes(const Counters& counters);

// SHA-free fingerprint of a schedule: equal exactly when all fields of all trials are, up to collisions. Layouts follow from
// the other fields and the design, and aren't in it.
uint64_t fingerprint(const Schedule& schedule);
// The same of a schedule that comes in parts: begin with 0.
uint64_t fingerprint(const Schedule& part, uint64_t of_parts_before);

}  // namespace stab::plan
