// Limits of a plan. A plan may be a stranger's, and what it makes us hold or walk must be bounded by numbers that are
// known before the work begins. docs/reference/plan.md lists them for people. Stored plans are parsed again, so a limit that is
// lowered ends experiments that were accepted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/toml/text_limits.h"

namespace stab::plan {

// --- of the text -----------------------------------------------------------------------------------------

// Written by hand a plan has kilobytes; the largest generated ones that make sense, 2,000 workloads, have 300 KiB.
inline constexpr size_t kMaxPlanBytes = 1u << 20;

// --- of what it lists ------------------------------------------------------------------------------------

inline constexpr size_t kMaxFactors = 64;  // of which 20 with two levels each are more than kMaxCrossing already
inline constexpr size_t kMaxLevels = 1000;
// Levels of all factors beyond the first ones: columns of the rank check, whose time grows with their cube.
inline constexpr size_t kMaxColumns = 1000;
// Names of levels are columns of every report.
inline constexpr size_t kMaxLevelNameBytes = 200;
inline constexpr size_t kMaxExcludes = 1000;
inline constexpr size_t kMaxNested = 100;
inline constexpr size_t kMaxPrograms = 1000;
inline constexpr size_t kMaxWorkloads = 2000;  // of all programs together
inline constexpr size_t kMaxResponses = 69;    // every event and what is always measured
inline constexpr size_t kMaxLooks = 100;       // each one spends alpha, and costs an analysis of everything so far
inline constexpr double kMaxAlphaOfLooks = 0.24;  // of several: boundaries are for twice alpha, and end below one half
inline constexpr char kAlphaOfLooks[] = "with several looks 'alpha' is at most 24%";
inline constexpr size_t kMaxRules = 64;        // of exclusion: each is judged, and may be stored, for every trial
inline constexpr size_t kMaxInputs = 1000;     // of a program or a workload: each is copied for every trial
inline constexpr size_t kMaxPatches = 100;
inline constexpr size_t kMaxVariables = 1000;  // of an environment
inline constexpr size_t kMaxExpectedFiles = 100;
inline constexpr size_t kMaxFamilies = 100;      // of benchmarks: each name is held against each
inline constexpr size_t kMaxPatterns = 100;      // of functions: each is held against each name
inline constexpr int kMaxConfirmed = 32;         // places: levels that are told apart in one model
inline constexpr size_t kMaxMappedBuilds = 1000;
inline constexpr size_t kMaxWordBytes = 4096;  // a path (PATH_MAX), a set of CPUs, the value of a knob

// --- of a trial --------------------------------------------------------------------------------------------

// A layout that lasts longer than so many visits lasts as long as the program.
inline constexpr int kMaxEpochVisits = 1'000'000'000;

// What limits a trial is [limits] of the plan and the lab; these only keep slips of the hand out. The launcher, which begins
// within the limit, and the kernel's own pages for a process take less than a megabyte.
inline constexpr uint64_t kLeastMemoryBytes = 4u << 20;
inline constexpr int kMostProcesses = 4'194'304;  // PID_MAX_LIMIT of Linux

// --- of what it becomes ----------------------------------------------------------------------------------

// Linux takes no longer argument or variable (MAX_ARG_STRLEN): no level may make one.
inline constexpr uint64_t kMaxArgumentBytes = 128u << 10;
// Workloads begin as copies of their program's keys: how much all of them may copy.
inline constexpr uint64_t kMaxCopiedBytes = 64u << 20;
// Combinations of levels that are walked, before anything is left out.
inline constexpr uint64_t kMaxCrossing = 1'000'000;
// Combinations times conditions of exclude and nested, each of them one comparison.
inline constexpr uint64_t kMaxComparisons = 200'000'000;
inline constexpr uint64_t kMaxCells = 100'000;
// Cells times factors: rows of the database that are stored in one transaction.
inline constexpr uint64_t kMaxCellLevels = 200'000;
// Programs times cells times links: each is substituted to find the builds that differ.
inline constexpr uint64_t kMaxBuildKeys = 1'000'000;
// Of their substituted commands, if all of them differ.
inline constexpr uint64_t kMaxBuildBytes = 256u << 20;
// Bytes of the names of all cells of all workloads, which a schedule derives its seeds from.
inline constexpr uint64_t kMaxSeedNameBytes = 64u << 20;
// Trials of one block, the unit in which a schedule is made and stored.
inline constexpr uint64_t kMaxBlockTrials = 1'000'000;
// Trials of an experiment: at a tenth of a second each they take 11 days. A schedule in random order is made as a
// whole, at 40 bytes each.
inline constexpr uint64_t kMaxTrials = 10'000'000;

}  // namespace stab::plan
