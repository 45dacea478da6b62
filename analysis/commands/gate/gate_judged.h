// Which of a gate's questions are worse, which are open, and what follows for the whole.
#pragma once

#include <optional>
#include <vector>

#include "analysis/commands/gate/gate.h"
#include "analysis/report/report_data/report.h"

namespace stab::commands {

struct JudgedQuestion {
  const report::Contrast* contrast;
  const report::Response* response;
  report::Worse answer;
  bool by_copies = false;  // what random layouts cost by themselves has left it open
  bool suspected = false;  // worse by itself, and not by its stream
  const AcrossSessions* across = nullptr;
};

struct JudgedGate {
  std::vector<JudgedQuestion> worse, unsure, fine;
  report::Worse answer = report::Worse::kUnsure;  // of the code
  report::Worse placed = report::Worse::kUnsure;  // together with its place
  report::Worse whole = report::Worse::kUnsure;   // and with the runs that failed
  std::optional<StreamAnswer> stream{};
  bool place_decides() const { return placed != answer; }
  bool failures_decide() const { return whole != placed; }
};

// What a change costs, as a share of the base or in the response's unit: where higher is better, the other way round.
report::Interval cost_of(const JudgedQuestion& question);

// What calls through pointers cost in copies, where this contrast is of times. Null: nothing to allow for.
const CopyFacts* copies_of(const report::Contrast& contrast, const GateFacts& facts);

JudgedGate judge(const report::Samples& samples, const report::Report& report, const GateFacts& facts);

// Of a gate in a stream the stream says whether it is worse.
void judge_by_stream(const StreamAnswer& answer, JudgedGate& judged);

// Of open questions the one that needs most replicates, were its estimate right. Null: no number of them answers all, or there
// are none.
const report::Contrast* needs_most(const std::vector<JudgedQuestion>& open);

// Those that keep the answer open. Exploratory ones do so only if there are no others.
std::vector<JudgedQuestion> open_ones(const JudgedGate& judged);

}  // namespace stab::commands
