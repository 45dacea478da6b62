// Causal profiling: what the laboratory, the measured program and its companion share. docs/contributors/causal-runtime.md says
// the same for people.
//
// One file, the area, holds everything, so that one name or one descriptor hands all of it over:
//
//   Area = Script (the laboratory writes it, before) | State (live) | Module[] | Range[] | Arm[] | CpuClock[] | Process[]
//        | PointName[] | LastWrite[] | InsideSums | progress::Board | HistogramCell[] | WindowRecord[]
//
// The laboratory makes it sparse (memfd, or a file of the trial's user on a tmpfs; ftruncate to sizeof(Area)), writes the
// script, and sets Script::magic last. Two parties then map it shared:
//
//   the program    libstabcausal.so (LD_PRELOAD) finds the area's path in STAB_CAUSAL=, samples itself, judges each sample
//                  where it is taken, and pays pauses
//   the companion  libexec/stab/stab-causal AREA [--cpu N], a process of the same user beside the program, started before it:
//                  opens and closes windows, reads clocks and counters, writes WindowRecords. It ends when every process of
//                  the area has ended (or after Script::attach_patience_ns without any), and sets State::finished
//
// After both have ended the laboratory reads State, modules, histogram and windows. All of it is the program's to write while
// it lives: whoever reads it bounds every number, index and name.
//
// Everything here crosses process borders and is stored by the laboratory: fields are never reordered or reused; a change bumps
// kCausalVersion, and whoever meets another version refuses. Plain C++ without the standard library.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/progress/board.h"

namespace stab::causal {

inline constexpr uint32_t kCausalVersion = 4;
inline constexpr char kAreaMagic[8] = {'S', 'T', 'A', 'B', 'C', 'A', 'U', '1'};

// ---------------------------------------------------------------------------------------------------------
// STAB_CAUSAL= has always kCausalSettingLength characters, so that cells don't differ in the size of the environment:
//
//   VV,PATH    VV version in decimal; PATH absolute, its front filled up with '/' ("//////dev/shm/x")
//
// A descriptor is named by its path, /proc/self/fd/N. Programs that are executed by the measured one and inherit the variable
// join the area where the path still leads to it. "-" in the place of the whole path (filled up likewise: "/////-"): none; the
// library then does nothing at all.
inline constexpr char kCausalSettingName[] = "STAB_CAUSAL";
inline constexpr size_t kCausalPathLength = 160;
inline constexpr size_t kCausalSettingLength = 2 + 1 + kCausalPathLength;

// Writes kCausalSettingLength characters and a final 0. False: the path is too long or not absolute.
inline bool encode_causal_setting(const char* path, char* out) {
  size_t length = 0;
  while (path[length] != 0) ++length;
  if (path[0] != '/' || length > kCausalPathLength) return false;
  char* at = out;
  *at++ = static_cast<char>('0' + kCausalVersion / 10);
  *at++ = static_cast<char>('0' + kCausalVersion % 10);
  *at++ = ',';
  for (size_t i = length; i < kCausalPathLength; ++i) *at++ = '/';
  for (size_t i = 0; i < length; ++i) *at++ = path[i];
  *at = 0;
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// Sizes. The area is sparse: what is not used takes no memory.
inline constexpr uint32_t kMaxModules = 256;
inline constexpr uint32_t kMaxRanges = 65536;
inline constexpr uint32_t kMaxRegions = 4096;  // regions are numbered 1 to kMaxRegions - 1
inline constexpr uint32_t kMaxArms = 65536;
inline constexpr uint32_t kMaxWindows = 65536;
inline constexpr uint32_t kMaxCpus = 1024;
inline constexpr uint32_t kMaxProcesses = 256;
inline constexpr uint32_t kHistogramCells = 1u << 18;
inline constexpr uint32_t kPointSlots = progress::kPoints;  // counts of points are indexed by their number on the board
inline constexpr uint32_t kNoModule = ~0u;
inline constexpr uint32_t kNoRegion = 0;

// ---------------------------------------------------------------------------------------------------------
// What is asked for

// Do not renumber: stored by the laboratory.
enum class ArmKind : uint32_t {
  kBaseline = 0,  // nobody credits, nobody pays; region 0
  kSpeedup = 1,   // a sample in the region credits its CPU with speedup * period; everybody else pays
  kNull = 2,      // the same, but the sampled thread pauses as well: the true effect is 0
  kSlowdown = 3,  // the sampled thread alone pauses, really, and nothing is subtracted from any clock
  kCount
};

struct Arm {
  ArmKind kind;
  uint32_t region;            // 1 to kMaxRegions - 1; 0 for a baseline
  uint32_t speedup_permille;  // 250: 25 %; 0 for a baseline; at most 1000
  uint32_t reserved;          // 0
};

// Module::flags
inline constexpr uint32_t kModuleSeen = 1;      // set by the runtime: it was loaded in some process of the area
inline constexpr uint32_t kModuleByRuntime = 2;  // added by the runtime (a sample fell into it), not by the laboratory

// The executable, or a shared library. The laboratory lists those that its ranges are in; the runtime adds those that samples
// fall into. One that is loaded is the listed one if both have a build id and the ids are equal, or, where one has none, if the
// paths are equal (the last component for a path without '/'; the executable's path is /proc/self/exe's, and a listed path
// "MAIN" is any executable's).
struct Module {
  char path[224];
  uint8_t build_id[20];
  uint32_t build_id_bytes;  // 0: none; longer ones are cut to 20
  uint32_t flags;
  uint32_t reserved;
};
static_assert(sizeof(Module) == 256);

// Addresses [start, end) of a module, as its file has them (link-time virtual addresses: pc minus load bias). Sorted by module,
// then start, and disjoint. region 0: in scope, but part of no region (samples there end the search for a caller).
struct Range {
  uint64_t start;
  uint64_t end;
  uint32_t module;
  uint32_t region;
};

// Script::flags
inline constexpr uint64_t kScriptCallers = 1;    // a sample outside all ranges counts for its nearest caller inside one
inline constexpr uint64_t kScriptLayouts = 2;    // a new layout is asked for between windows, where szc built the program
inline constexpr uint64_t kScriptBlockedIo = 4;  // waits for I/O count as samples of the calling line (waiting sped up)
inline constexpr uint64_t kScriptBlockedSleep = 8;
inline constexpr uint64_t kScriptBlockedLock = 16;
inline constexpr uint64_t kScriptBeginsArrive = 32;  // under a load a point's begin is an arrival, too

// Do not renumber.
enum class Pauses : uint32_t {
  kAuto = 0,    // by what the program may run on when it attaches: kCpuTime on one CPU, kSpin on several
  kCpuTime = 1, // one CPU: nobody pauses; virtual time = CPU time + time blocked on the world - growth of global
  kSpin = 2,    // accounting by CPU, paid by spinning; virtual time = wall - k * growth of global
  kThread = 3,  // COZ's rule, for comparison: each thread sleeps off its own debt; virtual time = wall - growth
  kCount
};
inline constexpr const char* kPausesWords[] = {"auto", "cpu-time", "spin", "thread"};

// No arms: sampling only, as pilot trials do; then the whole run is what the histogram is about and there are no windows.
struct Script {
  char magic[8];              // kAreaMagic, written last
  uint32_t version;           // kCausalVersion
  uint32_t header_bytes;      // sizeof(Area): another number is another format
  uint64_t flags;
  uint64_t period_ns;         // P, as drawn by the laboratory for this trial; 50 us to 100 ms
  uint64_t window_ns;         // length of a window: 1 ms to 1 h
  uint64_t cooloff_ns;        // between windows
  uint64_t least_visits;      // a window is prolonged while its busiest point has fewer; 0: never
  uint64_t most_prolonged;    // up to so many times its length; 1: never
  uint64_t skip_look_ns;      // an arm whose region had no sample in so much of the family's last CPU time is skipped; 0: none is
  uint64_t attach_patience_ns;  // how long the companion waits for the program
  Pauses pauses;
  uint32_t module_count;      // Area::modules that the laboratory has listed
  uint32_t range_count;
  uint32_t region_count;      // highest region number + 1
  uint32_t arm_count;         // in order, from arms[0]; when all are used nothing more happens
  uint32_t load_permille;     // of the arrival rate (runtime/causal/load.h): 1000 to kMostLoadPermille; 0: no load is asked for
  uint32_t reserved[12];
};
inline constexpr uint32_t kMostLoadPermille = 100'000;

// ---------------------------------------------------------------------------------------------------------
// What goes on

// Bits of State::degradations; kDegradationWords has the words. Add at the end.
enum class Degraded : uint32_t {
  kCoarseSamples = 0,    // perf was refused: samples come from a CPU timer, with the grain of the kernel's tick
  kNoSamples = 1,        // neither could be had: nothing is sampled
  kSharedTrap = 2,       // the program handles SIGTRAP itself: passed on, but a signal of its own may have been mistaken
  kLateTraps = 3,        // SIGTRAP was blocked by direct system calls: more than one sample in a hundred came late
  kHistogramFull = 4,
  kModulesFull = 5,
  kHandlerReplaced = 6,  // the program took SIGTRAP's handler by a direct system call: no samples from then on
  kProcessesFull = 7,
  kUnknownRegions = 8,   // a listed module with ranges was never loaded
  kKernelNotSampled = 9, // more than a tenth of the CPU time has no samples, since the kernel spent it
  kNoContention = 10,    // the kernel doesn't say how long the CPUs worked for others
  kNoAlternateStack = 11,
  kPointsElsewhere = 12, // the program's progress points could not be led to the area's board
  kNoUnwinder = 13,      // callers were asked for, and there is no libgcc_s: samples outside the scope count for nobody
  kTimeouts = 14,        // under a load a wait for one of ours ended by its time, which is real time
  kNoArrivals = 15,      // a load was asked for, and no thread visited an arrival point
  kSandboxed = 16,       // the program installed a seccomp filter, which might end it for a call of ours: no samples from then on
  kTraced = 17,          // a debugger has the program, and SIGTRAP is the debugger's: nothing is sampled
  kCount
};
inline constexpr const char* kDegradedWords[] = {
    "coarse-samples",  "no-samples",      "shared-sigtrap",   "late-traps",      "histogram-full",   "modules-full",
    "handler-replaced",    "processes-full",  "regions-not-loaded", "kernel-not-sampled", "no-contention", "no-alternate-stack",
    "points-elsewhere", "no-unwinder", "time-outs", "no-arrivals", "sandboxed", "traced"};
static_assert(sizeof kDegradedWords / sizeof *kDegradedWords == static_cast<size_t>(Degraded::kCount));

// State::finished
inline constexpr uint32_t kRunning = 0;
inline constexpr uint32_t kFinished = 1;       // the companion has written its last word: every process of the area has ended
inline constexpr uint32_t kNobodyCame = 2;     // no process attached within attach_patience_ns
inline constexpr uint32_t kBadScript = 3;      // the companion refused the script

// A moment, and everything that windows are differences of.
struct Snapshot {
  uint64_t at_ns;           // CLOCK_MONOTONIC
  uint64_t cpu_ns;          // of the family
  uint64_t global;
  uint64_t credited_ns;
  uint64_t spun_wall_ns;
  uint64_t spun_counted_ns;
  uint64_t world_blocked_ns;
  uint64_t samples;
  uint64_t region_samples;  // of the window's region
  uint64_t region_ns;
  uint64_t waits;
  uint64_t waits_classified;
  uint64_t layouts_asked;
  uint64_t reserved[3];
  uint64_t visits[kPointSlots];
};

// The chosen arm, and whether a window is open. Windows are opened and closed by orders: the companion fills the arm in,
// raises `ordered` (odd: open, even: close), and the next trap in any thread takes the snapshot and carries the order out, so
// that clock readings are exact and a window begins and ends at a sample. Where no trap comes the companion does it.
struct alignas(64) Live {
  uint64_t open;            // odd while a window is open: the order that opened it; what threads look at in each trap
  ArmKind kind;
  uint32_t region;
  uint32_t speedup_permille;
  uint32_t reserved_32;
  uint64_t layouts_wanted;  // raised by the companion between windows; the first trap that sees it asks for a new layout
  uint64_t until_ns;        // of a null window: the effective time at which it is over
  alignas(64) uint64_t ordered;
  uint64_t claimed;         // by whoever carries it out; raised by compare and exchange
  uint64_t done;            // raised when `begin` or `end` holds the moment
};

struct alignas(64) State {
  // Written by the program.
  uint32_t attached;        // processes that ever attached
  Pauses pauses;            // what came of Script::pauses, decided by the first to attach
  uint32_t cpus;            // that it might run on
  uint32_t moving;          // 1: szc built it and its code moves
  uint64_t degradations;    // bit set
  uint64_t first_attach_ns; // CLOCK_MONOTONIC
  uint64_t start_ns;        // what attaching took, the first process
  uint64_t modules_used;
  alignas(64) uint64_t global;  // R1: how much every CPU has to have given up, ns
  alignas(64) uint64_t samples;           // all
  uint64_t samples_in_ranges;             // of those, in some region
  uint64_t samples_by_caller;             // of those, found by the search for a caller
  uint64_t samples_unattributed;          // outside all modules; where callers count, also those without one in scope
  uint64_t samples_late;                  // delivered asynchronously, because SIGTRAP was blocked
  uint64_t samples_lost;                  // found no cell in the histogram
  uint64_t samples_spun;                  // fell into our own pauses: no samples of the program
  uint64_t credited_ns;                   // sum of all credits
  uint64_t spun_wall_ns;                  // R2: wall time of paying, and what of it was counted as lost
  uint64_t spun_counted_ns;
  uint64_t world_blocked_ns;              // time in which nobody of the family could run until the world woke somebody
  uint64_t waits;                         // voluntary switches of threads, seen in traps and at their ends
  uint64_t waits_classified;              // of those, in interposed calls
  uint64_t foreign_traps;                 // SIGTRAPs that were the program's own
  uint64_t layouts_asked;
  // R4 on one CPU: threads of the family that can run, and since when nobody can.
  alignas(64) int32_t runnable;
  int32_t reserved_runnable;
  uint64_t idle_since_ns;                 // 0: somebody can run
  uint32_t cpu_limit;                     // highest CPU of the program + 1, at most kMaxCpus
  uint32_t arriving;                      // 1: under a load, the first task has arrived
  // Written by the companion.
  alignas(64) uint32_t finished;
  uint32_t companion_pid;
  uint32_t windows_used;    // records written
  uint32_t arms_used;
  uint32_t points_used;     // highest number in `points`
  uint32_t reserved_32;
  uint64_t cpu_ns;          // of the family, over the run
  uint64_t run_ns;          // from the first attach to the last end seen
  uint64_t end_ns;
  alignas(64) Live live;
  Snapshot begin;  // of the newest window, and of the run before the first
  Snapshot end;
  // Over the whole run, windows or not: samples in each region, and the CPU time that they stand for. A sample stands for its
  // thread's CPU time since the sample before, pauses excluded, at most a period.
  uint64_t region_samples[kMaxRegions];
  uint64_t region_ns[kMaxRegions];
};

// One for each CPU. lost: the virtual time that it has given up or been credited with; occupants: threads of the family that
// run or could run on it.
struct alignas(64) CpuClock {
  uint64_t lost;
  int32_t occupants;
  uint32_t reserved;
};

// Process::ended
inline constexpr uint32_t kProcessRuns = 0;
inline constexpr uint32_t kProcessEnded = 1;
inline constexpr uint32_t kProcessExecutes = 2;  // another program, which is none of ours unless it attaches
inline constexpr uint32_t kProcessComes = 3;     // takes the place of one that has ended

struct alignas(64) Process {
  uint32_t pid;       // 0: free
  uint32_t ended;     // kProcessRuns or one of the others
  uint64_t cpu_ns;    // as read last; of all that had this place
  uint64_t started;   // its start time in ticks, so that a reused pid is not taken for it
  int32_t runnable;   // its part of State::runnable
  int32_t reserved;
  uint64_t before_ns; // of cpu_ns: what processes that had this place before have used
};

// Of a progress point, by its number on the board (1 to kPointSlots - 2), written by the companion: printable, ends with 0.
// Two numbers may have one name and kind (two threads met a new point at once): their visits are to be added.
struct PointName {
  char name[progress::kNameBytes];
  uint32_t kind;  // progress::Kind; 0: no point of this number
  uint32_t reserved;
};

// key: (module + 1) << 48 | link-time address; 0: free. Module kMaxModules: in no module, generated code for
// instance. Open addressing, linear.
struct HistogramCell {
  uint64_t key;
  uint64_t count;
};

// ---------------------------------------------------------------------------------------------------------
// What comes out

// WindowRecord::flags
inline constexpr uint32_t kWindowSkipped = 1;    // its region did not run: no window was opened, only arm and start_ns count
inline constexpr uint32_t kWindowProlonged = 2;
inline constexpr uint32_t kWindowCut = 4;        // the program ended in it: not comparable with whole ones
inline constexpr uint32_t kWindowFewVisits = 8;  // fewer than least_visits, however long
inline constexpr uint32_t kWindowForeignUnknown = 16;  // foreign_ns is not known: see Degraded::kNoContention
inline constexpr uint32_t kWindowWhole = 32;     // the end-to-end record: the whole run, kind baseline, always the last one

// A window, closed. Everything is a difference between its end and its start, times in ns. effective_ns is by State::pauses:
//   kCpuTime  cpu_ns + world_blocked_ns - growth_ns          kSpin    wall_ns - k * growth_ns
//   kThread   wall_ns - growth_ns                            with k = spun_wall_ns / spun_counted_ns, 1 where nothing was spun
// In slow-down windows nothing grows. Where it came out at or below 0 it is 0 and the window is worth nothing.
struct WindowRecord {
  uint32_t number;          // from 0, in order of time
  uint32_t arm;             // index into the script's arms; ~0 for the end-to-end record
  ArmKind kind;
  uint32_t region;
  uint32_t speedup_permille;
  uint32_t flags;
  uint64_t start_ns;        // CLOCK_MONOTONIC
  uint64_t end_ns;
  uint64_t wall_ns;
  uint64_t cpu_ns;          // of the family of processes
  uint64_t effective_ns;
  uint64_t growth_ns;       // of State::global: what is subtracted
  uint64_t credited_ns;     // sum of credits: above growth_ns where CPUs were credited at the same time
  uint64_t spun_wall_ns;
  uint64_t spun_counted_ns;
  uint64_t world_blocked_ns;
  uint64_t samples;         // all
  uint64_t samples_in_region;
  uint64_t region_ns;       // the CPU time that these stand for
  uint64_t waits;
  uint64_t waits_classified;
  int64_t foreign_ns;       // CPU time that others took on the CPUs of the program; off by up to 10 ms a CPU, below 0, too
  uint64_t layout;          // State::layouts_asked when it opened
  uint64_t reserved[7];
  uint64_t visits[kPointSlots];     // of each point by its number on the board
  // Latency, at the number of each end point: the integral over effective time of how many are inside (begins minus ends, of
  // the points of its name). By Little's law inside_ns / visits is the mean time between begin and end.
  uint64_t inside_ns[kPointSlots];
};

// Who filled a pipe or a socket last: by a number for its end that is read from, the time of the last write by the family.
struct LastWrite {
  uint64_t key;  // 0: free
  uint64_t at_ns;
  uint64_t going_on;  // calls that have begun and not returned
};
inline constexpr uint32_t kLastWrites = 4096;

// Of the open window: how long how many were inside, at the number of each end point. Added to in traps, where credits are, so
// that both stand for the same pieces of time; by the companion while no trap comes. busy: somebody is adding.
struct InsideSums {
  uint32_t busy;
  uint32_t reserved;
  uint64_t last_effective_ns;
  uint64_t sum_ns[kPointSlots];
};

struct alignas(4096) Area {
  Script script;
  alignas(4096) State state;
  alignas(4096) Module modules[kMaxModules];
  Range ranges[kMaxRanges];
  Arm arms[kMaxArms];
  CpuClock cpus[kMaxCpus];
  Process processes[kMaxProcesses];
  PointName points[kPointSlots];
  LastWrite last_writes[kLastWrites];
  InsideSums inside;
  // Where the program counts (COZ's names, and STAB_PROGRESS where szc built it). Readers take names from `points`.
  alignas(4096) progress::Board board;
  alignas(4096) HistogramCell histogram[kHistogramCells];
  alignas(4096) WindowRecord windows[kMaxWindows];
};

static_assert(sizeof(Process) == 64 && sizeof(LastWrite) == 24);
static_assert(sizeof(Script) == 152 && sizeof(Arm) == 16 && sizeof(Range) == 24 && sizeof(HistogramCell) == 16);
static_assert(sizeof(WindowRecord) == 1240);

}  // namespace stab::causal
