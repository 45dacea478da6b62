// A search for a commit becomes its answer: a sentence, the comparisons behind it, and what to do next.
#include "analysis/commands/bisect.h"

#include <cmath>

#include "analysis/text/json_writer.h"
#include "analysis/text/markup.h"
#include "analysis/text/text_table.h"
#include "base/number_text.h"

namespace stab::commands {
namespace {

using Align = text::TextTable::Align;
constexpr size_t kShown = 12;

std::string short_hash(const BisectCommit& commit) { return commit.hash.substr(0, kShown); }

std::string named(const BisectCommit& commit) {
  return short_hash(commit) + (commit.subject.empty() ? "" : " '" + text::as_line(commit.subject) + "'");
}

const char* slower_word(const Bisection& search) { return search.faster ? "faster" : "slower"; }

std::string exact_percent(double share) { return number_text(100 * share) + " %"; }

// What became slower.
std::string it(const Bisection& search) { return search.subject.empty() ? "it" : search.subject; }

// The last comparison of two positions; none was made: nullptr.
const BisectStep* comparison(const Bisection& search, size_t position, size_t against) {
  const BisectStep* found = nullptr;
  for (const BisectStep& step : search.steps)
    if (step.position == position && step.against == against) found = &step;
  return found;
}

std::string change_of(const BisectStep* step) { return step ? step->change + " (" + step->interval + ")" : std::string("-"); }

// Why the commits of the range could not be told apart.
std::string skipped(const Bisection& search) {
  size_t unbuilt = 0;
  for (const BisectStep& step : search.steps)
    unbuilt += step.position > search.not_slower && step.position < search.slower && step.finding == CommitFinding::kNotBuilt;
  return unbuilt > 0 ? std::to_string(unbuilt) + " of them could not be built or run" : std::string();
}

std::string range_of(const Bisection& search) {
  return short_hash(search.commits[search.not_slower]) + ".." + short_hash(search.commits[search.slower]);
}

std::string sentence(const Bisection& search) {
  const BisectCommit& good = search.commits.front();
  const BisectCommit& bad = search.commits.back();
  const std::string word = slower_word(search), made = " made " + it(search) + " " + word;
  switch (search.end) {
    case BisectEnd::kCommit:
      return named(search.commits[search.slower]) + made + ": " +
             change_of(comparison(search, search.slower, search.not_slower)) + " against the commit before it";
    case BisectEnd::kRange: {
      const size_t count = search.slower - search.not_slower;
      if (count == 1)
        return "the search ends at " + named(search.commits[search.slower]) + ", which was not shown to be " + word +
               " than the commit before it";
      const std::string why = skipped(search);
      return "one of " + std::to_string(count) + " commits" + made + ": " + range_of(search) +
             (why.empty() ? "" : "; " + why);
    }
    case BisectEnd::kNone:
      return "no commit to find: " + short_hash(bad) + " is not " + word + " than " + short_hash(good) + " by " +
             exact_percent(search.margin) + " over random layouts";
    case BisectEnd::kCannotTell: break;
  }
  const BisectStep* first = search.steps.empty() ? nullptr : &search.steps.front();
  return "can't tell whether " + short_hash(bad) + " is " + word + " than " + short_hash(good) +
         (first && !first->why.empty() ? ": " + first->why : "");
}

// The least that one commit leaves of the whole: the lower limit of the difference of two independent estimates, from the
// limits of each (Zou and Donner 2008, "Construction of confidence limits about effect measures").
double least_rest(const BisectStep& whole, const BisectStep& own) {
  return whole.cost - own.cost - std::hypot(whole.cost - whole.cost_low, own.cost_high - own.cost);
}

std::string next_step(const Bisection& search) {
  if (!search.unfinished.empty()) return "ended early: " + search.unfinished + "; the same command goes on from here";
  switch (search.end) {
    case BisectEnd::kCommit: {
      const BisectStep* whole = comparison(search, search.commits.size() - 1, 0);
      const BisectStep* own = comparison(search, search.slower, search.not_slower);
      const std::string see = "see it: git show " + short_hash(search.commits[search.slower]);
      if (!whole || !own || search.commits.size() <= 2) return see;
      const std::string in_all = "from " + short_hash(search.commits.front()) + " to " + short_hash(search.commits.back()) +
                                 " it is " + change_of(whole);
      if (least_rest(*whole, *own) > 0)
        return in_all + ": other commits have a part in it; search " + short_hash(search.commits.front()) + ".." +
               short_hash(search.commits[search.not_slower]) + " and " + short_hash(search.commits[search.slower]) + ".." +
               short_hash(search.commits.back());
      constexpr double kNotable = 1.0 / 3;
      return own->cost < whole->cost * (1 - kNotable) ? see + "; " + in_all + ": other commits may have a part in it" : see;
    }
    case BisectEnd::kRange: return "see them: git log " + range_of(search);
    case BisectEnd::kNone:
      return "a difference that was seen in one pair of builds can be the place of the code, or the machine";
    case BisectEnd::kCannotTell: return "to decide, add larger numbers to 'looks' in stab-gate.toml, or raise 'margin'";
  }
  return "";
}

std::string error_rate(const Bisection& search) {
  return "the last comparison has trials of its own: a commit that did nothing is named in at most " +
         exact_percent(search.alpha) + " of searches";
}

const char* word_of(CommitFinding finding, bool faster) {
  switch (finding) {
    case CommitFinding::kNotSlower: return faster ? "not faster" : "not slower";
    case CommitFinding::kSlower: return faster ? "faster" : "slower";
    case CommitFinding::kUnsure: return "unsure";
    case CommitFinding::kNotBuilt: return "no build";
  }
  return "";
}

std::string answer_of(const BisectStep& step, bool faster) {
  std::string out = word_of(step.finding, faster);
  if (step.taken != step.finding) out += std::string(", taken as ") + word_of(step.taken, faster);
  return out + (step.why.empty() ? "" : ": " + text::as_line(step.why));
}

text::TextTable table_of(const Bisection& search) {
  text::TextTable table({{"commit", Align::kLeft, true},
                         {"against", Align::kLeft},
                         {"change", Align::kRight},
                         {"interval", Align::kLeft},
                         {"blocks", Align::kRight},
                         {"answer", Align::kLeft, true}});
  for (const BisectStep& step : search.steps)
    table.add({named(search.commits[step.position]), short_hash(search.commits[step.against]), step.change, step.interval,
               std::to_string(step.blocks), answer_of(step, search.faster)});
  return table;
}

std::string text_of(const Bisection& search) {
  std::string out = sentence(search) + "\n" + next_step(search) + "\n";
  if (search.steps.empty()) return out;
  return out + "\n" + table_of(search).text(120) + error_rate(search) + "\n";
}

std::string markdown_of(const Bisection& search) {
  const auto escaped = [](const std::string& text) { return text::as_markdown(text::as_line(text)); };
  std::string out = "### Stab bisect\n\n" + escaped(sentence(search)) + "\n\n" + escaped(next_step(search)) + "\n";
  if (search.steps.empty()) return out;
  out += "\n| commit | against | change | interval | blocks | answer |\n|---|---|---:|---|---:|---|\n";
  for (const BisectStep& step : search.steps) {
    for (const std::string& field : {named(search.commits[step.position]), short_hash(search.commits[step.against]), step.change,
                                     step.interval, std::to_string(step.blocks), answer_of(step, search.faster)})
      out += "| " + escaped(field) + " ";
    out += "|\n";
  }
  return out + "\n" + escaped(error_rate(search)) + "; again: <code>" + escaped(search.command) + "</code>\n";
}

std::string json_of(const Bisection& search) {
  const char* ends[] = {"commit", "range", "none", "unsure"};
  const char* findings[] = {"not slower", "slower", "unsure", "no build"};
  text::JsonWriter json;
  json.begin_object();
  json.value("format", "stab-bisect").value("version", 1).value("answer", ends[static_cast<int>(search.end)]);
  json.value("direction", slower_word(search));
  json.value("good", search.commits.front().hash).value("bad", search.commits.back().hash);
  json.value("commits", search.commits.size() - 1).value("subject", search.subject);
  const bool is_narrowed = search.end == BisectEnd::kCommit || search.end == BisectEnd::kRange;
  json.value("not_slower", is_narrowed ? std::optional(search.commits[search.not_slower].hash) : std::nullopt);
  json.value("slower", is_narrowed ? std::optional(search.commits[search.slower].hash) : std::nullopt);
  json.value("alpha", search.alpha).value("margin", search.margin).value("unfinished", search.unfinished);
  json.value("sentence", sentence(search)).value("next", next_step(search));
  json.begin_array("comparisons");
  for (const BisectStep& step : search.steps) {
    json.begin_object();
    json.value("commit", search.commits[step.position].hash).value("against", search.commits[step.against].hash);
    json.value("answer", findings[static_cast<int>(step.finding)]).value("taken", findings[static_cast<int>(step.taken)]);
    json.value("blocks", step.blocks);
    json.value("cost", step.change == "-" ? std::nullopt : std::optional(step.cost));
    json.value("change", step.change).value("interval", step.interval).value("reason", step.why);
    json.end();
  }
  json.end().end();
  return json.take();
}

// `git bisect replay` reads lines of git's own commands; its comments say what was found.
std::string log_of(const Bisection& search) {
  const auto line = [&](const char* word, size_t position) {
    const BisectCommit& commit = search.commits[position];
    return "# " + std::string(word) + ": [" + commit.hash + "] " + text::as_line(commit.subject) + "\ngit bisect " + word + " " +
           commit.hash + "\n";
  };
  std::string out = "git bisect start\n" + line("bad", search.commits.size() - 1) + line("good", 0);
  for (const BisectStep& step : search.steps) {
    if (step.against != 0 || step.position + 1 == search.commits.size()) continue;
    const bool has_answer = step.taken == CommitFinding::kSlower || step.taken == CommitFinding::kNotSlower;
    out += line(!has_answer ? "skip" : step.taken == CommitFinding::kSlower ? "bad" : "good", step.position);
  }
  return out;
}

CommitFinding finding_of(report::Worse answer) {
  switch (answer) {
    case report::Worse::kNo: return CommitFinding::kNotSlower;
    case report::Worse::kYes: return CommitFinding::kSlower;
    case report::Worse::kUnsure: break;
  }
  return CommitFinding::kUnsure;
}

}  // namespace

BisectStep step_of(const GateQuestion& question, double margin) {
  BisectStep step;
  step.finding = finding_of(question.answer);
  step.change = question.change;
  step.interval = question.interval;
  step.cost = question.cost;
  step.cost_low = question.cost_low;
  step.cost_high = question.cost_high;
  step.is_share = question.is_share;
  step.margin = margin;
  step.blocks = question.n;
  step.workload = question.workload;
  step.response = question.response;
  step.subject = question.subject;
  step.why = question.refused;
  return step;
}

BisectOutput bisect_output(const Bisection& search) {
  BisectOutput out;
  out.exit_code = search.end == BisectEnd::kCommit ? 0 : search.end == BisectEnd::kNone ? 1 : 3;
  out.text = text_of(search);
  out.json = json_of(search);
  out.markdown = markdown_of(search);
  out.log = log_of(search);
  return out;
}

}  // namespace stab::commands
