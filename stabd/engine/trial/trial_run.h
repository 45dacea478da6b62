// TrialRun: one trial from its claim to the moment its outcome can be stored.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "counters/events.h"
#include "counters/counting_session.h"
#include "plan/design.h"
#include "plan/plan.h"
#include "runtime/helper/switches.h"
#include "stabd/engine/build/laboratory.h"
#include "stabd/engine/trial/area_file.h"
#include "stabd/engine/separation/helper_report.h"
#include "stabd/host/launch.h"
#include "store/records.h"
#include "store/trial_machine.h"

namespace stab::engine {

// A trial that is sampled, and whose windows speed lines up virtually.
struct CausalRequest {
  CausalScript script;
  std::string library, companion;
  bool is_kept = false;  // its windows are part of the outcome
  std::shared_ptr<CausalRecord> record;  // takes what was found of it; null: nobody wants it
};

// What is run, and what it is held against.
struct TrialRequest {
  host::LaunchRequest launch;  // env without STAB= and the padding, which are added here
  plan::Layout layout;
  bool needs_region = false;  // region_time is a response
  std::vector<std::string> throughputs;  // responses that are a progress point's throughput
  bool keeps_throughput = false;    // of this pass
  bool keeps_epochs = false;        // what each epoch was is part of the outcome
  std::optional<CausalRequest> causal;
  uint32_t helper_switches = helper::kTellEpochs;  // of runtime/helper/switches.h
  std::string script;               // layout script, kept with the outcome; empty: none
  std::shared_ptr<const std::string> match_rows;  // the match table that it names, behind it; null or empty: it names none
  uint64_t seed = 0;
  std::vector<std::string> stdin_paths;  // absolute; the first that can be read. None: /dev/null
  std::chrono::nanoseconds timeout{0};
  uint64_t output_limit_bytes = 0;
  plan::Expect expect;
  std::optional<plan::Metrics> metrics;  // what the program measured itself becomes responses
  std::optional<std::string> first_stdout_sha256;
  // To be compared with a trial that failed: the first bytes of its output are kept also where it passes, and what its
  // randomization did isn't held against the cell.
  bool for_comparison = false;
  bool keeps_output = false;  // the first bytes of its output are kept also where it passes
  std::vector<counters::EventSpec> events;
  // What executes it instead of the machine; its counts are left in the directory.
  plan::Simulation simulation;
  std::string simulated_directory;
  bool events_together = false;  // as one group, where the plan counts in passes
  // Called while it runs, some seconds apart, with what it has done so far: visits of its progress points. Empty: nobody is.
  std::function<void(const std::vector<PointVisits>&)> on_progress;
  // Bytes that argv, env and exec path are padded up to, so that all cells of a workload start with the same
  // stack; env_size comes on top.
  uint64_t stack_top_bytes = 0;
};

// Bytes that a program finds above its first stack frame because of this request, without the padding.
uint64_t stack_top_bytes(const host::LaunchRequest& launch);

// The script as a helper reads it: its text, and behind a byte 0 the match table that it names.
inline std::string script_with_rows(const TrialRequest& request) {
  const bool has_rows = request.match_rows != nullptr && !request.match_rows->empty();
  return has_rows ? request.script + '\0' + *request.match_rows : request.script;
}

class LiveTrial;

// A trial whose helper and launcher have been started: they set themselves up while the engine stores what came
// before. Nothing of it is left if it is never run.
class ReadyTrial {
 public:
  // pre: the trial before is over, its tree gone; `laboratory` outlives this. What goes wrong here is in run()'s outcome.
  ReadyTrial(const Laboratory& laboratory, TrialRequest request);
  ReadyTrial(ReadyTrial&& other) noexcept;
  ReadyTrial& operator=(ReadyTrial&&) = delete;
  ~ReadyTrial();

  // Runs it, once. The outcome's state is verified, failed, timeout or lost; an Error only where the laboratory itself
  // is broken, so that no further trial makes sense. `trial` of the outcome is left 0.
  Result<store::Outcome> run();
  bool has_run() const;  // after run(): the program was executed, whatever came of it
  // Runs all of a sliced block at the same time. An outcome each: all verified, or none, as the others are lost with the first
  // that comes to nothing. pre: each has a tree and a ledger of its own, and all the same CPU and cancel_fd
  static Result<std::vector<store::Outcome>> run_together(std::vector<ReadyTrial>& trials);
  // One by itself, several together.
  static Result<std::vector<store::Outcome>> run_all(std::vector<ReadyTrial>& trials);

 private:
  std::unique_ptr<LiveTrial> run_;
};

// What an outcome says of a trial whose block has come to nothing, because of another's `failure`.
std::string spoiled_text(const std::string& failure);

// Made ready and run in one go.
Result<store::Outcome> run_trial(const Laboratory& laboratory, const TrialRequest& request);

}  // namespace stab::engine
