#include "analysis/commands/gate/gate_summary.h"

#include <algorithm>
#include <string_view>

#include "analysis/commands/answers/junit.h"
#include "analysis/commands/gate/gate_words.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/markup.h"

namespace stab::commands {
namespace {

// What GitHub takes of a comment is 65,536 characters.
constexpr size_t kMostMarkdown = 60'000;
constexpr char kMarker[] = "<!-- stab-gate -->\n";

// Names come from repositories: none of them is markup or Markdown.
std::string escaped(const std::string& text) {
  return text::as_markdown(text::as_line(text));
}

std::string markdown_rows(const report::Report& report, const std::vector<JudgedQuestion>& questions) {
  std::string out;
  for (size_t i = 0; i < std::min(questions.size(), kMostRows); ++i) {
    const JudgedQuestion& one = questions[i];
    std::string row;
    const std::string n = std::to_string(one.contrast->n);
    for (const std::string& field : {subject(report, one), base_value(report, one), head_value(report, one), change(one),
                                     interval(one), verdict(one), n})
      row += "| " + escaped(field) + " ";
    out += row + "|\n";
  }
  if (questions.size() > kMostRows) out += "| and " + std::to_string(questions.size() - kMostRows) + " more | | | | | | |\n";
  return out;
}

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

JunitCase::Outcome outcome_of(report::Worse answer) {
  return answer == report::Worse::kYes      ? JunitCase::Outcome::kFailed
         : answer == report::Worse::kUnsure ? JunitCase::Outcome::kSkipped
                                            : JunitCase::Outcome::kPassed;
}

// What the rule makes of a place.
JunitCase::Outcome outcome_of(const GatePlace& place, PlaceRule rule) {
  const report::Worse answer = worse_by_place(place.explanation);
  if (answer == report::Worse::kNo || rule == PlaceRule::kPass) return JunitCase::Outcome::kPassed;
  return answer == report::Worse::kYes && rule == PlaceRule::kFail ? JunitCase::Outcome::kFailed : JunitCase::Outcome::kSkipped;
}

}  // namespace

std::string gate_markdown(const report::Report& report, const JudgedGate& judged, const GateFacts& facts) {
  const std::string heading =
      "| | base | head | change | " + report::plain(100 * (1 - report.alpha)) +
      " % interval | verdict | n |\n|---|---:|---:|---:|---|---|---:|\n";
  std::string out = kMarker + std::string("### Stab gate\n\n") + escaped(sentence(report, judged, facts)) + "\n";
  for (const std::string& one : failures_of(facts)) out += "\n" + escaped(one) + "\n";
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
  if (const std::string cpu = cpu_times_text(report); !cpu.empty()) out += "\n" + escaped(cpu) + "\n";
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

std::string gate_junit(const report::Report& report, const JudgedGate& judged, const GateFacts& facts) {
  std::vector<JunitCase> cases;
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine}) {
    for (const JudgedQuestion& one : *list) {
      const std::string numbers =
          one.contrast->refused.empty() ? ": " + change(one) + ", interval " + interval(one) : std::string();
      cases.push_back({"stab." + one.contrast->workload, subject(report, one), outcome_of(one.answer), verdict(one) + numbers,
                       seconds_of_level(report, *one.contrast)});
    }
  }
  if (facts.places)
    for (const GatePlace& one : facts.places->workloads)
      cases.push_back({"stab." + one.workload, "place", outcome_of(one, facts.places->rule), place_text(one), {}});
  for (const auto& [workload, runs] : facts.failed)
    if (runs.head_failed > 0)
      cases.push_back({"stab." + workload, "failed runs",
                       outcome_of(worse_by_failures(runs, report.alpha, facts.failed.size())), failures_text(workload, runs),
                       {}});
  return junit_xml("stab gate", cases, facts.seconds);
}

std::string gate_markdown_of(const std::string& line) {
  const size_t end = std::min(line.find('\n'), line.size());
  std::string shown = escaped(line.substr(0, end));
  // At a blank, which is in no entity and no character of several bytes.
  constexpr size_t kMost = kMostMarkdown - 100;
  if (shown.size() > kMost) shown.resize(std::min(shown.rfind(' ', kMost), kMost));
  std::string out = kMarker + std::string("### Stab gate\n\n") + shown + "\n";
  if (end + 1 < line.size())
    out +=
        "\n" + code_block(std::string_view(line).substr(end + 1), kMostMarkdown - std::min(out.size(), kMost));
  return out;
}

}  // namespace stab::commands
