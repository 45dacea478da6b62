// [causal]: which lines are sped up virtually, by how much, and the order of the windows in which that happens.
//
// Everything here is frozen as the schedule is (plan/schedule.h): a stored window names its place in the list that these
// functions make of plan and seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stab::plan {

struct Causal {
  // Words of plans, by index: do not reorder.
  enum class Unit { kLine, kFunction };
  enum class Attribute { kCall, kLeaf };
  enum class Experiments { kWindows, kTrials };
  enum class Pauses { kAuto, kCpuTime, kSpin, kThread };

  Unit unit = Unit::kLine;
  Attribute attribute = Attribute::kCall;
  std::vector<std::string> scope = {"%"};      // source files, stabd/lines/wire/source_pattern.h
  std::vector<std::string> modules = {"MAIN"};  // the program, and libraries by the last part of their path
  std::vector<std::string> progress;           // points whose visits count; empty: all that the program visits
  std::vector<std::string> latency;            // likewise, of its pairs of begin and end
  std::vector<double> speedups = {0.25, 0.5};  // ascending, above 0, at most 1
  int candidates = 20;                         // by the pilot's samples; 0: none, under a load
  std::vector<std::string> lines;              // instead: "compress.c:212", or names of functions
  double explore = 0.1;                        // share of the windows for other lines, by their samples
  std::chrono::nanoseconds window{std::chrono::milliseconds(250)};
  std::chrono::nanoseconds cooloff{std::chrono::milliseconds(5)};
  std::chrono::nanoseconds sampling{std::chrono::milliseconds(1)};
  int pilot = 3;                               // trials of each cell
  bool slowdown = true;                        // windows that really slow a line down; null windows are always there
  Experiments experiments = Experiments::kWindows;
  Pauses pauses = Pauses::kAuto;
  std::string arrival;                         // under a load: the point where tasks arrive; empty: all arrival points
  bool closed = false;                         // under a load: clients wait for answers, and that is what is asked about
  bool blocked_io = false, blocked_sleep = false, blocked_lock = false;  // waits count as samples of the line that waits
};
inline constexpr int kMostCandidates = 500;
inline constexpr size_t kMostSpeedups = 20;
// Lines besides the candidates that explore may draw.
inline constexpr uint32_t kMostOthers = 500;

// What a window does. Do not renumber: on disk, and the runtime's (runtime/causal/causal_abi.h).
enum class CausalArmKind : uint32_t { kBaseline = 0, kSpeedup = 1, kNull = 2, kSlowdown = 3 };

struct CausalArm {
  CausalArmKind kind = CausalArmKind::kBaseline;
  uint32_t region = 0;   // 1..: candidates first, then others; 0: none
  uint32_t permille = 0;  // of the line's time
  friend bool operator==(const CausalArm&, const CausalArm&) = default;
};

// The regions that a subject has: so many candidates, and behind them others with the pilot's samples of each.
struct CausalRegions {
  uint32_t candidates = 0;
  std::vector<uint64_t> others;
};

// Windows of one block of time: each candidate at each speedup once; null windows at the largest speedup, one for four candidates
// at least; slow-down windows, one for each candidate; so many of other lines that they are the plan's share; and baselines, one
// window in three. In random order. `stream`: "causal SUBJECT CELL".
std::vector<CausalArm> arms_of_block(const Causal& causal, uint64_t seed, std::string_view stream, uint32_t block,
                                     const CausalRegions& regions);
// How many that are: the same in each block.
size_t arms_in_block(const Causal& causal, const CausalRegions& regions);
// From place `first` of the list of all blocks, one behind the other; none where there is no candidate.
std::vector<CausalArm> arms_from(const Causal& causal, uint64_t seed, std::string_view stream, uint64_t first, size_t count,
                                 const CausalRegions& regions);

// The period of a trial's samples, drawn from 0.9 to 1.1 of the plan's, so that no program runs in step with it.
std::chrono::nanoseconds drawn_period(const Causal& causal, uint64_t trial_seed);

}  // namespace stab::plan
