// Samples: everything a report needs to know about an experiment, as plain data. Whoever holds the trials
// (the store, a CSV file, a test) fills one in; analysis/ never sees a database or a plan.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/looks/alpha_spending.h"

namespace stab::report {

// A treatment of this name asks about the builds that are its levels, each as it is.
inline constexpr char kBinaryFactor[] = "binary";

// One column of the design. Levels are in the plan's order; `baseline` is the index of the level that the
// others are compared with.
// invariant: baseline < levels.size()
struct Factor {
  std::string name;
  std::vector<std::string> levels;
  // code, stack, heap, env_size, link_order: randomizes layout, so its levels differ in variance by design and
  // each trial of a randomizing level is a layout of its own. False: a treatment of the user's.
  bool layout = false;
  uint32_t baseline = 0;
  std::vector<bool> fixed{};  // code, stack, heap, by level: leaves what it names where it was. Empty: no level does
  // A treatment that asks about its builds as they are linked: where their code lies is a part of the question, and the
  // difference of two that run in one layout each is its answer.
  bool of_binaries = false;
  bool is_fixed(size_t level) const { return level < fixed.size() && fixed[level]; }
  // Its levels say whether a part of the program moves. An epoch says when, and a range how far.
  bool moves_a_part() const { return layout && (name == "code" || name == "stack" || name == "heap"); }
  // A treatment whose differences are to hold over layouts. One of the name "binary" is of binaries, too.
  bool holds_over_layouts() const { return !layout && !of_binaries && name != kBinaryFactor; }
};

// Log: differences are ratios and effects are reported as geometric means. Linear: differences are in the
// response's unit.
enum class Scale { kLog, kLinear };

// A number of that scale as people read it, ratios instead of logarithms, and the way back.
inline double to_people(Scale scale, double x) { return scale == Scale::kLog ? std::exp(x) : x; }
inline double on_scale(Scale scale, double shown) { return scale == Scale::kLog ? std::log(shown) : shown; }

// How the errors of a family of questions are controlled.
enum class ErrorRate {
  kFamilyWise,      // Holm: the chance of any false answer
  kFalseDiscovery,  // Benjamini and Yekutieli: the expected share of false ones, whatever depends on what
};

struct Response {
  std::string name;  // "wall_time", "cycles"
  std::string unit;  // "s", "ns", "" for a count; for people
  Scale scale = Scale::kLog;
  // Smallest difference that matters. Log scale: relative, 0.01 is 1 %. Linear scale: in the response's unit, or with
  // `margin_is_share` a share of what the baseline's cells average.
  double margin = 0.01;
  bool margin_is_share = false;
  // Declared in the plan: belongs to the one family whose errors Holm controls. False: exploratory (counters
  // that came along), a family of its own.
  bool declared = true;
  bool higher_is_better = false;  // a throughput; all other responses are costs
  // A benchmark of a workload's own output: measured of that workload alone, and too many to have tables of their own.
  std::optional<uint32_t> only_workload{};
  // Of a benchmark: the declared family that it is judged with; empty: all exploratory ones of its workload.
  std::string family{};
  ErrorRate error_rate = ErrorRate::kFamilyWise;
  bool is_benchmark() const { return only_workload.has_value(); }
};

// baseline: what the baseline's cells average, on that scale
inline double margin_on_scale(const Response& response, double baseline) {
  if (response.scale == Scale::kLog) return std::log1p(response.margin);
  return response.margin_is_share ? response.margin * std::fabs(baseline) : response.margin;
}

// What a trial's randomization really did, summed over its processes. All counts over the whole trial.
struct Dose {
  uint64_t code_layouts_built = 0;
  uint64_t code_layouts_executed = 0;  // the dose of code: layouts in which the program really ran
  uint64_t functions = 0;
  uint64_t functions_moved = 0;
  uint64_t stack_layouts = 0;          // times the pads were refilled, the first filling included
  std::optional<uint64_t> heap_layouts;  // places that classes moved to, the first included; absent: not counted
  uint64_t pads = 0;                   // functions that have a pad
  double heap_share = 0;               // 0 to 1: requests served by the randomizing allocator
  std::optional<double> heap_bytes_share;  // the same of the bytes asked for; absent: not counted
  uint64_t helper_cpu_ns = 0;
  uint64_t epochs = 0;                 // that ended while it ran; 0: none, or not counted
  uint64_t epochs_unentered = 0;       // of those, that ended before the program had entered a function of the newest layout
  std::vector<std::string> degradations;  // in the runtime's words; empty is good
};

// What disturbed a trial. Bits, so that a trial carries several. For people these have words in the report.
enum class Disturbance : uint32_t {
  kNone = 0,
  kMigrated = 1u << 0,          // ran on more than one CPU
  kPreempted = 1u << 1,         // more involuntary context switches than declared
  kInterrupts = 1u << 2,        // more interrupts on its CPU than declared
  kSteal = 1u << 3,             // the hypervisor took the CPU away
  kThrottled = 1u << 4,         // thermal or cgroup throttling
  kFrequency = 1u << 5,         // frequency changed
  kPressure = 1u << 6,          // PSI stall
  kMajorFaults = 1u << 7,       // read from disk
  kSwapped = 1u << 8,
  kKernelLog = 1u << 9,         // the kernel complained
  kLaboratoryBusy = 1u << 10,   // our own daemon had to work during the trial
  kSuspended = 1u << 11,        // the machine slept
};
inline constexpr uint32_t kDisturbanceCount = 12;
constexpr uint32_t bit(Disturbance disturbance) { return static_cast<uint32_t>(disturbance); }

// One process run: one row.
// invariant: levels.size() == Samples::factors.size(), values.size() == Samples::responses.size()
struct Trial {
  uint32_t workload = 0;         // index into Samples::workloads
  std::vector<uint16_t> levels;  // index into each factor's levels
  uint32_t block = 0;
  uint32_t order = 0;            // position in the order of execution, over the whole experiment
  uint64_t seed = 0;             // layout seed
  // The layout of the code that it ran in, as the design says: trials of one workload share a layout exactly where it is
  // equal. They are repeats of that layout, not replicates.
  uint64_t layout = 0;
  bool fixed_code = false;       // its layout is that of a binary, not one that its seed drew
  uint32_t machine = 0;          // index into Samples::machines
  uint32_t environment = 0;      // index into Samples::environments
  uint64_t link = 0;             // which link of its binary, where links are freshly seeded; else 0
  // Absent: not measured on this machine, or nothing to measure. Never NaN: analyse() refuses those.
  std::vector<std::optional<double>> values;
  std::optional<Dose> dose;
  uint32_t disturbances = 0;     // Disturbance bits
  bool ran_alone = false;        // of a sliced experiment: a trial of a control block, whose trials ran one after the other
  // Of a sliced block: the share of its CPU time, 0 to 1, during which all trials of its block ran. Absent: not recorded.
  std::optional<double> overlap{};
  // Why a declared rule leaves this trial out; empty: it is analysed. Excluded rows are counted in the report.
  std::string excluded;
};

// What counts as one independent observation.
enum class Unit {
  kLayout,  // the lab's experiments: trials that share a layout are repeats of it
  kRow,     // anybody's data: each row as it stands
};

// When the plan said that the experiment ends. Verdicts hold only where the experiment kept to it. How each rule is
// judged: stopping_decision.h.
enum class StoppingRule {
  kFixed,      // after the planned replicates
  kLooks,      // at the first declared look at which nothing is open
  kPrecision,  // after as many replicates as the spread of the first stage asks for
  kSequence,   // whenever nothing is open: intervals hold at all looks together, however many there are
};
// invariant: kLooks: looks ascending, at least one; kPrecision: first >= 2, half_width > 0; kSequence: 2 <= first <= max
struct Stopping {
  StoppingRule rule = StoppingRule::kFixed;
  statistics::Spending spending = statistics::Spending::kObrienFleming;
  std::vector<uint32_t> looks{};  // kLooks: replicates at each, the last is the end at the latest
  uint32_t first = 0;           // kPrecision: replicates of the first stage; kSequence: no verdict before
  double half_width = 0;        // kPrecision: of the widest interval, relative
  uint32_t max = 0;             // kSequence: replicates at which it was planned to end at the latest
  bool until_worse = false;     // kLooks, kSequence: a contrast that is shown to be worse ends it, whatever else is open
};

// How a difference is estimated, besides by the mean: estimators.h.
struct Estimator {
  enum class Kind { kHodgesLehmann, kQuantile, kMixed } kind = Kind::kHodgesLehmann;
  double probability = 0.5;  // kQuantile; 0.5: the median
};

// A response that is not there, or not everywhere: what and why, and what to do about it.
struct Unavailable {
  std::string what;
  std::string cure;
};

// A report names each environment. One for each trial is what nobody's machines are, but what a stranger's part may say; what is
// beyond these is one more. A machine tells some fifty facts.
inline constexpr size_t kMostEnvironments = 1000, kMostEnvironmentFacts = 128;

// What was recorded of the machine while some of the trials ran, of the facts that differ between trials.
// invariant: values.size() == Samples::environment_facts.size()
struct Environment {
  bool recorded = true;             // false: more than boot and CPU is not known
  std::vector<std::string> values;  // empty: the machine did not tell, or nobody asked it
};

// Of an experiment that runs the layout of one recorded trial beside fresh ones: replayed_trial.h says what follows.
// invariant: factor < Samples::factors.size(), whose baseline are the fresh layouts
struct ReplayedTrial {
  uint64_t trial = 0;              // its number
  std::string experiment;          // that it is of
  uint32_t factor = 0;             // which says whose layout a trial ran in
  std::optional<double> excess;    // of the trial over the others of its cell, in the first response; a log ratio on its scale
};

// The design facts and the rows.
// invariant: responses not empty; the first one is the primary response
struct Samples {
  std::string experiment;
  std::vector<std::string> workloads;  // what is run
  std::string workload_word = "program";  // what to call one: "program", "workload", "subject"
  // The program of each workload. Workloads of one program are alike: where programs stand for others, their mean counts
  // once. Empty: each workload is a program of its own.
  std::vector<std::string> programs;
  std::string program_word = "program";  // what stands for others: "program", "subject"
  std::vector<Factor> factors;
  std::vector<Response> responses;
  double alpha = 0.05;
  Unit unit = Unit::kLayout;
  std::string row_word = "row";  // kRow: what one is: "row", or the thing whose rows were averaged
  std::vector<Trial> trials;
  // Trials that did not give a value: failed, timed out, lost. Not among `trials`.
  uint32_t planned = 0;
  uint32_t failed = 0;
  // Attempts that failed or took too long, of trials that gave a value when run again; and how many of which cell, in words.
  uint32_t repeated = 0;
  std::vector<std::string> repeated_cells;
  // The look is not the last declared one, or trials are still to come: verdicts are withheld, unless the rule is kSequence.
  bool incomplete = false;
  Stopping stopping;
  std::vector<Estimator> estimators;    // declared beside the mean
  std::vector<double> shift_quantiles;  // declared, ascending: of the shift function; empty: none
  uint32_t planned_replicates = 0;  // at most, by the plan as submitted; 0: not known
  // That ran its blocks, where there were several; a block is of one machine. Empty: one, or nobody said.
  std::vector<std::string> machines;
  std::vector<std::string> machine_differences;  // what was not declared equal and isn't, in words
  std::vector<std::string> lost_machines;        // slots that were lost and run again, in words
  // The machine as it stood, for each kind of trial that stood otherwise: facts that differ, and how many were compared. Empty:
  // it was the same for all trials, or, where none were compared, nobody recorded it.
  std::vector<std::string> environment_facts;
  std::vector<Environment> environments;
  uint32_t environment_facts_compared = 0;
  std::vector<Unavailable> unavailable;  // for the caveats
  std::vector<std::string> early_looks;     // who saw cells by name before the data were complete, in words
  std::vector<std::string> simulated;  // the model that the responses are counts of, in words; several: of several models
  std::optional<ReplayedTrial> replayed;
  std::vector<std::string> layout_outputs;  // where a program's output was seen to depend on its layout, in words
  std::vector<std::string> equal_builds;    // pairs that the plan asks for in two ways and that are one file, in words
  // A block's trials, of one workload, run at the same time on one CPU in time slices, but for a share of blocks that run alone.
  // Answers are those of the sliced blocks; the blocks alone are their control: control_blocks.h.
  bool is_sliced = false;
};

// Whether the trial is one of those whose values answer the experiment's questions.
inline bool answers(const Samples& samples, const Trial& trial) {
  return trial.excluded.empty() && !(samples.is_sliced && trial.ran_alone);
}

}  // namespace stab::report
