// CausalData: what a causal profile, and a program under amplified load, is computed from, as plain data. Whoever has the windows
// (the store, a CSV file, a test) fills one in; analysis/ never sees a database, a plan or a board.
//
// A window is a stretch of a trial in which one region of the program has one virtual speedup. Its numbers are counts and times
// as the runtime took them; what follows from them, effective time and throughput, is computed here, in one place
// (effective_ns()). causal.h says what becomes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stab::causal_report {

// What a window does. The words are in CSV, JSON and on the page: do not rename.
enum class ArmKind {
  kBaseline,  // "baseline": nothing; what all others are compared with
  kSpeedup,   // "speedup": everything but the line pauses
  kNull,      // "null": everything pauses, the sampled thread too, so that the true effect is 0
  kSlowdown,  // "slowdown": the sampled thread alone pauses, which is real
};

// By what a trial's effective time goes.
enum class CausalClock {
  kWall,  // "wall": several CPUs. wall - pay_ratio * credited
  kCpu,   // "cpu": one CPU, nobody paused. cpu + world - credited
};

// What a place in the program counts.
enum class PointKind {
  kProgress,  // "progress": visits are work done. Visits per effective second are the throughput
  kArrival,   // "arrival": tasks that come in. What a load multiplies
  kLatency,   // "latency": a pair of places; tasks are inside between them
};

struct CausalPoint {
  std::string name;  // "blocks"; unique
  PointKind kind = PointKind::kProgress;
};

// A region that is sped up: a source line, or a function.
struct CausalLine {
  std::string name;      // what people read, unique: "src/compress.c:212", or a function's name
  std::string file;      // empty: a function without a known place
  uint32_t line = 0;     // 0: not known
  std::string function;  // that it lies in; empty: not known
  uint64_t pilot_samples = 0;  // in the pilot trials, by which it was chosen
  // Declared: chosen by the pilot or by the plan. False: one of the others, tried a little; its questions are exploratory and
  // have a family of their own.
  bool candidate = true;
};

// One combination of the plan's levels: a whole plot. A plan without factors has one cell.
struct CausalCell {
  std::vector<std::string> levels;  // one for each of CausalData::factors
  double load = 1;                  // multiple of the arrival rate; 1 where load isn't a factor
};

// One trial: a cluster of windows. The windows of a trial share what its start, its addresses and its night did to it.
struct CausalTrial {
  uint64_t id = 0;    // the lab's number of it
  uint32_t cell = 0;  // index into cells
  CausalClock clock = CausalClock::kWall;
  uint64_t run_ns = 0;         // the whole run on the clock's own scale, in windows and between them; for the phase correction
  // Samples of each line in the whole run, in windows and between them: one for each of CausalData::lines. Empty: not counted,
  // and then no phase can be corrected for.
  std::vector<uint64_t> run_samples;
  uint64_t all_samples = 0;    // of all lines and of none, in the whole run; 0: not counted
  double unsampled_share = 0;  // 0 to 1: of the CPU time, without a sample: in the kernel, or in threads that end soon
  std::optional<double> system_share;  // 0 to 1: of the CPU time, in the kernel; empty: not known
  double unattributed_share = 0;  // 0 to 1: of the samples, of which no line in scope was found
  double unclassified_waits =
      0;  // 0 to 1: of the voluntary switches, that no interposed call accounts for (unclassified_share())
  double lengthened_share = 0;    // 0 to 1: of the run's time, spent in pauses
  bool timeouts = false;          // under a load a wait for one of the program's own threads ended by its time
  bool coarse_samples = false;    // perf was refused; samples have the grain of the tick
  std::string excluded;           // why a declared rule leaves it out; empty: it is analysed
};

// Tasks inside a latency point during a window.
struct LatencyIntegral {
  double inside_ns = 0;     // integral over virtual time of the number of tasks inside: task x ns
  uint64_t departures = 0;  // ends
};

// Bits: what is known of a window besides its numbers.
enum class WindowFlag : uint32_t {
  kSkipped = 1u << 0,    // the line didn't run at the time: no numbers, only that it was due
  kCut = 1u << 1,        // the program ended in it: not analysed
  kProlonged = 1u << 2,  // had too few visits at its declared length
};
constexpr uint32_t bit(WindowFlag flag) { return static_cast<uint32_t>(flag); }

struct CausalWindow {
  uint32_t trial = 0;  // index into trials
  uint32_t block = 0;  // block of time within the trial, in which arms come in random order; from 0
  uint32_t order = 0;  // within the trial, from 0
  ArmKind kind = ArmKind::kBaseline;
  std::optional<uint32_t> line;  // index into lines; absent: kBaseline. kNull and kSlowdown have one, too
  double speedup = 0;            // 0 to 1: share of the line's time that is taken away, or for kSlowdown added; kBaseline: 0
  uint64_t start_ns = 0;         // since the trial's start
  // Terms of the effective time, see CausalClock. Those that its clock doesn't take may be 0.
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;       // of the whole family of processes
  uint64_t world_ns = 0;     // nobody of the family could run, and somebody waited for the world
  uint64_t credited_ns = 0;  // growth of the global virtual time
  double pay_ratio = 1;      // k: wall time of the pauses by what was counted of them
  uint64_t line_samples = 0;  // of its line, in the window
  std::vector<uint64_t> visits;            // one for each point; of a latency point its departures
  std::vector<LatencyIntegral> latencies;  // one for each point; those of others are 0. Empty: no point is a latency
  double foreign_share = 0;  // 0 to 1: of its CPUs' time, that other programs took
  double busy_share = 0;     // 0 to 1: of its CPUs' time, that the family took: utilization
  uint64_t layout = 0;       // the layout of code it ran in: equal numbers, equal layouts; 0: not known
  uint32_t flags = 0;        // WindowFlag bits
};

// invariant: indices in range; trials[t].run_samples empty or lines.size() long; windows[w].visits.size() == points.size()
struct CausalData {
  std::string experiment;
  std::string program;
  std::vector<std::string> factors;  // names; empty: one cell
  std::vector<CausalPoint> points;   // at least one
  std::vector<CausalLine> lines;
  std::vector<CausalCell> cells;     // at least one
  std::vector<CausalTrial> trials;
  std::vector<CausalWindow> windows;

  // ---- declared in the plan --------------------------------------------------------------------------
  std::vector<double> speedups;    // 0 to 1, ascending, without 0
  double margin = 0.01;            // smallest program speedup that matters: 0.01 is 1 % of its time
  double alpha = 0.05;             // of the family lines x speedups x points x cells, by Holm
  double most_foreign = 0.02;      // a window with a larger foreign_share is excluded
  uint64_t sampling_ns = 1000000;  // P
  uint64_t window_ns = 250000000;  // a window's declared length
  bool incomplete = false;         // not all trials have run: verdicts are withheld
  // Each window is a run of the program from end to end, and a trial here is a block of them, in which each arm comes once.
  bool whole_runs = false;
  bool loads = false;              // load is a factor: trials have baseline windows and no lines
  bool closed_loop = false;        // the plan says that its clients wait for answers before they ask again
};

std::string_view name(ArmKind kind);
std::string_view name(CausalClock clock);
std::string_view name(PointKind kind);
std::optional<ArmKind> arm_kind(std::string_view name);
std::optional<CausalClock> causal_clock(std::string_view name);
std::optional<PointKind> point_kind(std::string_view name);

// The time that a window would have taken with its line really sped up, in ns; may be 0 or negative where more was credited than
// passed, and such a window says nothing. A window that speeds nothing up is the time that it took.
double effective_ns(const CausalWindow& window, CausalClock clock);

// Of a run's waits the share that no interposed call accounts for. A program that doesn't wait has a few all the same, as it is
// loaded, prints and ends, and they move nothing: what waits less often than ten times a second is taken as if it did.
double unclassified_share(double waits, double classified, double run_s);

// What is wrong with the data, by trial and window: broken invariants, shares outside of 0 to 1, a speedup that wasn't declared,
// a negative or not finite number. Absent: nothing.
std::optional<std::string> fault_of(const CausalData& data);

}  // namespace stab::causal_report
