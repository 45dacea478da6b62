// Items are sentences, sorted by verdict into sections, so nothing here needs a legend. Where they are too many for the screen
// the longest section loses its last one until all fit; where even one of each is too much, items lose their last lines.
#include "analysis/report/rendering/first_screen.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analysis/report/conditions/cpu_time.h"
#include "analysis/report/report_data/correction.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/side_values.h"
#include "base/printable.h"

namespace stab::report {
namespace {

// Longer lines of prose are hard to read, however wide the terminal is.
constexpr int kProseWidth = 120;
constexpr size_t kWorries = 3;
constexpr size_t kItemLines = 4;

struct Section {
  std::string title;
  std::vector<std::string> items;
  std::string rest;  // what those that have no room are: "3 more unsure"
  std::vector<std::string> notes;  // below the items
  size_t shown = kFirstScreenLines;  // at most so many items, and at least one
  size_t left_out = 0;      // besides those that have no room
};

// Names may come from a database of somebody else's: none of them drives the terminal.
std::string shown(std::string_view name) { return one_line(name); }

std::string level_text(double alpha) { return plain(100 * (1 - alpha)) + " % interval "; }

// "max_rss, code=shuffle against off": the response is named where several were declared.
std::string question(const Report& report, const Contrast& contrast) {
  const auto declared =
      std::count_if(report.responses.begin(), report.responses.end(),
                    [](const Response& response) { return response.declared || response.is_benchmark(); });
  return shown((declared > 1 ? contrast.response + ", " : "") + contrast.factor + "=" + contrast.level + " against " +
               contrast.baseline);
}

// Of the workloads that changed by themselves, the one that changed most.
std::string most_changed(const Report& report, const Contrast& contrast) {
  const Contrast* most = nullptr;
  uint64_t workloads = 0;
  const auto size = [](const Contrast& one) { return std::fabs(on_scale(one.scale, one.interval.estimate)); };
  for (const Contrast& other : report.contrasts) {
    if (other.response != contrast.response || other.factor != contrast.factor || other.level != contrast.level ||
        other.workload.empty())
      continue;
    ++workloads;
    if (other.verdict == Verdict::kChanged && (!most || size(other) > size(*most))) most = &other;
  }
  if (!most || workloads < 2) return "";
  return " (most: " + shown(most->workload) + ", " + change_text(response_of(report, most->response), most->interval.estimate) +
         ")";
}

// What a reader of this one answer must know of it.
std::string reservations(const Contrast& contrast) {
  std::string out;
  if (!contrast.aliases.empty()) {
    out = "; cannot be separated from " + shown(contrast.aliases[0]);
    if (contrast.aliases.size() > 1) out += " and " + std::to_string(contrast.aliases.size() - 1) + " more";
  }
  if (contrast.by_alone) out += "; of the blocks alone, as slicing changes it";
  if (contrast.one_layout_a_side) out += "; a side ran in one layout, so this holds for this link only";
  return out;
}

// Of a question about wall time, the same of CPU time. Nobody asked for it, so it decides nothing; what disturbs a machine
// disturbs it less.
std::string by_cpu_time(const Report& report, const Contrast& contrast) {
  if (contrast.response != "wall_time" || contrast.scale != Scale::kLog) return {};
  for (const Contrast* other : cpu_times_beside(report)) {
    const bool is_same = other->workload == contrast.workload && other->population == contrast.population &&
                         other->factor == contrast.factor && other->level == contrast.level &&
                         other->baseline == contrast.baseline;
    if (!is_same) continue;
    const Response& response = response_of(report, other->response);
    return " (CPU time " + difference_text(response, other->interval.estimate) + ", " + interval_text(response, other->interval) +
           ")";
  }
  return {};
}

// `values`: what both sides measured, "440.5 ms -> 449.4 ms"; empty: not said here
std::string sentence(const Pen& pen, const Report& report, const Contrast& contrast, const std::string& values) {
  const Response& response = response_of(report, contrast.response);
  const std::string start = question(report, contrast) + ": ", measured = values.empty() ? "" : ", " + values;
  const std::string interval = ", " + level_text(report.alpha) + interval_text(response, contrast.interval);
  const bool up = contrast.interval.estimate > (contrast.scale == Scale::kLog ? 1 : 0);
  switch (contrast.verdict) {
    case Verdict::kChanged:
      return start + pen.paint(up != response.higher_is_better ? "31" : "32", change_text(response, contrast.interval.estimate)) +
             measured + interval + by_cpu_time(report, contrast) + beyond(report, contrast, most_changed(report, contrast)) +
             reservations(contrast);
    case Verdict::kEquivalent:
      return start + "the same within " + margin_text(response) + measured + ", " + level_text(2 * report.alpha) +
             interval_text(response, contrast.equivalence) + by_cpu_time(report, contrast) +
             beyond(report, contrast, most_changed(report, contrast)) + reservations(contrast);
    case Verdict::kUnsure:
      return start + difference_text(response, contrast.interval.estimate) + measured + interval +
             by_cpu_time(report, contrast) + "; " + unsure_text(report, contrast) +
             beyond(report, contrast, most_changed(report, contrast)) + reservations(contrast);
    case Verdict::kWithheld: return start + "so far" + interval.substr(1);
  }
  return start;
}

std::string sentence(const Pen& pen, const Report& report, const Contrast& contrast) {
  return sentence(pen, report, contrast, side_values_text(report, contrast));
}

// Questions without an answer by what they lack: most of them lack the same.
std::vector<std::string> refusals(const Report& report, const std::vector<const Contrast*>& refused) {
  std::vector<std::string> out;
  for (size_t i = 0; i < refused.size(); ++i) {
    const auto alike = [&](const Contrast* other) { return other->refused == refused[i]->refused; };
    if (std::any_of(refused.begin(), refused.begin() + static_cast<std::ptrdiff_t>(i), alike)) continue;
    const auto more = std::count_if(refused.begin(), refused.end(), alike) - 1;
    out.push_back(question(report, *refused[i]) + (more > 0 ? " and " + std::to_string(more) + " more" : "") + ": " +
                  shown(refused[i]->refused));
  }
  return out;
}

// What is said of the whole, before any answer.
std::vector<std::string> heading(const Pen& pen, const Report& report) {
  uint64_t crossing = 1;
  for (const Factor& factor : report.factors) crossing *= factor.levels.size();
  std::string first = pen.paint("1", report.experiment.empty() ? "report" : shown(report.experiment)) + ": " +
                      plural(report.workloads.size(), report.workload_word) + ", " +
                      (report.cell_count < crossing ? std::to_string(report.cell_count) + " of " : "") +
                      plural(crossing, "cell") + ", " + plural(report.analysed, report.trial_word) + " analysed";
  if (report.excluded) first += ", " + std::to_string(report.excluded) + " excluded";
  if (report.failed) first += ", " + std::to_string(report.failed) + " failed";
  const Response& primary = report.responses[0];
  const std::string margin = margin_text(primary);
  std::string second =
      primary.name + ": " +
      (margin.empty() ? "no difference is too small to matter" : "a difference below " + margin + " doesn't matter");
  if (report.workloads.size() > 1) {
    const Answers answers = answers_of(report);
    second += answers.population == Population::kLikeThese
                  ? "; answers are for " + report.program_word + "s like these"
                  : "; answers are for these " + plural(report.workloads.size(), report.workload_word);
  }
  std::vector<std::string> out{first, second};
  if (report.slicing) out.push_back(slicing_text(report));
  if (!report.stopping.empty()) out.push_back("stopping: " + report.stopping);
  return out;
}

// No question as a whole is unsure; those of single workloads may be.
std::string nothing_unsure(const Report& report) {
  uint64_t unsure = 0, all = 0;
  for (const Contrast& contrast : report.contrasts) {
    if (contrast.response != report.responses[0].name || contrast.workload.empty()) continue;
    ++all;
    unsure += contrast.verdict == Verdict::kUnsure;
  }
  if (unsure == 0) return "nothing";
  return "none of these questions; " + std::to_string(unsure) + " of " + std::to_string(all) + " comparisons by " +
         report.workload_word + (unsure == 1 ? " is" : " are") + ", see the tables";
}

std::string title_of(const Report& report, Verdict verdict, bool is_refused) {
  if (is_refused) return "What has no answer, and why";
  switch (verdict) {
    case Verdict::kChanged: return "What changed";
    case Verdict::kEquivalent: return "What didn't";
    case Verdict::kUnsure: return "What is unsure, and what would decide it";
    case Verdict::kWithheld: break;
  }
  return report.stopping.empty() ? "Not judged before the experiment is over" : "Not judged before the declared look";
}

// Whether the first screen has its answers.
bool is_asked(const Report& report, const Response& response) {
  return response.declared || response.is_benchmark() || &response == &report.responses[0];
}

// Blocks to add that decide the question that is nearest; absent: none would, or nothing can be added.
std::optional<uint64_t> fewest_blocks(const Report& report) {
  std::optional<uint64_t> fewest;
  if (report.trial_word != "trial") return fewest;
  for (const Response& response : report.responses) {
    if (!is_asked(report, response)) continue;
    for (const Contrast* contrast : answering(report, response.name))
      if (contrast->refused.empty() && !contrast->by_alone && contrast->settles_blocks)
        fewest = std::min(fewest.value_or(UINT64_MAX), *contrast->settles_blocks);
  }
  return fewest;
}

constexpr char kExtendNote[] =
    "These numbers hold if the differences are as seen. A new experiment with that many is clean; this command adds what the "
    "nearest question needs, with a caveat:";

// Of an experiment that compares nothing: what it measured.
std::vector<std::string> measured(const Report& report) {
  std::vector<std::string> out;
  for (const Response& response : report.responses) {
    if (!is_asked(report, response) && response.name != "cpu_time") continue;
    for (const Cell& cell : report.cells) {
      if (cell.response != response.name) continue;
      std::string line = (report.workloads.size() > 1 ? shown(cell.workload) + ", " : "") + shown(response.name) + ": " +
                         value_text(response, cell.geometric_mean.value_or(cell.mean));
      if (cell.mean_interval)
        line += ", " + level_text(report.alpha) +
                between(value_text(response, cell.mean_interval->low), value_text(response, cell.mean_interval->high));
      out.push_back(line + "; median " + value_text(response, cell.median) + ", " + plural(cell.n, report.trial_word));
    }
  }
  return out;
}

// Of an answer over all workloads that is "nothing": what single ones say.
std::string but_by_workload(const Report& report) {
  size_t changed = 0, all = 0;
  for (const Contrast& contrast : report.contrasts) {
    if (contrast.workload.empty() || !contrast.refused.empty() || report.responses.empty() ||
        contrast.response != report.responses[0].name)
      continue;
    ++all;
    changed += contrast.verdict == Verdict::kChanged;
  }
  if (changed == 0 || all < 2) return {};
  return " over all " + report.workload_word + "s; of " + plural(all, "comparison") + " by " + report.workload_word + " " +
         std::to_string(changed) + " changed";
}

std::vector<Section> sections_of(const Pen& pen, const Report& report, const Whereabouts& where) {
  const auto section_of = [&](Verdict verdict, const char* rest) {
    return Section{.title = title_of(report, verdict, false), .items = {}, .rest = rest, .notes = {}};
  };
  Section changed = section_of(Verdict::kChanged, "more changed"), same = section_of(Verdict::kEquivalent, "more are the same");
  Section unsure = section_of(Verdict::kUnsure, "more are unsure"), withheld = section_of(Verdict::kWithheld, "more wait");
  std::vector<const Contrast*> without, open;
  Section refused{.title = title_of(report, Verdict::kUnsure, true), .items = {}, .rest = "more have none", .notes = {}};
  bool compared = false;
  for (const Response& response : report.responses) {
    if (!is_asked(report, response)) continue;
    for (const Contrast* contrast : answering(report, response.name)) {
      compared = true;
      if (!contrast->refused.empty()) {
        without.push_back(contrast);
        continue;
      }
      if (contrast->verdict == Verdict::kUnsure) {
        open.push_back(contrast);
        continue;
      }
      Section& section = contrast->verdict == Verdict::kChanged      ? changed
                         : contrast->verdict == Verdict::kEquivalent ? same
                                                                     : withheld;
      section.items.push_back(sentence(pen, report, *contrast));
    }
  }
  // The response that the machine can answer soonest comes first: CPU time before wall time, where others' work disturbs it.
  std::map<std::string_view, uint64_t> soonest;
  for (const Contrast* contrast : open) {
    uint64_t& least = soonest.emplace(contrast->response, UINT64_MAX).first->second;
    least = std::min(least, contrast->settles_n.value_or(UINT64_MAX));
  }
  std::stable_sort(open.begin(), open.end(),
                   [&](const Contrast* a, const Contrast* b) { return soonest[a->response] < soonest[b->response]; });
  for (const Contrast* contrast : open) unsure.items.push_back(sentence(pen, report, *contrast));
  refused.items = refusals(report, without);
  std::vector<Section> out;
  if (report.replay) {
    Section replayed{.title = replay_title(*report.replay), .items = {}, .rest = "more", .notes = {}};
    for (const std::string& one : report.replay->sentences) replayed.items.push_back(shown(one));
    out.push_back(std::move(replayed));
  }
  if (!compared) {
    Section found{.title = "What was measured", .items = measured(report), .rest = "more", .notes = {}};
    found.notes = {"Nothing was compared: no factor has two levels."};
    out.push_back(std::move(found));
  }
  // The first three questions are always answered, if only by "nothing"; where nothing is judged yet, there are no answers.
  const bool judged = compared && (!changed.items.empty() || !same.items.empty() || !unsure.items.empty());
  if (judged && changed.items.empty()) changed.items.push_back("nothing was shown to change" + but_by_workload(report));
  if (judged && same.items.empty()) same.items.push_back("nothing was shown to be the same");
  if (judged && unsure.items.empty()) unsure.items.push_back(nothing_unsure(report));
  if (const auto fewest = fewest_blocks(report); fewest && where.experiment > 0)
    unsure.notes = {kExtendNote,
                    "stabctl extend " + std::to_string(where.experiment) + " +" + std::to_string(*fewest) + where.options};
  for (Section* section : {&changed, &same, &unsure, &withheld, &refused})
    if (!section->items.empty()) out.push_back(std::move(*section));
  Section worries{.title = "What to worry about", .items = {}, .rest = "more", .notes = {}};
  for (size_t i = 0; i < std::min(kWorries, report.caveats.size()); ++i)
    worries.items.push_back(shown(report.caveats[i].message + "; " + report.caveats[i].hint));
  worries.left_out = report.caveats.size() - worries.items.size();
  if (worries.items.empty()) worries.items.push_back("no check raised a caveat");
  out.push_back(std::move(worries));
  return out;
}

// Words that are longer than a line lose their ends.
std::string words_within(std::string_view text, size_t width) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (at > 0) out += ' ';
    const bool is_too_wide = word.find('\033') == std::string_view::npos && text::display_width(word) > width;
    if (is_too_wide) out.append(text::cut(word, width - 1)).append("…");
    else out += word;
    at = end + 1;
  }
  return out;
}

// At most so many lines; what is cut ends with "…".
std::vector<std::string> lines_of(const Pen& pen, std::string_view text, size_t most, std::string_view first,
                                  std::string_view indent) {
  const auto terminal = static_cast<size_t>(pen.width);
  const std::string wrapped =
      text::wrap(words_within(text, terminal - indent.size() - 2), std::min(pen.width, kProseWidth), first, indent);
  std::vector<std::string> lines;
  for (size_t at = 0; at < wrapped.size();) {
    const size_t end = wrapped.find('\n', at);
    lines.push_back(wrapped.substr(at, end - at));
    at = end + 1;
  }
  if (lines.size() <= most) return lines;
  lines.resize(most);
  std::string& last = lines.back();
  while (text::display_width(last) + 2 > terminal && last.find(' ', indent.size()) != std::string::npos)
    last.resize(last.rfind(' '));
  last += pen.colour ? "\033[0m …" : " …";
  return lines;
}

using Lines = std::vector<std::string>;

void append(Lines& lines, Lines more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Lines lay_out(const Pen& pen, const Section& section, size_t item_lines) {
  Lines lines{"", pen.paint("1", section.title)};
  const size_t shown = std::min(section.shown, section.items.size()), hidden = section.items.size() - shown + section.left_out;
  for (size_t i = 0; i < shown; ++i) append(lines, lines_of(pen, section.items[i], item_lines, "  - ", "    "));
  if (hidden > 0) lines.push_back("  - " + std::to_string(hidden) + " " + section.rest);
  for (const std::string& note : section.notes) append(lines, lines_of(pen, note, item_lines, "  ", "  "));
  return lines;
}

// Paths and commands are to be copied, so they stand whole on a line of their own.
Lines end_of(const Pen& pen, const Whereabouts& where) {
  if (where.experiment == 0) return {};
  const std::string command = "stabctl report " + std::to_string(where.experiment);
  constexpr int kBeside = 60;  // columns that both need
  if (pen.width < kBeside)
    return {"", pen.paint("1", "Where the rest is"), "  page, for a browser:",
            "    " + (where.page.empty() ? command + " --html FILE" + where.options : where.page), "  tables and caveats:",
            "    " + command + " --full" + where.options};
  return {"", pen.paint("1", "Where the rest is"),
          "  page, for a browser:  " + (where.page.empty() ? command + " --html FILE" + where.options : where.page),
          "  tables and caveats:   " + command + " --full" + where.options};
}

// Rows of the terminal, which breaks what is longer than its width.
size_t rows_of(const Pen& pen, const Lines& lines) {
  size_t rows = 0;
  for (const std::string& line : lines)
    rows +=
        std::max<size_t>(1, (text::display_width(line) + static_cast<size_t>(pen.width) - 1) / static_cast<size_t>(pen.width));
  return rows;
}

Lines lay_out(const Pen& pen, const Report& report, const std::vector<Section>& sections, const Whereabouts& where,
              size_t item_lines) {
  Lines lines;
  for (const std::string& text : heading(pen, report)) append(lines, lines_of(pen, text, item_lines, "", "  "));
  for (const Section& section : sections) append(lines, lay_out(pen, section, item_lines));
  append(lines, end_of(pen, where));
  return lines;
}

}  // namespace

ScreenAnswers screen_answers(const Report& report) {
  ScreenAnswers out;
  const Pen pen{kProseWidth, false, false};
  for (const Response& response : report.responses) {
    if (!is_asked(report, response) || (response.is_benchmark() && &response != &report.responses[0])) continue;
    for (const Contrast* contrast : answering(report, response.name)) {
      const bool is_refused = !contrast->refused.empty();
      const SideValues values = is_refused ? SideValues{} : compared_values(report, *contrast);
      const auto value = [&](const std::optional<double>& one) { return one ? value_text(response, *one) : std::string(); };
      out.answers.push_back(
          {contrast, title_of(report, contrast->verdict, is_refused),
           is_refused ? question(report, *contrast) + ": " + shown(contrast->refused) : sentence(pen, report, *contrast, {}),
           value(values.before), value(values.after)});
    }
  }
  const auto rank = [](const ScreenAnswer& one) {
    return one.contrast->refused.empty() ? static_cast<int>(one.contrast->verdict) : INT32_MAX;
  };
  std::stable_sort(out.answers.begin(), out.answers.end(),
                   [&](const ScreenAnswer& a, const ScreenAnswer& b) { return rank(a) < rank(b); });
  if (out.answers.empty()) out.measured = measured(report);
  out.extend_blocks = fewest_blocks(report);
  if (out.extend_blocks) out.extend_note = kExtendNote;
  return out;
}

std::string render_first_screen(const Report& report, const Whereabouts& where, int width, bool colour) {
  const Pen pen{std::clamp(width, 40, 200), colour, false};
  Lines lines;
  for (size_t item_lines = kItemLines; item_lines > 0; --item_lines) {
    std::vector<Section> sections = sections_of(pen, report, where);
    for (;;) {
      lines = lay_out(pen, report, sections, where, item_lines);
      if (rows_of(pen, lines) <= kFirstScreenLines) break;
      Section* longest = nullptr;
      size_t most = 0;
      for (Section& section : sections) {
        const size_t size = lay_out(pen, section, item_lines).size();
        if (std::min(section.shown, section.items.size()) < 2 || size <= most) continue;
        longest = &section;
        most = size;
      }
      if (!longest) break;
      longest->shown = std::min(longest->shown, longest->items.size()) - 1;
    }
    if (rows_of(pen, lines) <= kFirstScreenLines) break;
  }
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace stab::report
