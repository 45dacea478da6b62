// Records: what goes into the store and comes out, one struct a table. docs/reference/schema.md is the schema for people;
// store/schema.cc holds it. Units are in the names, as in the columns. A struct's columns() names the columns of its table; what
// the store does with them follows from it (store/table.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/causal_records.h"
#include "store/trial_state.h"

namespace stab::store {

using Id = int64_t;

// Do not rename: on disk.
enum class ExperimentState { kSubmitted, kReady, kRunning, kPaused, kDone, kCancelled, kFailed };
std::string_view name(ExperimentState state);
std::optional<ExperimentState> experiment_state(std::string_view name);
// Done, cancelled or failed: none of its trials runs any more, unless it is extended or rerun.
constexpr bool is_over(ExperimentState state) {
  return state == ExperimentState::kDone || state == ExperimentState::kCancelled || state == ExperimentState::kFailed;
}

// What a trial is for. Only main trials are analysed.
enum class TrialKind { kMain, kPreflight, kWarmup, kReplay };
std::string_view name(TrialKind kind);
std::optional<TrialKind> trial_kind(std::string_view name);

struct NewExperiment {
  std::string name;
  std::string plan_text;
  std::string plan_path;       // where it was read, for messages
  std::string plan_directory;  // absolute; relative paths of the plan start here
  uint64_t seed = 0;
  int64_t submitter_uid = 0;
  int64_t submitter_gid = 0;
  int priority = 0;
  int64_t submitted_at_ns = 0;  // realtime
  int64_t promised_trials = 0;  // places of the schedule that it will expand to; not read back: Usage has them

  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("name", self.name);
    coder.column("plan_text", self.plan_text);
    coder.column("plan_path", self.plan_path);
    coder.column("plan_directory", self.plan_directory);
    coder.column("seed", self.seed);
    coder.column("submitter_uid", self.submitter_uid);
    coder.column("submitter_gid", self.submitter_gid);
    coder.column("priority", self.priority);
    coder.column("submitted_at_ns", self.submitted_at_ns);
  }
};

struct ExperimentRow : NewExperiment {
  Id id = 0;
  ExperimentState state = ExperimentState::kSubmitted;
  std::string failure;             // why, where state is failed
  uint64_t schedule_fingerprint = 0;  // of the schedule as expanded; extensions don't change it
  int schedule_version = 0;
  int64_t replicates = 0;          // blocks expanded so far
  int64_t finished_at_ns = 0;      // 0: not yet

  static constexpr std::string_view kTable = "experiments";
  static constexpr std::array<std::string_view, 0> kLeading = {};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    NewExperiment::columns(self, coder);
    coder.word("state", self.state, experiment_state);
    coder.column("failure", self.failure);
    coder.column("finished_at_ns", self.finished_at_ns);
    coder.column("schedule_fingerprint", self.schedule_fingerprint);
    coder.column("schedule_version", self.schedule_version);
    coder.column("replicates", self.replicates);
  }
};

// What lists show of an experiment; unlike its row without the plan, which may be a megabyte.
struct ExperimentSummary {
  Id id = 0;
  std::string name;
  ExperimentState state = ExperimentState::kSubmitted;
  std::string failure;
  int64_t submitter_uid = 0;
  int priority = 0;
  int64_t submitted_at_ns = 0, finished_at_ns = 0;
  int schedule_version = 0;
  int64_t replicates = 0;

  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("name", self.name);
    coder.word("state", self.state, experiment_state);
    coder.column("failure", self.failure);
    coder.column("submitter_uid", self.submitter_uid);
    coder.column("priority", self.priority);
    coder.column("submitted_at_ns", self.submitted_at_ns);
    coder.column("finished_at_ns", self.finished_at_ns);
    coder.column("schedule_version", self.schedule_version);
    coder.column("replicates", self.replicates);
  }
};

// Do not rename: on disk. What a user has asked for, and was told is done.
enum class Wish { kCancel, kPause, kDelete };
std::string_view name(Wish wish);
std::optional<Wish> wish(std::string_view name);

// What one experiment takes.
struct Usage {
  int64_t trials = 0;        // places of its schedule, also those that are not stored yet
  int64_t stored_bytes = 0;  // its plan, trials, outcomes, build logs and events
  int64_t machine_ns = 0;    // from each trial's claim to its end
};

// What all experiments of a user take, those that are over included.
struct UserUsage {
  int64_t experiments = 0, unfinished = 0;
  int64_t trials = 0, stored_bytes = 0;
};

struct SubjectRow {
  int index = 0;  // as in the schedule
  std::string name, program, workload;

  static constexpr std::string_view kTable = "subjects";
  static constexpr std::array<std::string_view, 1> kLeading = {"experiment"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("subject", self.index);
    coder.column("name", self.name);
    coder.column("program", self.program);
    coder.column("workload", self.workload);
  }
};

struct CellRow {
  int index = 0;
  std::string name;
  std::string code = "off", stack = "off", heap = "off";  // words of runtime/modes.h
  int64_t epoch_ns = 0;
  int64_t env_size_bytes = 0;
  std::map<std::string, std::string> levels;  // factor -> level name

  static constexpr std::string_view kTable = "cells";
  static constexpr std::array<std::string_view, 1> kLeading = {"experiment"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("cell", self.index);
    coder.column("name", self.name);
    coder.column("code", self.code);
    coder.column("stack", self.stack);
    coder.column("heap", self.heap);
    coder.column("epoch_ns", self.epoch_ns);
    coder.column("env_size_bytes", self.env_size_bytes);
  }
};

// An experiment's factor, so that an analysis needs no plan. `position` orders factors and levels.
struct FactorRow {
  std::string name;
  std::vector<std::string> levels;
};

// Do not rename: on disk.
enum class BuildState { kPlanned, kBuilding, kDone, kFailed };
std::string_view name(BuildState state);
std::optional<BuildState> build_state(std::string_view name);

struct BuildRow {
  Id id = 0;
  int index = 0;             // as in the plan's builds
  std::string name;          // "lua opt=-O2 link=3"
  std::string program;
  int link = 0;
  BuildState state = BuildState::kPlanned;
  std::string command;       // as run, for people
  std::string input_hash;    // of everything that went in: the cache key
  std::string binary_path;
  std::string binary_sha256;
  std::string log;           // bounded by the engine
  int64_t duration_ns = 0;

  static constexpr std::string_view kTable = "builds";
  static constexpr std::array<std::string_view, 1> kLeading = {"experiment"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("build", self.index);
    coder.column("name", self.name);
    coder.column("program", self.program);
    coder.column("link", self.link);
    coder.word("state", self.state, build_state);
    coder.column("command", self.command);
    coder.column("input_hash", self.input_hash);
    coder.column("binary_path", self.binary_path);
    coder.column("binary_sha256", self.binary_sha256);
    coder.column("log", self.log);
    coder.column("duration_ns", self.duration_ns);
  }
};

struct NewTrial {
  uint32_t order = 0;
  int subject = 0;   // index
  int cell = 0;      // index
  int build = -1;    // index, -1: none
  uint32_t block = 0;
  int run = 0;
  int pass = 0;
  int link = 0;
  uint64_t seed = 0;
  uint64_t layout = 0;  // by the design: trials of one subject share a layout of the code exactly where it is equal

  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("position", self.order);
    coder.column("subject", self.subject);
    coder.column("cell", self.cell);
    coder.index_or_null("build", self.build);
    coder.column("block", self.block);
    coder.column("run", self.run);
    coder.column("pass", self.pass);
    coder.column("link", self.link);
    coder.column("seed", self.seed);
    coder.column("layout", self.layout);
  }
};

// A trial as stored, results included where they are known.
struct TrialRow : NewTrial {
  Id id = 0;
  Id experiment = 0;
  TrialKind kind = TrialKind::kMain;
  int attempt = 1;
  TrialState state = TrialState::kPlanned;

  static constexpr std::string_view kTable = "trials";
  static constexpr std::array<std::string_view, 0> kLeading = {};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("experiment", self.experiment);
    coder.word("kind", self.kind, trial_kind);
    coder.column("attempt", self.attempt);
    coder.word("state", self.state, trial_state);
    NewTrial::columns(self, coder);
  }
};

// Who takes the trial, and when.
struct Claim {
  std::string boot_id;
  int64_t claimed_at_ns = 0;  // realtime
};

// One response of one trial. value is NULL exactly where reason is not empty.
struct ResponseRow {
  std::string name;
  std::optional<double> value;     // scaled by enabled/running where it was multiplexed
  std::optional<int64_t> raw;
  std::optional<int64_t> enabled_ns;
  std::optional<int64_t> running_ns;
  std::string reason;              // why there is no value

  static constexpr std::string_view kTable = "responses";
  static constexpr std::array<std::string_view, 1> kLeading = {"trial"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("name", self.name);
    coder.column("value", self.value);
    coder.column("raw", self.raw);
    coder.column("enabled_ns", self.enabled_ns);
    coder.column("running_ns", self.running_ns);
    coder.column("reason", self.reason);
  }
};

// Everything a trial left behind; all of it is stored in one transaction with the change of state.
struct Outcome {
  Id trial = 0;
  // To be stored: the verdict, which is verified, failed, timeout or lost. As read: what the store made of it, recorded for
  // verified.
  TrialState state = TrialState::kVerified;
  std::string failure;                       // why there is no result
  int64_t started_at_ns = 0;                 // realtime, 0: never started
  int64_t finished_at_ns = 0;
  std::optional<int64_t> machine_ns;  // CLOCK_MONOTONIC_RAW from its claim to its end; absent: nobody looked. Counted, not kept
  std::optional<int64_t> wall_ns;            // CLOCK_MONOTONIC_RAW, launcher's stamp to waiter's stamp
  std::optional<int> exit_status;
  std::optional<int> signal;
  std::optional<int64_t> user_ns, system_ns, max_rss_kib;
  std::optional<int64_t> minor_faults, major_faults, voluntary_switches, involuntary_switches;
  std::string stdout_sha256, stderr_sha256;
  std::optional<int64_t> stdout_bytes, stderr_bytes;
  std::string stdout_head, stderr_head;      // the first bytes, kept where the trial did not pass
  int cpu = -1;                              // it was pinned to
  std::string dose_json;                     // the runtime's report, verbatim; empty: none
  std::optional<int64_t> layouts_built, layouts_executed, functions_moved, functions_kept;
  std::optional<int64_t> helper_cpu_ns;
  std::string epochs;                        // what each epoch was (stabd/engine/trial/epoch_series.h); empty: not kept
  std::optional<CausalRun> causal;           // of a trial with windows; only to be stored, reading is Store::causal_trials()
  std::vector<ResponseRow> responses;
  std::map<std::string, double> ledger;      // validity evidence: plan::kLedgerKeys
  std::vector<std::string> excluded_by;      // declared rules that leave this trial out of the analysis

  static constexpr std::string_view kTable = "outcomes";
  static constexpr std::array<std::string_view, 1> kLeading = {"trial"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("wall_ns", self.wall_ns);
    coder.column("exit_status", self.exit_status);
    coder.column("signal", self.signal);
    coder.column("user_ns", self.user_ns);
    coder.column("system_ns", self.system_ns);
    coder.column("max_rss_kib", self.max_rss_kib);
    coder.column("minor_faults", self.minor_faults);
    coder.column("major_faults", self.major_faults);
    coder.column("voluntary_switches", self.voluntary_switches);
    coder.column("involuntary_switches", self.involuntary_switches);
    coder.column("stdout_sha256", self.stdout_sha256);
    coder.column("stderr_sha256", self.stderr_sha256);
    coder.column("stdout_bytes", self.stdout_bytes);
    coder.column("stderr_bytes", self.stderr_bytes);
    coder.column("stdout_head", self.stdout_head);
    coder.column("stderr_head", self.stderr_head);
    coder.column("cpu", self.cpu);
    coder.column("dose_json", self.dose_json);
    coder.column("layouts_built", self.layouts_built);
    coder.column("layouts_executed", self.layouts_executed);
    coder.column("functions_moved", self.functions_moved);
    coder.column("functions_kept", self.functions_kept);
    coder.column("helper_cpu_ns", self.helper_cpu_ns);
  }
};

// What the analysis takes: main, recorded trials.
struct SampleRow {
  Id trial = 0;
  int subject = 0, cell = 0;
  uint32_t block = 0, order = 0;
  int run = 0, link = 0;
  uint64_t seed = 0;
  uint64_t layout = 0;
  std::optional<double> value;  // of the response asked for
  std::optional<int64_t> layouts_executed;
  bool excluded = false;        // by a declared rule
};

// What recorded main trials of one place in the design printed and how they ended, and how many of them did just so.
struct DoneRow {
  int subject = 0, cell = 0;
  std::string stdout_sha256;
  int64_t stdout_bytes = 0;
  int exit_status = 0;
  int64_t trials = 0;
};

// A recorded main trial without its values: where it belongs, what its randomization did, what disturbed it.
struct TrialFacts {
  Id trial = 0;
  int subject = 0, cell = 0;
  uint32_t block = 0, order = 0;
  int link = 0;
  int build = -1;                        // index, -1: none
  uint64_t seed = 0;
  uint64_t layout = 0;
  int64_t claimed_at_ns = 0, started_at_ns = 0;
  std::string boot_id;
  int cpu = -1;                          // it was pinned to; -1: nobody said
  std::map<std::string, double> ledger;  // entries asked for that are above 0
  std::vector<std::string> excluded_by;
};

struct Progress {
  std::map<TrialState, int64_t> by_state;   // main trials, attempts that were replaced left out
  int64_t planned_total = 0;                // places in the schedule
  int64_t attempts = 0;                     // rows: places and replaced attempts

  int64_t count(TrialState state) const {
    const auto at = by_state.find(state);
    return at == by_state.end() ? 0 : at->second;
  }
};

// What a list says of an experiment besides its summary.
struct Listed {
  Progress progress;
  int64_t machine_ns = 0;
  bool has_slots = false;  // it runs on machines, and one of them was granted a share
};

// Do not rename: on disk. Where one start of a slot stands.
enum class SlotState { kGranted, kRunning, kDone, kLost, kRefused };
std::string_view name(SlotState state);
std::optional<SlotState> slot_state(std::string_view name);

// One start of a slot: of a share of an experiment's blocks, which one machine at a time runs. The epoch is a fencing token.
struct SlotEpochRow {
  int slot = 0;
  int64_t epoch = 0;
  std::string host;     // where it was started, as the plan names it
  std::string machine;  // what it is known by in the analysis; empty: it has not said so yet
  SlotState state = SlotState::kGranted;
  std::string why;      // it was lost or refused
  int64_t granted_at_ns = 0, ended_at_ns = 0;
  std::map<std::string, std::string> facts;

  static constexpr std::string_view kTable = "slot_epochs";
  static constexpr std::array<std::string_view, 1> kLeading = {"experiment"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("slot", self.slot);
    coder.column("epoch", self.epoch);
    coder.column("host", self.host);
    coder.column("machine", self.machine);
    coder.word("state", self.state, slot_state);
    coder.column("why", self.why);
    coder.column("granted_at_ns", self.granted_at_ns);
    coder.column("ended_at_ns", self.ended_at_ns);
  }
};

// Which part a file is. The identity is the experiment's: plan, schedule and binaries, as a hash.
struct PartLabel {
  std::string identity;
  int slot = 0;
  int64_t epoch = 0;
  int number = 0;      // of this epoch's parts, from 0
  uint32_t block = 0;
};

// Do not rename: on disk, all but duplicate.
enum class PartFate { kRecorded, kDuplicate, kSuperseded, kRefused };
std::string_view name(PartFate fate);
std::optional<PartFate> part_fate(std::string_view name);

struct PartVerdict {
  PartFate fate = PartFate::kRefused;
  std::string why;       // refused
  int64_t recorded = 0;  // trials
};

struct PartRow : PartLabel {  // without identity
  std::string sha256;
  PartFate fate = PartFate::kRefused;
  std::string why;
  int64_t trials = 0;
  int64_t at_ns = 0;

  static constexpr std::string_view kTable = "parts";
  static constexpr std::array<std::string_view, 1> kLeading = {"experiment"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("sha256", self.sha256);
    coder.column("slot", self.slot);
    coder.column("epoch", self.epoch);
    coder.column("number", self.number);
    coder.column("block", self.block);
    coder.word("fate", self.fate, part_fate);
    coder.column("why", self.why);
    coder.column("trials", self.trials);
    coder.column("at_ns", self.at_ns);
  }
};

// Of one slot, the parts that count.
struct SlotParts {
  int slot = 0;
  int64_t parts = 0, newest_at_ns = 0;
};

// What a machine was like while trials ran, from a moment until the next such row.
struct EnvironmentRow {
  int number = 0;         // from 1
  int64_t since_ns = 0;   // realtime
  std::map<std::string, std::string> facts;
};

struct EventRow {
  int64_t at_ns = 0;
  Id experiment = 0;  // 0: none
  std::string kind;   // "engine-start", "recovered", "knob-set", "quarantined", ...
  std::string text;
};

}  // namespace stab::store
