// The search itself has answered for the code, so the place counts wherever explain knows it, also where explain leaves the code
// open. A program that waits may do so longer in one of the two: there its CPU time is no answer.
#include "analysis/commands/bisect/bisect_place.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/commands/bisect/bisect.h"
#include "analysis/commands/explain/explain_sentence.h"
#include "analysis/commands/explain/explain_verdict.h"
#include "analysis/commands/explain/explain_words.h"
#include "base/number_text.h"
#include "base/printable.h"

namespace stab::commands {
namespace {

CommitFinding finding_of(Explanation explanation, bool faster) {
  if (explanation.are_one_program) return CommitFinding::kNotSlower;
  if (explanation.answer && may_wait_longer(explanation)) return CommitFinding::kUnsure;
  if (explanation.answer && faster) {
    statistics::CauseEffect& place = explanation.answer->place;
    place.low = -std::exchange(place.high, -place.low);
  }
  switch (worse_by_place(explanation)) {
    case report::Worse::kYes: return CommitFinding::kSlower;
    case report::Worse::kNo: return CommitFinding::kNotSlower;
    case report::Worse::kUnsure: break;
  }
  return CommitFinding::kUnsure;
}

const char* slower_word(const Bisection& search) { return search.faster ? "faster" : "slower"; }

bool any_is(const Bisection& search, CommitFinding finding) {
  return std::any_of(search.places.begin(), search.places.end(), [&](const auto& one) { return one.finding == finding; });
}

std::string hash_of(const BisectCommit& commit) { return commit.hash.substr(0, kShownHash); }

// "fedcba987654 is not slower than 0123456789ab by 2 %"
std::string not_slower_text(const Bisection& search) {
  return hash_of(search.commits.back()) + " is not " + slower_word(search) + " than " + hash_of(search.commits.front()) + " by " +
         number_text(100 * search.margin) + " %";
}

bool is_one_program(const Bisection& search) { return !search.steps.empty() && search.steps.front().is_one_program; }

}  // namespace

BisectPlace bisect_place_of(const GatePlace& place, bool faster) {
  const Explanation& explanation = place.explanation;
  BisectPlace out;
  out.workload = place.workload;
  out.finding = finding_of(explanation, faster);
  out.command = explanation.command;
  out.error = explanation.settings.alpha / 2;
  out.is_cut = out.finding == CommitFinding::kUnsure && !explanation.unfinished.empty();
  for (const std::string& one : explanation.care) out.care.push_back(one_line(one));
  text::JsonWriter json;
  json.begin_object();
  write_explanation(json, explanation);
  out.explained = json.end().take();
  if (!explanation.answer) {
    out.sentence = one_line((explanation.is_one_build ? "nothing: " : "no answer, ") + explanation.not_answered);
    return out;
  }
  const statistics::CauseEffect& effect = explanation.answer->place;
  out.sentence = one_line(explain_sentence(explanation));
  out.effect = std::expm1(effect.estimate);
  out.change = change_text(effect.estimate);
  out.interval = interval_of(effect);
  out.functions = one_line(functions_of_place(explanation));
  return out;
}

void add_places(Bisection& search, std::vector<BisectPlace> places) {
  search.places = std::move(places);
  if (any_is(search, CommitFinding::kSlower)) search.end = BisectEnd::kPlace;
}

const BisectPlace* worst_place(const Bisection& search) {
  const BisectPlace* worst = nullptr;
  for (const BisectPlace& one : search.places)
    if (one.finding == CommitFinding::kSlower && (worst == nullptr || std::fabs(one.effect) > std::fabs(worst->effect)))
      worst = &one;
  return worst;
}

std::string place_sentence(const Bisection& search) {
  if (const BisectPlace* const worst = worst_place(search))
    return "no culprit: place: over random layouts " + not_slower_text(search) + "; as it is linked, the place of " +
           (worst->functions.empty() ? "its functions" : worst->functions) + " makes " +
           (search.places.size() > 1 ? worst->workload : "it") + " " + worst->change + " (" + worst->interval + ")";
  const std::string code = "no commit to find: " + not_slower_text(search) +
                           (search.is_of_binaries ? " as it is linked" : " over random layouts");
  if (search.places.empty()) return code;
  if (!any_is(search, CommitFinding::kUnsure)) return code + ", and neither is it by its place";
  return code + "; whether its place makes it " + slower_word(search) + " is open";
}

std::string place_next(const Bisection& search) {
  if (const BisectPlace* const worst = worst_place(search))
    return "such a place is luck, and the next commit draws another one; how to keep it where it is fast: " + worst->command;
  if (is_one_program(search))
    return "both ends run one program, byte for byte: a difference that was seen between them is the machine's";
  if (search.is_of_binaries || (!search.places.empty() && !any_is(search, CommitFinding::kUnsure)))
    return "a difference that was seen in one pair of builds can be the machine: compare the two again";
  const std::string either = "a difference that was seen in one pair of builds can be the place of the code, or the machine";
  if (!search.no_places.empty())
    return either + "; 'stabctl explain' was not asked which: " + one_line(search.no_places);
  // Where explain has no answer, it has none the next time.
  const auto open = std::find_if(search.places.begin(), search.places.end(), [](const BisectPlace& one) {
    return one.finding == CommitFinding::kUnsure && !one.change.empty();
  });
  return open == search.places.end() ? either : either + "; ask again: " + open->command;
}

std::vector<std::string> place_lines(const Bisection& search) {
  std::vector<std::string> out;
  for (const BisectPlace& place : search.places) {
    out.push_back(one_line("place of " + place.workload + ": " + place.sentence));
    for (const std::string& care : place.care) out.push_back("care, place of " + one_line(place.workload) + ": " + care);
  }
  return out;
}

std::string place_error(const Bisection& search) {
  const BisectPlace* const worst = worst_place(search);
  if (worst == nullptr) return "";
  return "; a place that makes no difference is called " + std::string(slower_word(search)) + " in at most " +
         number_text(100 * worst->error) + " % of explain's answers";
}

void write_places(text::JsonWriter& json, const Bisection& search) {
  const char* words[] = {"not slower", "slower", "unsure"};
  json.begin_object("places").value("asked", !search.places.empty()).value("not_asked", search.no_places);
  json.value("one_program", is_one_program(search)).begin_array("workloads");
  for (const BisectPlace& one : search.places) {
    json.begin_object().value("workload", one.workload).value("by_place", words[static_cast<int>(one.finding)]);
    json.json("explain", one.explained).end();
  }
  json.end().end();
}

}  // namespace stab::commands
