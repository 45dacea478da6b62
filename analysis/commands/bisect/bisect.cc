// A search for a commit becomes its answer: a sentence, the comparisons behind it, and what to do next.
#include "analysis/commands/bisect/bisect.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/commands/bisect/bisect_rest.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/markup.h"
#include "analysis/text/text_table.h"
#include "base/number_text.h"

namespace stab::commands {
namespace {

using Align = text::TextTable::Align;

std::string short_hash(const BisectCommit& commit) { return commit.hash.substr(0, kShownHash); }

std::string named(const BisectCommit& commit) {
  return short_hash(commit) + (commit.subject.empty() ? "" : " '" + text::as_line(commit.subject) + "'");
}

const char* slower_word(bool faster) { return faster ? "faster" : "slower"; }

std::string exact_percent(double share) { return number_text(100 * share) + " %"; }

// What became slower.
std::string it(const Bisection& search) { return search.subject.empty() ? "it" : search.subject; }

std::string change_of(const BisectStep* step) { return step ? step->change + " (" + step->interval + ")" : std::string("-"); }

// Why the commits of the range could not be told apart.
std::string skipped(const Bisection& search, const BisectPart& part, size_t number) {
  size_t unbuilt = 0;
  for (const BisectStep& step : search.steps)
    unbuilt += step.part == number && step.position > part.not_slower && step.position < part.slower &&
               step.finding == CommitFinding::kNotBuilt;
  return unbuilt > 0 ? std::to_string(unbuilt) + " of them could not be built or run" : std::string();
}

std::string range_of(const Bisection& search, size_t from, size_t to) {
  return short_hash(search.commits[from]) + ".." + short_hash(search.commits[to]);
}

// The first search as the further ones are.
BisectPart first_of(const Bisection& search) {
  return {0, search.commits.size() - 1, search.faster, search.alpha, search.not_slower, search.slower, search.probability,
          search.end};
}

// Never more than was computed.
std::string probability_text(double probability) {
  constexpr double kMost = 0.99;
  return probability >= kMost ? "99 % or more" : number_text(std::floor(100 * probability)) + " %";
}

// What a search between two commits has found: a commit or some. pre: it has
std::string found_text(const Bisection& search, const BisectPart& part, size_t number) {
  const std::string word = slower_word(part.faster);
  const std::string made = std::string(number > 0 ? " also" : "") + " made " + it(search) + " " + word;
  if (part.end == BisectEnd::kCommit)
    return named(search.commits[part.slower]) + made + ": " + change_of(naming_of(search, number)) +
           " against the commit before it";
  const size_t count = part.slower - part.not_slower;
  const std::string probability = part.probability ? probability_text(*part.probability) : std::string();
  if (count == 1) {
    const BisectStep* const naming = naming_of(search, number);
    return "probably " + named(search.commits[part.slower]) + made + (probability.empty() ? "" : " (" + probability + ")") +
           ", but it was not shown to be " + word + " than the commit before it" +
           (naming != nullptr && naming->by_copies ? ": " + naming->why : "");
  }
  const std::string why = skipped(search, part, number);
  return "one of " + std::to_string(count) + " commits" + made +
         (probability.empty() ? "" : ", with a probability of " + probability) + ": " +
         range_of(search, part.not_slower, part.slower) + (why.empty() ? "" : "; " + why);
}

std::string sentence(const Bisection& search) {
  const BisectCommit& good = search.commits.front();
  const BisectCommit& bad = search.commits.back();
  const std::string word = slower_word(search.faster);
  switch (search.end) {
    case BisectEnd::kCommit:
    case BisectEnd::kRange: {
      std::string out = found_text(search, first_of(search), 0);
      for (size_t i = 0; i < search.further.size(); ++i) {
        const BisectPart& part = search.further[i];
        if (part.end == BisectEnd::kCommit || part.end == BisectEnd::kRange) out += "; " + found_text(search, part, i + 1);
      }
      return out;
    }
    case BisectEnd::kNone:
    case BisectEnd::kPlace: return place_sentence(search);
    case BisectEnd::kCannotTell: break;
  }
  const BisectStep* first = search.steps.empty() ? nullptr : &search.steps.front();
  std::string why = first ? first->why : "";
  if (why.empty() && first && !first->change.empty() && first->change != "-") why = "the difference is " + change_of(first);
  return "can't tell whether " + short_hash(bad) + " is " + word + " than " + short_hash(good) + (why.empty() ? "" : ": " + why);
}

// "git show A B": each commit that is named.
std::string show_command(const Bisection& search) {
  std::string out = "git show " + short_hash(search.commits[search.slower]);
  for (const BisectPart& part : search.further)
    if (part.end == BisectEnd::kCommit) out += " " + short_hash(search.commits[part.slower]);
  return out;
}

// What a merge is made of is searched by itself: one alone tells neither its commits nor what it merges.
std::string branches_text(const Bisection& search) {
  std::string out;
  const auto add = [&](size_t position, bool faster) {
    const BisectCommit& commit = search.commits[position];
    if (!commit.is_merge) return;
    const std::string hash = short_hash(commit);
    out += "; " + hash + " is a merge: search its branch by 'stabctl bisect " + hash + "^1..." + hash + "^2" +
           (faster ? " --faster'" : "'");
  };
  add(search.slower, search.faster);
  for (const BisectPart& part : search.further)
    if (part.end == BisectEnd::kCommit) add(part.slower, part.faster);
  return out;
}

// Whether nothing was found between these two when that was looked for. pre: the search is over
bool was_searched(const Bisection& search, size_t good, size_t bad, bool faster) {
  return std::any_of(search.further.begin(), search.further.end(), [&](const BisectPart& part) {
    return part.good == good && part.bad == bad && part.faster == faster;
  });
}

// The searches that are left to make between the named commits: ready to be typed, each in quotes.
std::string commands_of_rest(const Bisection& search, bool faster) {
  std::vector<size_t> cuts = {search.not_slower, search.slower};
  for (const BisectPart& part : search.further)
    if (part.end == BisectEnd::kCommit) cuts.insert(cuts.end(), {part.not_slower, part.slower});
  cuts.insert(cuts.end(), {0, search.commits.size() - 1});
  std::sort(cuts.begin(), cuts.end());
  std::string out;
  // Cuts come in pairs, of which the second begins what lies up to the next commit that is named.
  for (size_t i = 0; i + 1 < cuts.size(); i += 2)
    if (cuts[i] < cuts[i + 1] && !was_searched(search, cuts[i], cuts[i + 1], faster))
      out += (out.empty() ? "'" : " and '") + std::string("stabctl bisect ") + range_of(search, cuts[i], cuts[i + 1]) +
             (faster ? " --faster'" : "'");
  return out;
}

std::string rest_text(const BisectRest& rest) {
  const auto value = [&](double of) { return rest.is_share ? text::ratio_text(std::exp(of)) : text::significant(of, 3); };
  return value(rest.estimate) + " " + report::between(value(rest.low), value(rest.high));
}

// Whether the named commits are all that lies between the ends; empty: nothing says otherwise.
std::string others_text(const Bisection& search) {
  constexpr double kNotable = 1.0 / 3;
  const auto rest = rest_of(search);
  if (!rest || search.commits.size() <= 2) return "";
  const std::string in_all = "from " + short_hash(search.commits.front()) + " to " + short_hash(search.commits.back()) +
                             " it is " + change_of(ends_of(search, 0));
  if (!rest->is_shown())
    return std::fabs(rest->estimate) > kNotable * std::fabs(rest->whole) ? in_all + ": other commits may have a part in it" : "";
  const std::string part = in_all + ": other commits have a part in it, " + rest_text(*rest);
  if (!search.unfinished.empty()) return part;
  const std::string left = commands_of_rest(search, rest->is_faster());
  return part + (left.empty() ? ", and no other one was shown: each may be too small" : "; search them: " + left);
}

std::string next_step(const Bisection& search) {
  if (!search.unfinished.empty()) {
    const std::string others = search.end == BisectEnd::kCommit ? others_text(search) : std::string();
    return "ended early: " + search.unfinished + "; the same command goes on from here" + (others.empty() ? "" : "; " + others);
  }
  switch (search.end) {
    case BisectEnd::kCommit: {
      const std::string others = others_text(search);
      return "see it: " + show_command(search) + branches_text(search) + (others.empty() ? "" : "; " + others);
    }
    case BisectEnd::kRange: return "see them: git log " + range_of(search, search.not_slower, search.slower);
    case BisectEnd::kNone:
    case BisectEnd::kPlace: return place_next(search);
    case BisectEnd::kCannotTell:
      if (!search.steps.empty() && search.steps.front().by_copies) return "more blocks don't decide it; a larger 'margin' may";
      return "to decide, raise the margin, or add larger numbers to 'looks' of a stab-gate.toml";
  }
  return "";
}

// What the model makes of the answer. Of a range its sentence says it.
std::string model_text(const Bisection& search) {
  if (search.end == BisectEnd::kRange || (search.end != BisectEnd::kCommit && !search.probability)) return "";
  if (search.end != BisectEnd::kCommit)
    return "; by the model no commit made " + it(search) + " " + slower_word(search.faster) + " by " +
           exact_percent(search.margin) + " with a probability of " + probability_text(*search.probability);
  std::string named_ones;
  const auto add = [&](const BisectPart& part) {
    if (part.end == BisectEnd::kCommit && part.probability)
      named_ones += (named_ones.empty() ? "" : ", ") + short_hash(search.commits[part.slower]) +
                    " did it with a probability of " + probability_text(*part.probability);
  };
  add(first_of(search));
  for (const BisectPart& part : search.further) add(part);
  return named_ones.empty() ? "" : "; by the model " + named_ones;
}

std::string error_rate(const Bisection& search) {
  const std::string further = search.further.empty() ? "" : ": each further one is asked at half of the error before";
  return "the comparison that names a commit has trials of its own: commits that did nothing are named in at most " +
         exact_percent(search.alpha) + " of searches" + further + place_error(search) + model_text(search);
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

std::string answer_of(const BisectStep& step) {
  std::string out = word_of(step.finding, step.faster);
  if (step.taken != step.finding && step.taken != CommitFinding::kUnsure)
    out += std::string(", taken as ") + word_of(step.taken, step.faster);
  return out + (step.why.empty() ? "" : ": " + text::as_line(step.why));
}

// What a reader must know before believing a comparison. What several have in common is said once.
std::vector<std::string> care_of(const Bisection& search) {
  std::vector<std::pair<std::string, std::string>> comparisons_by_care;
  for (const BisectStep& step : search.steps)
    for (const std::string& one : step.care) {
      const std::string comparison =
          short_hash(search.commits[step.position]) + " against " + short_hash(search.commits[step.against]);
      const auto known = std::find_if(comparisons_by_care.begin(), comparisons_by_care.end(),
                                      [&](const auto& care) { return care.first == one; });
      if (known == comparisons_by_care.end()) comparisons_by_care.emplace_back(one, comparison);
      else known->second += ", " + comparison;
    }
  std::vector<std::string> out;
  if (search.is_of_binaries)
    out.push_back("care: commits are compared as they are linked, as about = \"binaries\" asks: one that only moves code can "
                  "be " + std::string(slower_word(search.faster)) + ", often by 1 to 3 %");
  for (const auto& [care, comparisons] : comparisons_by_care)
    out.push_back("care, " + comparisons + ": " + text::as_line(care));
  return out;
}

// Why a build failed is its compiler's to say, at length; JSON and Markdown have all of it.
std::string short_answer_of(const BisectStep& step) {
  constexpr size_t kMostColumns = 44;
  const std::string answer = answer_of(step);
  if (step.finding != CommitFinding::kNotBuilt || text::display_width(answer) <= kMostColumns) return answer;
  return std::string(text::cut(answer, kMostColumns - 1)) + "…";
}

text::TextTable table_of(const Bisection& search) {
  text::TextTable table({{"commit", Align::kLeft, true},
                         {"against", Align::kLeft, true},
                         {"change", Align::kRight},
                         {"interval", Align::kLeft, true},
                         {"blocks", Align::kRight},
                         {"answer", Align::kLeft, true}});
  for (const BisectStep& step : search.steps)
    table.add({named(search.commits[step.position]), short_hash(search.commits[step.against]), step.change, step.interval,
               std::to_string(step.blocks), short_answer_of(step)});
  return table;
}

std::string text_of(const Bisection& search) {
  std::string out = sentence(search) + "\n" + next_step(search) + "\n";
  if (search.steps.empty()) return out;
  out += "\n" + table_of(search).text(120) + error_rate(search) + "\n";
  for (const auto& lines : {place_lines(search), care_of(search)})
    for (const std::string& one : lines) out += text::wrap(one, 120, "", "  ");
  return search.clock.empty() ? out : out + text::wrap("compared: " + search.clock, 120, "", "  ");
}

std::string markdown_of(const Bisection& search) {
  const auto escaped = [](const std::string& text) { return text::as_markdown(text::as_line(text)); };
  std::string out = "### Stab bisect\n\n" + escaped(sentence(search)) + "\n\n" + escaped(next_step(search)) + "\n";
  if (search.steps.empty()) return out;
  out += "\n| commit | against | change | interval | blocks | answer |\n|---|---|---:|---|---:|---|\n";
  for (const BisectStep& step : search.steps) {
    for (const std::string& field : {named(search.commits[step.position]), short_hash(search.commits[step.against]), step.change,
                                     step.interval, std::to_string(step.blocks), answer_of(step)})
      out += "| " + escaped(field) + " ";
    out += "|\n";
  }
  for (const auto& lines : {place_lines(search), care_of(search)})
    for (const std::string& one : lines) out += "\n" + escaped(one) + "\n";
  return out + "\n" + escaped(error_rate(search)) + "; again: <code>" + escaped(search.command) + "</code>\n";
}

constexpr const char* kEnds[] = {"commit", "range", "none", "unsure", "place"};

// What a search between two commits has come to.
void write_narrowed(text::JsonWriter& json, const Bisection& search, const BisectPart& part) {
  const bool is_narrowed = part.end == BisectEnd::kCommit || part.end == BisectEnd::kRange;
  json.value("not_slower", is_narrowed ? std::optional(search.commits[part.not_slower].hash) : std::nullopt);
  json.value("slower", is_narrowed ? std::optional(search.commits[part.slower].hash) : std::nullopt);
  json.value("probability", part.probability);
}

void write_further(text::JsonWriter& json, const Bisection& search) {
  json.begin_array("further");
  for (const BisectPart& part : search.further) {
    json.begin_object().value("answer", kEnds[static_cast<int>(part.end)]).value("direction", slower_word(part.faster));
    json.value("good", search.commits[part.good].hash).value("bad", search.commits[part.bad].hash);
    write_narrowed(json, search, part);
    json.value("alpha", part.alpha).end();
  }
  json.end();
  const auto rest = rest_of(search);
  const auto value = [&](double of) { return rest->is_share ? std::expm1(of) : of; };
  if (!rest) {
    json.value("rest", std::optional<double>());
    return;
  }
  json.begin_object("rest").value("cost", value(rest->estimate)).value("cost_low", value(rest->low));
  json.value("cost_high", value(rest->high)).value("shown", rest->is_shown()).end();
}

std::string json_of(const Bisection& search) {
  const char* findings[] = {"not slower", "slower", "unsure", "no build"};
  text::JsonWriter json;
  json.begin_object();
  json.value("format", "stab-bisect").value("version", 3).value("answer", kEnds[static_cast<int>(search.end)]);
  json.value("direction", slower_word(search.faster));
  json.value("good", search.commits.front().hash).value("bad", search.commits.back().hash);
  json.value("commits", search.commits.size() - 1).value("subject", search.subject);
  write_narrowed(json, search, first_of(search));
  json.value("alpha", search.alpha).value("margin", search.margin).value("unfinished", search.unfinished);
  json.value("clock", search.clock).value("about", search.is_of_binaries ? "binaries" : "programs");
  json.value("sentence", sentence(search)).value("next", next_step(search));
  write_further(json, search);
  write_places(json, search);
  json.begin_array("comparisons");
  for (const BisectStep& step : search.steps) {
    json.begin_object();
    json.value("commit", search.commits[step.position].hash).value("against", search.commits[step.against].hash);
    json.value("answer", findings[static_cast<int>(step.finding)]).value("taken", findings[static_cast<int>(step.taken)]);
    json.value("direction", slower_word(step.faster)).value("alpha", step.alpha).value("search", step.part);
    json.value("blocks", step.blocks);
    const auto known = [&](double of) { return step.change == "-" ? std::nullopt : std::optional(of); };
    json.value("cost", known(step.cost)).value("cost_low", known(step.cost_low)).value("cost_high", known(step.cost_high));
    json.value("unit", step.unit).value("reason", step.why).begin_array("care");
    for (const std::string& one : step.care) json.element(one);
    json.end().end();
  }
  json.end().end();
  return json.take();
}

// `git bisect replay` reads lines of git's own commands; its comments say what was found. It knows one culprit, the first.
std::string log_of(const Bisection& search) {
  const auto line = [&](const char* word, size_t position) {
    const BisectCommit& commit = search.commits[position];
    return "# " + std::string(word) + ": [" + commit.hash + "] " + text::as_line(commit.subject) + "\ngit bisect " + word + " " +
           commit.hash + "\n";
  };
  std::string out = "git bisect start\n" + line("bad", search.commits.size() - 1) + line("good", 0);
  for (const BisectStep& step : search.steps) {
    if (step.part != 0 || step.against != 0 || step.position + 1 == search.commits.size()) continue;
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
  step.standard_error = question.standard_error;
  step.copies_half_width = question.copies_half_width;
  step.workload = question.workload;
  step.response = question.response;
  step.subject = question.subject;
  step.why = question.refused;
  step.by_copies = question.by_copies;
  step.unit = question.unit;
  step.care = question.care;
  return step;
}

BisectOutput bisect_output(const Bisection& search) {
  BisectOutput out;
  const bool is_none = search.end == BisectEnd::kNone || search.end == BisectEnd::kPlace;
  out.exit_code = search.end == BisectEnd::kCommit ? 0 : is_none ? 1 : 3;
  out.text = text_of(search);
  out.json = json_of(search);
  out.markdown = markdown_of(search);
  out.log = log_of(search);
  out.sentence = sentence(search);
  out.next = next_step(search);
  out.error = error_rate(search);
  out.places = place_lines(search);
  out.care = care_of(search);
  return out;
}

}  // namespace stab::commands
