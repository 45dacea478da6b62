// Plan: what an experiment crosses, measures and demands, as parsed from TOML. docs/reference/plan.md is the format for
// people; plan/parse.h makes one; plan/design.h and plan/schedule.h turn it into cells and trials.
//
// Pure data. Every path is as written: relative ones are relative to the plan's own directory.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "plan/causal.h"
#include "plan/simulation.h"
#include "runtime/modes.h"

namespace stab::plan {

using std::chrono::nanoseconds;

// --- [experiment] ----------------------------------------------------------------------------------------

enum class Scale { kLog, kRaw };

// "wall_time", "cpu_time" (what wait4 counts as the program's and its waited-for descendants', user and system together),
// "user_time", "system_time", "max_rss", "region_time" (what the program spent between its own
// stab_region_begin and stab_region_end), "progress:NAME" (visits of a progress point, stab/progress.h, per second of wall
// time; higher is better), "progress_cpu:NAME" (the same per second of cpu_time), or one of counters.events. Of a simulated
// experiment: one of kSimulatedResponses.
struct Response {
  std::string name;
  Scale scale = Scale::kLog;
  bool zeros_missing = false;  // log scale: a trial that counts 0 has no value; otherwise the response is refused
};
// Log for times, cycles, instructions and memory, which multiply; raw for counts of what may not happen at all.
Scale default_scale(std::string_view response);
inline constexpr std::array<std::string_view, 6> kBuiltinResponses = {"wall_time", "cpu_time", "user_time", "system_time",
                                                                      "max_rss", "region_time"};

inline constexpr std::string_view kProgressPrefix = "progress:", kProgressCpuPrefix = "progress_cpu:";
// The point of a response that is one's throughput; empty: it is another.
std::string_view progress_point(std::string_view response);

// How the trials of a block have the machine.
enum class BlockMode {
  kInTurn,  // one after the other, each alone
  kSliced,  // all at the same time on one CPU, in time slices, but for a share of control blocks: slicing.h
};

enum class Order {
  kBlocks,  // randomized complete blocks
  kRandom,  // all trials of the experiment in one random order
};

// What the layouts of a block's cells have in common.
enum class Layouts {
  kIndependent,  // nothing: each cell has a seed of its own
  kMatched,      // one seed, and of programs' code, pads and heap what the cells' builds have in common lies in the same places
};

// What a difference between levels of a treatment is a difference of.
enum class About {
  kPrograms,  // over layouts: of two that are one layout each nothing is said, as it may be luck of the linker
  kBinaries,  // of the builds as they are linked, where their code lies included
};

struct Experiment {
  std::string name;
  std::string series;     // that it is a part of: its levels are followed over all of them; empty: none
  uint64_t seed = 1;
  int replicates = 0;     // blocks: layout seeds for each cell of each workload
  int runs_per_seed = 1;  // trials that share one layout seed
  std::vector<Response> responses;
  double margin = 0.01;   // fraction of the baseline: the smallest difference that matters
  double alpha = 0.05;
  Order order = Order::kBlocks;
  BlockMode blocks = BlockMode::kInTurn;
  nanoseconds slice{0};   // kSliced: length of the time slices; 0: chosen after the preflight
  double alone = 0.1;     // kSliced: share of the control blocks, whose trials run in turn
  SourceSpot blocks_spot;
  Layouts layouts = Layouts::kIndependent;
  SourceSpot layouts_spot;     // where the plan says which; line 0: it doesn't
  About about = About::kPrograms;
  SourceSpot about_spot;
  bool preflight = true;
  bool record_epochs = false;  // what each epoch of each trial was is kept
  bool record_samples = false;  // where each trial's CPU time was spent, by function, is kept
};

// --- [factors] -------------------------------------------------------------------------------------------

enum class FactorKind { kCode, kStack, kStackRange, kHeap, kEpoch, kEnvSize, kTreatment, kLoad };
// Of a causal plan: multiples of the rate at which tasks arrive. A level's value is its permille.
inline constexpr std::string_view kLoadFactor = "load";

struct Level {
  std::string name;   // how cells and reports call it
  std::string value;  // what {factor} is replaced by; differs from name only where the plan gives both
};

// An epoch's value is its nanoseconds, or this and its visits.
inline constexpr char kVisitsMark = 'v';

struct Factor {
  std::string name;
  FactorKind kind = FactorKind::kTreatment;
  std::vector<Level> levels;  // never empty, names distinct; the first is the baseline
  SourceSpot spot;
};

// Freshly linked layouts, nested in cells that don't move code (code is off or copy): trials of such a cell go
// through the link layouts 1..seeds, each once in random order, then all again. 0 seeds: the binary as linked.
struct Link {
  int seeds = 0;
  bool as_linked = false;  // the binary as the build links it by itself is one of them, too, as link 0
};

// One entry of exclude: a cell is left out when all its named factors have one of the levels.
struct Exclude {
  std::map<std::string, std::vector<std::string>> when;
};

// `inner` varies only where `outer` has one of `outer_levels`; elsewhere only its first level is run.
struct Nested {
  std::string inner;
  std::string outer;
  std::vector<std::string> outer_levels;
};

// fraction = 1/2^halvings of the full factorial of the two-level factors, with the generators given, such as
// "D = ABC"; empty generators: chosen for highest resolution.
struct Fraction {
  int halvings = 0;
  std::vector<std::string> generators;
  SourceSpot spot;
};

// --- [machine] -------------------------------------------------------------------------------------------

// What a plan may set below [machine.knobs] and list in machine.require. Without words of its own a knob takes any,
// and the machine says which: a governor's name, a frequency in kHz.
struct Knob {
  std::string_view name;
  std::array<std::string_view, 2> words;

  bool takes(std::string_view word) const { return words[0].empty() || word == words[0] || word == words[1]; }
  std::string expected() const { return std::string(words[0]) + (words[1].empty() ? "" : " or ") + std::string(words[1]); }
};
inline constexpr std::array<Knob, 14> kKnobs = {{{"affinity", {"on"}},
                                                 {"cpuset", {"off"}},
                                                 {"irqs", {"off"}},
                                                 {"governor", {}},
                                                 {"frequency", {}},
                                                 {"turbo", {"off", "on"}},
                                                 {"c_states", {"off", "on"}},
                                                 {"smt", {"off", "on"}},
                                                 {"aslr", {"off", "on"}},
                                                 {"thp", {"off", "on"}},
                                                 {"swap", {"off", "on"}},
                                                 {"numa_balancing", {"off", "on"}},
                                                 {"watchdogs", {"off", "on"}},
                                                 {"page_cache", {"keep"}}}};
inline const Knob* knob_named(std::string_view name) {
  const auto* at = std::find_if(kKnobs.begin(), kKnobs.end(), [&](const Knob& knob) { return knob.name == name; });
  return at == kKnobs.end() ? nullptr : at;
}
// The knob that a requirement of machine.require stands for, where it is one: "isolation" is the cpuset.
inline std::string knob_of_requirement(const std::string& need) { return need == "isolation" ? "cpuset" : need; }

struct Gates {
  std::optional<double> load;             // start a trial only while the 1-minute load is below
  std::optional<double> temperature_c;    // ... and the hottest sensor is below
  std::string window;                     // "22:00-06:00", local time; empty: always
  nanoseconds deadline{0};                // give up after waiting this long; 0: never
};

struct Machine {
  std::string cpus = "auto";          // "auto", "none", "2-3", "core:1", "pu:2", "numa:0"
  std::string housekeeping = "auto";
  bool private_ipc = true;            // System V objects, POSIX queues and /dev/shm of a trial's own, where they can be had
  bool private_tmp = true;            // /tmp and /var/tmp of a trial's own, the same
  std::map<std::string, std::string> knobs;
  Gates gates;
  std::vector<std::string> require;   // knobs, "counters", "isolation", "private-ipc", "private-tmp": the run fails without them
};

// --- [machines] ------------------------------------------------------------------------------------------

// How a worker is started and whether it lives is found out: stabd/engine/machines/machine_engine.h.
enum class MachineEngineKind {
  kLocal,  // processes of this machine
  kSsh,    // a connection to each host
  kSlurm,  // a job on a node of its own
};

// Of a host that the plan declares equal: words that a plan may list in `same`, each standing for a fact of the machine.
struct SameFact {
  std::string_view word, fact;
};
inline constexpr std::array<SameFact, 5> kSameFacts = {{{"cpu", "cpu.model"},
                                                        {"microcode", "cpu.microcode"},
                                                        {"kernel", "kernel.release"},
                                                        {"smt", "cpu.smt"},
                                                        {"memory", "memory"}}};

// The blocks are dealt to so many slots, each of which one machine at a time runs; 0: the experiment runs here, as ever.
struct Machines {
  int count = 0;
  MachineEngineKind engine = MachineEngineKind::kLocal;
  std::vector<std::string> same;     // words of kSameFacts that must be equal on all; else a machine is refused
  std::vector<std::string> hosts;    // of ssh; more than `count`: spares
  std::vector<std::string> command;  // instead of ssh, with its first words
  std::vector<std::string> options;  // added to it
  std::string spool;                 // a directory that all of them share; empty: none, or one beside the database
  std::string stabctl;               // where it is on the machines; empty: where it is here
};

// --- [limits] --------------------------------------------------------------------------------------------

// What all processes of a trial may use together; 0: as much as the lab lets them.
struct Limits {
  uint64_t memory_bytes = 0;
  int processes = 0;  // threads count
  bool any() const { return memory_bytes > 0 || processes > 0; }
};

// --- [counters] ------------------------------------------------------------------------------------------

enum class CounterSharing {
  kMultiplex,  // all events in every trial; the kernel time-shares them
  kPasses,     // groups of at most `per_pass` hardware events, each in its own trials
};

struct Counters {
  std::vector<std::string> events;
  std::vector<SourceSpot> spots;  // of each event, for whoever resolves the names
  CounterSharing sharing = CounterSharing::kMultiplex;
  int per_pass = 4;
  bool kernel = true;       // count the kernel's part too (needs perf_event_paranoid <= 1)
  Simulation simulation;    // instead of events: trials are simulated, and all responses are its
};

// --- [stopping] ------------------------------------------------------------------------------------------

enum class StoppingRule { kFixed, kLooks, kPrecision, kSequence };
enum class Spending { kObrienFleming, kPocock };

struct Stopping {
  StoppingRule rule = StoppingRule::kFixed;
  std::vector<int> looks;                             // kLooks: replicates at each look, ascending, last = all
  Spending spending = Spending::kObrienFleming;       // kLooks
  int first = 0;                                      // kPrecision: replicates of the first stage; kSequence: none ends before
  int max = 0;                                        // kPrecision, kSequence: never more
  double half_width = 0;                              // kPrecision: relative half width of the CI to reach
  bool until_worse = false;                           // kLooks, kSequence: anything shown to be worse ends it, too
};

// --- [analysis] ------------------------------------------------------------------------------------------

struct Estimator {
  enum class Kind { kHodgesLehmann, kQuantile, kMixed } kind = Kind::kHodgesLehmann;
  double probability = 0.5;  // kQuantile
};

// What is estimated beside the means' differences.
struct Analysis {
  std::vector<Estimator> estimators;  // none twice
  std::vector<double> shift;          // quantiles of the shift function, ascending; empty: none
};

// --- [exclusions] ----------------------------------------------------------------------------------------

// What the engine writes into each trial's validity ledger, and rules may name. Deltas over the trial.
inline constexpr std::array<std::string_view, 24> kLedgerKeys = {
    "voluntary_switches", "involuntary_switches", "migrations",       "interrupts",    "steal_ns",
    "throttle_count",     "frequency_min_khz",    "frequency_max_khz", "psi_cpu_us",   "psi_memory_us",
    "psi_io_us",          "kernel_log_lines",     "minor_faults",     "major_faults",  "swap_in_pages",
    "swap_out_pages",     "loop_latency_ns",      "load_1min",        "submits",
    "web_requests",       "overlap",              "foreign_ns",       "foreign_switches",
    "run_delay_ns"};

enum class Comparison { kLess, kLessEqual, kEqual, kNotEqual, kGreaterEqual, kGreater };

// "involuntary_switches > 10": a trial whose ledger says so is kept, marked and left out of the analysis.
struct ExclusionRule {
  std::string key;
  Comparison comparison = Comparison::kGreater;
  double value = 0;
  std::string text;  // as written
};
bool excludes(const ExclusionRule& rule, double ledger_value);

// --- [[program]] -----------------------------------------------------------------------------------------

// A command: words, or with shell = true one text for /bin/sh -c. Placeholders are replaced after the words
// are split, so that a level with blanks stays one word.
struct Command {
  std::vector<std::string> argv;  // shell: exactly {"/bin/sh", "-c", text}
  // Indices of words of a string that are one placeholder without quotes: an empty level is no word there, as in a shell.
  std::vector<size_t> bare;
  bool empty() const { return argv.empty(); }
};

struct ExpectedFile {
  std::string path;    // relative to the trial's directory
  std::string sha256;  // lower-case hex
};

// invariant: `exit` has one status at least, and none twice
struct Expect {
  std::vector<int> exit{0};  // what a run may end with
  std::optional<std::string> stdout_sha256;
  std::optional<std::string> stderr_sha256;
  std::optional<std::string> stdout_regex;  // ECMAScript, searched for, compiles
  std::vector<ExpectedFile> files;
  bool same_stdout = false;  // every trial's output equals that of its workload's first one in this experiment
};

// Where a workload says what it measured itself, and how that is read. Benchmarks whose names match a family are judged with it
// (Holm); those of no family are exploratory, all of a workload together (Benjamini and Yekutieli).
struct Metrics {
  struct Family {
    std::string name;
    std::vector<std::string> patterns;  // a name, or of fnmatch(3): "BM_Sort*"
    bool operator==(const Family&) const = default;
  };
  std::string file;    // in the trial's directory; empty: standard output
  std::string format;  // plan/metrics/formats.cc has it
  std::vector<Family> families;
  // Empty: of none. The first that has the name itself, else the first that has a pattern of it.
  std::string family_of(const std::string& benchmark) const;
  // Patterns that none of these names has, each with its family: what they were to ask is not asked.
  struct Unasked {
    std::string family, pattern;
  };
  std::vector<Unasked> unasked(const std::set<std::string>& benchmarks) const;
};

// One thing that is run and measured.
struct Workload {
  std::string name;      // unique within its program; the program's own name where it has no workloads
  Command run;           // never empty; relative to the build's directory, else to source.dir, else to the plan's
  std::string stdin_path;  // looked up like an input; empty: /dev/null
  std::string cwd;       // relative to the trial's directory; empty: that directory
  std::map<std::string, std::string> env;
  std::vector<std::string> inputs;  // files and directories put into the trial's directory, besides the program's
  int warmup = 0;        // trials run and not recorded before each workload's first one
  nanoseconds timeout{std::chrono::minutes(10)};
  Expect expect;
  std::optional<Metrics> metrics;
  SourceSpot spot;
};

struct Source {
  std::string dir;                   // a directory, copied into each build's directory; empty: none
  std::string git;                   // or a repository
  std::string revision;              // of git; may hold placeholders
  std::vector<std::string> patches;  // applied in order; may hold placeholders, empty after replacement: none
  bool submodules = true;            // of git: they are fetched, too
};

struct Program {
  std::string name;
  Source source;
  Command build;                  // empty: nothing to build
  nanoseconds build_timeout{std::chrono::minutes(30)};
  std::vector<std::string> inputs;  // files and directories every workload needs
  Command prepare;                // before each trial, outside its time
  Command cleanup;                // after each trial
  bool preload_heap = false;        // libstabheap.so is preloaded: the heap of a program that szc hasn't linked
  bool preload_libraries = false;   // libstabhost.so is: that heap, and the code of shared libraries that szc made
  uint64_t stack_limit_bytes = 0;   // 0: the submitter's limit
  uint64_t output_limit_bytes = 64u << 20;
  std::string layout_script;        // plan/layout_scripts.h; empty: none
  SourceSpot script_spot;
  std::vector<Workload> workloads;  // never empty
  SourceSpot spot;
};

// --- [layout] --------------------------------------------------------------------------------------------

// A place that a map names, as analysis/layout_report/layout_map.h has it: its words, which two of its levels are compared.
struct MappedPlace {
  std::string place;                     // "start mod 64"
  std::string function, other;           // other: of two
  uint64_t linked = 0, other_linked = 0; // where the linker has put them
  int slowest = 0, fastest = 0;
};

// The experiment that named the places which a confirmation measures. Where it is imported its number changes, its name doesn't.
struct ScreenKey {
  std::string name;
  int64_t submitted_ns = 0;
  int64_t number = 0;  // 0, but in confirmations that were planned when numbers were all they held
  bool operator==(const ScreenKey&) const = default;
};

// The places of one build, in one workload, that an experiment measures again.
struct MappedBuild {
  std::string workload;
  int build = 0;
  std::string text_hash;  // of its code
  std::vector<MappedPlace> places;
};

// A layout file (plan/advice/layout_file.h) that builds of one level obey.
struct LayoutArm {
  std::string name, text;
};

// [layout.verification], which the engine writes: what layout files do.
struct LayoutVerification {
  std::string of;        // name of the experiment whose plan this is
  std::string workload;  // as Subject::name has it; the plan's others are left out
  int links = 10;        // random ones of each arm
  int runs = 2;          // of each link
  int draw = 1;          // of links and layouts: another number, other ones
  bool simulate = false; // cost instead of time, plan/simulation.h
  std::map<std::string, std::string> levels;  // of treatments: the ones that were mapped; a treatment not named: its first
  std::vector<LayoutArm> arms;
};

// [layout.replay], which the engine writes: the layout of one recorded trial.
struct LayoutReplay {
  ScreenKey of;          // the experiment that the trial is of
  int64_t trial = 0;     // its number there, when this was written
  std::string workload;  // as Subject::name has it; the plan's others are left out
  std::map<std::string, std::string> levels;  // of all factors: the trial's cell
  uint64_t seed = 0;     // the layout's
  int link = 0;
  int times = 20;        // runs of it, and of fresh layouts
  int draw = 1;          // of fresh layouts: another number, other ones
  // What the trial differed by from the others of its cell, in the first response: of its logarithm on a log scale. Absent: there
  // were no others.
  std::optional<double> excess;
};

// Which functions' places make the program's time vary.
struct LayoutMapping {
  bool map = false;
  bool long_loops = false;            // activations that stay in a loop are led to new layouts
  std::vector<std::string> progress;  // points of which one counts the work; empty: of all points
  std::vector<std::string> only;      // patterns of functions that are looked at, % for any characters; empty: all
  int confirm = 12;                   // candidates that fresh trials measure again, at most; 0: none
  std::optional<ScreenKey> confirms;  // [layout.confirmation], which the engine writes; absent: this plan is no confirmation
  std::vector<MappedBuild> measured;
  std::optional<LayoutVerification> verification;
  std::optional<LayoutReplay> replay;
  SourceSpot spot;
};

// --- the whole -------------------------------------------------------------------------------------------

struct Plan {
  Experiment experiment;
  std::vector<Factor> factors;  // in the order written
  Link link;
  std::vector<Exclude> exclude;
  std::vector<Nested> nested;
  Fraction fraction;
  Machine machine;
  Machines machines;
  Limits limits;
  LayoutMapping layout;
  Counters counters;
  Stopping stopping;
  Analysis analysis;
  std::vector<ExclusionRule> exclusions;
  std::optional<Causal> causal;   // which lines are sped up virtually; absent: none, an experiment as others
  std::vector<Program> programs;  // never empty
  std::string text;               // what was parsed
  std::string path;               // where it came from, as given

  // -1 where there is none.
  int factor_index(std::string_view name) const;
  // The first of this kind; null: there is none.
  const Factor* factor_of(FactorKind kind) const;
  Factor* factor_of(FactorKind kind);
  bool has_response(std::string_view name) const;
  std::vector<std::string> throughputs() const;  // responses that are one's throughput
};

// One workload of one program: the "within" unit of the analysis. Named "lua/fib", or "bzip2" where the
// program has no workloads of its own.
struct Subject {
  int program = 0;
  int workload = 0;
  std::string name;
};
std::vector<Subject> subjects(const Plan& plan);

// The name that an input, a file or a directory, has in a trial's directory: the last of its path ("data" of "../data/").
std::string input_name(const std::string& path);

}  // namespace stab::plan
