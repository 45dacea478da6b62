#include "analysis/commands/gate/gate_words.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/report/conditions/cpu_time.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/side_values.h"
#include "analysis/text/text_table.h"
#include "base/printable.h"

namespace stab::commands {

std::string subject(const report::Report& report, const JudgedQuestion& question) {
  const std::string& response = question.contrast->response;
  if (question.response->is_benchmark()) return response;
  return question.contrast->workload + (response == "wall_time" && report.responses[0].name == response ? "" : " " + response);
}

namespace {

std::string value_of(const JudgedQuestion& question, const std::optional<double>& value) {
  return value ? report::value_text(*question.response, *value) : "-";
}

}  // namespace

std::string base_value(const report::Report& report, const JudgedQuestion& question) {
  return value_of(question, report::compared_values(report, *question.contrast).before);
}

std::string head_value(const report::Report& report, const JudgedQuestion& question) {
  return value_of(question, report::compared_values(report, *question.contrast).after);
}

std::string change(const JudgedQuestion& question) {
  return question.contrast->refused.empty() ? report::difference_text(*question.response, question.contrast->interval.estimate)
                                            : "-";
}

std::string interval(const JudgedQuestion& question) {
  return question.contrast->refused.empty() ? report::interval_text(*question.response, question.contrast->interval) : "-";
}

std::string verdict(const JudgedQuestion& question) {
  if (!question.contrast->refused.empty()) return "no answer: " + question.contrast->refused;
  const char* words[] = {"not worse", "worse", "unsure"};
  std::string out = question.suspected ? "suspected" : words[static_cast<int>(question.answer)];
  if (!question.response->declared && question.answer == report::Worse::kUnsure) out += " (exploratory)";
  return out;
}

std::string short_verdict(const JudgedQuestion& question) {
  const std::string whole = verdict(question);
  return question.contrast->refused.empty() ? whole : whole.substr(0, whole.find(';'));
}

namespace {

std::string settling(const std::vector<JudgedQuestion>& open) {
  const report::Contrast* most = needs_most(open);
  if (!most) return "a larger margin is needed to decide";
  return std::to_string(*most->settles_worse_n) + " replicates of each (now " + std::to_string(most->n) +
         ") or a larger margin are needed to decide";
}

std::string evidence_text(double log_e) { return text::significant(std::exp(std::min(log_e, 700.0)), 2); }

std::string percent_of_log(double sd) { return text::significant(100 * std::expm1(sd), 2) + " %"; }

// Controls of the same programs that judged something else: nights and gates choose a time for themselves, unless the file does.
std::string other_controls(const JudgedQuestion& question, const GateFacts& facts) {
  std::map<std::string, std::set<int64_t>> sessions;  // by response
  for (const SessionFinding& one : facts.sessions.controls)
    if (one.workload == question.contrast->workload && one.response != question.contrast->response)
      sessions[one.response].insert(one.session);
  if (sessions.empty()) return {};
  const auto& [response, most] = *std::max_element(
      sessions.begin(), sessions.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return " of " + question.contrast->response + " (and " + std::to_string(most.size()) + " of " + response +
         ": 'response' below [gate] keeps to one)";
}

std::string code_sentence(const report::Report& report, const JudgedGate& judged, const GateFacts& facts) {
  const std::string margin = report::plain(100 * report.responses[0].margin) + " %";
  switch (judged.answer) {
    case report::Worse::kYes:
      return "worse: " + plural(judged.worse.size(), "regression") + ", the largest " + subject(report, judged.worse[0]) +
             " " + change(judged.worse[0]) + " (" + interval(judged.worse[0]) + ")";
    case report::Worse::kNo: return "no regression beyond " + margin + " in " + plural(judged.fine.size(), "question");
    case report::Worse::kUnsure: break;
  }
  if (std::any_of(judged.unsure.begin(), judged.unsure.end(), [](const JudgedQuestion& one) { return one.suspected; }))
    return "unsure, a regression is suspected: " + subject(report, judged.unsure[0]) + " " + change(judged.unsure[0]) +
           " (" + interval(judged.unsure[0]) + "), too little evidence for its stream; gate it again in another session";
  const std::vector<JudgedQuestion> open = open_ones(judged);
  const std::string unsure = "unsure, " + plural(open.size(), "question") + " without an answer";
  if (!facts.unfinished.empty() && !facts.is_over_time) return unsure + ": " + facts.unfinished;
  const auto refused =
      std::find_if(open.begin(), open.end(), [](const JudgedQuestion& one) { return !one.contrast->refused.empty(); });
  if (refused != open.end()) return unsure + ": " + subject(report, *refused) + ", " + refused->contrast->refused;
  return unsure + "; " + settling(open);
}

}  // namespace

std::string stream_text(const StreamAnswer& answer, const GateStream& stream) {
  const std::string of = "stream '" + stream.name + "', pair of commits " + std::to_string(stream.number) + " (" +
                         std::to_string(stream.called_before) + " called worse before it): ";
  const std::string evidence = "evidence " + evidence_text(answer.log_e) + " of " +
                               evidence_text(answer.log_needed) + " needed, by " + plural(answer.sessions, "session");
  if (stream.called) return of + "called worse by an earlier session, which stands; " + evidence;
  if (answer.called) return of + "called worse; " + evidence;
  return of + evidence +
         (answer.settles_sessions
              ? "; gated in " + plural(*answer.settles_sessions, "more session") + ", it would be enough"
              : std::string());
}

std::string sessions_text(const report::Report& report, const JudgedGate& judged, const GateFacts& facts) {
  if (facts.sessions.command.empty()) return {};
  const JudgedQuestion* largest = nullptr;
  const JudgedQuestion* fewest = nullptr;
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine})
    for (const JudgedQuestion& one : *list) {
      if (one.across == nullptr || !one.contrast->refused.empty()) continue;
      if (!one.across->in_interval && (fewest == nullptr || one.across->sessions < fewest->across->sessions)) fewest = &one;
      if (one.across->in_interval && (largest == nullptr || one.across->between->sd > largest->across->between->sd))
        largest = &one;
    }
  std::string out;
  if (largest != nullptr) {
    const statistics::BetweenSessions& between = *largest->across->between;
    out = "between sessions: equal programs differ by " + percent_of_log(between.sd) + " (sd, " + percent_of_log(between.low) +
          " to " + percent_of_log(between.high) + ", by A/A controls in " + plural(between.sessions, "session") +
          "), which is in the interval; the blocks of " + subject(report, *largest) + " alone say " +
          report::interval_text(*largest->response, largest->across->within);
  }
  if (fewest != nullptr)
    out += std::string(out.empty() ? "" : "; ") +
           "between sessions: what changes from one boot or day to the next is not in the interval" +
           (largest != nullptr ? " of " + subject(report, *fewest) : std::string()) + "; A/A controls in " +
           std::to_string(kFewestSessions) + " sessions put it there, and " + std::to_string(fewest->across->sessions) +
           (fewest->across->sessions == 1 ? " is" : " are") + " known" + other_controls(*fewest, facts) + ": " +
           facts.sessions.command;
  return out;
}

std::string sentence(const report::Report& report, const JudgedGate& judged, const GateFacts& facts) {
  std::string out = code_sentence(report, judged, facts);
  if (judged.place_decides() || judged.failures_decide()) out = "code: " + out;
  if (judged.place_decides()) {
    const GatePlace* const worst = worst_place(*facts.places);
    out = worst == nullptr ? "unsure, what its place adds is open; " + out
                           : std::string(judged.placed == report::Worse::kYes ? "worse" : "unsure") +
                                 ", by its place and not by its code: " + worst->workload + " " +
                                 text::ratio_text(std::exp(worst->explanation.answer->place.estimate)) + "; " + out;
  }
  if (judged.failures_decide())
    out = std::string(judged.whole == report::Worse::kYes ? "worse, it fails more often" : "unsure, runs of it failed") + "; " +
          out;
  return facts.head + " against " + facts.base + ": " + out;
}

std::vector<std::string> failures_of(const GateFacts& facts) {
  std::vector<std::string> out;
  for (const auto& [workload, runs] : facts.failed)
    if (std::string one = failures_text(workload, runs); !one.empty()) out.push_back(std::move(one));
  return out;
}

std::vector<std::string> place_texts(const GateFacts& facts) {
  std::vector<std::string> out;
  if (!facts.places) return out;
  for (const GatePlace& one : facts.places->workloads) {
    out.push_back(place_text(one));
    for (const std::string& care : one.explanation.care) out.push_back("care, place of " + one.workload + ": " + care);
  }
  return out;
}

std::vector<const report::Contrast*> cpu_times(const report::Report& report) {
  std::vector<const report::Contrast*> out = report::cpu_times_beside(report);
  std::erase_if(out, [](const report::Contrast* of) {
    return of->factor != kGateFactor || of->population != report::Population::kOneWorkload;
  });
  return out;
}

std::string cpu_times_text(const report::Report& report) {
  constexpr size_t kMost = 5;
  std::string out;
  size_t changed = 0;
  for (const report::Contrast* contrast : cpu_times(report)) {
    if (contrast->verdict != report::Verdict::kChanged || ++changed > kMost) continue;
    const report::Response& of = report::response_of(report, contrast->response);
    out += (out.empty() ? "" : ", ") + one_line(contrast->workload) + " " +
           report::difference_text(of, contrast->interval.estimate) + " " + report::interval_text(of, contrast->interval);
  }
  if (changed > kMost) out += " and " + std::to_string(changed - kMost) + " more";
  return out.empty() ? out : "CPU time decides nothing here, and it changed: " + out;
}

std::vector<std::string> copies_texts(const GateFacts& facts) {
  std::vector<std::string> out;
  for (const auto& [workload, copies] : facts.copies)
    if (copies.counts) out.push_back(workload + ": " + copies_sentence(copies, WithoutCopies::kGateFile));
  if (!facts.uncounted.empty()) out.push_back(uncounted_sentence(facts.uncounted));
  return out;
}

std::vector<std::string> differences_of(const GateFacts& facts) {
  std::vector<std::string> out;
  for (const auto& [workload, differ] : facts.differ)
    for (std::string& one : difference_sentences(differ, workload)) out.push_back(std::move(one));
  return out;
}

std::vector<report::Caveat> caveats_of_gate(const report::Report& report) {
  std::vector<report::Caveat> out;
  for (report::Caveat caveat : report.caveats) {
    if (caveat.code == report::CaveatCode::kFewWorkloads) continue;
    if (caveat.code == report::CaveatCode::kSameBuild) continue;  // GateFacts::differ says it of each workload
    if (caveat.code == report::CaveatCode::kSlicingUnchecked)
      caveat.hint =
          "the gate chose slices by itself; write blocks = \"sliced\" below [gate]: one block in ten then runs alone, which "
          "measures it from 20 blocks on";
    if (caveat.code == report::CaveatCode::kOneLayout && !report::asks_about_binaries(report))
      caveat.hint =
          "below [gate] write about = \"binaries\" to ask about this link, or links = 10 if the build obeys a link's number";
    if (caveat.code == report::CaveatCode::kFailedTrials)
      caveat.hint =
          "if failures follow a revision, the remaining trials are a selection; --db FILE keeps them for 'stabctl logs'";
    if (caveat.code == report::CaveatCode::kSlicingMoves)
      caveat.hint = "programs that run at once share caches; blocks = \"in turn\" below [gate] runs them one after the other";
    out.push_back(std::move(caveat));
  }
  return out;
}

}  // namespace stab::commands
