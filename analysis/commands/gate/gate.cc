// The numbers are the report's contrasts, whose family and looks are adjusted there. "Not worse" is claimed of all questions
// together only if each of them passes at alpha, which needs no further adjustment (Berger, 1982: intersection-union tests);
// "worse" of any needs the adjusted p.
#include "analysis/commands/gate/gate.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/commands/answers/junit.h"
#include "analysis/commands/gate/gate_json.h"
#include "analysis/commands/gate/gate_judged.h"
#include "analysis/commands/gate/gate_summary.h"
#include "analysis/commands/gate/gate_words.h"
#include "analysis/report/caveats/caveats.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/markup.h"

namespace stab::commands {
namespace {

constexpr int kWidth = 100;
constexpr size_t kMostCaveats = 3;  // on a terminal, beside those that can turn the answer: the gravest are first
using Align = text::TextTable::Align;

// What is judged where the time was over, at a look that this end is; the reason then has the blocks. Absent: all samples, by the
// plan's own looks.
std::optional<report::Samples> judged_at_end(const report::Samples& all, GateFacts& facts) {
  const uint32_t blocks = std::min(facts.whole_blocks, report::replicates_of(all));
  const bool is_enough = facts.is_over_time && all.incomplete && blocks >= fewest_blocks_at_end(all.stopping);
  std::optional<report::Samples> out = is_enough ? report::judged_when_time_ended(all, blocks) : std::nullopt;
  facts.is_over_time = out.has_value();
  if (out) facts.unfinished += ": the answer is of " + plural(blocks, "block");
  return out;
}

// is_at_end: it is judged where the time was over, which `unfinished` says
std::string terminal_text(const report::Report& report, const JudgedGate& judged, const GateFacts& facts, bool is_at_end) {
  text::TextTable table({{"", Align::kLeft},
                         {"base", Align::kRight},
                         {"head", Align::kRight},
                         {"change", Align::kRight},
                         {report::plain(100 * (1 - report.alpha)) + " % interval", Align::kLeft},
                         {"n", Align::kRight},
                         {"verdict", Align::kLeft, true}});
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine})
    for (size_t i = 0; i < std::min(list->size(), kMostRows); ++i) {
      const JudgedQuestion& one = (*list)[i];
      table.add({subject(report, one), base_value(report, one), head_value(report, one), change(one), interval(one),
                 std::to_string(one.contrast->n), short_verdict(one)});
    }
  std::string out = sentence(report, judged, facts) + "\n" + table.text(kWidth);
  for (const std::string& one : failures_of(facts)) out += text::wrap(one, kWidth, "", "  ");
  for (const std::string& one : differences_of(facts)) out += text::wrap(one, kWidth, "", "  ");
  if (is_at_end) out += text::wrap(facts.unfinished, kWidth, "", "  ");
  if (!facts.clock.empty()) out += text::wrap(facts.clock, kWidth, "", "  ");
  if (const std::string cpu = cpu_times_text(report); !cpu.empty()) out += text::wrap(cpu, kWidth, "", "  ");
  for (const std::string& one : copies_texts(facts)) out += text::wrap(one, kWidth, "", "  ");
  if (const std::string between = sessions_text(report, judged, facts); !between.empty())
    out += text::wrap(between, kWidth, "", "  ");
  if (judged.stream) out += text::wrap(stream_text(*judged.stream, *facts.stream), kWidth, "", "  ");
  for (const std::string& place : place_texts(facts)) out += text::wrap(place, kWidth, "", "  ");
  const std::vector<report::Caveat> caveats = caveats_of_gate(report);
  for (size_t i = 0; i < caveats.size(); ++i)
    if (i < kMostCaveats || report::turns_an_answer(caveats[i].code))
      out += text::wrap("care: " + report::care_text(caveats[i]), kWidth, "", "  ");
  return out;
}

// Of a gate that has judged nothing: one test case, and one sentence, with what a build has printed below it.
GateOutput nothing_judged(const GateFacts& facts, int exit_code, const std::string& answer, const std::string& sentence,
                          JunitCase::Outcome outcome, const std::string& reason) {
  const std::string line = (facts.head.empty() ? "" : facts.head + " against " + facts.base + ": ") + sentence;
  GateOutput out;
  out.exit_code = exit_code;
  out.text = line + "\n";
  text::JsonWriter json;
  json.begin_object();
  json.value("format", "stab-gate").value("version", 1).value("answer", answer);
  json.value(outcome == JunitCase::Outcome::kError ? "reason" : "unfinished", reason);
  json.value("base", facts.base).value("head", facts.head).value("trials", 0);
  json.begin_object("decision");
  json.value("action", exit_code == 3 ? "repeat" : exit_code == 1 ? "reject" : "none").value("exit_status", exit_code);
  json.value("command", facts.command).value("seconds", facts.seconds).end();
  json.begin_array("questions").end().end();
  out.json = json.take();
  out.markdown = gate_markdown_of(line);
  out.junit = junit_xml("stab gate", {{"stab", "gate", outcome, reason, {}}}, facts.seconds);
  return out;
}

}  // namespace

uint32_t fewest_blocks_at_end(const report::Stopping& stopping) {
  const uint32_t first = stopping.rule == report::StoppingRule::kLooks ? stopping.looks[0] : report::kFewestBlocksAtEnd;
  return std::min(first, report::kFewestBlocksAtEnd);
}

Result<GateOutput> run_gate(const report::Samples& all, const GateFacts& given) {
  GateFacts facts = given;
  const std::optional<report::Samples> at_end = judged_at_end(all, facts);
  const report::Samples& samples = at_end ? *at_end : all;
  STAB_TRY(const report::Report within, report::analyse(samples));
  STAB_TRY(const WidenedReport wide, widened(within, samples, facts.sessions));
  const report::Report& report = wide.report;
  JudgedGate judged = judge(samples, report, facts);
  for (auto* list : {&judged.worse, &judged.unsure, &judged.fine})
    for (JudgedQuestion& one : *list) one.across = &wide.across[static_cast<size_t>(one.contrast - report.contrasts.data())];
  GateOutput out;
  out.findings = session_findings(within);
  if (facts.stream) {
    std::vector<SessionFinding> declared = out.findings;
    std::erase_if(declared, [&](const SessionFinding& one) { return !report::response_of(report, one.response).declared; });
    out.stream = answer_of_stream(declared, facts.sessions, *facts.stream, std::log1p(report.responses[0].margin),
                                  judged.answer == report::Worse::kNo);
    judge_by_stream(*out.stream, judged);
  }
  judged.placed = facts.places ? with_places(judged.answer, *facts.places) : judged.answer;
  const report::Worse failing = worse_by_failures(facts.failed, report.alpha);
  judged.whole = judged.placed == report::Worse::kNo || failing == report::Worse::kYes ? failing : judged.placed;
  out.exit_code = exit_code_of(judged.whole);
  out.text = terminal_text(report, judged, facts, at_end.has_value());
  out.json = gate_json(report, judged, facts);
  out.markdown = gate_markdown(report, judged, facts);
  out.junit = gate_junit(report, judged, facts);
  return out;
}

Result<std::vector<SessionFinding>> control_findings(const report::Samples& samples) {
  STAB_TRY(const report::Report report, report::analyse(samples));
  for (const report::Contrast& contrast : report.contrasts)
    if (is_gate_question(report, contrast) && !contrast.refused.empty())
      return bad_input("the control has no answer for " + contrast.workload + " (" + contrast.response +
                       "): " + contrast.refused);
  std::vector<SessionFinding> out = session_findings(report);
  if (out.empty()) return bad_input("none of the control's questions is answered by a ratio, so none can be kept");
  return out;
}

Result<std::vector<GateQuestion>> gate_questions(const report::Samples& samples, const std::map<std::string, CopyFacts>& copies) {
  STAB_TRY(const report::Report report, report::analyse(samples));
  GateFacts facts;
  facts.copies = copies;
  const JudgedGate judged = judge(samples, report, facts);
  std::vector<std::string> care;
  for (const report::Caveat& caveat : report::caveats_that_turn(caveats_of_gate(report)))
    care.push_back(report::care_text(caveat));
  std::vector<GateQuestion> out;
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine})
    for (const JudgedQuestion& one : *list) {
      const report::Contrast& contrast = *one.contrast;
      GateQuestion question{.workload = contrast.workload, .response = contrast.response, .subject = subject(report, one),
                            .answer = one.answer, .declared = one.response->declared, .change = change(one),
                            .interval = interval(one), .n = contrast.n, .refused = contrast.refused};
      question.care = care;
      if (contrast.refused.empty()) {
        const report::Interval cost = cost_of(one);
        question.is_share = contrast.scale == report::Scale::kLog;
        question.unit = question.is_share ? "share" : one.response->unit;
        question.cost = cost.estimate;
        question.cost_low = cost.low;
        question.cost_high = cost.high;
        question.standard_error = contrast.standard_error;
        if (const CopyFacts* counted = copies_of(contrast, facts)) {
          const statistics::CopyPrice price = price_of(*counted);
          if (question.is_share) {
            question.copies_half_width = (price.high - price.low) / 2;
            question.cost_low = (1 + cost.low) * std::exp(-price.high) - 1;
            question.cost_high = (1 + cost.high) * std::exp(-price.low) - 1;
          }
          question.by_copies = one.by_copies;
          if (one.by_copies) question.refused = copies_sentence(*counted, WithoutCopies::kGateFile);
        }
      }
      out.push_back(std::move(question));
    }
  return out;
}

GateOutput gate_of_failures(const GateFacts& facts, double alpha) {
  std::string said;
  for (const std::string& one : failures_of(facts)) said += (said.empty() ? "" : "; ") + one;
  if (worse_by_failures(facts.failed, alpha) == report::Worse::kYes)
    return nothing_judged(facts, 1, "worse", "worse, it fails more often: " + said, JunitCase::Outcome::kFailed, said);
  return gate_without_answer(facts, "trials of a revision failed each time; --db FILE keeps them for 'stabctl logs'" +
                                        (said.empty() ? "" : "; " + said));
}

GateOutput gate_without_answer(const GateFacts& facts, const std::string& reason) {
  return nothing_judged(facts, 2, "none", "no answer, " + reason, JunitCase::Outcome::kError, reason);
}

GateOutput gate_without_trials(const GateFacts& facts) {
  return nothing_judged(facts, 3, "unsure", "unsure, no question has an answer: " + facts.unfinished,
                        JunitCase::Outcome::kSkipped, facts.unfinished);
}

}  // namespace stab::commands
