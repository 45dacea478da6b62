#include "analysis/commands/gate/gate_judged.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/report_data/report_pen.h"

namespace stab::commands {
namespace {

// A change as what the head costs more, as a share of the base or in the response's unit: where higher is better, the other way
// round.
double as_cost(const JudgedQuestion& question, double value) {
  const bool falls = question.response->higher_is_better;
  if (question.contrast->scale == report::Scale::kLog) return (falls ? 1 / value : value) - 1;
  return falls ? -value : value;
}

}  // namespace

report::Worse with_copies(report::Worse answer, double margin, const report::Contrast& contrast, const CopyFacts& copies) {
  const statistics::CopyPrice price = price_of(copies);
  if (answer == report::Worse::kYes && contrast.interval.low * std::exp(-price.high) <= 1) return report::Worse::kUnsure;
  if (answer == report::Worse::kNo && contrast.equivalence.high * std::exp(-price.low) >= 1 + margin)
    return report::Worse::kUnsure;
  return answer;
}

report::Interval cost_of(const JudgedQuestion& question) {
  const report::Interval& seen = question.contrast->interval;
  const bool falls = question.response->higher_is_better;
  return {as_cost(question, seen.estimate), as_cost(question, falls ? seen.high : seen.low),
          as_cost(question, falls ? seen.low : seen.high)};
}

const CopyFacts* copies_of(const report::Contrast& contrast, const GateFacts& facts) {
  if (contrast.response != "cpu_time" && contrast.response != "wall_time" && contrast.response != "user_time") return nullptr;
  const auto found = facts.copies.find(contrast.workload);
  return found != facts.copies.end() && found->second.counts ? &found->second : nullptr;
}

JudgedGate judge(const report::Samples& samples, const report::Report& report, const GateFacts& facts) {
  JudgedGate out;
  bool open = false;
  for (const report::Contrast& contrast : report.contrasts) {
    if (!is_gate_question(report, contrast)) continue;
    const report::Response& of = report::response_of(report, contrast.response);
    const report::Worse measured = report::worse_by(of, contrast, report.alpha, contrast.p_holm);
    const CopyFacts* const copies = copies_of(contrast, facts);
    const report::Worse answer = copies ? with_copies(measured, of.margin, contrast, *copies) : measured;
    (answer == report::Worse::kYes  ? out.worse
     : answer == report::Worse::kNo ? out.fine
                                    : out.unsure)
        .push_back({&contrast, &of, answer, answer != measured});
    open |= of.declared && answer == report::Worse::kUnsure;
  }
  std::stable_sort(out.worse.begin(), out.worse.end(), [](const JudgedQuestion& a, const JudgedQuestion& b) {
    return cost_of(a).estimate > cost_of(b).estimate;
  });
  if (!out.worse.empty()) out.answer = report::Worse::kYes;
  else if (!open && report::may_be_judged(samples) && !out.fine.empty()) out.answer = report::Worse::kNo;
  return out;
}

void judge_by_stream(const StreamAnswer& answer, JudgedGate& judged) {
  judged.stream = answer;
  if (!answer.called) {
    for (JudgedQuestion& one : judged.worse) {
      one.answer = report::Worse::kUnsure;
      one.suspected = true;
    }
    judged.unsure.insert(judged.unsure.begin(), judged.worse.begin(), judged.worse.end());
    judged.worse.clear();
    if (judged.answer == report::Worse::kYes) judged.answer = report::Worse::kUnsure;
    return;
  }
  judged.answer = report::Worse::kYes;
  if (!judged.worse.empty()) return;
  // This session alone does not show it: it is the question that all of them together say most of.
  for (auto* list : {&judged.unsure, &judged.fine})
    for (auto at = list->begin(); at != list->end(); ++at) {
      if (at->contrast->workload + "/" + at->contrast->response != answer.strongest) continue;
      at->answer = report::Worse::kYes;
      judged.worse.push_back(*at);
      list->erase(at);
      return;
    }
}

const report::Contrast* needs_most(const std::vector<JudgedQuestion>& open) {
  const report::Contrast* most = nullptr;
  for (const JudgedQuestion& one : open) {
    if (!one.contrast->refused.empty() || !one.contrast->settles_worse_n) return nullptr;
    if (!most || *one.contrast->settles_worse_n > *most->settles_worse_n) most = one.contrast;
  }
  return most;
}

std::vector<JudgedQuestion> open_ones(const JudgedGate& judged) {
  std::vector<JudgedQuestion> open = judged.unsure;
  std::erase_if(open, [](const JudgedQuestion& one) { return !one.response->declared; });
  return open.empty() ? judged.unsure : open;
}

}  // namespace stab::commands
