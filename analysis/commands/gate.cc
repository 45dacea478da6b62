// The numbers are the report's contrasts, whose family and looks are adjusted there. "Not worse" is claimed of all questions
// together only if each of them passes at alpha, which needs no further adjustment (Berger, 1982: intersection-union tests);
// "worse" of any needs the adjusted p.
#include "analysis/commands/gate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "analysis/commands/junit.h"
#include "analysis/report/caveats.h"
#include "analysis/report/report.h"
#include "analysis/report/report_pen.h"
#include "analysis/report/stopping_decision.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/markup.h"

namespace stab::commands {
namespace {

// What GitHub takes of a comment is 65,536 characters.
constexpr size_t kMostMarkdown = 60'000;
constexpr size_t kMostRows = 100;
constexpr int kWidth = 100;
constexpr size_t kMostCaveats = 3;  // on a terminal, beside those that can turn the answer: the gravest are first
using Align = text::TextTable::Align;

constexpr char kMarker[] = "<!-- stab-gate -->\n";

struct Question {
  const report::Contrast* contrast;
  const report::Response* response;
  report::Worse answer;
  bool by_copies = false;  // what random layouts cost by themselves has left it open
  bool suspected = false;  // worse by itself, and not by its stream
  const AcrossSessions* across = nullptr;
};

struct Judged {
  std::vector<Question> worse, unsure, fine;
  report::Worse answer = report::Worse::kUnsure;  // of the code
  report::Worse whole = report::Worse::kUnsure;   // together with its place
  std::optional<StreamAnswer> stream{};
  bool place_decides() const { return whole != answer; }
};

// A change as what the head costs more, as a share of the base or in the response's unit: where higher is better, the other way
// round.
double as_cost(const Question& question, double value) {
  const bool falls = question.response->higher_is_better;
  if (question.contrast->scale == report::Scale::kLog) return (falls ? 1 / value : value) - 1;
  return falls ? -value : value;
}
report::Interval cost_of(const Question& question) {
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

Judged judge(const report::Samples& samples, const report::Report& report, const GateFacts& facts = {}) {
  Judged out;
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
  std::stable_sort(out.worse.begin(), out.worse.end(), [](const Question& a, const Question& b) {
    return cost_of(a).estimate > cost_of(b).estimate;
  });
  if (!out.worse.empty()) out.answer = report::Worse::kYes;
  else if (!open && report::may_be_judged(samples) && !out.fine.empty()) out.answer = report::Worse::kNo;
  return out;
}

// Of a gate in a stream the stream says whether it is worse.
void judge_by_stream(const StreamAnswer& answer, Judged& judged) {
  judged.stream = answer;
  if (!answer.called) {
    for (Question& one : judged.worse) {
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

std::string subject(const report::Report& report, const Question& question) {
  const std::string& response = question.contrast->response;
  if (question.response->is_benchmark()) return response;
  return question.contrast->workload + (response == "wall_time" && report.responses[0].name == response ? "" : " " + response);
}

std::string change(const Question& question) {
  return question.contrast->refused.empty() ? report::difference_text(*question.response, question.contrast->interval.estimate)
                                            : "-";
}

std::string interval(const Question& question) {
  return question.contrast->refused.empty() ? report::interval_text(*question.response, question.contrast->interval) : "-";
}

std::string verdict(const Question& question) {
  if (!question.contrast->refused.empty()) return "no answer: " + question.contrast->refused;
  const char* words[] = {"not worse", "worse", "unsure"};
  std::string out = question.suspected ? "suspected" : words[static_cast<int>(question.answer)];
  if (!question.response->declared && question.answer == report::Worse::kUnsure) out += " (exploratory)";
  return out;
}

std::string count(size_t number, const std::string& word) {
  return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
}

// Of open questions the one that needs most replicates, were its estimate right. Null: no number of them answers all, or there
// are none.
const report::Contrast* needs_most(const std::vector<Question>& open) {
  const report::Contrast* most = nullptr;
  for (const Question& one : open) {
    if (!one.contrast->refused.empty() || !one.contrast->settles_worse_n) return nullptr;
    if (!most || *one.contrast->settles_worse_n > *most->settles_worse_n) most = one.contrast;
  }
  return most;
}

std::string settling(const std::vector<Question>& open) {
  const report::Contrast* most = needs_most(open);
  if (!most) return "a larger margin is needed to decide";
  return std::to_string(*most->settles_worse_n) + " replicates of each (now " + std::to_string(most->n) +
         ") or a larger margin are needed to decide";
}

// Those that keep the answer open. Exploratory ones do so only if there are no others.
std::vector<Question> open_ones(const Judged& judged) {
  std::vector<Question> open = judged.unsure;
  std::erase_if(open, [](const Question& one) { return !one.response->declared; });
  return open.empty() ? judged.unsure : open;
}

std::string evidence_text(double log_e) { return text::significant(std::exp(std::min(log_e, 700.0)), 2); }

// What a stream has said: evidence, its bound, and what it takes.
std::string stream_text(const StreamAnswer& answer, const GateStream& stream) {
  const std::string of = "stream '" + stream.name + "', pair of commits " + std::to_string(stream.number) + " (" +
                         std::to_string(stream.called_before) + " called worse before it): ";
  const std::string evidence = "evidence " + evidence_text(answer.log_e) + " of " +
                               evidence_text(answer.log_needed) + " needed, by " + report::plural(answer.sessions, "session");
  if (stream.called) return of + "called worse by an earlier session, which stands; " + evidence;
  if (answer.called) return of + "called worse; " + evidence;
  return of + evidence +
         (answer.settles_sessions
              ? "; gated in " + report::plural(*answer.settles_sessions, "more session") + ", it would be enough"
              : std::string());
}

std::string percent_of_log(double sd) { return text::significant(100 * std::expm1(sd), 2) + " %"; }

// Controls of the same programs that judged something else: nights and gates choose a time for themselves, unless the file does.
std::string other_controls(const Question& question, const GateFacts& facts) {
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

// Of what lies between sessions: that it is in the interval and how large it is, or that it isn't. Of several questions the one
// where it is largest.
std::string sessions_text(const report::Report& report, const Judged& judged, const GateFacts& facts) {
  if (facts.sessions.command.empty()) return {};
  const Question* largest = nullptr;
  const Question* fewest = nullptr;
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine})
    for (const Question& one : *list) {
      if (one.across == nullptr || !one.contrast->refused.empty()) continue;
      if (!one.across->in_interval && (fewest == nullptr || one.across->sessions < fewest->across->sessions)) fewest = &one;
      if (one.across->in_interval && (largest == nullptr || one.across->between->sd > largest->across->between->sd))
        largest = &one;
    }
  std::string out;
  if (largest != nullptr) {
    const statistics::BetweenSessions& between = *largest->across->between;
    out = "between sessions: equal programs differ by " + percent_of_log(between.sd) + " (sd, " + percent_of_log(between.low) +
          " to " + percent_of_log(between.high) + ", by A/A controls in " + report::plural(between.sessions, "session") +
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

std::string code_sentence(const report::Report& report, const Judged& judged, const GateFacts& facts) {
  const std::string margin = report::plain(100 * report.responses[0].margin) + " %";
  const std::string of = judged.place_decides() ? "code: " : facts.head + " against " + facts.base + ": ";
  switch (judged.answer) {
    case report::Worse::kYes:
      return of + "worse: " + count(judged.worse.size(), "regression") + ", the largest " + subject(report, judged.worse[0]) +
             " " + change(judged.worse[0]) + " (" + interval(judged.worse[0]) + ")";
    case report::Worse::kNo: return of + "no regression beyond " + margin + " in " + count(judged.fine.size(), "question");
    case report::Worse::kUnsure: break;
  }
  if (std::any_of(judged.unsure.begin(), judged.unsure.end(), [](const Question& one) { return one.suspected; }))
    return of + "unsure, a regression is suspected: " + subject(report, judged.unsure[0]) + " " + change(judged.unsure[0]) +
           " (" + interval(judged.unsure[0]) + "), too little evidence for its stream; gate it again in another session";
  const std::vector<Question> open = open_ones(judged);
  const std::string unsure = of + "unsure, " + count(open.size(), "question") + " without an answer";
  if (!facts.unfinished.empty() && !facts.is_over_time) return unsure + ": " + facts.unfinished;
  const auto refused =
      std::find_if(open.begin(), open.end(), [](const Question& one) { return !one.contrast->refused.empty(); });
  if (refused != open.end()) return unsure + ": " + subject(report, *refused) + ", " + refused->contrast->refused;
  return unsure + "; " + settling(open);
}

// Where its place decides, that is said first.
std::string sentence(const report::Report& report, const Judged& judged, const GateFacts& facts) {
  const std::string code = code_sentence(report, judged, facts);
  if (!judged.place_decides()) return code;
  const GatePlace* const worst = worst_place(*facts.places);
  const std::string of = facts.head + " against " + facts.base + ": ";
  if (worst == nullptr) return of + "unsure, what its place adds is open; " + code;
  return of + (judged.whole == report::Worse::kYes ? "worse" : "unsure") + ", by its place and not by its code: " +
         worst->workload + " " + text::ratio_text(std::exp(worst->explanation.answer->place.estimate)) + "; " + code;
}

// A sentence of each workload whose place was asked about.
std::vector<std::string> place_texts(const GateFacts& facts) {
  std::vector<std::string> out;
  if (!facts.places) return out;
  for (const GatePlace& one : facts.places->workloads) {
    out.push_back(place_text(one));
    for (const std::string& care : one.explanation.care) out.push_back("care, place of " + one.workload + ": " + care);
  }
  return out;
}

// What copies may cost, of each workload; and why that is not known of all.
std::vector<std::string> copies_texts(const GateFacts& facts) {
  std::vector<std::string> out;
  for (const auto& [workload, copies] : facts.copies)
    if (copies.counts) out.push_back(workload + ": " + copies_sentence(copies, WithoutCopies::kGateFile));
  if (!facts.uncounted.empty()) out.push_back(uncounted_sentence(facts.uncounted));
  return out;
}

// Of each workload whose sides do something else.
std::vector<std::string> differences_of(const GateFacts& facts) {
  std::vector<std::string> out;
  for (const auto& [workload, differ] : facts.differ)
    for (std::string& one : difference_sentences(differ, workload)) out.push_back(std::move(one));
  return out;
}

// Names come from repositories: none of them is markup or Markdown.
std::string escaped(const std::string& text) {
  return text::as_markdown(text::as_line(text));
}

std::string markdown_rows(const report::Report& report, const std::vector<Question>& questions) {
  std::string out;
  for (size_t i = 0; i < std::min(questions.size(), kMostRows); ++i) {
    const Question& one = questions[i];
    std::string row;
    const std::string n = std::to_string(one.contrast->n);
    for (const std::string& field : {subject(report, one), change(one), interval(one), verdict(one), n})
      row += "| " + escaped(field) + " ";
    out += row + "|\n";
  }
  if (questions.size() > kMostRows) out += "| and " + std::to_string(questions.size() - kMostRows) + " more | | | | |\n";
  return out;
}

// A gate answers for its workloads alone, so that there are few of them changes nothing. Cures are those of its own file.
std::vector<report::Caveat> caveats_of_gate(const report::Report& report) {
  std::vector<report::Caveat> out;
  for (report::Caveat caveat : report.caveats) {
    if (caveat.code == report::CaveatCode::kFewWorkloads) continue;
    if (caveat.code == report::CaveatCode::kSlicingUnchecked)
      caveat.hint = "blocks = \"sliced\" below [gate] measures it after 20 blocks or more: one block in ten runs alone";
    if (caveat.code == report::CaveatCode::kFailedTrials)
      caveat.hint =
          "if failures follow a revision, the remaining trials are a selection; --db FILE keeps them for 'stabctl logs'";
    if (caveat.code == report::CaveatCode::kSlicingMoves)
      caveat.hint = "programs that run at once share caches; blocks = \"in turn\" below [gate] runs them one after the other";
    out.push_back(std::move(caveat));
  }
  return out;
}

std::string markdown(const report::Report& report, const Judged& judged, const GateFacts& facts) {
  const std::string heading =
      "| | change | " + report::plain(100 * (1 - report.alpha)) + " % interval | verdict | n |\n|---|---:|---|---|---:|\n";
  std::string out = kMarker + std::string("### Stab gate\n\n") + escaped(sentence(report, judged, facts)) + "\n";
  for (const std::string& one : differences_of(facts)) out += "\n" + escaped(one) + "\n";
  if (!judged.worse.empty() || !judged.unsure.empty())
    out += "\n" + heading + markdown_rows(report, judged.worse) + markdown_rows(report, judged.unsure);
  if (!judged.fine.empty())
    out += "\n<details><summary>not worse: " + std::to_string(judged.fine.size()) + "</summary>\n\n" + heading +
           markdown_rows(report, judged.fine) + "\n</details>\n";
  if (const std::vector<report::Caveat> caveats = caveats_of_gate(report); !caveats.empty()) {
    out += "\n<details><summary>read with care: " + std::to_string(caveats.size()) + "</summary>\n\n";
    for (const report::Caveat& caveat : caveats) out += "- " + escaped(report::care_text(caveat)) + "\n";
    out += "\n</details>\n";
  }
  if (facts.is_over_time) out += "\n" + escaped(facts.unfinished) + "\n";
  for (const std::string& one : copies_texts(facts)) out += "\n" + escaped(one) + "\n";
  if (const std::string between = sessions_text(report, judged, facts); !between.empty()) out += "\n" + escaped(between) + "\n";
  if (judged.stream) out += "\n" + escaped(stream_text(*judged.stream, *facts.stream)) + "\n";
  for (const std::string& place : place_texts(facts)) out += "\n" + escaped(place) + "\n";
  const std::string again = "<code>" + escaped(facts.command) + "</code>\n";
  const std::string end = "\n" + std::to_string(report.analysed) + " trials; again: " + again;
  if (out.size() + end.size() > kMostMarkdown) {
    const std::string closing = "\n</details>\n", cut = "\n(cut: the rest is too long)\n";
    out.resize(out.rfind('\n', kMostMarkdown - end.size() - closing.size() - cut.size()) + 1);
    // An element that is left open would fold what follows.
    const size_t opened = out.rfind("<details>"), closed = out.rfind("</details>");
    if (opened != std::string::npos && (closed == std::string::npos || closed < opened)) out += closing;
    out += cut;
  }
  return out + end;
}

// What the rule makes of a place.
JunitCase::Outcome outcome_of(const GatePlace& place, PlaceRule rule) {
  const report::Worse answer = worse_by_place(place.explanation);
  if (answer == report::Worse::kNo || rule == PlaceRule::kPass) return JunitCase::Outcome::kPassed;
  return answer == report::Worse::kYes && rule == PlaceRule::kFail ? JunitCase::Outcome::kFailed : JunitCase::Outcome::kSkipped;
}

std::string junit(const report::Report& report, const Judged& judged, const GateFacts& facts) {
  std::vector<JunitCase> cases;
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine}) {
    for (const Question& one : *list) {
      const auto outcome = one.answer == report::Worse::kYes      ? JunitCase::Outcome::kFailed
                           : one.answer == report::Worse::kUnsure ? JunitCase::Outcome::kSkipped
                                                                  : JunitCase::Outcome::kPassed;
      const std::string numbers =
          one.contrast->refused.empty() ? ": " + change(one) + ", interval " + interval(one) : std::string();
      cases.push_back({"stab." + one.contrast->workload, subject(report, one), outcome, verdict(one) + numbers});
    }
  }
  if (facts.places)
    for (const GatePlace& one : facts.places->workloads)
      cases.push_back({"stab." + one.workload, "place", outcome_of(one, facts.places->rule), place_text(one)});
  return junit_xml("stab gate", cases);
}

// What the error rate is a share of.
const char* error_text(const Judged& judged) {
  if (judged.place_decides())
    return "of workloads whose place makes no difference, at most this share is called worse by it";
  if (judged.stream && judged.answer == report::Worse::kYes)
    return "of the stream's pairs of commits that are called worse, on average at most this share is not";
  if (judged.answer == report::Worse::kNo)
    return "of gates in which a declared response is worse by the margin, at most this share is accepted";
  for (const Question& one : judged.worse)
    if (one.response->declared) return "of gates in which no declared response is worse, at most this share is rejected";
  return "of exploratory benchmarks that are called worse, at most this share is not";
}

// Of the largest regression whose cause can be asked for. Null: of none.
const std::string* cause_command(const Judged& judged, const GateFacts& facts) {
  for (const Question& one : judged.worse) {
    const auto found = facts.cause_commands.find(one.contrast->workload);
    if (found != facts.cause_commands.end()) return &found->second;
  }
  return nullptr;
}

// For programs that decide: what to do, how often that is wrong, what the change is, what it has cost to learn, and what would
// settle it.
void write_decision(const report::Report& report, const Judged& judged, const GateFacts& facts, text::JsonWriter& json) {
  const bool is_worse = judged.whole == report::Worse::kYes, is_fine = judged.whole == report::Worse::kNo;
  json.begin_object("decision");
  json.value("action", is_worse ? "reject" : is_fine ? "accept" : "repeat");
  json.value("exit_status", exit_code_of(judged.whole));
  const GatePlace* const place = judged.place_decides() ? worst_place(*facts.places) : nullptr;
  if (is_worse || is_fine)
    json.value("error_rate", place ? place->explanation.settings.alpha / 2  // the code has the other half
                             : is_worse && judged.stream ? facts.stream->rule.rate : report.alpha)
        .value("error", error_text(judged));
  // The largest of those that decide: what is worse, else what is open, else what is fine.
  const std::vector<Question> open = open_ones(judged);
  const Question* largest = nullptr;
  for (const Question& one : judged.answer == report::Worse::kYes ? judged.worse
                             : judged.answer == report::Worse::kNo ? judged.fine : open)
    if (one.contrast->refused.empty() && (largest == nullptr || cost_of(one).estimate > cost_of(*largest).estimate))
      largest = &one;
  if (place != nullptr) {
    const statistics::CauseEffect& cost = place->explanation.answer->place;
    json.begin_object("largest").value("workload", place->workload).value("response", "place").value("unit", "share");
    json.value("cost", std::expm1(cost.estimate)).value("cost_low", std::expm1(cost.low));
    json.value("cost_high", std::expm1(cost.high)).end();
  } else if (largest != nullptr) {
    const report::Interval cost = cost_of(*largest);
    json.begin_object("largest");
    json.value("workload", largest->contrast->workload).value("response", largest->contrast->response);
    json.value("unit", largest->contrast->scale == report::Scale::kLog ? "share" : largest->response->unit);
    json.value("cost", cost.estimate).value("cost_low", cost.low).value("cost_high", cost.high);
    json.end();
  }
  json.value("command", facts.command);
  if (const std::string* cause = judged.answer == report::Worse::kYes ? cause_command(judged, facts) : nullptr)
    json.value("cause_command", *cause);
  json.value("seconds", facts.seconds);
  if (!is_worse && !is_fine) {
    const report::Contrast* most = needs_most(open);
    json.value("settles_replicates", most ? most->settles_worse_n : std::nullopt);
    if (judged.stream) json.value("settles_sessions", judged.stream->settles_sessions);
  }
  json.end();
}

// What lies between sessions, and what the blocks of this one say alone.
void write_across(const AcrossSessions& across, text::JsonWriter& json) {
  json.begin_object("within_session").value("conf_low", across.within.low).value("conf_high", across.within.high);
  json.value("p_value", across.p_within).end();
  json.begin_object("between_sessions").value("sessions", across.sessions).value("in_interval", across.in_interval);
  if (across.between)
    json.value("sd", across.between->sd).value("sd_low", across.between->low).value("sd_high", across.between->high);
  json.end();
}

void write_stream(const StreamAnswer& answer, const GateStream& stream, text::JsonWriter& json) {
  json.begin_object("stream").value("name", stream.name).value("fdr", stream.rule.rate).value("tests", stream.rule.tests);
  json.value("number", stream.number).value("called_before", stream.called_before).value("called", answer.called);
  json.value("log_e", answer.log_e).value("log_e_needed", answer.log_needed).value("sessions", answer.sessions).end();
}

void write_places(const GatePlaces& places, text::JsonWriter& json) {
  const char* words[] = {"not worse", "worse", "unsure"};
  json.begin_object("places").value("rule", kPlaceRules[static_cast<int>(places.rule)]).begin_array("workloads");
  for (const GatePlace& one : places.workloads) {
    json.begin_object().value("workload", one.workload);
    json.value("by_place", words[static_cast<int>(worse_by_place(one.explanation))]).begin_object("explain");
    write_explanation(json, one.explanation);
    json.end().end();
  }
  json.end().end();
}

std::string json(const report::Report& report, const Judged& judged, const GateFacts& facts) {
  const char* words[] = {"not worse", "worse", "unsure"};
  text::JsonWriter json;
  json.begin_object();
  json.value("format", "stab-gate").value("version", 1).value("answer", words[static_cast<int>(judged.whole)]);
  json.value("base", facts.base).value("head", facts.head).value("unfinished", facts.unfinished).value("clock", facts.clock);
  json.value("margin", report.responses[0].margin).value("alpha", report.alpha).value("trials", report.analysed);
  write_decision(report, judged, facts, json);
  if (judged.stream) write_stream(*judged.stream, *facts.stream, json);
  if (facts.places) write_places(*facts.places, json);
  json.begin_array("copies");
  for (const auto& [workload, copies] : facts.copies) {
    json.begin_object().value("workload", workload);
    write_copies(json, copies);
    json.end();
  }
  json.end().value("uncounted", facts.uncounted).begin_array("sides_differ");
  for (const auto& [workload, differ] : facts.differ) {
    json.begin_object().value("workload", workload).value("outputs_differ", differ.outputs);
    json.value("exits_differ", differ.ends).value("same_file", differ.same_file).end();
  }
  json.end().begin_array("care");
  for (const report::Caveat& caveat : caveats_of_gate(report)) json.element(report::care_text(caveat));
  json.end();
  json.begin_array("questions");
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine}) {
    for (const Question& one : *list) {
      const report::Contrast& contrast = *one.contrast;
      json.begin_object();
      json.value("workload", contrast.workload).value("response", contrast.response).value("declared", one.response->declared);
      json.value("answer", words[static_cast<int>(one.answer)]);
      if (contrast.refused.empty()) {
        json.value("estimate", contrast.interval.estimate).value("conf_low", contrast.interval.low);
        json.value("conf_high", contrast.interval.high).value("p_value", contrast.p_value).value("p_adjusted", contrast.p_holm);
        json.value("p_not_above", contrast.p_not_above).value("n", contrast.n);
        if (one.across != nullptr && !facts.sessions.command.empty()) write_across(*one.across, json);
        if (one.answer == report::Worse::kUnsure) json.value("settles_n", contrast.settles_worse_n);
      } else {
        json.value("refused", contrast.refused);
      }
      json.end();
    }
  }
  json.end().end();
  return json.take();
}

// What is judged where the time was over, at a look that this end is; the reason then has the blocks. Absent: all samples, by the
// plan's own looks.
std::optional<report::Samples> judged_at_end(const report::Samples& all, GateFacts& facts) {
  const uint32_t blocks = std::min(facts.whole_blocks, report::replicates_of(all));
  const bool is_enough = facts.is_over_time && all.incomplete && blocks >= fewest_blocks_at_end(all.stopping);
  std::optional<report::Samples> out = is_enough ? report::judged_when_time_ended(all, blocks) : std::nullopt;
  facts.is_over_time = out.has_value();
  if (out) facts.unfinished += ": the answer is of " + report::plural(blocks, "block");
  return out;
}

}  // namespace

report::Worse with_copies(report::Worse answer, double margin, const report::Contrast& contrast, const CopyFacts& copies) {
  const statistics::CopyPrice price = price_of(copies);
  if (answer == report::Worse::kYes && contrast.interval.low * std::exp(-price.high) <= 1) return report::Worse::kUnsure;
  if (answer == report::Worse::kNo && contrast.equivalence.high * std::exp(-price.low) >= 1 + margin)
    return report::Worse::kUnsure;
  return answer;
}

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
  Judged judged = judge(samples, report, facts);
  for (auto* list : {&judged.worse, &judged.unsure, &judged.fine})
    for (Question& one : *list) one.across = &wide.across[static_cast<size_t>(one.contrast - report.contrasts.data())];
  GateOutput out;
  out.findings = session_findings(within);
  if (facts.stream) {
    std::vector<SessionFinding> declared = out.findings;
    std::erase_if(declared, [&](const SessionFinding& one) { return !report::response_of(report, one.response).declared; });
    out.stream = answer_of_stream(declared, facts.sessions, *facts.stream, std::log1p(report.responses[0].margin),
                                  judged.answer == report::Worse::kNo);
    judge_by_stream(*out.stream, judged);
  }
  judged.whole = facts.places ? with_places(judged.answer, *facts.places) : judged.answer;
  out.exit_code = exit_code_of(judged.whole);
  text::TextTable table({{"", Align::kLeft},
                         {"change", Align::kRight},
                         {report::plain(100 * (1 - report.alpha)) + " % interval", Align::kLeft},
                         {"n", Align::kRight},
                         {"verdict", Align::kLeft, true}});
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine})
    for (size_t i = 0; i < std::min(list->size(), kMostRows); ++i) {
      const Question& one = (*list)[i];
      table.add({subject(report, one), change(one), interval(one), std::to_string(one.contrast->n), verdict(one)});
    }
  out.text = sentence(report, judged, facts) + "\n" + table.text(kWidth);
  for (const std::string& one : differences_of(facts)) out.text += text::wrap(one, kWidth, "", "  ");
  if (at_end) out.text += text::wrap(facts.unfinished, kWidth, "", "  ");
  if (!facts.clock.empty()) out.text += text::wrap(facts.clock, kWidth, "", "  ");
  for (const std::string& one : copies_texts(facts)) out.text += text::wrap(one, kWidth, "", "  ");
  if (const std::string between = sessions_text(report, judged, facts); !between.empty())
    out.text += text::wrap(between, kWidth, "", "  ");
  if (out.stream) out.text += text::wrap(stream_text(*out.stream, *facts.stream), kWidth, "", "  ");
  for (const std::string& place : place_texts(facts)) out.text += text::wrap(place, kWidth, "", "  ");
  const std::vector<report::Caveat> caveats = caveats_of_gate(report);
  for (size_t i = 0; i < caveats.size(); ++i)
    if (i < kMostCaveats || report::turns_an_answer(caveats[i].code))
      out.text += text::wrap("care: " + report::care_text(caveats[i]), kWidth, "", "  ");
  out.json = json(report, judged, facts);
  out.markdown = markdown(report, judged, facts);
  out.junit = junit(report, judged, facts);
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
  const Judged judged = judge(samples, report, facts);
  std::vector<std::string> care;
  for (const report::Caveat& caveat : report::caveats_that_turn(caveats_of_gate(report)))
    care.push_back(report::care_text(caveat));
  std::vector<GateQuestion> out;
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine})
    for (const Question& one : *list) {
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
        if (const CopyFacts* counted = copies_of(contrast, facts)) {
          const statistics::CopyPrice price = price_of(*counted);
          if (question.is_share) {
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

namespace {

// As an indented block of code, in which nothing is Markdown. Of what is too long the end: there a build says what failed.
std::string code_block(std::string_view text, size_t most) {
  constexpr size_t kMostOfALine = 1000;
  constexpr std::string_view kCut = "    (the beginning is left out)\n";
  std::string out;
  while (!text.empty()) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    const size_t start = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
    const std::string line = "    " + text::as_line(text.substr(start, kMostOfALine)) + "\n";
    if (out.size() + line.size() + kCut.size() > most) return std::string(kCut) + out;
    out.insert(0, line);
    text = text.substr(0, start);
  }
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
  json.value("action", exit_code == 3 ? "repeat" : "none").value("exit_status", exit_code);
  json.value("command", facts.command).value("seconds", facts.seconds).end();
  json.begin_array("questions").end().end();
  out.json = json.take();
  const size_t end = std::min(line.find('\n'), line.size());
  std::string shown = escaped(line.substr(0, end));
  // At a blank, which is in no entity and no character of several bytes.
  constexpr size_t kMost = kMostMarkdown - 100;
  if (shown.size() > kMost) shown.resize(std::min(shown.rfind(' ', kMost), kMost));
  out.markdown = kMarker + std::string("### Stab gate\n\n") + shown + "\n";
  if (end + 1 < line.size())
    out.markdown +=
        "\n" + code_block(std::string_view(line).substr(end + 1), kMostMarkdown - std::min(out.markdown.size(), kMost));
  out.junit = junit_xml("stab gate", {{"stab", "gate", outcome, reason}});
  return out;
}

}  // namespace

GateOutput gate_without_answer(const GateFacts& facts, const std::string& reason) {
  return nothing_judged(facts, 2, "none", "no answer, " + reason, JunitCase::Outcome::kError, reason);
}

GateOutput gate_without_trials(const GateFacts& facts) {
  return nothing_judged(facts, 3, "unsure", "unsure, no question has an answer: " + facts.unfinished,
                        JunitCase::Outcome::kSkipped, facts.unfinished);
}

}  // namespace stab::commands
