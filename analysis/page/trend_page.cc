// What has changed for good, in sentences; then, for each workload, its levels with their intervals in the order in which they
// came, and the same as a table; then what a logbook has of A/A controls and gates.
#include "analysis/page/trend_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/commands/bisect/change_place.h"
#include "analysis/commands/bisect/series_trend.h"
#include "analysis/page/scriptless.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/text/markup.h"
#include "analysis/text/text_table.h"
#include "base/wording.h"

namespace stab::page {
namespace {

using commands::ChangePlace;
using report::Interval;
using report::Trend;
using report::TrendChange;
using report::TrendLine;
using report::TrendPoint;
using report::Verdict;

// Of a drawing, in pixels of a page that has room.
constexpr double kTrendWide = 1072, kTrendRight = 16, kTrendHigh = 300, kRowOfLabels = 18, kNameCharacter = 7;
constexpr double kLeastLeft = 76;       // numbers of the axis
constexpr size_t kShownName = 24;       // characters of a level's name
constexpr size_t kShownFindings = 200;  // of a logbook, the newest
constexpr size_t kFoldedLines = 100;    // in which nothing has changed

std::string html(std::string_view words) {
  return text::as_markup_line(words);
}

// At most so many characters, the last one an ellipsis where something is left out.
std::string shortened(std::string_view name, size_t most) {
  const std::string line = text::as_line(name);
  if (text::display_width(line) <= most) return line;
  return std::string(text::cut(line, most - 1)) + "…";
}

std::string about_line(const Trend& trend, const TrendLine& line) {
  return line.workload.empty() ? "all " + std::to_string(trend.lines.size() - 1) + " workloads, as given" : line.workload;
}

// The class of a level's colour and shape, by the verdict on the step to it.
const char* level_class(const Trend& trend, const TrendPoint& point) {
  if (!point.step || point.verdict == Verdict::kWithheld) return "withheld";
  if (point.verdict == Verdict::kEquivalent) return "equivalent";
  if (point.verdict != Verdict::kChanged) return "unsure";
  const bool is_up = report::on_scale(trend.response.scale, point.step->estimate) > 0;
  return is_up != trend.response.higher_is_better ? "worse" : "better";
}

std::string step_words(const Trend& trend, const TrendPoint& point) {
  if (!point.step) return point.refused.empty() ? "" : "no answer";
  if (point.verdict != Verdict::kChanged) return std::string(name(point.verdict));
  return report::change_word(trend.response, point.step->estimate);
}

const TrendChange* change_of(const TrendLine& line, size_t point) {
  for (const TrendChange& change : line.changes.found)
    if (change.point == point) return &change;
  return nullptr;
}

// "v5..v6", as git reads it, or as the series names the two levels.
std::string range_words(const ChangePlace& place, size_t most) {
  if (!place.range.empty()) return shortened(place.range, most);
  return shortened(place.before->level, most / 2) + " to " + shortened(place.at->level, most / 2);
}

// A triangle for what became worse or better, a square for what is the same, a circle for the rest: not by colour alone.
std::string level_mark(double x, double y, double size, std::string_view of) {
  const std::string end = " class=\"verdict " + std::string(of) + "\"/>";
  const auto at = [](double px, double py) { return svg_number(px) + " " + svg_number(py); };
  if (of == "worse" || of == "better") {
    const double up = of == "worse" ? size : -size;
    return "<path d=\"M" + at(x - size, y + 0.8 * up) + "L" + at(x, y - up) + "L" + at(x + size, y + 0.8 * up) + "Z\"" + end;
  }
  if (of == "equivalent")
    return "<rect x=\"" + svg_number(x - 0.8 * size) + "\" y=\"" + svg_number(y - 0.8 * size) + "\" width=\"" +
           svg_number(1.6 * size) + "\" height=\"" + svg_number(1.6 * size) + "\"" + end;
  return "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"" + svg_number(0.85 * size) + "\"" + end;
}

bool is_ratio(const Trend& trend) {
  return trend.response.scale == report::Scale::kLog;
}

// Values as they are drawn: a change in %, or a difference in the response's unit.
double shown(const Trend& trend, double value) {
  return is_ratio(trend) ? 100 * (value - 1) : value;
}

// What the blocks alone say of a level, where its interval allows for more than them.
std::optional<std::pair<double, double>> reach_of_blocks(const Trend& trend, const TrendLine& line, const TrendPoint& point) {
  if (line.sessions.source == report::TrendSessions::Source::kNone || !(point.within_error > 0) || !(point.within_df > 0))
    return {};
  const double at = report::on_scale(trend.response.scale, point.against_anchor->estimate);
  const double half = point.within_error * statistics::t_quantile_upper(trend.alpha / 2, point.within_df);
  const auto back = [&](double value) { return shown(trend, is_ratio(trend) ? std::exp(value) : value); };
  return std::pair(back(at - half), back(at + half));
}

// What stands above a change, in rows so that none covers another.
struct ChangeLabel {
  double x = 0;
  size_t row = 0;
  bool is_left = false;
  std::string words;
};

std::vector<ChangeLabel> change_labels(const Trend& trend, const TrendLine& line, double left, double level) {
  constexpr size_t kMost = 44;
  constexpr double kCharacter = 7.2, kApart = 14;
  const double middle = left + level * static_cast<double>(line.points.size()) / 2;
  std::vector<std::vector<std::pair<double, double>>> rows;
  std::vector<ChangeLabel> out;
  for (const TrendChange& change : line.changes.found) {
    ChangeLabel one{left + level * static_cast<double>(change.point), 0, false,
                    report::difference_text(trend.response, change.shift) + " in " +
                        range_words(commands::place_of(trend, line, change), kMost)};
    one.is_left = one.x > middle;
    const double wide = kCharacter * static_cast<double>(text::display_width(one.words)) + kApart;
    const std::pair<double, double> taken = one.is_left ? std::pair(one.x - wide, one.x) : std::pair(one.x, one.x + wide);
    const auto is_free = [&](const auto& row) {
      return std::all_of(row.begin(), row.end(),
                         [&](const auto& other) { return taken.second < other.first || taken.first > other.second; });
    };
    one.row = static_cast<size_t>(std::find_if(rows.begin(), rows.end(), is_free) - rows.begin());
    rows.resize(std::max(rows.size(), one.row + 1));
    rows[one.row].push_back(taken);
    out.push_back(std::move(one));
  }
  return out;
}

// Where a drawing's parts lie.
struct TrendFrame {
  double left, right, top, bottom, level;  // level: width of one
  double from, to;                         // values at bottom and top
  double across(size_t place) const { return left + level * (static_cast<double>(place) + 0.5); }
  double up(double value) const { return bottom - (bottom - top) * (value - from) / (to - from); }
};

double shown_margin(const Trend& trend, const TrendLine& line) {
  return is_ratio(trend) ? 100 * std::expm1(line.margin) : line.margin;
}

std::pair<double, double> reach_of(const Trend& trend, const TrendLine& line) {
  double low = -shown_margin(trend, line), high = -low;
  for (const TrendPoint& point : line.points)
    if (point.against_anchor) {
      low = std::min(low, shown(trend, point.against_anchor->low));
      high = std::max(high, shown(trend, point.against_anchor->high));
    }
  const double span = high > low ? high - low : 1;
  return {low - 0.05 * span, high + 0.05 * span};
}

std::string axis_and_band(const Trend& trend, const TrendLine& line, const TrendFrame& frame) {
  std::string out;
  if (const double margin = shown_margin(trend, line); margin > 0)
    out += "<rect x=\"" + svg_number(frame.left) + "\" y=\"" + svg_number(frame.up(margin)) + "\" width=\"" +
           svg_number(frame.right - frame.left) + "\" height=\"" + svg_number(frame.up(-margin) - frame.up(margin)) +
           "\" class=\"band\"/>";
  const double tick = tick_step(frame.to - frame.from);
  for (double at = std::ceil(frame.from / tick) * tick; at <= frame.to; at += tick) {
    std::array<char, 32> words{};
    const bool is_zero = std::fabs(at) < tick / 2;
    std::snprintf(words.data(), words.size(), "%+g", is_zero ? 0.0 : at);
    out += svg_line(frame.left, frame.up(at), frame.right, frame.up(at), is_zero ? "zero" : "grid");
    out += svg_label(frame.left - 8, frame.up(at) + 4, is_zero ? "0" : words.data(), "faint", "end");
  }
  return out;
}

// The level's mark with its interval, of which what the blocks alone say is thick.
std::string drawn_level(const Trend& trend, const TrendLine& line, size_t place, const TrendFrame& frame) {
  const TrendPoint& point = line.points[place];
  const double x = frame.across(place);
  if (!point.against_anchor && point.level != trend.anchor) return svg_label(x, frame.up(0) - 6, "×", "faint", "middle");
  const std::string of = level_class(trend, point);
  std::string out;
  if (point.against_anchor) {
    const auto line_between = [&](double low, double high, const char* weight) {
      return svg_line(x, frame.up(low), x, frame.up(high), weight);
    };
    out += "<g class=\"interval " + of + "\">" +
           line_between(shown(trend, point.against_anchor->low), shown(trend, point.against_anchor->high), "thin");
    if (const auto blocks = reach_of_blocks(trend, line, point)) out += line_between(blocks->first, blocks->second, "thick");
    out += "</g>";
  }
  const double size = std::clamp(0.4 * frame.level, 2.0, 5.5);
  return out + level_mark(x, frame.up(point.against_anchor ? shown(trend, point.against_anchor->estimate) : 0), size, of);
}

std::string trend_drawing(const Trend& trend, const TrendLine& line) {
  const size_t count = line.points.size();
  size_t longest = 1;
  for (const TrendPoint& point : line.points)
    longest = std::max(longest, text::display_width(shortened(point.level, kShownName)));
  const double name_wide = kNameCharacter * static_cast<double>(longest);
  const auto level_wide = [&](double left) { return (kTrendWide - left - kTrendRight) / static_cast<double>(count); };
  // Names lean where they would touch each other, and some are left out where even that is too much.
  const bool leans = name_wide > level_wide(kLeastLeft) - 6;
  constexpr double kLeaningWide = 0.79, kLeaningHigh = 0.62, kLeaningRow = 15;  // the cosine and sine of 38 degrees
  TrendFrame frame{};
  frame.left = leans ? std::max(kLeastLeft, kLeaningWide * name_wide) : kLeastLeft;
  frame.level = level_wide(frame.left);
  frame.right = frame.left + frame.level * static_cast<double>(count);
  const size_t every = leans ? std::max<size_t>(1, static_cast<size_t>(std::ceil(kLeaningRow / frame.level))) : 1;
  const std::vector<ChangeLabel> labels = change_labels(trend, line, frame.left, frame.level);
  size_t rows = 0;
  for (const ChangeLabel& one : labels) rows = std::max(rows, one.row + 1);
  frame.top = 30 + kRowOfLabels * static_cast<double>(rows);
  frame.bottom = frame.top + kTrendHigh;
  std::tie(frame.from, frame.to) = reach_of(trend, line);
  const double below = leans ? 26 + kLeaningHigh * name_wide : 28;
  std::string out =
      "<svg viewBox=\"0 0 " + svg_number(kTrendWide) + " " + svg_number(frame.bottom + below) +
      "\" width=\"100%\" role=\"img\" aria-label=\"Each level with its interval; the table below has the numbers\">";
  const std::string unit = is_ratio(trend) ? "%" : trend.response.unit;
  out += svg_label(0, 14,
                   trend.response.name + " against " + shortened(trend.anchor, kShownName) + (unit.empty() ? "" : ", " + unit),
                   "axis-title");
  out += axis_and_band(trend, line, frame);
  // Words last, so that no line crosses them.
  const auto height_of = [&](const ChangeLabel& one) { return frame.top - 14 - kRowOfLabels * static_cast<double>(one.row); };
  for (const ChangeLabel& one : labels) out += svg_line(one.x, height_of(one) + 4, one.x, frame.bottom, "run-change");
  for (const ChangeLabel& one : labels)
    out += svg_label(one.x + (one.is_left ? -5 : 5), height_of(one), one.words, "strong", one.is_left ? "end" : "start");
  if (!labels.empty())
    for (const report::TrendSegment& segment : line.changes.segments) {
      const double y = frame.up(shown(trend, segment.mean)), end = 0.4 * frame.level;
      out += svg_line(frame.across(segment.first) - end, y, frame.across(segment.last) + end, y, "run-level");
    }
  for (size_t i = 0; i < count; ++i) {
    if (i % every == 0) {
      const std::string level = shortened(line.points[i].level, kShownName);
      out += leans ? svg_label(frame.across(i) + 4, frame.bottom + 15, level, "", "end", true)
                   : svg_label(frame.across(i), frame.bottom + 17, level, "", "middle");
    }
    out += drawn_level(trend, line, i, frame);
  }
  return out + "</svg>";
}

std::string table_begin(const std::string& label, const std::vector<std::pair<std::string, bool>>& columns) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + html(label) + "\"><table><thead><tr>";
  for (const auto& [title, is_number] : columns) out += (is_number ? "<th class=\"number\">" : "<th>") + html(title) + "</th>";
  return out + "</tr></thead><tbody>";
}
constexpr const char* kTableEnd = "</tbody></table></div>\n";

std::string cell(std::string_view words, const char* of_class = nullptr) {
  return (of_class == nullptr ? std::string("<td>") : "<td class=\"" + std::string(of_class) + "\">") + html(words) + "</td>";
}

std::string trend_table(const Trend& trend, const TrendLine& line) {
  std::string out = table_begin("levels of " + about_line(trend, line), {{trend.factor, false},
                                                                         {"since", false},
                                                                         {"against " + shortened(trend.anchor, kShownName), true},
                                                                         {"interval", false},
                                                                         {"step", true},
                                                                         {"interval", false},
                                                                         {"p (Holm)", true},
                                                                         {"verdict on the step", false}});
  for (size_t i = 0; i < line.points.size(); ++i) {
    const TrendPoint& point = line.points[i];
    const auto difference = [&](const std::optional<Interval>& of) {
      return of ? report::difference_text(trend.response, of->estimate) : std::string();
    };
    const auto interval = [&](const std::optional<Interval>& of) {
      return of ? report::interval_text(trend.response, *of) : std::string();
    };
    out += "<tr>" + cell(point.level) + cell(point.since);
    out += cell(point.level == trend.anchor ? "anchor" : difference(point.against_anchor), "number");
    out += cell(interval(point.against_anchor), "unbroken") + cell(difference(point.step), "number");
    out += cell(interval(point.step), "unbroken") + cell(point.step ? text::p_text(point.p_holm) : "", "number");
    std::string verdict = step_words(trend, point) + (point.refused.empty() ? "" : ": " + point.refused);
    if (change_of(line, i) != nullptr) verdict += verdict.empty() ? "lasting change" : ", lasting change";
    out += cell(verdict, ("word-" + std::string(level_class(trend, point))).c_str()) + "</tr>";
  }
  return out + kTableEnd;
}

// One lasting change in words: by how much, where, and what looks for its commit.
std::string change_item(const Trend& trend, const TrendLine& line, const TrendChange& change) {
  const ChangePlace place = commands::place_of(trend, line, change);
  const auto note = [](const std::string& inside) { return "<p class=\"note\">" + inside + "</p>"; };
  std::string out =
      std::string("<li class=\"answer\"><div><strong class=\"word-") + (place.is_worse ? "worse" : "better") + "\">" +
      html(report::difference_text(trend.response, change.shift) + ", " + report::change_word(trend.response, change.shift)) +
      "</strong> <span>" + html("from " + place.at->level + " on, in " + about_line(trend, line)) +
      "</span> <span class=\"rest\">" +
      html("(" + plural(change.levels_after, "level") + " against the " + std::to_string(change.levels_before) + " before; p " +
           text::p_text(change.p_value) + ")") +
      "</span>";
  out += note(html("First measured: " + place.before->level + " in " + commands::sessions_text(place.before->sessions) + "; " +
                   place.at->level + " in " + commands::sessions_text(place.at->sessions) + "."));
  if (place.range.empty()) return out + note(html("Its commits are not known: " + place.unknown + ".")) + "</div></li>\n";
  return out +
         note(html("Commits " + place.range + (place.repository.empty() ? "" : " of " + place.repository) + "; which of them:") +
              " <code>" + html(place.command) + "</code>") +
         "</div></li>\n";
}

std::string answers(const Trend& trend) {
  std::string found;
  for (const TrendLine& line : trend.lines)
    for (const TrendChange& change : line.changes.found) found += change_item(trend, line, change);
  if (!found.empty()) return "<ul class=\"answers\">\n" + found + "</ul>\n";
  const report::TrendChanges& changes = trend.lines[0].changes;
  const std::string words = changes.asked ? "No lasting change at " + report::plain(100 * changes.alpha) + " %" +
                                                (changes.p_of_next ? " (p " + text::p_text(*changes.p_of_next) + ")" : "") + "."
                                          : "Lasting changes were not asked for: " + changes.refused + ".";
  return "<div class=\"answer\"><strong class=\"word-unsure\">" + html(words) + "</strong></div>\n";
}

// Where the newest level of the first line stands.
std::string newest_level(const Trend& trend) {
  const TrendPoint& last = trend.lines[0].points.back();
  if (!last.against_anchor) return "";
  return "<p>" +
         html(last.level + ", the newest, is at " + report::difference_text(trend.response, last.against_anchor->estimate) + " " +
              report::interval_text(trend.response, *last.against_anchor) + " against " + trend.anchor + ".") +
         "</p>\n";
}

std::string line_section(const Trend& trend, const TrendLine& line) {
  const bool has_sessions = line.sessions.source != report::TrendSessions::Source::kNone;
  std::string out = "<section>\n<h2>" + html(about_line(trend, line)) +
                    "</h2>\n<figure><div class=\"plot wide\" tabindex=\"0\" " + "role=\"region\" aria-label=\"levels of " +
                    html(about_line(trend, line)) + ", drawn\">" + trend_drawing(trend, line) +
                    "</div>\n<p class=\"how\"><span class=\"how-word\">How to read it.</span> Each mark is one level of the "
                    "treatment, in the order in which they came, as its difference from the anchor; the line is its interval.";
  if (has_sessions) out += " Its heavy part is what the blocks alone say, and the rest allows for what lies between sessions.";
  out +=
      " The shaded band is the smallest difference that matters. A mark’s shape is the verdict on the step from the level "
      "before: a triangle has changed, a square is the same, a circle is unsure or has none.";
  if (!line.changes.found.empty())
    out += " A dashed line stands where the levels lie elsewhere than those before, and the heavy lines are their means.";
  out += "</p></figure>\n<p class=\"note\">" + html(commands::between_sessions_text(trend, line)) + "</p>\n";
  if (const std::string contradiction = commands::contradiction_text(line); !contradiction.empty())
    out += "<p class=\"warning\">" + html(contradiction) + "</p>\n";
  return out + trend_table(trend, line) + "</section>\n";
}

// Whether anything of a line is worth a look of its own.
bool has_news(const TrendLine& line) {
  return !line.changes.found.empty() || std::any_of(line.points.begin(), line.points.end(),
                                                    [](const TrendPoint& point) { return point.verdict == Verdict::kChanged; });
}

std::string line_sections(const Trend& trend) {
  std::string out, rest;
  size_t folded = 0;
  for (const TrendLine& line : trend.lines) {
    if (&line == &trend.lines[0] || has_news(line))
      out += line_section(trend, line);
    else if (++folded <= kFoldedLines)
      rest += line_section(trend, line);
  }
  if (folded == 0) return out;
  const std::string more = folded > kFoldedLines ? "<p class=\"note\">" + html(plural(folded - kFoldedLines, "more workload")) +
                                                       " <code>stabctl trend --json</code> has.</p>\n"
                                                 : std::string();
  return out + "<details class=\"fold\">\n<summary>" + html(plural(folded, "workload")) +
         " in which nothing is shown to have changed</summary>\n" + rest + more + "</details>\n";
}

// In percent, worse above 0, with its interval at 95 %.
std::string finding_cells(const LoggedFinding& one) {
  constexpr double kHalfOfFive = 0.025;
  const double half = one.found.standard_error * statistics::t_quantile_upper(kHalfOfFive, one.found.df);
  const auto words = [&](double value) { return text::ratio_text(std::exp(value)); };
  return cell(words(one.found.difference), "number") +
         cell(report::between(words(one.found.difference - half), words(one.found.difference + half)), "unbroken");
}

std::string evidence_text(double log_e) {
  constexpr double kAsPower = 23;  // e23 is 1e10
  if (log_e < kAsPower) return text::significant(std::exp(log_e), 3);
  return "1e" + std::to_string(static_cast<int64_t>(std::min(log_e / std::log(10.0), 1e15)));
}

std::string left_out_of(size_t count) {
  if (count <= kShownFindings) return "";
  return "<p class=\"note\">The newest " + std::to_string(kShownFindings) + " of " + std::to_string(count) + ".</p>\n";
}

// The newest first.
template <class Row>
std::string newest_rows(const std::vector<LoggedFinding>& all, const Row& row) {
  std::string out;
  for (size_t i = 0; i < std::min(all.size(), kShownFindings); ++i) out += "<tr>" + row(all[all.size() - 1 - i]) + "</tr>";
  return out + kTableEnd + left_out_of(all.size());
}

std::string control_section(const std::vector<LoggedFinding>& controls) {
  if (controls.empty()) return "";
  return "<section>\n<h2>A/A controls of the logbook</h2>\n<p class=\"note\">Each compares equal programs in one session, so "
         "what "
         "it finds is error.</p>\n" +
         table_begin("A/A controls", {{"day", false},
                                      {"machine", false},
                                      {"workload", false},
                                      {"response", false},
                                      {"difference", true},
                                      {"interval (95 %)", false}}) +
         newest_rows(controls,
                     [](const LoggedFinding& one) {
                       return cell(one.day, "unbroken") + cell(one.machine) + cell(one.workload) + cell(one.response) +
                              finding_cells(one);
                     }) +
         "</section>\n";
}

std::string gate_section(const std::vector<LoggedFinding>& gates) {
  if (gates.empty()) return "";
  return "<section>\n<h2>What gates said</h2>\n<p class=\"note\">Gates of the logbook’s streams. A difference is of one session; "
         "evidence and answer are of the two commits, by all sessions that have gated them.</p>\n" +
         table_begin("gates", {{"day", false},
                               {"machine", false},
                               {"stream", false},
                               {"commits", false},
                               {"answer", false},
                               {"evidence", true},
                               {"workload", false},
                               {"response", false},
                               {"difference", true},
                               {"interval (95 %)", false}}) +
         newest_rows(gates,
                     [](const LoggedFinding& one) {
                       constexpr size_t kCommit = 12;
                       return cell(one.day, "unbroken") + cell(one.machine) + cell(one.stream) +
                              cell(one.base.substr(0, kCommit) + ".." + one.head.substr(0, kCommit), "unbroken") +
                              cell(one.called ? "worse" : "not called worse", one.called ? "word-worse" : "word-unsure") +
                              cell(evidence_text(one.log_e), "number") + cell(one.workload) + cell(one.response) +
                              finding_cells(one);
                     }) +
         "</section>\n";
}

}  // namespace

std::string render_trend(const Trend& trend, const TrendPage& about) {
  const std::string title = "Series " + about.series + ": " + trend.response.name + " by " + trend.factor;
  const std::vector<TrendPoint>& points = trend.lines[0].points;
  std::string out = "<p class=\"facts\"><b>" + html(points.front().level) + "</b> to <b>" + html(points.back().level) + "</b>, " +
                    plural(points.size(), "level") + "; against <b>" + html(trend.anchor) + "</b>; intervals are " +
                    report::plain(100 * (1 - trend.alpha)) + " %</p>\n";
  out += "<section class=\"overview\">\n<h2>What changed for good</h2>\n" + answers(trend) + newest_level(trend) + "</section>\n";
  out += line_sections(trend) + control_section(about.controls) + gate_section(about.gates);
  if (!about.left_out.empty()) {
    out += "<section>\n<h2>Left out</h2>\n<ul>\n";
    for (const std::string& one : about.left_out) out += "<li>" + html(one) + "</li>\n";
    out += "</ul>\n</section>\n";
  }
  return scriptless_page(title, out, about.command);
}

}  // namespace stab::page
