// The pure part of `stabctl gate`: samples of two revisions in, an answer and what CI shows of it out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/answers/copy_price.h"
#include "analysis/commands/answers/failed_runs.h"
#include "analysis/commands/answers/side_differences.h"
#include "analysis/commands/gate/gate_places.h"
#include "analysis/commands/gate/gate_sessions.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/worse.h"
#include "base/result.h"

namespace stab::commands {

// The factor that a gate's plan has, and its levels.
inline constexpr char kGateFactor[] = "revision", kGateBase[] = "base", kGateHead[] = "head";

struct GateFacts {
  std::string base, head;  // commits, as people read them; empty: nobody knows them yet
  std::string command;     // that asks the same again
  std::string unfinished;  // why the trials ended before they said enough; empty: they didn't
  // It is the time that was set before the first trial, whose end is the last look; so many blocks are whole.
  bool is_over_time = false;
  uint32_t whole_blocks = 0;
  std::string clock{};     // a sentence: which time is judged, and why; empty: as stab-gate.toml says
  double seconds = 0;      // of wall time, builds included
  // By workload the command that tells whether its code or its place is the cause; workloads that explain refuses have none.
  std::map<std::string, std::string> cause_commands{};
  GateSessions sessions{};             // what other sessions say
  std::optional<GateStream> stream{};  // absent: each gate is judged alone
  std::optional<GatePlaces> places{};  // absent: places were not asked about
  std::map<std::string, CopyFacts> copies{};  // by workload, where its programs move and they were counted
  std::string uncounted{};                    // why workloads whose programs move were not; empty: all were
  std::map<std::string, SideDifferences> differ{};  // by workload, where the two sides do something else
  FailedByWorkload failed{};  // of each workload, failures or not
};

struct GateOutput {
  int exit_code = 0;     // 0 not worse, 1 worse, 3 unsure; 2 the question can't be answered
  std::string text;      // for a terminal
  std::string json;      // "stab-gate", docs/reference/report-json.md
  std::string markdown;  // for a job's summary or a comment: below 60 KB, found again by its first line
  std::string junit;     // a test case for each question: worse fails, unsure is skipped
  std::vector<SessionFinding> findings{};  // what a logbook keeps of it; their session is not set
  std::optional<StreamAnswer> stream{};
};

// An answer by this margin that holds whatever random layouts cost by themselves; one that doesn't is none.
report::Worse with_copies(report::Worse answer, double margin, const report::Contrast& contrast, const CopyFacts& copies);

// Of fewer whole blocks nothing is said when the time is over. As many as a declared look had said are enough, too.
uint32_t fewest_blocks_at_end(const report::Stopping& stopping);

// Not worse: each declared question is shown not to be worse by the margin, and no exploratory benchmark is shown to be
// worse. Worse: one of them is, or the stream calls it so; of a gate in a stream the stream alone says "worse" of code. What
// places do to the answer is for facts.places to say. wall_time of a
// workload whose benchmarks are read is no question, unless it is declared.
Result<GateOutput> run_gate(const report::Samples& samples, const GateFacts& facts);
// What a gate of a commit with itself has found, for a logbook. Refuses where a question has no answer, and why.
Result<std::vector<SessionFinding>> control_findings(const report::Samples& samples);

// One question of a gate, its answer in numbers, for who asks again with other commits.
struct GateQuestion {
  std::string workload, response;
  std::string subject;  // both, as people read them
  report::Worse answer = report::Worse::kUnsure;
  bool declared = true;
  std::string change, interval;  // as people read them; "-" where there is no answer
  // The head's cost against the base's, as a share: 0.03 is 3 % worse, whichever direction is worse. In the response's own unit
  // where it is compared by differences.
  double cost = 0, cost_low = 0, cost_high = 0;
  bool is_share = true;
  double standard_error = 0;  // of the trials: of the cost's logarithm where it is a share, else as the cost
  double copies_half_width = 0;  // of what random layouts cost by themselves, on the same scale; the bounds allow for it
  uint64_t n = 0;
  std::string refused;  // why there is no answer
  bool by_copies = false;  // which is what random layouts cost by themselves
  std::string unit{};      // of the cost: "share", or the response's own
  std::vector<std::string> care{};  // caveats that can turn the answer
};
// All questions of a gate, the worst ones first. `copies`: as GateFacts has them; a cost's bounds allow for them.
Result<std::vector<GateQuestion>> gate_questions(const report::Samples& samples,
                                                 const std::map<std::string, CopyFacts>& copies = {});

// Unsure, as no trial was over when it had to end: facts.unfinished says why.
GateOutput gate_without_trials(const GateFacts& facts);
// Runs of a revision failed so often that the trials ended: worse where it is shown that the head fails more often, else no
// answer. `alpha`: the gate's
GateOutput gate_of_failures(const GateFacts& facts, double alpha);
// Where there is nothing to judge: a build that failed, a range that is none. What the reason has behind its first line is shown
// as it was printed.
GateOutput gate_without_answer(const GateFacts& facts, const std::string& reason);

}  // namespace stab::commands
